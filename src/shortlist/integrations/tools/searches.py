"""The search for tools that agents use, and what each search led to.

A search is a round, and the calls that follow are its answer:

- A call belongs to the search that it names; without a name, to the latest search of its session that showed the tool,
  or else to the latest one.
- A search is answered when its session searches again, when the session ends, or after `patience` later searches: every
  tool that was called counts. Calls that failed count only if no other call succeeded.
- Tools that a search led to are also the answer to earlier searches of the session that led to no call: an agent that
  does not find what it needs asks again. Searches that did lead to a call keep their own answer.
- A call of a tool that the search could not find, because it is another of the agent's tools or its server was away,
  says nothing about the list.
- A search that led to no call, and was followed by none that did, is a miss after `patience` later searches. Silence
  may mean anything, so it can only lengthen lists, up to the cap.
- A list that the cap cut short and that did not have the tool is a miss too. Elsewhere the score of a tool that was
  found later is used: *measured* misses say how far the list was from having it.
"""

import contextlib
import copy
import inspect
import itertools
import logging
import secrets
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import check_count
from shortlist.errors import (
    InvalidIds,
    InvalidParameter,
    NotShown,
    RoundClosed,
    ServiceUnavailable,
    ShortlistError,
    UnknownRound,
)
from shortlist.integrations.tools.figures import Outcome, SearchFigures, is_event
from shortlist.integrations.tools.ranking import Embed, Ranking
from shortlist.integrations.tools.tool import Tool
from shortlist.listers.protocol import Lister
from shortlist.listers.shortlister import Shortlister

__all__ = ["DEFAULTS", "ToolSearch", "ToolShortlist"]

_log = logging.getLogger("shortlist.tools")

#: Of many tools the lister gets those that are among the best so many by a scorer: no list is that long, and each list
#: is kept for a while, or written to the log of a service.
_LIKELY: Final = 100
#: The settings of a lister for agents: ten tools at the most, at least one; and an agent calls a tool soon or never.
DEFAULTS: Final[Mapping[str, Any]] = {"coverage": 0.9, "at_most": 10, "at_least": 1, "patience": 20, "keep": 1_000}


@dataclass
class ToolSearch:
    """A search, and what it has led to so far.

    Attributes
    ----------
    key
        Its name: pass it back with calls.
    round_id
        The lister's id of it; None if it has none, because the lister was unavailable.
    session
        The session that searched.
    number
        How many searches came before it.
    names
        The tools in its list, best first.
    of
        How many tools there were.
    is_cut
        Whether the cap left out tools that reach the threshold.
    candidates
        The names of all tools there were; None after a restart, and once it was answered.
    listed, shown
        What the lister has shown, and what the agent has seen: the cap may leave out a tool for one that was named.
    rest
        What `more` shows next, best first, before it asks the lister.
    beyond
        What it shows in the end: tools that the lister does not have.
    called
        The tools that were called: how many calls of each succeeded.
    has_words
        Whether any two tools have different scores: otherwise the order is that of the tools.
    is_expanded, is_answered
        Whether the agent asked for more, and whether what it led to was counted.
    """

    key: str
    round_id: str | None
    session: str
    number: int
    names: list[str]
    of: int
    is_cut: bool = False
    candidates: frozenset[str] | None = None
    listed: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    rest: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    called: dict[str, int] = field(default_factory=dict)
    has_words: bool = True
    is_expanded: bool = False
    is_answered: bool = False

    def take(self, name: str, *, failed: bool, reported: bool) -> None:
        """Take a call; one that was reported before has turned out to fail.

        Parameters
        ----------
        name
            The tool.
        failed, reported
            As for `ToolShortlist.called`.
        """
        before = self.called.get(name, 0)
        self.called[name] = max(0, before - 1) if failed and reported else before + (not failed)

    @property
    def hidden(self) -> int:
        """How many tools the agent has not seen."""
        return max(0, self.of - len(self.shown))

    @property
    def right(self) -> list[str]:
        """The tools that it led to."""
        return [name for name, succeeded in self.called.items() if succeeded] or list(self.called)


class ToolShortlist:
    """A search for tools that learns from calls how many to show: never more than ten, from the first search on.

    The search of an agent framework (Pydantic AI's ``ToolSearch``, a FastMCP search transform) or of a loop of your
    own; `shortlist mcp` is built on it. Tools are scored by BM25 and, with `embed`, by the cosine of embeddings. How
    the two are weighted, and how many tools are shown, is learned from calls.

    Parameters
    ----------
    tools
        The tools: `Tool`, or in the shape of a framework or an API (`Tool.of`). May be left out if each search
        passes its own.
    lister
        The lister that cuts the lists; by default ``Shortlister(coverage=0.9, at_most=10, at_least=1, patience=20)``. A
        `Client` shares what is learned among processes.
    at_most
        The cap where the lister is a client; by default 10. Of a local lister it can only be lowered.
    embed
        A function from texts to vectors, such as `endpoint` or `local_model` return.
    on_event
        Called with each event of a search, before what it tells of is acknowledged; see `SearchFigures`.

    Examples
    --------
    >>> tools = ToolShortlist([Tool("refund", "Refund an order."), Tool("ship", "Ship an order.")])
    >>> tools.search("give the money for this order back: refund it")[0]
    'refund'
    >>> tools.called("refund")
    >>> tools.end()
    >>> tools.summary().hits
    1
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        lister: Lister | None = None,
        embed: Embed | None = None,
        *,
        at_most: int | None = None,
        on_event: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self._tools = _checked(tools)
        self._lister = Shortlister(**DEFAULTS) if lister is None else lister
        self._ranking = Ranking(embed)
        most = None if at_most is None else check_count("at_most", at_most)
        self._cap, self._patience, self._keep = _limits(self._lister, self.scorers, most)
        self._on_event = on_event
        self._figures = SearchFigures()
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        # Sessions of another process never continue here.
        self._process = secrets.token_hex(4)
        # The tools of the latest search, and their names, which are those of most searches.
        self._latest: dict[str, Tool] = {}
        self._names = frozenset[str]()
        # The last searches by key, and those of them that wait for calls, oldest first.
        self._searches: OrderedDict[str, ToolSearch] = OrderedDict()
        self._open: OrderedDict[str, ToolSearch] = OrderedDict()
        # Answers that a service could not take.
        self._due: deque[tuple[ToolSearch, list[str]]] = deque()

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names of the scorers."""
        return self._ranking.scorers

    def scores(self, query: str, tools: Sequence[Tool]) -> dict[str, NDArray[np.float64]]:
        """Return how well each tool fits a task; a subclass may score in another way.

        Parameters
        ----------
        query
            The task.
        tools
            The tools.

        Returns
        -------
        dict[str, NDArray[np.float64]]
            One number per tool for each of `scorers`, larger is better; NaN where it has none.
        """
        return self._ranking.scores(query, tools)

    def search(self, query: str, *, session: str | None = "", tools: Iterable[Any] | None = None) -> list[str]:
        """Return the names of the tools for a task, best first.

        Parameters
        ----------
        query
            What the agent wants to do.
        session
            The conversation: a tool found by a later search of the same one tells what an earlier one missed. None:
            unknown, and unrelated to any other search.
        tools
            The tools that exist now; by default those of the constructor.

        Returns
        -------
        list[str]
            The names, at most as many as the lister's `at_most`. A tool whose exact name is in the query is first.

        Raises
        ------
        InvalidParameter
            If the query is empty, there are no tools, or two have the same name.
        """
        return list(self.find(query, session=session, tools=tools).names)

    def find(self, query: str, *, session: str | None = "", tools: Iterable[Any] | None = None) -> ToolSearch:
        """Return a search as a record, with its key: for agents that say to which search a call belongs.

        Parameters
        ----------
        query, session, tools
            As for `search`.

        Returns
        -------
        ToolSearch
            The search.

        Raises
        ------
        InvalidParameter
            As for `search`.
        """
        if not isinstance(query, str) or not query.strip():
            raise InvalidParameter(f"the task is {query!r}; say in a sentence what you want to do")
        present = self._tools if tools is None else _checked(tools)
        by_name = {tool.name: tool for tool in present}
        if not present:
            raise InvalidParameter("there are no tools to choose from; pass some")
        if len(by_name) < len(present):
            twice = Counter(tool.name for tool in present).most_common(1)[0][0]
            raise InvalidParameter(f"two tools are called {twice!r}; give each its own name")
        scores, all_tokens = self.scores(query, present), sum(tool.tokens for tool in present)
        with self._lock:
            self._give_due()
            number = next(self._numbers)
            session = f"{self._process}-{number}" if session is None else session
            self._settle([each for each in self._open.values() if each.session == session and each.called])
            self._give_up(number)
        search = self._listed(scores, list(by_name), session, number)
        named = [tool.name for tool in present if tool.is_named_in(query)]
        best = [*named, *(name for name in search.names if name not in named)]
        search.names, search.rest = best[: self._cap], best[self._cap :]
        search.has_words = bool(named) or any(_differ(values) for values in scores.values())
        search.shown.update(search.names)
        with self._lock:
            self._latest = by_name
            if by_name.keys() != self._names:
                self._names = frozenset(by_name)
            search.candidates = self._names
            self._tell(
                do="find",
                search=search.key,
                round=search.round_id,
                session=session,
                of=len(present),
                names=search.names,
                named=[name for name in named if name in search.names and name not in search.listed],
                cut=search.is_cut,
                all_tokens=all_tokens,
                tokens=sum(by_name[name].tokens for name in search.names),
            )
            self._keep_search(search)
        return search

    def _listed(self, scores: dict[str, Any], names: list[str], session: str, number: int) -> ToolSearch:
        """Return the list of the lister; if there is none, the best by words."""
        best_first = [names[i] for i in np.argsort(-next(iter(scores.values())), kind="stable")]
        likely = _likely(scores)
        beyond = set(names) - {names[i] for i in likely}
        search = ToolSearch(f"{self._process}-{number}", None, session, number, best_first, len(names))
        try:
            table = {name: values[likely] for name, values in scores.items()}
            shown: Any = self._lister.propose(table, [names[i] for i in likely])
        except ShortlistError as error:
            _log.warning("a search is by words, and does not count: %s", error)
            return search
        if not shown.fallback:  # the service was there, and in time
            search.key = search.round_id = str(shown.round_id)
            search.names, search.beyond = list(shown.members), [name for name in best_first if name in beyond]
            # A stream's own cap may be above ours: what we cut off was not shown.
            search.is_cut = bool(shown.truncated) or len(search.names) > self._cap
            search.listed = set(search.names[: self._cap])
        return search

    def more(self, key: str | None = None, *, session: str = "", count: int = 10) -> list[str]:
        """Return the next tools of a list, best first.

        Parameters
        ----------
        key
            The search; by default the latest of the session.
        session
            The conversation.
        count
            How many, at most.

        Returns
        -------
        list[str]
            Their names; none if all have been shown.

        Raises
        ------
        UnknownRound
            If there is no such search.
        RoundClosed
            If what it led to was counted already.
        """
        count = check_count("count", count)
        with self._lock:
            search = self._of(key, session)
            if search.is_answered:
                raise RoundClosed(f"search {search.key} is over, because others followed it: search again for more")
            again = search.is_expanded
            new = self._next(search, count)
            if new:
                tokens = sum(self._latest[name].tokens for name in new if name in self._latest)
                self._tell(do="more", search=search.key, names=new, tokens=tokens, again=again)
            return new

    def _next(self, search: ToolSearch, count: int) -> list[str]:
        """Return the next tools; those that the query named have been shown already."""
        search.is_expanded = True
        while len(search.rest) < count and search.round_id is not None:
            try:
                more: Any = self._lister.more(search.round_id, count)
            except ShortlistError as error:
                _log.warning("no more tools can be shown: %s", error)
                break
            if not more.members:
                search.rest += [name for name in search.beyond if name not in search.shown]
                search.beyond = []
                search.of = min(search.of, len(search.shown) + len(search.rest))  # a restart may have forgotten some
                break
            search.listed.update(more.members)
            search.rest += [name for name in more.members if name not in search.shown]
        new, search.rest = search.rest[:count], search.rest[count:]
        search.shown.update(new)
        return new

    def called(
        self,
        name: str,
        *,
        key: str | None = None,
        session: str | None = "",
        failed: bool = False,
        reported: bool = False,
    ) -> None:
        """Take note that the agent called a tool.

        Parameters
        ----------
        name
            The tool.
        key
            The search in which it was found; by default the latest of the session that showed it, or else the latest.
        session
            The conversation; None if it is unknown: then the latest search of any that showed the tool.
        failed
            Whether the call failed. One that succeeds once has succeeded.
        reported
            Whether this call was reported before it was known to fail.

        Raises
        ------
        UnknownRound
            If `key` is no search.
        """
        if not isinstance(name, str):
            raise InvalidParameter(f"the tool is {name!r}; report one call at a time, by the tool's name")
        with self._lock:
            try:
                search = self._of(key, session, name)
            except UnknownRound:
                if key is not None:
                    raise
                if any(name in each.shown for each in self._open.values()):
                    _log.warning("a call of %s says nothing: session %r has not searched, others have", name, session)
                return
            counts = not search.is_answered and (search.candidates is None or name in search.candidates)
            self._tell(do="call", search=search.key, tool=name, failed=failed, reported=reported, counts=counts)
            if counts:
                search.take(name, failed=failed, reported=reported)

    def end(self, session: str | None = None) -> None:
        """Answer the searches of a session that led to calls: it has ended, and the next search is of another one.

        Parameters
        ----------
        session
            The conversation; by default all of them.
        """
        with self._lock:
            self._give_due()
            self._settle([one for one in self._open.values() if session in (None, one.session) and one.called])
            for each in self._searches.values():
                if session in (None, each.session):
                    each.session = f"{self._process}-{each.key}"  # later calls and tools say nothing about it

    def summary(self) -> SearchFigures:
        """Return what searches showed and what they led to, since this object was created.

        Returns
        -------
        SearchFigures
            The figures; `lines` has them in words.
        """
        with self._lock:
            return copy.copy(self._figures)

    def resume(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Continue from the events of an earlier process: answer what led to calls, keep waiting for the rest.

        What was answered is answered again, in case the lister was not saved after it: the same answer changes nothing.
        Sessions that have a name go on.

        Parameters
        ----------
        events
            The events, in order.

        Raises
        ------
        InvalidParameter
            If one of them is no event.
        """
        answers: list[tuple[ToolSearch, list[str]]] = []
        with self._lock:
            for event in events:
                if not is_event(event):
                    raise InvalidParameter(f"{str(event)[:200]} is no event of a search, as on_event gets them")
                self._figures.add(event)
                key = event["search"]
                if event["do"] == "find":
                    names, number = list(event["names"]), next(self._numbers)
                    session = event["session"] or f"{self._process}-before"
                    search = ToolSearch(key, event["round"], session, number, names, event["of"], event["cut"])
                    search.listed, search.shown = set(names) - set(event["named"]), set(names)
                    self._keep_search(search)
                elif (earlier := self._searches.get(key)) is not None:
                    if event["do"] == "more":
                        earlier.listed.update(event["names"])
                        earlier.shown.update(event["names"])
                        earlier.is_expanded = True
                    elif event["do"] == "answer":
                        self._close(earlier)
                        answers.append((earlier, event["right"]))
                    elif event["counts"]:
                        earlier.take(event["tool"], failed=event["failed"], reported=event["reported"])
            for search, right in answers[-self._keep :]:
                with contextlib.suppress(ShortlistError):  # most are answered, and some are not kept any more
                    if search.round_id is not None:
                        self._give(search, right)
            self._settle([each for each in self._open.values() if each.called])

    def hidden(self, key: str) -> int:
        """Return how many tools a search has not shown yet.

        Parameters
        ----------
        key
            The search.

        Returns
        -------
        int
            How many.

        Raises
        ------
        UnknownRound
            If there is no such search.
        """
        with self._lock:
            return self._of(key, "").hidden

    # What a search led to.

    def _of(self, key: str | None, session: str | None, name: str | None = None) -> ToolSearch:
        """Return a search by its key, or that of a session in which a tool was shown."""
        if key is not None:
            search = self._searches.get(key) if isinstance(key, str) else None
            if search is None:
                raise UnknownRound(f"search {key!r} is unknown; search first, and pass on the key that it returns")
            return search
        latest: ToolSearch | None = None
        for each in reversed(self._searches.values()):
            if session in (None, each.session):
                latest = latest or each
                if name is None or name in each.shown:
                    return each
        if latest is None or session is None:
            raise UnknownRound(f"session {session!r} has not searched yet")
        return latest

    def _keep_search(self, search: ToolSearch) -> None:
        self._searches[search.key] = search
        self._open[search.key] = search
        while len(self._searches) > self._keep:
            key, _ = self._searches.popitem(last=False)
            self._open.pop(key, None)

    def _give_up(self, number: int) -> None:
        """Answer searches that have waited for `patience` later ones."""
        late = [each for each in self._open.values() if each.number < number - self._patience]
        self._settle([each for each in late if each.called])
        for each in late:
            if not each.is_answered:
                self._answer(each, [])

    def _settle(self, searches: list[ToolSearch]) -> None:
        """Answer searches that led to calls, and before them those of their sessions that did not."""
        for search in searches:
            right = search.right
            for each in list(self._open.values()):
                if each.session == search.session and each.number < search.number and not each.called:
                    self._answer(each, right)
            self._answer(search, right)

    def _answer(self, search: ToolSearch, right: list[str]) -> None:
        """Answer the round of a search, and say what it led to."""
        self._close(search)
        try:
            outcome = "not counted" if search.round_id is None else self._give(search, right)
        except ServiceUnavailable as error:
            _log.warning("what search %s led to is counted later: %s", search.key, error)
            self._due.append((search, right))
            return
        except ShortlistError as error:
            _log.warning("what search %s led to could not be counted: %s", search.key, error)
            outcome = "not counted"
        self._tell(do="answer", search=search.key, right=right, **{"as": outcome})

    def _give_due(self) -> None:
        """Give the answers that a service could not take, until it cannot again."""
        for _ in range(len(self._due)):
            before = len(self._due)
            self._answer(*self._due.popleft())
            if len(self._due) == before:
                return

    def _give(self, search: ToolSearch, right: list[str]) -> Outcome:
        lister, round_id = self._lister, search.round_id
        assert round_id is not None  # noqa: S101 - asked before
        answer: Any = right[0] if len(right) == 1 else right
        if not right:
            lister.miss(round_id)
            return "silent"
        outcome: Outcome = "hit" if set(right) <= set(search.names) else "found later"
        is_listed = search.listed.issuperset(right)
        if not is_listed and search.is_cut and not search.is_expanded:
            lister.miss(round_id)
            return outcome
        if not is_listed:
            lister.more(round_id)  # all the rest, so that its score is known
        try:
            lister.hit(round_id, answer)
        except (NotShown, InvalidIds):  # the lister does not have it
            lister.miss(round_id)
            return "found later"
        return outcome

    def _close(self, search: ToolSearch) -> None:
        search.is_answered, search.rest, search.beyond = True, [], []
        self._open.pop(search.key, None)

    def _tell(self, **event: Any) -> None:
        self._figures.add(event)
        if self._on_event is not None:
            self._on_event(event)


def _likely(scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.intp]:
    """Return the positions of the tools that a lister gets, in order: all, or of many the best of each scorer."""
    count = len(next(iter(scores.values())))
    if count <= _LIKELY * len(scores):
        return np.arange(count)
    return np.unique([np.argsort(-np.nan_to_num(values), kind="stable")[:_LIKELY] for values in scores.values()])


def _limits(lister: Any, scorers: tuple[str, ...], at_most: int | None) -> tuple[int, int, int]:
    """Return how many tools a lister shows at most, its patience, and how many rounds it keeps; refuse one without."""
    if not callable(getattr(lister, "propose", None)):
        raise InvalidParameter(f"the lister is {lister!r}; it must be a Shortlister or a Client")
    if inspect.iscoroutinefunction(lister.propose):
        raise InvalidParameter("the lister is an AsyncClient, which has to be awaited: pass a Client")
    settings = getattr(lister, "settings", None)
    if settings is None:  # a client: its stream has the settings
        return at_most or DEFAULTS["at_most"], DEFAULTS["patience"], DEFAULTS["keep"]
    for name, effect in (("explore_share", "shows every tool now and then"), ("shadow", "shows every tool")):
        if getattr(settings, name):
            raise InvalidParameter(
                f"the lister has {name} {getattr(settings, name)!r}, which {effect}: a prompt has no room for that; "
                "leave it out"
            )
    if settings.at_most is None:
        raise InvalidParameter(
            "the lister has no at_most: what a search returns goes into a prompt, so it needs a cap, such as at_most=10"
        )
    lister.preview(dict.fromkeys(scorers, (0.0, 0.0)))  # refused if it has learned from other scorers
    cap = min(settings.at_most, at_most or settings.at_most)
    return cap, min(settings.patience, settings.keep // 2), settings.keep


def _differ(scores: NDArray[np.float64]) -> bool:
    """Return whether not all scores are the same."""
    numbers = scores[np.isfinite(scores)]
    return numbers.size > 1 and bool((numbers != numbers[0]).any())


def _checked(tools: Any) -> list[Tool]:
    """Return tools as they are here, or raise."""
    if isinstance(tools, (str, Mapping, Tool)) or not isinstance(tools, Iterable):
        raise InvalidParameter(f"tools is {str(tools)[:80]}; it must be a list of tools")
    return [Tool.of(tool) for tool in tools]
