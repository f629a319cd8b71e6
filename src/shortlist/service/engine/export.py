"""A stream's log as a file: for reading it elsewhere, and for `shortlist replay`."""

import csv
import io
import json
from collections.abc import Iterator
from typing import IO, Any, Final

from shortlist.errors import UnknownStream
from shortlist.service.store import Event, Store

__all__ = ["COLUMNS", "export_page", "export_stream", "last_leader"]

#: How many events or rounds are read at a time.
_PAGE: Final = 1_000
#: The columns of a table of rounds. `answer` is empty while a round waits. `true_score` is what was compared with the
#: threshold, and empty unless there was a hit, as `shortlist replay` reads it; `raw_score` is what was sent. Where
#: several scores were in use, both are those of the one that is in use at the end: one column, one scale.
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
    """Write a stream's log and return the number of lines.

    Parameters
    ----------
    store
        The log.
    name
        The stream.
    file
        Where to write.
    form
        ``"jsonl"``: every event as a JSON object, complete. ``"csv"``: a row for each round, silent
        ones too: left out, they would make a replay too bold. Only rounds without a right answer
        (``absent``) do not count.
    """
    with store.reading() as reader:
        row = reader.stream(name)
        if row is None:
            raise UnknownStream(f"there is no stream {name!r} in {store.shown_address}")
        count = -(form == "csv")
        leader = last_leader(reader, row.id)
        after: int | None = 0
        while after is not None:
            text, after = export_page(reader, row.id, name, after, form, leader)
            file.write(text)
            count += text.count("\n")
        return count


def last_leader(reader: Any, stream_id: int) -> str:
    """Return which of a stream's scores was in use in its last list."""
    last = reader.page(stream_id, 0, 1, kind="shown", newest=True)
    return str(last[0].body["leader"]) if last else "0"


def export_page(reader: Any, stream_id: int, name: str, after: int, form: str, leader: str) -> tuple[str, int | None]:
    """Return the next part of a stream's log, and the number to go on after, if there is more."""
    out = io.StringIO()
    if form == "csv":
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        if after == 0:
            writer.writeheader()
        page = reader.page(stream_id, after, _PAGE, kind="shown")
        writer.writerows(_rows(reader, stream_id, page, leader))
    else:
        page = reader.page(stream_id, after, _PAGE)
        for event in page:
            plain = event._asdict() | {"stream": name}
            plain.pop("stream_id")
            out.write(json.dumps(plain, allow_nan=False, ensure_ascii=False) + "\n")
    return out.getvalue(), page[-1].number if len(page) == _PAGE else None


def _rows(reader: Any, stream_id: int, shown: list[Event], leader: str) -> Iterator[dict[str, Any]]:
    """Yield the rounds that count: all that have a right answer, or may have one."""
    closed = {
        event.round_id: event
        for event in reader.rounds(stream_id, [event.round_id for event in shown])
        if event.kind != "shown"
    }
    for event in shown:
        body, answer = event.body, closed.get(event.round_id)
        if answer is not None and answer.kind == "absent":
            continue
        picked = answer.body if answer is not None and answer.kind == "hit" else None
        yield {
            "round_id": event.round_id,
            "shown_at": event.at,
            "epoch": body["epoch"],
            "threshold": body["thresholds"][leader],
            "candidates": len(body["ids"]),
            "list_length": len(body["positions"]),
            "truncated": body["truncated"],
            "answer": None if answer is None else answer.kind,
            "member": picked and picked["member"],
            "raw_score": picked and body["scores"][body["ids"].index(picked["member"])],
            "true_score": picked and picked["made"][leader],
            "answered_at": None if answer is None else answer.at,
        }
