"""Rounds and summaries as plain JSON: -inf becomes null."""

import math
from collections.abc import Sequence
from typing import Any

from fastapi import Response

from shortlist.rounds.codec import to_json
from shortlist.rounds.events import Listed
from shortlist.rounds.shown import to_null
from shortlist.service.engine.rounds import Round
from shortlist.service.store import Text

__all__ = ["as_json", "round_view", "shown_view"]


def as_json(content: Any, status: int = 200) -> Response:
    """Return plain data as a response."""
    return Response(to_json(content), status, media_type="application/json")


def shown_view(shown: Round) -> dict[str, Any]:
    """Return what is shown of a round."""
    listed = shown.listed
    return {
        "round_id": listed.round_id,
        "threshold": to_null(listed.threshold),
        "members": listed.members,
        "reached": listed.reached,
        "truncated": listed.truncated,
    }


def round_view(logged: Round, text: Text | None, comparable: Sequence[float]) -> dict[str, Any]:
    """Return a round as it is in the log, with what was compared with the threshold."""
    listed, shown = logged.listed, set(logged.listed.positions)
    texts = text.texts if text is not None and text.texts is not None else [None] * len(listed.scores)
    return {
        "round_id": listed.round_id,
        "number": logged.shown.number,
        "shown_at": logged.shown.at,
        "question": None if text is None else text.question,
        "threshold": listed.threshold,
        "epoch": listed.epoch,
        "truncated": listed.truncated,
        "members": listed.members,
        "candidates": [
            {
                "id": name,
                "score": score,
                "comparable": comparable[i],
                "shown": i in shown,
                "why": _why(listed, i, comparable[i], shown),
                "text": texts[i],
            }
            for i, (name, score) in enumerate(zip(listed.ids or (), listed.scores, strict=True))
        ],
        "answer": logged.answer(),
        "answered_at": None if logged.closed is None else logged.closed.at,
    }


def _why(listed: Listed, position: int, value: float, shown: set[int]) -> str:
    """Say why a candidate was shown or hidden."""
    threshold = listed.threshold
    if threshold == -math.inf:
        reached = "no threshold yet: everything is shown"
    elif value >= threshold:
        reached = f"{value:.4g} reaches the threshold {threshold:.4g}"
    elif any(made[position] >= tau > -math.inf for tau, made in (listed.race or {}).values()):
        reached = "it reaches the threshold of another score that is still in the race"
    elif position in shown:
        return f"{value:.4g} is below the threshold {threshold:.4g}; shown because more are always shown"
    else:
        return f"{value:.4g} is below the threshold {threshold:.4g}"
    return reached if position in shown else f"{reached}; hidden because no more may be shown"
