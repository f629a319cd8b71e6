"""Is a stream's log as it was written? Without statistics: the chained hash, and texts beside their digests."""

import json
from collections.abc import Iterator

from shortlist.service.store.reading import Reader
from shortlist.service.store.rows import StreamRow, text_digest

__all__ = ["check_chain", "check_texts"]


def check_chain(reader: Reader, row: StreamRow) -> Iterator[str]:
    """Yield which of the chained hashes that are kept does not fit the events: the stream's, or one of a snapshot."""
    kept = {snapshot.number: snapshot.chain for snapshot in reader.snapshots(row.id)}
    number, chain, sound = 0, row.first_chain, 0
    for number, chain in reader.chain(row.id, row.first_chain):
        if number not in kept:
            continue
        if kept[number] != chain:
            yield _other(sound, number)
            return
        sound = number
    if chain != row.chain:
        yield _other(sound, number)


def _other(sound: int, number: int) -> str:
    where = f"between events {sound} and {number}" if sound else f"up to event {number}, or the stream's settings,"
    return f"the log {where} is not as it was written: it has another hash"


def check_texts(reader: Reader, stream_id: int) -> Iterator[str]:
    """Yield in which rounds question, texts or image are not those that were sent; what is erased cannot be checked."""
    for number, *written, salt, body in reader.stored_texts(stream_id):
        try:
            fits = text_digest(salt, *map(json.loads, written)) == json.loads(body)["text_digest"]
        except (ValueError, TypeError, KeyError):  # one of them is not what was stored, in form already
            fits = False
        if not fits:
            yield f"event {number}: its question, texts or image are not those that were sent"
