"""The base of all adapters: from a framework's scored results to a shortlist. The way back is in `_feedback`.

A framework returns results with scores, in its own direction and cut off at its own top-k. Scores are
turned so that larger is better, and results are filtered here, because stores differ in > and >=. A
search must work the same way in every round: always the same number of results, never one that depends
on the threshold, because scores that depend on the whole list would then change with what was learned. What
the search may have left out is reported to the lister, so that a list that may lack something says so. With several
searches, each has its own scores, and its own report of what it left out.
"""

import asyncio
import contextvars
import dataclasses
import inspect
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from shortlist._validation import Member
from shortlist.errors import InvalidInput, InvalidParameter
from shortlist.integrations._candidates import Candidates, SearchResult, distinct, merge, numbers
from shortlist.listers.grouped import GroupedShortlister
from shortlist.listers.protocol import Lister
from shortlist.rounds.shown import More, Shown, to_null

__all__ = ["Adapter", "Candidates", "SearchResult", "check_searches", "plain_call", "waiting_call"]

Item = TypeVar("Item")

#: The number of lists whose rest is kept, for `more`.
_KEPT: Final = 1_000


class _Last:
    """The last round of a thread or task, unless a copy of its context has opened a later one."""

    def __init__(self, round_id: Any) -> None:
        self.round_id, self.is_overtaken = round_id, False


class _Kept(NamedTuple):
    """A list whose rest can still be shown."""

    shown: Shown
    items: dict[Member, Any]
    scores: dict[Member, Any]


class Adapter:
    """A lister, local or remote, as an adapter uses it.

    Parameters
    ----------
    lister
        A `shortlist.Shortlister`, a `shortlist.Client` or a `shortlist.AsyncClient`.
    higher_is_better
        False for distances. With several searches, one per search by name; True by default.
    """

    def __init__(self, lister: Lister, *, higher_is_better: bool | Mapping[str, bool] = True) -> None:
        if isinstance(lister, GroupedShortlister):
            raise InvalidParameter(
                f"lister is {lister!r}, which needs a group with every list; use one adapter and one lister per group"
            )
        if isinstance(lister, type) or not isinstance(lister, Lister):
            raise InvalidParameter(f"lister is {lister!r}; it must be a Shortlister, a Client or an AsyncClient")
        self.lister = lister
        # Only a service stores texts, and only a service has to be waited for.
        self._is_remote = "texts" in inspect.signature(lister.propose).parameters
        self._higher_is_better = higher_is_better
        # The lists that left something out, latest last.
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._last: contextvars.ContextVar[_Last | None] = contextvars.ContextVar("last_round_id", default=None)

    @property
    def is_async(self) -> bool:
        """Whether the lister's verbs must be awaited."""
        return asyncio.iscoroutinefunction(self.lister.propose)

    @property
    def last_round_id(self) -> Any:
        """The last round of this thread or task: for an empty list, which has no document with metadata."""
        last = self._last.get()
        if last is not None and last.is_overtaken:
            raise InvalidInput(
                "a later list was shown inside a chain or another task, so the last round is not known here; take "
                "round_id from the metadata of a document, and give the lister at_least=1, so that no list is empty"
            )
        return None if last is None else last.round_id

    def sign(self, search: str = "") -> float:
        """Return 1 if larger scores of a search are better, and -1 if they are distances."""
        higher = self._higher_is_better
        return 1.0 if (higher.get(search, True) if isinstance(higher, Mapping) else higher) else -1.0

    def oriented(self, scores: Any, search: str = "", *, gaps: bool = False) -> list[float]:
        """Return scores for which larger is better."""
        return [self.sign(search) * value for value in numbers(scores, search, gaps=gaps)]

    def merged(
        self, searches: Mapping[str, SearchResult[Item]], identify: Callable[[Item], tuple[Any, str | None]]
    ) -> Candidates[Item]:
        """Return the results of several searches as one list of candidates; see `merge`."""
        turned = {name: each._replace(scores=self.oriented(each.scores, name)) for name, each in searches.items()}
        return merge(turned, identify)

    def single(self, results: SearchResult[Item], ids: Sequence[Any]) -> Candidates[Item]:
        """Return the results of one search as candidates."""
        values = self.oriented(results.scores)
        below = {"": min(values)} if results.more and values else {}
        return Candidates(list(results.items), distinct(ids), {"": values}, below)

    def table(
        self, items: list[Item], ids: Sequence[Any], scores: Mapping[str, Any], *, more: bool
    ) -> Candidates[Item]:
        """Return items with scores from several scorers, NaN where one has none, as candidates."""
        columns = {name: self.oriented(column, name, gaps=True) for name, column in scores.items()}
        scored = {name: [value for value in column if not math.isnan(value)] for name, column in columns.items()}
        below = {name: min(column) for name, column in scored.items() if column} if more else {}
        return Candidates(items, distinct(ids), columns, below)

    def _arguments(self, candidates: Candidates[Any], words: dict[str, Any]) -> dict[str, Any]:
        scores, below = candidates.scores, candidates.below
        alone = next(iter(scores)) if len(scores) == 1 else None
        arguments: dict[str, Any] = {
            "scores": scores if alone is None else scores[alone],
            "ids": candidates.ids,
            "truncated_below": (below or None) if alone is None else below.get(alone),
            "allow_empty": True,  # a search that finds nothing is a round too
        }
        if self._is_remote:
            arguments |= words
        return arguments

    def offer(self, candidates: Candidates[Item], **words: Any) -> tuple[Shown, list[Item]]:
        """Show a list; return it and its items, best first."""
        return self._take(candidates, self.lister.propose(**self._arguments(candidates, words)))

    async def offer_async(self, candidates: Candidates[Item], **words: Any) -> tuple[Shown, list[Item]]:
        """Do the same without blocking the loop."""
        return self._take(candidates, await self.call_async("propose", **self._arguments(candidates, words)))

    def more(self, round_id: Any, count: int | None) -> tuple[Shown, list[Any]]:
        """Show more of a list; return the new part and its items, best first."""
        return self._take_more(round_id, self.lister.more(round_id, count))

    async def more_async(self, round_id: Any, count: int | None) -> tuple[Shown, list[Any]]:
        """Do the same without blocking the loop."""
        return self._take_more(round_id, await self.call_async("more", round_id, count))

    def _take_more(self, round_id: Any, more: More) -> tuple[Shown, list[Any]]:
        with self._lock:
            kept = self._kept.get(round_id)
        if kept is None:
            if more.members:
                raise InvalidInput(
                    f"round {round_id!r} is not one of the last {_KEPT:,} lists of this adapter, and only their items "
                    f"are kept; the ids are {list(more.members)}"
                )
            return Shown(round_id, -math.inf, (), (), 0, 0), []  # all of it was shown
        scores = tuple(kept.scores[member] for member in more.members)
        shown = dataclasses.replace(kept.shown, members=more.members, scores=scores, truncated=more.truncated)
        return shown, [kept.items[member] for member in more.members]

    async def call_async(self, verb: str, *arguments: Any, **named: Any) -> Any:
        """Call one of the lister's verbs: awaited, in a thread if it waits for a network, or directly."""
        work: Callable[..., Any] = getattr(self.lister, verb)
        if self.is_async:
            return await work(*arguments, **named)
        if not self._is_remote:
            return work(*arguments, **named)
        return await asyncio.to_thread(work, *arguments, **named)

    def _take(self, candidates: Candidates[Item], shown: Shown) -> tuple[Shown, list[Item]]:
        if (before := self._last.get()) is not None:
            before.is_overtaken = True  # another context that sees it would take an older round for this one
        self._last.set(_Last(shown.round_id))
        items = dict(zip(candidates.ids, candidates.items, strict=True))
        scores = candidates.by_member()
        if len(shown.members) < len(items):
            with self._lock:
                self._kept[shown.round_id] = _Kept(shown, items, scores)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        own = tuple(scores[member] for member in shown.members)
        return dataclasses.replace(shown, scores=own), [items[member] for member in shown.members]

    def metadata(self, shown: Shown) -> list[dict[str, Any]]:
        """Return what to write into the metadata of each item shown."""
        threshold = to_null(shown.threshold)
        return [
            {
                "round_id": shown.round_id,
                "member": member,
                **self._as_given(score),
                "threshold": threshold,
                "truncated": shown.truncated,
            }
            for member, score in zip(shown.members, shown.scores, strict=True)
        ]

    def _as_given(self, score: Any) -> dict[str, Any]:
        """Return scores as the searches gave them, None where one has none; `score` is None with several searches."""
        if not isinstance(score, dict):
            return {"score": self.sign() * score}
        scores = {name: None if math.isnan(value) else self.sign(name) * value for name, value in score.items()}
        return {"score": next(iter(scores.values())) if len(scores) == 1 else None, "scores": scores}


def check_searches(what: str, searches: Any, higher_is_better: Any) -> None:
    """Refuse searches without names, and directions of searches that do not exist."""
    if not isinstance(searches, Mapping) or not searches or not all(isinstance(n, str) and n for n in searches):
        raise InvalidParameter(
            f"{what} is {searches!r}; give at least one by its name, such as {{'dense': ..., 'bm25': ...}}"
        )
    unknown = set(higher_is_better) - set(searches) if isinstance(higher_is_better, Mapping) else set()
    if unknown:
        raise InvalidParameter(
            f"higher_is_better names {min(unknown)!r}, and {what} are {', '.join(map(repr, searches))}"
        )


def plain_call(refusal: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function, and refuse one that has to be awaited."""
    result = function(*arguments, **named)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise InvalidInput(refusal)
    return result


async def waiting_call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function without blocking the loop: awaited if it can be, else in a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments, **named)
    result = await asyncio.to_thread(function, *arguments, **named)
    return await result if inspect.isawaitable(result) else result
