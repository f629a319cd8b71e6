"""A stream's log as a file: for reading it elsewhere, and for `shortlist replay`."""

import csv
import io
import json
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

from shortlist.errors import UnknownStream
from shortlist.service.store import Event, Store, StreamRow

__all__ = ["COLUMNS", "Cut", "export_cut", "export_page", "export_stream"]

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
        ones too: left out, they would make a replay too bold. Only rounds that left the sample
        (``absent``, in time) are left out.
    """
    with store.reading() as reader:
        if reader.stream(name) is None:
            raise UnknownStream(f"there is no stream {name!r} in {store.shown_address}")
        count = -(form == "csv")
        cut = export_cut(reader, name)
        after: int | None = 0
        while after is not None:
            text, after = export_page(reader, cut, after, form)
            file.write(text)
            count += text.count("\n")
        return count


class Cut(NamedTuple):
    """What is fixed when an export begins, however long it takes."""

    stream: StreamRow
    #: Which of the stream's scores was in use in its last list.
    leader: str


def export_cut(reader: Any, name: str) -> Cut:
    """Return what an export of a stream is about: its log up to now, and the score in use at its end."""
    row = reader.stream(name)
    last = reader.page(row.id, 0, 1, kind="shown", newest=True)
    return Cut(row, str(last[0].body["leader"]) if last else "0")


def export_page(reader: Any, cut: Cut, after: int, form: str) -> tuple[str, int | None]:
    """Return the next part of a stream's log, and the number to go on after, if there is more."""
    out = io.StringIO()
    page = reader.page(cut.stream.id, after, _PAGE, kind="shown" if form == "csv" else None)
    more = page[-1].number if len(page) == _PAGE else None
    page = [event for event in page if event.number <= cut.stream.last_number]  # what came later is not part of it
    if form == "csv":
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        if after == 0:
            writer.writeheader()
        writer.writerows(_rows(reader, cut, page))
    else:
        for event in page:
            plain = event._asdict() | {"stream": cut.stream.name}
            plain.pop("stream_id")
            out.write(json.dumps(plain, allow_nan=False, ensure_ascii=False) + "\n")
    return out.getvalue(), more


def _rows(reader: Any, cut: Cut, shown: list[Event]) -> Iterator[dict[str, Any]]:
    """Yield the rounds that count, or may: all but those that were withdrawn before they could have been counted."""
    stream, leader = cut
    closed = {
        event.round_id: event
        for event in reader.rounds(stream.id, [event.round_id for event in shown])
        if event.kind != "shown" and event.number <= stream.last_number
    }
    for event in shown:
        body, answer = event.body, closed.get(event.round_id)
        if _is_withdrawn(reader, cut, event, answer):
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


def _is_withdrawn(reader: Any, cut: Cut, shown: Event, answer: Event | None) -> bool:
    """Return whether a round left the sample: absent, believed, and told before `patience` later ones were shown."""
    if answer is None or answer.kind != "absent" or not answer.body["believed"]:
        return False
    later: int = reader.count_shown(cut.stream.id, shown.number, answer.number)
    return bool(later < cut.stream.settings["patience"])
