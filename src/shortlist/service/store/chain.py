"""The chained hash of a stream: what it was made with, and every event as it is stored, in order.

h_0 is the SHA-256 of the stream's name, settings and time of creation; h_n is the SHA-256 of h_(n-1) and the n-th row
of the log. The stream's row has the last one, written in the transaction of the events, and each snapshot has the
one of its event. So an event that is changed, removed, added or moved later no longer fits. There is no key in it:
whoever can write to the database can also compute it again, which only a hash kept elsewhere reveals.
"""

import hashlib
import json
from typing import Any, Final

__all__ = ["first_hash", "next_hash"]

#: A damaged row may hold anything. One encoder for all: making one takes longer than using it.
_FIELDS: Final = json.JSONEncoder(default=repr).encode


def first_hash(name: str, settings: str, created: float) -> str:
    """Return the hash of a stream without events.

    >>> first_hash("docs", "{}", 0.0)[:12]
    '06a082326a57'
    """
    return _digest(_FIELDS([name, created]), settings)


def next_hash(before: str, row: tuple[Any, ...]) -> str:
    """Return the hash after another event.

    Parameters
    ----------
    before
        The hash before it.
    row
        The event as stored: number, phase, kind, round_id, at, body.
    """
    *fields, body = row
    return _digest(before, _FIELDS(fields), body)


def _digest(*parts: Any) -> str:
    # No part but the last has a line's end in it. Bytes that are no text were read as lone surrogates.
    return hashlib.sha256("\n".join(map(str, parts)).encode("utf-8", "surrogateescape")).hexdigest()
