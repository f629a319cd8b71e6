"""Rounds and summaries as plain JSON: -inf becomes null."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi import Response

from shortlist._validation import UNNAMED
from shortlist.logs import IgnoreCheck
from shortlist.rounds.codec import to_json
from shortlist.rounds.events import Listed
from shortlist.rounds.shown import to_null
from shortlist.service.engine.rounds import Round, scorers_of, table_of
from shortlist.service.store import Text

__all__ = ["as_json", "more_view", "round_view", "shown_view", "silence_view"]


def as_json(content: Any, status: int = 200) -> Response:
    """Return plain data as a response."""
    return Response(to_json(content), status, media_type="application/json")


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
    }


def more_view(shown: Round, new: bool, seen: int | None, count: int | None = None) -> dict[str, Any]:
    """Return what is shown after the candidates that somebody has seen, at most `count` of it.

    Without `seen`, after those shown before. So the same request has the same answer, whatever was shown since.
    """
    listed = shown.listed
    known = len(listed.positions)
    last: Any = shown.more[-1].event if new else None
    start = seen if seen is not None else known if last is None else known - len(last.positions)
    members = listed.members[start:] if seen is None or count is None else listed.members[start : start + count]
    return {
        "round_id": listed.round_id,
        "members": members,
        "left": len(listed.scores) - start - len(members),
        "truncated": listed.truncated,
    }


def round_view(logged: Round, text: Text | None, comparable: Sequence[float]) -> dict[str, Any]:
    """Return a round as it is in the log, with what was compared with the threshold."""
    listed = logged.listed
    shown = len(listed.positions) if listed.seen is None else listed.reached
    places = {position: place for place, position in enumerate(listed.positions[:shown])}
    sent = _sent(listed)
    texts = text.texts if text is not None and text.texts is not None else [None] * len(listed.scores)
    return {
        "round_id": listed.round_id,
        "number": logged.shown.number,
        "shown_at": logged.shown.at,
        "question": None if text is None else text.question,
        "tags": listed.tags or {},
        "threshold": listed.threshold,
        "epoch": listed.epoch,
        "truncated": listed.truncated,
        "reached": listed.reached,
        "added": listed.added,
        "explored": bool(listed.explored),
        "first": listed.first,
        "members": listed.members[:shown],
        "seen": None if listed.seen is None else listed.seen.stream,
        "seen_members": None if listed.seen is None else _named(listed, listed.seen.positions),
        "candidates": [
            {
                "id": name,
                **sent[i],
                "comparable": comparable[i],
                "shown": i in places,
                "why": _why(listed, places.get(i), comparable[i]),
                "text": texts[i],
            }
            for i, name in enumerate(listed.ids or ())
        ],
        "answer": logged.answer(),
        "answered_at": None if logged.closed is None else logged.closed.at,
    }


def silence_view(check: IgnoreCheck) -> dict[str, Any]:
    """Return who answers and who does not."""
    rows = {name: [row._asdict() for row in getattr(check, name)] for name in ("by_length", "by_rank")}
    pair = {name: row and row._asdict() for name, row in (("complete", check.complete), ("cut", check.cut))}
    return check._asdict() | rows | pair


def _named(listed: Listed, positions: list[int]) -> list[Any]:
    return [(listed.ids or ())[position] for position in positions]


def _sent(listed: Listed) -> list[dict[str, Any]]:
    """Return the scores of each candidate as they were sent: one, or one of each scorer, or both."""
    scorers, values = scorers_of(listed), table_of(listed)
    if scorers == UNNAMED:
        return [{"score": value, "scores": None} for value in values.tolist()]
    if len(scorers) == 1:
        return [{"score": value, "scores": {scorers[0]: value}} for value in values.tolist()]
    return [
        {"score": None, "scores": {name: to_null(one) for name, one in zip(scorers, row, strict=True)}}
        for row in np.where(np.isnan(values), -np.inf, values).tolist()
    ]


def _why(listed: Listed, place: int | None, value: float) -> str:
    """Say why a candidate was shown, at its place in the list, or hidden, where it has none."""
    threshold = listed.threshold
    if place is not None and listed.first is not None and place >= listed.first:
        return "shown when more of the list was asked for"
    if listed.explored:
        return "explored: everything is shown, in random order"
    if listed.fit == 0:
        reached = "the score is being learned: everything is shown"
    elif threshold == -math.inf:
        reached = "no threshold yet: everything is shown"
    elif value >= threshold:
        reached = f"{value:.4g} reaches the threshold {threshold:.4g}"
    else:
        below = f"{value:.4g} is below the threshold {threshold:.4g}"
        return below if place is None else f"{below}; {_why_below(listed, place)}"
    return f"{reached}; hidden because no more may be shown" if place is None else reached


def _why_below(listed: Listed, place: int) -> str:
    """Say why a candidate below the threshold was shown: what the error budget adds comes last."""
    end = listed.reached if listed.complete else listed.first or len(listed.positions)
    if not end - listed.added <= place < end:
        return "shown because more are always shown"
    return "the error budget would have added it" if listed.complete else "added by the error budget"
