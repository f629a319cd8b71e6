"""Events as they are stored: the kind, the round's name and a body, which is JSON.

A body has an event's fields but for those that have their default (`shortlist.rounds.codec`), the name of its round,
which has a column, and what was compared with the threshold, which the scores give again.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import orjson

from shortlist.rounds.codec import decode, encode, fields_of
from shortlist.rounds.events import EVENTS, Event, Listed

__all__ = ["body_of", "event_of"]

_ELSEWHERE: Final = ("round_id", "comparable")
_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATACLASS
_NUMBER: Final = {float, int}
_NUMBER_OR_NULL: Final = {*_NUMBER, type(None)}


def body_of(event: Event) -> str:
    """Return an event's body; minus infinity is null there, and so is the score that a scorer does not have."""
    fields = fields_of(event)
    for name in _ELSEWHERE:
        fields.pop(name, None)
    if "scores" in fields:
        # Written as they are, without a list of them.
        fields["scores"] = np.ascontiguousarray(fields["scores"], dtype=np.float64)
    return orjson.dumps(fields, default=encode, option=_OPTIONS).decode()


def event_of(kind: str, round_id: str | None, body: str) -> Event:
    """Return the event that was stored.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError
        It cannot be read.
    """
    fields = orjson.loads(body.encode())  # lone surrogates are bytes that were no text
    name = {} if round_id is None else {"round_id": round_id}
    event: Event = decode(EVENTS[kind], fields | name)
    if type(event) is Listed:
        _check(event)
    return event


def _check(listed: Listed) -> None:
    """Refuse a list whose fields do not fit together: an answer to its round must not fail on it."""
    count = len(listed.scores)
    if (
        len(listed.ids or ()) != count
        or not _is_table(listed.scores, len(listed.scorers or ("",)))
        or min(listed.positions, default=0) < 0
        or max(listed.positions, default=-1) >= count
        or listed.comparable is not None
    ):
        raise ValueError("its ids, scores and positions do not fit together")


def _is_table(rows: Iterable[Any], scorers: int) -> bool:
    """Return whether there is a number for each candidate, or for several scorers a row of so many, null if missing."""
    if scorers == 1:
        return set(map(type, rows)) <= _NUMBER
    return all(
        type(row) is list
        and len(row) == scorers
        and set(map(type, row)) <= _NUMBER_OR_NULL
        and row.count(None) < scorers
        for row in rows
    )
