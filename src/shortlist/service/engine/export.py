"""A stream's log as a file: for reading it elsewhere, and for `shortlist replay`."""

import csv
import json
from collections.abc import Iterator
from typing import IO, Any, Final

from shortlist.errors import UnknownStream
from shortlist.service.store import Store

__all__ = ["COLUMNS", "export_stream"]

#: The columns of a table of answered rounds. `true_score` is what was compared with the threshold, and empty for a
#: miss, as `shortlist replay` reads it; `raw_score` is what was sent.
COLUMNS: Final = (
    "round_id",
    "shown_at",
    "epoch",
    "threshold",
    "candidates",
    "list_length",
    "truncated",
    "answer",
    "member",
    "raw_score",
    "true_score",
    "answered_at",
)


def export_stream(store: Store, name: str, file: IO[str], form: str = "jsonl") -> int:
    """Write a stream's log and return the number of lines: its events, or a row for each round.

    Parameters
    ----------
    store
        The log.
    name
        The stream.
    file
        Where to write.
    form
        ``"jsonl"``: every event as a JSON object, complete. ``"csv"``: a row for each round that was
        answered with a hit or a miss; the others do not count, or are not known.
    """
    with store.reading() as reader:
        row = reader.stream(name)
        if row is None:
            raise UnknownStream(f"there is no stream {name!r} in {store.shown_address}")
        if form == "jsonl":
            count = 0
            for event in reader.events(row.id):
                plain = event._asdict() | {"stream": name}
                plain.pop("stream_id")
                file.write(json.dumps(plain, allow_nan=False, ensure_ascii=False) + "\n")
                count += 1
            return count
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        count = 0
        for line in _rows(reader, row.id):
            writer.writerow(line)
            count += 1
        return count


def _rows(reader: Any, stream_id: int) -> Iterator[dict[str, Any]]:
    after = 0
    while shown := reader.page(stream_id, after, 1000, kind="shown"):
        after = shown[-1].number
        closed = {
            event.round_id: event
            for event in reader.rounds(stream_id, [event.round_id for event in shown])
            if event.kind != "shown"
        }
        for event in shown:
            body, answer = event.body, closed.get(event.round_id)
            if answer is None or answer.kind not in ("hit", "miss"):
                continue
            hit = answer.kind == "hit"
            member = answer.body["member"] if hit else None
            yield {
                "round_id": event.round_id,
                "shown_at": event.at,
                "epoch": body["epoch"],
                "threshold": body["threshold"],
                "candidates": len(body["ids"]),
                "list_length": len(body["positions"]),
                "truncated": body["truncated"],
                "answer": answer.kind,
                "member": member,
                "raw_score": body["scores"][body["ids"].index(member)] if hit else None,
                "true_score": answer.body["made"][str(body["leader"])] if hit else None,
                "answered_at": answer.at,
            }
