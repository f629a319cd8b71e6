"""Three tools instead of many: find some for a task, ask for more, call one.

What calls say about the lists before them is `ToolShortlist`'s concern. A call is noted before it is forwarded: if the
gateway dies in between, the agent calls again, and the same tool counts once.
"""

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import anyio
import anyio.to_thread
from mcp import MCPError
from mcp.types import CallToolResult, TextContent

from shortlist.errors import InvalidParameter, ShortlistError, UnknownRound
from shortlist.integrations.tools import Tool, ToolShortlist

__all__ = ["Found", "Gateway", "ToolSource"]

_log = logging.getLogger("shortlist.mcp")

_CALL: Final = "Call one with call_tool(round, name, arguments)."


class ToolSource(Protocol):
    """Where tools come from, and where calls go: `Upstreams`, or one of your own."""

    def tools(self) -> list[Tool]:
        """Return the tools that exist now.

        Returns
        -------
        list[Tool]
            The tools.
        """

    def unavailable(self) -> list[str]:
        """Return which tools cannot be had now, and why.

        Returns
        -------
        list[str]
            One line each; empty if all can.
        """

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool.

        Parameters
        ----------
        tool
            One of the tools.
        arguments
            Its arguments.

        Returns
        -------
        CallToolResult
            The result, errors included.
        """


@dataclass(frozen=True)
class Found:
    """Tools for an agent.

    Attributes
    ----------
    round
        The search, to be passed to `more_tools` and `call_tool`.
    tools
        The tools, best first.
    hidden
        How many more there are.
    unavailable
        Which servers are away or slow, and why.
    has_words
        Whether any tool has a word of the task; otherwise these are arbitrary.
    """

    round: str
    tools: list[Tool]
    hidden: int
    unavailable: tuple[str, ...] = ()
    has_words: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the reply to the agent.

        Returns
        -------
        dict[str, Any]
            The round, the tools, the number of hidden ones, and what to do next.
        """
        if self.tools and self.hidden:
            following = f"{_CALL} If none of them fits, call more_tools(round): {self.hidden} more are hidden."
        elif self.hidden:
            following = f"No tool fits well. Call more_tools(round): {self.hidden} are hidden."
        else:
            following = _CALL if self.tools else "There are no others."
        if not self.has_words:
            following = f"No tool has a word of this task, so these are arbitrary: search in other words. {following}"
        reply = {
            "round": self.round,
            "tools": [tool.entry for tool in self.tools],
            "hidden": self.hidden,
            "next": following,
        }
        return reply | {"unavailable": list(self.unavailable)} if self.unavailable else reply


class Gateway:
    """Tools behind `find_tools`, `more_tools` and `call_tool`.

    Parameters
    ----------
    source
        Where tools come from, and where calls go.
    tools
        The search, which learns from calls.
    always
        Names of tools that agents have all the time: they are not searched for, and calls of them do not count.
    more_count
        How many tools `more_tools` adds.
    save
        Called after every change of what was learned, before the agent gets its answer: `lister.save` to a file, for
        one.
    """

    def __init__(
        self,
        source: ToolSource,
        tools: ToolShortlist,
        *,
        always: Iterable[str] = (),
        more_count: int = 10,
        save: Callable[[], object] | None = None,
    ) -> None:
        self._source = source
        #: The search, which knows what was shown and called.
        self.search = tools
        self._always, self._more_count = frozenset(always), more_count
        self._save, self._saving = save, anyio.Lock()
        # How agents know them; it stays while their server is away, so that prompts stay the same.
        self._pinned: dict[str, Tool] = {}

    @property
    def has_always(self) -> bool:
        """Whether agents have any tools all the time."""
        return bool(self._always)

    def always_on(self) -> list[Tool]:
        """Return the tools that agents have all the time, also those whose server is away.

        Returns
        -------
        list[Tool]
            The tools.
        """
        present = {tool.name: tool for tool in self._source.tools()}
        self._pinned |= {name: present[name] for name in sorted(self._always & present.keys())}
        return list(self._pinned.values())

    async def find_tools(self, task: str, session: str | None = None) -> Found:
        """Return a shortlist of tools for a task.

        Parameters
        ----------
        task
            What the agent wants to do, in one sentence.
        session
            The conversation, if it is known.

        Returns
        -------
        Found
            The shortlist, and its round.

        Raises
        ------
        InvalidParameter
            If the task is empty, or there are no tools.
        """
        tools = {tool.name: tool for tool in self._source.tools() if tool.name not in self._always}
        away = self._source.unavailable()
        if not tools:
            why = f" ({'; '.join(away)})" if away else ""
            raise InvalidParameter(f"there are no tools at the moment{why}; try again shortly")
        search = await self._do(self.search.find, task, session=session, tools=tools.values())
        await self._saved()
        return Found(search.key, [tools[name] for name in search.names], search.hidden, tuple(away), search.has_words)

    async def more_tools(self, round_text: str) -> Found:
        """Return the next tools of a list, best first.

        Parameters
        ----------
        round_text
            The round of the list.

        Returns
        -------
        Found
            The next tools.

        Raises
        ------
        InvalidParameter
            If the round is unknown.
        RoundClosed
            If another search followed it.
        """
        try:
            names = await self._do(self.search.more, round_text, count=self._more_count)
            hidden = await self._do(self.search.hidden, round_text)
            await self._saved()
        except UnknownRound:
            raise _unknown(round_text) from None
        present = {tool.name: tool for tool in self._source.tools()}
        return Found(round_text, [present[name] for name in names if name in present], hidden)

    async def call_tool(self, round_text: str, name: str, arguments: Any = None) -> CallToolResult:
        """Note a call, and forward it.

        Parameters
        ----------
        round_text
            The round in which the tool was shown.
        name
            The tool, as it was shown.
        arguments
            Its arguments.

        Returns
        -------
        CallToolResult
            The response of the tool's server, errors included.

        Raises
        ------
        InvalidParameter
            If the round is unknown, there is no such tool, or the arguments are no object.
        """
        if name in self._always:
            return await self.call_always(name, arguments)
        tool, given = self._tool(name), _arguments(arguments)
        try:
            await self._do(self.search.called, name, key=round_text)
        except UnknownRound:
            raise _unknown(round_text) from None
        try:
            result = await self._source.call(tool, given)
        except (MCPError, ShortlistError):
            await self._do(self.search.called, name, key=round_text, failed=True, reported=True)
            raise
        if result.is_error:
            await self._do(self.search.called, name, key=round_text, failed=True, reported=True)
        return result

    async def call_always(self, name: str, arguments: Any = None) -> CallToolResult:
        """Forward a call of a tool that agents have all the time.

        Parameters
        ----------
        name
            The tool.
        arguments
            Its arguments.

        Returns
        -------
        CallToolResult
            The response of the tool's server, errors included.
        """
        return await self._source.call(self._tool(name), _arguments(arguments))

    def is_always(self, name: str) -> bool:
        """Return whether agents have a tool all the time.

        Parameters
        ----------
        name
            The tool.

        Returns
        -------
        bool
            Whether it is one of `always`.
        """
        return name in self._always

    def _tool(self, name: str) -> Tool:
        """Return the tool with this name, and no other: a server must not receive what was meant for another."""
        for tool in self._source.tools():
            if tool.name == name:
                return tool
        away = self._source.unavailable()
        raise InvalidParameter(
            f"there is no tool {name!r} at the moment: its server is unavailable, or the tool does not exist; call "
            f"find_tools again, and pass on a name exactly as it returns it{_listed(away)}"
        )

    async def _do(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Do what may wait for a network or a disk, in a thread."""
        return await anyio.to_thread.run_sync(partial(work, *arguments, **options))

    async def _saved(self) -> None:
        """Save what was learned, one after the other: the file never gets older."""
        if self._save is None:
            return
        async with self._saving:
            try:
                await anyio.to_thread.run_sync(self._save)
            except ShortlistError as error:
                _log.warning("what was learned could not be saved, which the next search tries again: %s", error)


def _listed(away: list[str]) -> str:
    return f" (unavailable: {'; '.join(away)})" if away else ""


def _unknown(round_text: str) -> InvalidParameter:
    return InvalidParameter(
        f"round {round_text!r} is unknown; call find_tools first, and pass on the round that it returns"
    )


def _arguments(given: Any) -> dict[str, Any]:
    """Return arguments as an object; some models write them as a string."""
    if given is None:
        return {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise InvalidParameter(f"arguments is {given[:80]!r}; it must be an object, as in the schema") from None
    if not isinstance(given, dict):
        raise InvalidParameter(f"arguments is {given!r}; it must be an object, as in the schema")
    return given


def error_result(message: str) -> CallToolResult:
    """Return an error as a tool result, for an agent to read."""
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)
