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
            {"id": name, "score": score, "shown": i in shown, "text": texts[i]}
            for i, (name, score) in enumerate(zip(body["ids"], body["scores"], strict=True))
        ],
        "answer": made.answer(),
        "answered_at": None if made.closed is None else made.closed.at,
    }
