"""Six MCP servers with twenty tools each, and tasks for which one tool is right, for `tools/agents.py`.

``python tools/agent_world.py SERVER [PORT]`` runs one of the servers, over standard input and output or over HTTP. In
the folder that ``WORLD_CONTROL`` names, a file ``SERVER.down`` makes it die and not start again, ``SERVER.slow`` makes
it take so many seconds for everything, and ``SERVER.changed`` gives it other tools.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

import anyio
import numpy as np
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

__all__ = ["SERVERS", "Task", "descriptions", "draw", "ids"]


class _Entry(TypedDict):
    description: str
    parameters: list[str]
    #: What people say who want it: plainly, and in other words.
    tasks: list[str]


#: The tools of each server.
SERVERS: Final[dict[str, dict[str, _Entry]]] = json.loads((Path(__file__).parent / "agent_world.json").read_text())
#: How often a task is worded in each way. An agent writes it, mostly in the words of what it wants to do; it may say
#: whose tool it wants, because `find_tools` names the servers; and it may repeat what its user said.
_WAYS: Final = (0.7, 0.2, 0.1)
_THINGS: Final = ("budget", "onboarding", "release notes", "Lisbon", "invoices", "parser", "login", "Owl", "Tuesday")
#: What a server has once it has changed, in the place of its last tool.
_NEW: Final = "archive_everything"


class Task(NamedTuple):
    """What an agent is asked to do, and the tool that is right for it."""

    text: str
    right: str
    #: The same in the plainest words.
    plain: str


def ids() -> list[str]:
    """Return the names of all tools, as the gateway has them."""
    return [f"{server}__{tool}" for server, tools in SERVERS.items() for tool in tools]


def draw(count: int, seed: int = 0, ways: tuple[float, float, float] = _WAYS) -> list[Task]:
    """Return tasks at random: any tool, one of three ways to ask for it, about anything."""
    rng = np.random.default_rng(seed)
    tools = [
        (f"{server}__{tool}", entry["tasks"]) for server, tools in SERVERS.items() for tool, entry in tools.items()
    ]
    drawn = []
    for _ in range(count):
        name, texts = tools[rng.integers(len(tools))]
        way, thing = int(rng.choice(len(texts), p=ways)), _THINGS[rng.integers(len(_THINGS))]
        plain, text = texts[0].format(x=thing), texts[way].format(x=thing)
        drawn.append(Task(f"{name.partition('__')[0]}: {text}" if way == 1 else text, name, plain))
    return drawn


def descriptions(server: str, *, changed: bool = False) -> list[Tool]:
    """Return the tools of a server, as MCP has them."""
    tools = []
    for name, entry in SERVERS[server].items():
        names = entry["parameters"]
        properties = {
            each: {"type": "string", "description": f"The {each.replace('_', ' ')} to use."} for each in names
        }
        schema = {"type": "object", "properties": properties, "required": names[:1], "additionalProperties": False}
        tools.append(Tool(name=name, description=entry["description"], input_schema=schema))
    if changed:
        tools[-1] = Tool(name=_NEW, description="Archive everything.", input_schema={"type": "object"})
    return tools


class _World:
    """One server, as the control folder wants it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bus = InMemorySubscriptionBus()
        folder = os.environ.get("WORLD_CONTROL")
        self._control = None if folder is None else Path(folder)
        if self._is("down"):
            sys.exit(1)
        self.server: Server[Any] = Server(
            name,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    def _is(self, word: str) -> bool:
        return self._control is not None and (self._control / f"{self._name}.{word}").exists()

    async def _be_slow(self) -> None:
        if self._control is not None and self._is("slow"):
            await anyio.sleep(float((self._control / f"{self._name}.slow").read_text()))

    async def _list(self, _context: Any, _params: Any) -> ListToolsResult:
        await self._be_slow()
        return ListToolsResult(tools=descriptions(self._name, changed=self._is("changed")))

    async def _call(self, _context: Any, params: CallToolRequestParams) -> CallToolResult:
        await self._be_slow()
        return CallToolResult(content=[TextContent(type="text", text=f"{self._name}: {params.name} is done")])

    async def watch(self) -> None:
        """Do what the control folder says."""
        changed = self._is("changed")
        while True:
            await anyio.sleep(0.02)
            if self._is("down"):
                os._exit(1)
            if self._is("changed") != changed:
                changed = not changed
                await self._bus.publish(ToolsListChanged())


async def _run(name: str, port: int | None) -> None:
    world = _World(name)
    async with anyio.create_task_group() as group:
        group.start_soon(world.watch)
        if port is None:
            async with stdio_server() as (reading, writing):
                await world.server.run(reading, writing, world.server.create_initialization_options())
        else:
            app = world.server.streamable_http_app()
            settings = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)
            await uvicorn.Server(settings).serve()
        group.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(_run, sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
