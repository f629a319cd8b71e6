"""The base of all adapters: from a framework's scored results to a shortlist. The way back is in `_feedback`.

A framework returns results with scores, in its own direction and cut off at its own top-k. Scores are
turned so that larger is better, and results are filtered here, because stores differ in > and >=. A
search must work the same way in every round: always the same number of results, never one that depends
on the threshold, because scores that depend on the whole list would then change with what was learned. What
the search may have left out is reported to the lister, so that a list that may lack something says so. With several
searches, each has its own scores, and its own report of what it left out.
"""

import asyncio
import dataclasses
import inspect
import itertools
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from shortlist._validation import Member
from shortlist.errors import InvalidInput, InvalidParameter, InvalidScores
from shortlist.integrations._candidates import Candidates, SearchResult, distinct, merge, numbers
from shortlist.listers.grouped import GroupedShortlister
from shortlist.listers.protocol import Lister
from shortlist.rounds.shown import More, Shown, to_null

__all__ = [
    "NOTES",
    "Adapter",
    "Candidates",
    "SearchResult",
    "ShownList",
    "check_searches",
    "plain_call",
    "waiting_call",
]

Item = TypeVar("Item")

#: The number of lists whose rest is kept, for `more`.
_KEPT: Final = 1_000
#: The key of an item's metadata under which everything stands that is added to it.
NOTES: Final = "shortlist"
#: So many results whose scores rise, each above the one before, are distances, in whatever order a search returns
#: them: by chance one list in 40,000 does. Of a search that returns the best first, two are enough.
_MANY: Final = 8
#: Scores that differ by less, relatively, are the same for this.
_ALIKE: Final = 1e-6


class ShownList(list[Item]):
    """The results of one list, best first: a list that knows its round, also if it is empty.

    Attributes
    ----------
    round_id
        The round, for its answer.
    threshold
        The threshold of the list.
    truncated
        Whether it may lack a result that reaches the threshold.
    """

    def __init__(self, items: Iterable[Item] = (), shown: Shown | None = None) -> None:
        super().__init__(items)
        # A framework may copy a list by its type alone: then it is any list.
        self.round_id = None if shown is None else shown.round_id
        self.threshold = -math.inf if shown is None else shown.threshold
        self.truncated = shown is not None and shown.truncated


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
    autosave
        A file that a lister of this process is saved to after every change.
    """

    def __init__(
        self,
        lister: Lister,
        *,
        higher_is_better: bool | Mapping[str, bool] = True,
        autosave: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(lister, GroupedShortlister):
            raise InvalidParameter(
                f"lister is {lister!r}, which needs a group with every list; use one adapter and one lister per group"
            )
        if isinstance(lister, type) or not isinstance(lister, Lister):
            raise InvalidParameter(f"lister is {lister!r}; it must be a Shortlister, a Client or an AsyncClient")
        self.lister = lister
        # Only a service stores texts, and only a service has to be waited for.
        self._is_remote = "texts" in inspect.signature(lister.propose).parameters
        if autosave is not None and self._is_remote:
            raise InvalidParameter(
                f"autosave is {str(autosave)!r}, and lister is {lister!r}: a service stores everything by itself; "
                "leave autosave out"
            )
        directions = higher_is_better.values() if isinstance(higher_is_better, Mapping) else [higher_is_better]
        if not all(isinstance(one, bool) for one in directions):
            raise InvalidParameter(
                f"higher_is_better is {higher_is_better!r}; it must be True, or False for distances, or one of them "
                "per search by name"
            )
        self._higher_is_better, self._autosave, self._saving = higher_is_better, autosave, threading.Lock()
        # The searches that are known to have their scores in the right direction.
        self._directed: set[str] = set()
        # The lists that left something out, latest last.
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_async(self) -> bool:
        """Whether the lister's verbs must be awaited."""
        return asyncio.iscoroutinefunction(self.lister.propose)

    def save(self) -> None:
        """Write the lister to its file, if it has one; the latest change is in the latest file."""
        if self._autosave is not None:
            with self._saving:
                self.lister.save(self._autosave)  # type: ignore[attr-defined]

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
        return merge({name: self._turned(each, name) for name, each in searches.items()}, identify)

    def _turned(self, results: SearchResult[Item], search: str) -> SearchResult[Item]:
        """Return results with scores for which larger is better, or raise if they are in the other direction."""
        values = self.oriented(results.scores, search)
        if search not in self._directed and self._is_reversed(values, search, best_first=results.best_first):
            of, now = f" of the search {search!r}" if search else "", self.sign(search) > 0
            advice = "these are distances: set higher_is_better=False" if now else "leave higher_is_better out"
            if isinstance(self._higher_is_better, Mapping) or search:
                advice += f", or higher_is_better={{{search!r}: {not now}}} for this search alone"
            raise InvalidScores(
                f"the scores{of} {'rise' if now else 'fall'} from {results.scores[0]} for the first result to "
                f"{results.scores[-1]} for the last, and {'larger' if now else 'smaller'} is better here; {advice}"
            )
        return results._replace(scores=values)

    def _is_reversed(self, values: list[float], search: str, *, best_first: bool) -> bool:
        """Return whether scores are in the wrong direction; once in the right one, a search is not asked again."""
        if len(values) < 2 or abs(values[0] - values[-1]) <= _ALIKE * max(map(abs, values)):
            return False
        steps = list(itertools.pairwise(values))
        if all(one >= other for one, other in steps):
            self._directed.add(search)
        if best_first:
            return all(one <= other for one, other in steps)
        return len(values) >= _MANY and all(one < other for one, other in steps)

    def single(self, results: SearchResult[Item], ids: Sequence[Any]) -> Candidates[Item]:
        """Return the results of one search as candidates."""
        values = list(self._turned(results, "").scores)
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
        if self.is_async:
            raise InvalidInput(
                f"lister is {self.lister!r}, whose verbs have to be awaited: call the asynchronous method (ainvoke, "
                "aretrieve, run_async), or give a Client"
            )
        shown = self.lister.propose(**self._arguments(candidates, words))
        self.save()
        return self._take(candidates, shown)

    async def offer_async(self, candidates: Candidates[Item], **words: Any) -> tuple[Shown, list[Item]]:
        """Do the same without blocking the loop."""
        return self._take(candidates, await self.call_async("propose", **self._arguments(candidates, words)))

    def more(self, round_id: Any, count: int | None) -> tuple[Shown, list[Any]]:
        """Show more of a list; return the new part and its items, best first."""
        more = self.lister.more(round_id, count)
        self.save()
        return self._take_more(round_id, more)

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
        shown = dataclasses.replace(
            kept.shown, members=more.members, scores=scores, truncated=more.truncated, comparable=None, kept=None
        )
        return shown, [kept.items[member] for member in more.members]

    async def call_async(self, verb: str, *arguments: Any, **named: Any) -> Any:
        """Call one of the lister's verbs: awaited, in a thread if it waits for a network, or directly."""
        work: Callable[..., Any] = getattr(self.lister, verb)
        if self.is_async:
            return await work(*arguments, **named)
        if self._is_remote:
            return await asyncio.to_thread(work, *arguments, **named)
        result = work(*arguments, **named)
        if self._autosave is not None:
            await asyncio.to_thread(self.save)
        return result

    def _take(self, candidates: Candidates[Item], shown: Shown) -> tuple[Shown, list[Item]]:
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
        """Return what to write into the metadata of each item shown, under one key."""
        threshold = to_null(shown.threshold)
        comparable = shown.comparable or (None,) * len(shown.members)
        kept = len(shown.members) if shown.kept is None else shown.kept
        return [
            {
                NOTES: {
                    "round_id": shown.round_id,
                    "member": member,
                    "score": value,
                    "scores": self._as_given(score),
                    "threshold": threshold,
                    "truncated": shown.truncated,
                    "kept": i < kept,
                }
            }
            for i, (member, score, value) in enumerate(zip(shown.members, shown.scores, comparable, strict=True))
        ]

    def _as_given(self, score: Any) -> dict[str, Any]:
        """Return scores as the searches gave them, None where one has none."""
        each = score if isinstance(score, dict) else {"score": score}
        sign = self.sign if isinstance(score, dict) else lambda _: self.sign()
        return {name: None if math.isnan(value) else sign(name) * value for name, value in each.items()}


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
