"""The chained hash of a stream: what it was made with, and every event as it is stored, in order.

h_0 is the SHA-256 of the stream's name, settings and time of creation; h_n is the SHA-256 of h_(n-1) and the n-th row
of the log, in three lines: the hash before (none for h_0), the columns but for the last as a JSON array, and the last
column. The stream's row has the last hash, written in the transaction of the events, and each snapshot has the one of
its event. So an event that is changed, removed, added or moved later no longer fits. There is no key in it: whoever can
write to the database can also compute it again, which only a hash kept elsewhere reveals.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson

__all__ = ["first_hash", "next_hash"]


def first_hash(name: str, settings: str, created: float) -> str:
    """Return the hash of a stream without events.

    >>> first_hash("docs", "{}", 0.0)[:12]
    'ac3cd80aecfe'
    """
    return _digest("", (name, created), settings)


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
    return _digest(before, fields, body)


def _digest(before: str, fields: Sequence[Any], text: str) -> str:
    try:
        written = orjson.dumps(fields)
    except TypeError:  # a damaged row may hold anything
        written = repr(fields).encode()
    # Neither the hash nor JSON has a line's end in it. Bytes that are no text were read as lone surrogates.
    content = b"\n".join((before.encode(), written, str(text).encode("utf-8", "surrogateescape")))
    return hashlib.sha256(content).hexdigest()
