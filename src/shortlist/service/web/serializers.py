"""Rounds and summaries as plain JSON: -inf becomes null."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import orjson
from fastapi import Response

from shortlist._validation import UNNAMED, Scorers
from shortlist.rounds.codec import encode, to_json
from shortlist.rounds.events import Listed
from shortlist.rounds.shown import to_null
from shortlist.service.engine.labeling_queue import LeasedRound
from shortlist.service.engine.round_cache import Round, scorers_of, table_of
from shortlist.service.store import Text

__all__ = [
    "answerable_view",
    "as_json",
    "more_view",
    "next_view",
    "round_json",
    "round_view",
    "shown_view",
]

#: How many candidates are written as JSON at a time: nothing else runs meanwhile, in any thread.
_PART: Final = 250


def as_json(content: Any, status: int = 200) -> Response:
    """Return plain data as a response."""
    return Response(orjson.dumps(content, default=encode), status, media_type="application/json")


def shown_view(shown: Round) -> dict[str, Any]:
    """Return what was shown of a round at first."""
    listed: Listed = shown.shown.event  # type: ignore[assignment]
    return {
        "round_id": listed.round_id,
        "threshold": to_null(listed.threshold),
        "members": listed.members,
        "reached": listed.reached,
        "truncated": listed.truncated,
        "added": listed.added,
        "explored": bool(listed.explored),
        "comparable": listed.comparable,
        "kept": listed.kept_count,
    }


def more_view(shown: Round, text: Text | None, new: bool, seen: int | None, count: int | None = None) -> dict[str, Any]:
    """Return what is shown after the candidates that somebody has seen, at most `count` of it.

    Without `seen`, after those shown before. So the same request has the same answer, whatever was shown since.
    """
    listed = shown.listed
    shown_count = len(listed.positions)
    last: Any = shown.more[-1].event if new else None
    start = seen if seen is not None else shown_count if last is None else shown_count - len(last.positions)
    positions = listed.positions[start:] if seen is None or count is None else listed.positions[start : start + count]
    return {
        "round_id": listed.round_id,
        "members": [(listed.ids or ())[position] for position in positions],
        "texts": texts_of(text, positions),
        "left": len(listed.scores) - start - len(positions),
        "truncated": listed.truncated,
    }


def next_view(held: LeasedRound, shown: Round, text: Text | None) -> dict[str, Any]:
    """Return what somebody is to answer, and until when it is theirs."""
    return {"holder": held.holder, "lease_until": held.until, **answerable_view(shown, text)}


def answerable_view(shown: Round, text: Text | None) -> dict[str, Any]:
    """Return what somebody is to answer: all that was shown of it so far."""
    listed = shown.listed
    return {
        "round_id": listed.round_id,
        "question": None if text is None else text.question,
        "image": None if text is None else text.image,
        "threshold": to_null(listed.threshold),
        "members": listed.members,
        "texts": texts_of(text, listed.positions),
        "candidate_count": len(listed.scores),
        "first": listed.first,
        "truncated": listed.truncated,
        "explored": bool(listed.explored),
    }


def texts_of(text: Text | None, positions: Sequence[int]) -> list[str | None]:
    """Return the texts of the candidates at some positions; null where there is none, or it was erased."""
    texts = None if text is None else text.texts
    return [None if texts is None else texts[position] for position in positions]


def round_view(
    logged: Round, text: Text | None, compare: Callable[[], Sequence[float]], count: int | None = None
) -> dict[str, Any]:
    """Return a round as it is in the log, with what was compared with the threshold.

    With a `count`, only so many candidates and members: what was shown, in that order, then the others, best first.
    """
    parts = _candidates(logged.listed, text, compare(), count)
    return _round(logged, text, count) | {"candidates": [row for part in parts for row in part]}


def round_json(
    logged: Round, text: Text | None, compare: Callable[[], Sequence[float]], count: int | None = None
) -> bytes:
    """Return a round's view as JSON, written in small parts: others are served while a thread does this."""
    parts = _candidates(logged.listed, text, compare(), count)
    rows = ",".join(to_json(part)[1:-1] for part in parts)
    return f'{to_json(_round(logged, text, count))[:-1]},"candidates":[{rows}]}}'.encode()


def _round(logged: Round, text: Text | None, count: int | None) -> dict[str, Any]:
    """Return all of a round's view but its candidates."""
    listed = logged.listed
    members = listed.members
    answer = logged.answer()
    picked = [] if answer is None or "hit" not in answer else answer["hit"]
    ranks = {member: rank for rank, member in enumerate(members, 1)} if picked else {}
    picked_ranks = [ranks.get(member) for member in (picked if isinstance(picked, list) else [picked])]
    return {
        "round_id": listed.round_id,
        "number": logged.shown.number,
        "shown_at": logged.shown.at,
        "question": None if text is None else text.question,
        "image": None if text is None else text.image,
        "threshold": listed.threshold,
        "epoch": listed.epoch,
        "truncated": listed.truncated,
        "reached": listed.reached,
        "added": listed.added,
        "explored": bool(listed.explored),
        "first": listed.first,
        "members": members[:count],
        "member_count": len(members),
        "candidate_count": len(listed.scores),
        "answer": answer,
        "rank": None if not picked_ranks or None in picked_ranks else max(picked_ranks),  # type: ignore[type-var]
        "answered_at": None if logged.closed is None else logged.closed.at,
    }


def _candidates(
    listed: Listed, text: Text | None, comparable: Sequence[float], count: int | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the candidates of a round in parts, in the order sent, or, if they are counted, in the order shown."""
    positions = listed.positions
    ranks = {position: rank for rank, position in enumerate(positions)}
    order: Sequence[int] = range(len(listed.scores))
    if count is not None:
        if count > len(positions):
            hidden = [i for i in order if i not in ranks]
            best = np.argsort(-np.asarray([comparable[i] for i in hidden]), kind="stable").tolist()  # NaN comes last
            positions = positions + [hidden[i] for i in best]
        order = positions[:count]
    ids, texts = listed.ids or (), None if text is None else text.texts
    scorers, values = scorers_of(listed), table_of(listed)
    for start in range(0, len(order), _PART):
        yield [
            {
                "id": ids[i],
                **_sent(scorers, values[i].tolist()),
                "comparable": comparable[i],
                "shown": i in ranks,
                "why": _why(listed, ranks.get(i), comparable[i]),
                "text": None if texts is None else texts[i],
            }
            for i in order[start : start + _PART]
        ]


def _sent(scorers: Scorers, row: Any) -> dict[str, Any]:
    """Return the scores of a candidate as they were sent: one, or one of each scorer, or both."""
    if scorers == UNNAMED:
        return {"score": row, "scores": None}
    if len(scorers) == 1:
        return {"score": row, "scores": {scorers[0]: row}}
    values = (None if math.isnan(one) else to_null(one) for one in row)
    return {"score": None, "scores": dict(zip(scorers, values, strict=True))}


def _why(listed: Listed, rank: int | None, value: float) -> str:
    """Say why a candidate was shown, at its rank in the list, or hidden, where it has none."""
    threshold = listed.threshold
    if rank is not None and listed.first is not None and rank >= listed.first:
        return "shown when more of the list was asked for"
    if listed.explored:
        return "explored: everything is shown, in random order"
    if threshold == -math.inf:
        shown = len(listed.positions) if listed.first is None else listed.first
        if shown < len(listed.scores) and listed.asked is None:
            best = f"no threshold yet: the best {shown:,} are shown"
            return f"{best}, and it is not among them" if rank is None else best
        why = "the score is being learned" if listed.fit == 0 else "no threshold yet"
        reached = f"{why}: everything is shown"
    elif value >= threshold:
        reached = f"{value:.4g} reaches the threshold {threshold:.4g}"
    else:
        below = f"{value:.4g} is below the threshold {threshold:.4g}"
        return below if rank is None else f"{below}; {_why_below(listed, rank)}"
    return f"{reached}; hidden because of at_most" if rank is None else reached


def _why_below(listed: Listed, rank: int) -> str:
    """Say why a candidate below the threshold was shown: what the error budget adds comes last."""
    end = listed.reached if listed.complete else listed.first or len(listed.positions)
    if not end - listed.added <= rank < end:
        return "shown because of at_least"
    return "the error budget would have added it" if listed.complete else "added by the error budget"
