"""What all adapters share: from a framework's scored results to a shortlist, and from a result to its answer.

A framework hands over results with scores, in its own direction and cut off at its own top-k. Scores
are turned so that larger is better, results are filtered here (stores differ in > and >=), and what a
store has cut off is told to the lister, so that a list whose promise does not hold says so.
"""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from shortlist.candidates import Member
from shortlist.errors import InvalidInput, InvalidParameter, InvalidScores
from shortlist.lister import Shown
from shortlist.shortlister import Shortlister

__all__ = ["Answering", "Found", "Offering", "check_comparable", "fetch", "fetch_async"]

Item = TypeVar("Item")

#: How often the number of results is doubled at most: 2^5 times as many as asked for at first.
_DOUBLINGS: Final = 5


class Found(NamedTuple, Generic[Item]):
    """What a store has found."""

    items: Sequence[Item]
    #: As the store gives them.
    scores: Sequence[float]
    #: Whether the store may have more.
    more: bool


def check_comparable(rank_fusion: bool) -> None:
    """Refuse scores that mean nothing from one query to the next."""
    if rank_fusion:
        raise InvalidParameter(
            "rank_fusion is True: scores of reciprocal rank fusion say only who came first in each list, and are the "
            "same for a good query and a bad one, so no threshold on them can be learnt; put the adapter before the "
            "fusion, or score the fused documents anew with a reranker"
        )


class Offering:
    """A lister, local or remote, as an adapter uses it.

    Parameters
    ----------
    lister
        A `shortlist.Shortlister`, a `shortlist.Client` or a `shortlist.AsyncClient`.
    higher_is_better
        False for distances.
    """

    def __init__(self, lister: Any, *, higher_is_better: bool = True) -> None:
        if not hasattr(lister, "propose"):
            raise InvalidParameter(f"lister is {lister!r}; it must be a Shortlister or a Client")
        self.lister = lister
        self.sign = 1.0 if higher_is_better else -1.0
        # The threshold of a remote lister, as far as it is known and can be compared with a store's scores.
        self._remote: float | None = None
        self._asked = isinstance(lister, Shortlister)
        self._last: contextvars.ContextVar[Any] = contextvars.ContextVar("last_round_id", default=None)

    @property
    def is_async(self) -> bool:
        """Whether the lister's verbs must be awaited."""
        return asyncio.iscoroutinefunction(self.lister.propose)

    @property
    def last_round_id(self) -> Any:
        """The last round of this thread or task: for a list that is empty, and has no document to ask."""
        return self._last.get()

    def turned(self, scores: Sequence[float | None]) -> list[float]:
        """Return scores of which larger is better."""
        for place, score in enumerate(scores):
            if score is None:
                raise InvalidScores(f"result {place} has no score; shortlist needs the score of every result")
        return [self.sign * float(score) for score in scores if score is not None]

    def enough(self, found: Found[Any]) -> bool:
        """Return whether the store needs not be asked for more: nothing that it has can reach the threshold."""
        if not found.more:
            return True
        if not found.items:
            return False
        values = self.turned(found.scores)
        if isinstance(self.lister, Shortlister):
            return not self.lister.would_truncate(values, min(values))
        # Scores that the service makes anew cannot be compared here; it marks the list if it must.
        return self._remote is None or self._remote >= min(values)

    def ask(self) -> None:
        """Ask a remote lister for its threshold, the first time."""
        if not self._asked:
            self._learn(self.lister.summary())

    async def ask_async(self) -> None:
        """Do the same without blocking the loop."""
        if not self._asked:
            self._learn(await self.call_async("summary"))

    def _learn(self, summary: dict[str, Any]) -> None:
        self._asked = True
        if summary["settings"]["score"] == "raw":
            self._remote = float(summary["threshold"])

    def _arguments(self, found: Found[Any], ids: Sequence[Any], words: dict[str, Any]) -> dict[str, Any]:
        values = self.turned(found.scores)
        arguments: dict[str, Any] = {
            "scores": values,
            "ids": _distinct(ids),
            "truncated_below": min(values) if found.more else None,
        }
        if not isinstance(self.lister, Shortlister):
            arguments |= words  # only a service keeps what people read
        return arguments

    def offer(self, found: Found[Item], ids: Sequence[Any], **words: Any) -> tuple[Shown | None, list[Item]]:
        """Show a list; return it, and its items, best first. A store that finds nothing shows nothing."""
        if not found.items:
            return None, []
        arguments = self._arguments(found, ids, words)
        return self._take(found, arguments["ids"], self.lister.propose(**arguments))

    async def offer_async(
        self, found: Found[Item], ids: Sequence[Any], **words: Any
    ) -> tuple[Shown | None, list[Item]]:
        """Do the same without blocking the loop."""
        if not found.items:
            return None, []
        arguments = self._arguments(found, ids, words)
        return self._take(found, arguments["ids"], await self.call_async("propose", **arguments))

    async def call_async(self, verb: str, *arguments: Any, **named: Any) -> Any:
        """Call one of the lister's verbs: awaited, in a thread where it waits for a network, or at once."""
        work: Callable[..., Any] = getattr(self.lister, verb)
        if self.is_async:
            return await work(*arguments, **named)
        if isinstance(self.lister, Shortlister):
            return work(*arguments, **named)
        return await asyncio.to_thread(work, *arguments, **named)

    def _take(self, found: Found[Item], ids: list[Member], shown: Shown) -> tuple[Shown, list[Item]]:
        self._last.set(shown.round_id)
        if self._remote is not None:
            self._remote = shown.threshold
        by_id = dict(zip(ids, found.items, strict=True))
        return shown, [by_id[member] for member in shown.members]

    def notes(self, shown: Shown) -> list[dict[str, Any]]:
        """Return what to write into the metadata of each item shown."""
        threshold = None if shown.threshold == float("-inf") else shown.threshold
        return [
            {
                "round_id": shown.round_id,
                "member": member,
                "score": self.sign * score,
                "threshold": threshold,
                "truncated": shown.truncated,
            }
            for member, score in zip(shown.members, shown.scores, strict=True)
        ]


class Answering:
    """The verbs of an adapter: from something that was shown to its answer, in one line."""

    _offering: Offering

    @staticmethod
    def _notes_of(item: Any) -> Any:
        """Return the metadata of something that was shown."""
        raise NotImplementedError

    def _answered(self, item: Any) -> tuple[Any, Member]:
        notes = self._notes_of(item)
        if "round_id" not in notes or "member" not in notes:
            raise InvalidInput(f"this was not shown by a {type(self).__name__}: its metadata has no round_id")
        return notes["round_id"], notes["member"]

    @property
    def last_round_id(self) -> Any:
        """The last round of this thread or task; for a list that was empty."""
        return self._offering.last_round_id

    def summary(self) -> Any:
        """Return what was learnt, which score is in use and why."""
        return self._offering.lister.summary()

    def hit(self, item: Any) -> None:
        """Say that this one was right."""
        self._offering.lister.hit(*self._answered(item))

    def miss(self, round_id: Any) -> None:
        """Say that the right one was not in the list."""
        self._offering.lister.miss(round_id)

    def skip(self, round_id: Any) -> None:
        """Say that no answer will come."""
        self._offering.lister.skip(round_id)

    def absent(self, round_id: Any) -> None:
        """Say that none at all is right."""
        self._offering.lister.absent(round_id)

    async def ahit(self, item: Any) -> None:
        """Say that this one was right, without blocking the loop."""
        await self._offering.call_async("hit", *self._answered(item))

    async def amiss(self, round_id: Any) -> None:
        """Say that the right one was not in the list, without blocking the loop."""
        await self._offering.call_async("miss", round_id)


def fetch(search: Callable[[int], Found[Item]], offering: Offering, fetch_k: int, most: int | None) -> Found[Item]:
    """Search, and ask for twice as many until what is missing cannot reach the threshold."""
    offering.ask()
    found = search(fetch_k)
    for k in _steps(fetch_k, most):
        if offering.enough(found):
            break
        found = search(k)
    return found


async def fetch_async(search: Callable[[int], Any], offering: Offering, fetch_k: int, most: int | None) -> Found[Any]:
    """Do the same with a search that is awaited."""
    await offering.ask_async()
    found: Found[Any] = await search(fetch_k)
    for k in _steps(fetch_k, most):
        if offering.enough(found):
            break
        found = await search(k)
    return found


def _steps(fetch_k: int, most: int | None) -> list[int]:
    limit = fetch_k * 2**_DOUBLINGS if most is None else most
    steps = []
    k = fetch_k
    while k < limit:
        k = min(2 * k, limit)
        steps.append(k)
    return steps


def _distinct(ids: Sequence[Any]) -> list[Member]:
    """Return the ids, or positions where they are missing or the same."""
    known = [identity for identity in ids if isinstance(identity, (str, int)) and not isinstance(identity, bool)]
    return list(known) if len(set(known)) == len(ids) else list(range(len(ids)))
