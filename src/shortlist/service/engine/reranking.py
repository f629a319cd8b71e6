"""Lists for callers that may never give feedback, such as tools that speak the protocol of a reranker.

Until a stream has had feedback, such a list is a draft: shown with as many candidates as were asked for, and kept in
this process only. The first feedback to a draft makes it a round, and from then on every list is one, on disk before it
is shown. So the silence of a tool that never says anything is not taken for misses, and fills no log.

Of drafts the last are kept, 200,000 candidates in all. One that was dropped, or lost in a restart, is an unknown round.
"""

import functools
import math
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from shortlist._validation import check_table
from shortlist.errors import ConflictingStream, InvalidParameter, UnknownRound
from shortlist.rounds.events import Listed
from shortlist.scores import Learned, Relative
from shortlist.service.engine.commands import Command, Propose
from shortlist.service.engine.history import History
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.round_cache import Key, Round, scorers_of
from shortlist.service.engine.stream_loader import StreamLoader

__all__ = ["Reranked", "Reranking", "relevance"]

#: How many candidates all drafts have, at the most.
_CAPACITY: Final = 200_000
#: The least relevance of a document that is shown, so that any lower cutoff of the caller's keeps all of them.
_LEAST: Final = 0.01


class Reranked(NamedTuple):
    """What is shown, and where it stands."""

    listed: Listed
    #: Whether it is a round, which counts as missed while it has no answer.
    counts: bool
    #: Of those shown: at least 0.01, at most 1.
    relevances: list[float]
    #: Whether callers are to have all candidates.
    rerank_all: bool


class _Draft(NamedTuple):
    #: Makes it a round of its stream, which may leave memory meanwhile.
    proposal: Callable[..., Propose]
    listed: Listed


class Reranking:
    """Shows lists of documents, and keeps drafts.

    Parameters
    ----------
    loader, history
        Where streams and rounds are found.
    submit
        Has a command of a stream written.
    capacity
        How many candidates all drafts have, at the most.
    """

    def __init__(
        self,
        loader: StreamLoader,
        history: History,
        submit: Callable[[str, Callable[[LoggedStream], Command]], Awaitable[tuple[Round, bool]]],
        *,
        capacity: int = _CAPACITY,
    ) -> None:
        self._loader, self._history, self._submit, self._capacity = loader, history, submit, capacity
        self._drafts: OrderedDict[Key, _Draft] = OrderedDict()
        self._size = 0

    async def check(self, name: str, scorers: set[str]) -> None:
        """Raise unless a stream can rerank with these scorers."""
        stream = await self._loader.stream(name)
        rounds = stream.settings.rounds
        for setting, value in (("shadow", rounds.shadow), ("explore_share", rounds.explore_share)):
            if value:
                raise ConflictingStream(
                    f"stream {name} has {setting} {value}, which shows everything, and callers of rerank take at most "
                    "top_n: use another stream, without it"
                )
        expected = stream.stream.scorers
        if expected is not None and not scorers <= set(expected):
            raise InvalidParameter(
                f"stream {name} has the scorers {', '.join(expected) or 'without a name'}, and reranking has "
                f"{', '.join(sorted(scorers))}: use another stream; a new one takes these"
            )

    async def find(self, name: str, round_id: str) -> Reranked | None:
        """Return what was shown under an id, if anything was."""
        stream = await self._loader.stream(name)
        draft = self._drafts.get((stream.id, round_id))
        if draft is not None:
            return _reranked(stream, draft.listed, counts=False)
        try:
            logged, _, _ = await self._history.round(name, round_id)
        except UnknownRound:
            return None
        return _reranked(stream, logged.shown.event, counts=True)

    async def show(
        self, name: str, scores: Any, *, question: str, most: int | None = None, round_id: str | None = None
    ) -> Reranked:
        """Show the documents worth it, at most so many: a round if the stream has had feedback, else a draft."""
        values, scorers = check_table(scores)
        count, chosen = len(values), round_id or uuid.uuid4().hex
        most = count if most is None else min(most, count)
        proposal = functools.partial(
            Propose,
            round_id=chosen,
            ids=list(range(count)),
            values=values,
            scorers=scorers,
            question=question,
            page=None if most == count else [0, most],
            is_fresh=round_id is None,
        )
        stream = await self._loader.stream(name)
        if not _has_feedback(stream):
            stream = await self._loader.fresh(name)  # another process may have taken some
        if _has_feedback(stream):
            shown, _ = await self._submit(name, proposal)
            return _reranked(stream, shown.shown.event, counts=True)
        rounds, draft = stream.stream, proposal(stream)
        if rounds.threshold == -math.inf:  # no labels either: as a reranker alone would
            draft.page = [most, most]
        expected = rounds.scorers or scorers
        table, _ = draft.aligned(expected)
        listed = rounds.decide(chosen, table, draft.ids, scorers=expected, page=draft.page)
        self._keep((stream.id, chosen), _Draft(proposal, listed))
        return _reranked(stream, listed, counts=False)

    def round_of(self, stream: LoggedStream, round_id: str) -> Propose | None:
        """Return what makes a draft a round; None if there is none of that id."""
        draft = self._drafts.get((stream.id, round_id))
        if draft is None:
            return None
        return draft.proposal(stream, page=draft.listed.page, draft=draft.listed, is_fresh=False)

    def drop(self, stream: LoggedStream, round_id: str) -> None:
        """Drop a draft: it is a round now."""
        draft = self._drafts.pop((stream.id, round_id), None)
        self._size -= 0 if draft is None else len(draft.listed.scores)

    def _keep(self, key: Key, draft: "_Draft") -> None:
        self._drafts[key] = draft
        self._size += len(draft.listed.scores)
        while self._size > self._capacity and len(self._drafts) > 1:
            _, oldest = self._drafts.popitem(last=False)
            self._size -= len(oldest.listed.scores)


def _has_feedback(stream: LoggedStream) -> bool:
    tally = stream.stream.tally
    return tally.hits + tally.misses + tally.absent > 0


def _reranked(stream: LoggedStream, event: Any, *, counts: bool) -> Reranked:
    listed = stream.stream.completed(event)
    score = stream.stream.score_of(scorers_of(listed), listed.fit)
    is_share = isinstance(score, Relative) or (isinstance(score, Learned) and score.form == "softmax")
    relevances = [relevance(value, is_share=is_share) for value in listed.comparable or ()]
    return Reranked(listed, counts, relevances, stream.settings.rerank_all)


def relevance(value: float, *, is_share: bool = False) -> float:
    """Return what was compared with the threshold as a number from 0.01 to 1, in the same order.

    >>> relevance(0.0)
    0.505
    """
    if not is_share:
        value = 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
    return _LEAST + (1 - _LEAST) * min(1.0, max(0.0, value))
