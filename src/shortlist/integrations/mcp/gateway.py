"""Three tools instead of many: find some for a task, ask for more, call one.

What an agent does is the answer to a round:

- The first call in a round is a hit. If its tool was not in the list, because the agent asked for more or knew its
  name, it is a *measured miss*: the rest of the list is shown to the lister, so the hit has a known score. The
  call is forwarded all the same.
- A first call of a tool that was not a candidate (its server was away, or it is new) is a miss.
- Later calls in the round are logged but not counted: a retry, or the next step of the same task.
- Agents do not report that a tool was missing; they do something else. So the gateway's default is
  ``explore_share="auto"``: only rounds in which everything was shown, in random order, count.

A call is counted before it is forwarded. If the gateway dies in between, the agent calls again, and the same answer
again changes nothing.
"""

import inspect
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import anyio
import anyio.to_thread
import numpy as np
from mcp.types import CallToolResult, TextContent

from shortlist import Lister
from shortlist.errors import (
    ConflictingAnswer,
    InvalidParameter,
    NotShown,
    RoundClosed,
    ShortlistError,
    UnknownRound,
)
from shortlist.integrations.mcp.ranking import Ranking, Ranks
from shortlist.integrations.mcp.search_log import Counted, RoundLog
from shortlist.integrations.mcp.tools import Tool
from shortlist.listers.shortlister import Shortlister

__all__ = ["Found", "Gateway", "ToolSource"]

_log = logging.getLogger("shortlist.mcp")

_CALL: Final = "Call one with call_tool(round, name, arguments)."
#: The round of a list that was shown without a lister.
NO_ROUND: Final = "none"


class ToolSource(Protocol):
    """Where tools come from, and where calls go: `Upstreams`, or one of your own."""

    def tools(self) -> list[Tool]:
        """Return the tools that exist now.

        Returns
        -------
        list[Tool]
            The tools.
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
        The round, to be passed to `more_tools` and `call_tool`.
    tools
        The tools, best first; in random order in an explored round.
    hidden
        How many more there are.
    """

    round: str
    tools: list[Tool]
    hidden: int

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
        return {
            "round": self.round,
            "tools": [tool.entry for tool in self.tools],
            "hidden": self.hidden,
            "next": following,
        }


class Gateway:
    """Tools behind `find_tools`, `more_tools` and `call_tool`.

    Parameters
    ----------
    source
        Where tools come from, and where calls go.
    lister
        The lister that cuts the lists and learns from calls; with `explore_share`, because agents do not report misses.
    ranking
        Scores tools for a task; by default BM25 over names, descriptions and parameters.
    shadow
        Show every tool, but learn as usual: the log says what would have been hidden, and missed.
    more_count
        How many tools `more_tools` adds.
    log
        The log to write to.
    save
        Called after every change of the lister, before the agent gets its answer: `lister.save` to a file, for one.
    """

    def __init__(
        self,
        source: ToolSource,
        lister: Lister,
        ranking: Ranks | None = None,
        *,
        shadow: bool = False,
        more_count: int = 10,
        log: RoundLog | None = None,
        save: Callable[[], object] | None = None,
    ) -> None:
        self._source, self._lister = source, lister
        self._ranking = Ranking() if ranking is None else ranking
        self._shadow, self._more_count = shadow, more_count
        self._rounds = RoundLog() if log is None else log
        # A plain lister answers at once; others wait for a network, in a thread.
        self._waits = not isinstance(lister, Shortlister)
        self._save, self._saving = save, anyio.Lock()

    async def find_tools(self, task: str) -> Found:
        """Return a shortlist of tools for a task.

        Parameters
        ----------
        task
            What the agent wants to do, in one sentence.

        Returns
        -------
        Found
            The shortlist, and its round.

        Raises
        ------
        InvalidParameter
            If the task is empty, or there are no tools.
        """
        if not isinstance(task, str) or not task.strip():
            raise InvalidParameter(f"task is {task!r}; say in a sentence what you want to do")
        tools = {tool.name: tool for tool in self._source.tools()}
        if not tools:
            raise InvalidParameter("there are no tools at the moment: no server is connected; try again shortly")
        names, rest = list(tools), tuple[str, ...]()
        try:
            shown = await self._do("propose", await self._ranking.scores(task, list(tools.values())), names)
            if self._shadow and len(shown.members) < len(names):
                rest = (await self._do("more", shown.round_id)).members
        except ShortlistError as error:
            _log.warning("everything is shown, and the round does not count: %s", error)
            return self._show(NO_ROUND, None, await self._best_first(task, tools), (), tools, explored=False)
        if shown.fallback:  # the service was unavailable or slow, and everything is shown
            return self._show(NO_ROUND, None, shown.members, (), tools, explored=False)
        explored, name = bool(shown.explored), str(shown.round_id)
        return self._show(name, shown.round_id, shown.members, rest, tools, explored=explored)

    def _show(
        self,
        name: str,
        round_id: Any,
        first: Sequence[str],
        rest: Sequence[str],
        tools: dict[str, Tool],
        *,
        explored: bool,
    ) -> Found:
        self._rounds.add(
            "find",
            name,
            round_id,
            of=len(tools),
            first=list(first),
            rest=list(rest),
            explored=explored,
            all_tokens=sum(tool.tokens for tool in tools.values()),
            tokens=sum(tools[each].tokens for each in first),
        )
        shown = [*first, *rest]
        return Found(name, [tools[each] for each in shown], len(tools) - len(shown))

    async def _best_first(self, task: str, tools: dict[str, Tool]) -> list[str]:
        by_words = await Ranking().scores(task, list(tools.values()))
        names = list(tools)
        return [names[i] for i in np.argsort(-by_words, kind="stable")]

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
        """
        tools = {tool.name: tool for tool in self._source.tools()}
        if round_text == NO_ROUND:
            return Found(round_text, [], 0)
        try:
            more = await self._do("more", self._id(round_text), self._more_count)
        except UnknownRound:
            raise _unknown(round_text) from None
        present = [tools[name] for name in more.members if name in tools]
        shown, tokens = [tool.name for tool in present], sum(tool.tokens for tool in present)
        self._rounds.add("more", round_text, self._id(round_text), shown=shown, tokens=tokens)
        return Found(round_text, present, more.left)

    async def call_tool(self, round_text: str, name: str, arguments: Any = None) -> CallToolResult:
        """Count a call, and forward it.

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
        """
        tool = self._tool(name)
        given = _arguments(arguments)
        counted = await self._count(round_text, tool.name)
        self._rounds.add("call", round_text, self._id(round_text), tool=tool.name, counted=counted)
        return await self._source.call(tool, given)

    def _tool(self, name: str) -> Tool:
        """Return the tool with this name, and no other: a server must not receive what was meant for another."""
        for tool in self._source.tools():
            if tool.name == name:
                return tool
        raise InvalidParameter(
            f"there is no tool {name!r} at the moment: its server is unavailable, or the tool does not exist; call "
            "find_tools again, and pass on a name exactly as it returns it"
        )

    async def _count(self, round_text: str, name: str) -> Counted:
        """Answer a round, and return what the call counts as."""
        logged = self._rounds.get(round_text)
        if round_text == NO_ROUND:
            return "not counted"
        if logged is not None:
            if logged.called is not None:
                return "again"
            logged.called = name  # from now on another call is a later one
        try:
            return await self._answer(self._id(round_text), name, None if logged is None else logged.first)
        except UnknownRound:
            if logged is not None:
                logged.called = None
            raise _unknown(round_text) from None
        except ConflictingAnswer:
            return "again"
        except RoundClosed:
            return "closed"
        except ShortlistError as error:
            if logged is not None:
                logged.called = None
            _log.warning("a call in round %s could not be counted: %s", round_text, error)
            return "not counted"

    async def _answer(self, round_id: Any, name: str, first: frozenset[str] | None) -> Counted:
        try:
            await self._do("hit", round_id, name)
        except NotShown:
            await self._do("more", round_id)  # all the rest, so that its score is known
            try:
                await self._do("hit", round_id, name)
            except NotShown:
                await self._do("miss", round_id)
                return "miss"
            return "measured miss"
        return "hit" if first is None or name in first else "measured miss"

    def _id(self, round_text: str) -> Any:
        """Return the lister's id of a round: a lister numbers them, a service has strings."""
        logged = self._rounds.get(round_text)
        if logged is not None:
            return logged.round_id
        return int(round_text) if round_text.isdecimal() and len(round_text) < 19 else round_text

    async def _do(self, verb: str, *arguments: Any) -> Any:
        work: Callable[..., Any] = getattr(self._lister, verb)
        result = await anyio.to_thread.run_sync(partial(work, *arguments)) if self._waits else work(*arguments)
        result = await result if inspect.isawaitable(result) else result
        if self._save is not None:
            async with self._saving:  # one after the other: the file never gets older
                try:
                    await anyio.to_thread.run_sync(self._save)
                except ShortlistError as error:
                    _log.warning("what was learned could not be saved, which the next call tries again: %s", error)
        return result


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
        except ValueError:
            raise InvalidParameter(f"arguments is {given[:80]!r}; it must be an object, as in the schema") from None
    if not isinstance(given, dict):
        raise InvalidParameter(f"arguments is {given!r}; it must be an object, as in the schema")
    return given


def error_result(message: str) -> CallToolResult:
    """Return an error as a tool result, for an agent to read."""
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)
