"""A FastMCP server whose clients search for its tools, by a ToolShortlist: at most ten per search, fewer as they call.

Run: python examples/tools_fastmcp.py

Needs fastmcp 4.1. The server's clients see two tools, `search_tools` and `call_tool`. A scripted client takes the place
of an agent.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Any

from agent_tools import TASKS, make_functions
from fastmcp import Client, Context, FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.server.transforms.search.base import BaseSearchTransform
from fastmcp.tools import Tool

from shortlist.integrations.tools import ToolShortlist


class ShortlistSearch(BaseSearchTransform):
    """FastMCP's search transform, with a ToolShortlist behind it.

    `session`: a name if the server has one client, as over standard input; None if it may have several. (MCP of July
    2026 has no sessions.) Within one, a tool that a later search finds tells what an earlier one missed.
    """

    def __init__(self, shortlist: ToolShortlist, session: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.shortlist, self.session = shortlist, session

    def _make_search_tool(self) -> Tool:
        async def search_tools(query: Annotated[str, "What you want to do, in a sentence"], ctx: Context) -> Any:
            """Search for tools by what they do."""
            offered = await self._get_visible_tools(ctx)
            return await self._render_results(await self._search(offered, query))

        return Tool.from_function(fn=search_tools, name=self._search_tool_name)

    async def _search(self, tools: Sequence[Tool], query: str) -> Sequence[Tool]:
        by_name = {tool.name: tool for tool in tools}
        names = await asyncio.to_thread(self.shortlist.search, query, session=self.session, tools=tools)
        return [by_name[name] for name in names]


class Calls(Middleware):
    """Tells the ToolShortlist what was called."""

    def __init__(self, shortlist: ToolShortlist, session: str | None = None) -> None:
        self.shortlist, self.session = shortlist, session

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Forward a call, and say whether it failed."""
        name = context.message.name
        if name in ("search_tools", "call_tool"):
            return await call_next(context)
        try:
            result = await call_next(context)
        except Exception:
            self.shortlist.called(name, session=self.session, failed=True)
            raise
        self.shortlist.called(name, session=self.session)
        return result


def make_server(shortlist: ToolShortlist, session: str | None = None) -> FastMCP:
    """Return a server with 120 tools."""
    server = FastMCP("tools")
    for name, description, function in make_functions():
        server.add_tool(Tool.from_function(fn=function, name=name, description=description))
    server.add_transform(ShortlistSearch(shortlist, session))
    server.add_middleware(Calls(shortlist, session))
    return server


async def main() -> None:
    """Do one task for each tool."""
    shortlist = ToolShortlist()
    async with Client(make_server(shortlist, session="the only client")) as client:
        print([tool.name for tool in await client.list_tools()])
        for task, right in TASKS.items():
            reply = await client.call_tool("search_tools", {"query": task})
            if right in {tool["name"] for tool in json.loads(reply.content[0].text)}:
                await client.call_tool("call_tool", {"name": right})
            shortlist.end()  # each task is a conversation
    for line in shortlist.summary().lines():
        print(line)


if __name__ == "__main__":
    asyncio.run(main())
