"""Rounds and summaries as plain JSON: -inf becomes null."""

import json
import math
from typing import Any

from fastapi import Response

from shortlist.service.engine.rounds import Round
from shortlist.service.store import Text

__all__ = ["as_json", "round_view", "shown_view"]


def as_json(content: Any, status: int = 200) -> Response:
    """Return plain data as a response; what is infinite in it becomes null."""
    return Response(dump(content), status, media_type="application/json")


def dump(content: Any) -> str:
    """Return plain data as JSON."""
    try:
        return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(content), allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return content


def shown_view(made: Round) -> dict[str, Any]:
    """Return what is shown of a round."""
    body = made.shown.body
    return {
        "round_id": made.shown.round_id,
        "threshold": body["threshold"],
        "members": made.members,
        "reached": body["reached"],
        "truncated": body["truncated"],
    }


def round_view(made: Round, text: Text | None) -> dict[str, Any]:
    """Return a round as it is in the log."""
    body = made.shown.body
    shown = set(body["positions"])
    comparable = body["made"].get(str(body["leader"]), body["scores"])
    texts = text.texts if text is not None and text.texts is not None else [None] * len(body["ids"])
    return {
        "round_id": made.shown.round_id,
        "number": made.shown.number,
        "shown_at": made.shown.at,
        "question": None if text is None else text.question,
        "threshold": body["threshold"],
        "epoch": body["epoch"],
        "truncated": body["truncated"],
        "members": made.members,
        "candidates": [
            {
                "id": name,
                "score": score,
                "comparable": comparable[i],
                "shown": i in shown,
                "why": _why(body, i, comparable[i], shown),
                "text": texts[i],
            }
            for i, (name, score) in enumerate(zip(body["ids"], body["scores"], strict=True))
        ],
        "answer": made.answer(),
        "answered_at": None if made.closed is None else made.closed.at,
    }


def _why(body: dict[str, Any], place: int, value: float, shown: set[int]) -> str:
    """Say why a candidate was shown or hidden."""
    threshold = body["threshold"]
    if threshold is None:
        reached = "no threshold yet: everything is shown"
    elif value >= threshold:
        reached = f"{value:.4g} reaches the threshold {threshold:.4g}"
    elif any(_made(body, i)[place] >= tau for i, tau in body["thresholds"].items() if tau is not None):
        reached = "it reaches the threshold of another score that is still in the race"
    elif place in shown:
        return f"{value:.4g} is below the threshold {threshold:.4g}; shown because more are always shown"
    else:
        return f"{value:.4g} is below the threshold {threshold:.4g}"
    return reached if place in shown else f"{reached}; hidden because no more may be shown"


def _made(body: dict[str, Any], index: str) -> Any:
    return body["made"].get(index, body["scores"])
