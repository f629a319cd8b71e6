"""A stream's log as a file: for reading it elsewhere, and for `shortlist replay`."""

import csv
import io
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

from shortlist.errors import UnknownStream
from shortlist.rounds.codec import encode, to_json
from shortlist.rounds.events import LISTED, Absent, Fitted, Hit, Listed, Withdrawn, kind_of
from shortlist.service.engine.csv_tables import safe
from shortlist.service.store import LogEntry, Reader, Store, StreamRow

__all__ = ["COLUMNS", "Extent", "export_extent", "export_page", "export_stream"]

#: How many events or rounds are read at a time; fewer where they are large.
_PAGE: Final = 1_000
#: The columns of a table of rounds. `answer` is empty while a round waits. `true_score` is what was compared with the
#: threshold, and empty unless there was a hit, as `shortlist replay` reads it; `raw_score` is what was sent, and empty
#: where there are several scorers.
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
        ones too: left out, they would make a replay too bold. Left out are rounds that do not count towards the
        threshold: those that left the sample (``absent``, in time), and where the score is learned those shown
        before the last fit: they are on another scale, or on none. A ``round_id`` or ``member`` that a
        spreadsheet would compute, for it begins with ``=``, ``+``, ``-``, ``@``, a tab or a return, has an apostrophe
        before it; numbers are numbers.
    """
    with store.reading() as reader:
        if reader.stream(name) is None:
            raise UnknownStream(f"there is no stream {name!r} in {store.shown_address}")
        count = -(form == "csv")
        extent = export_extent(reader, name)
        after: int | None = 0
        while after is not None:
            text, after = export_page(reader, extent, after, form)
            file.write(text)
            count += text.count("\n")
        return count


class Extent(NamedTuple):
    """What is fixed when an export begins, however long it takes."""

    stream: StreamRow
    #: Which fit of the score its last list was cut with; None where the score is not learned.
    fit: int | None


def export_extent(reader: Reader, name: str) -> Extent:
    """Return what an export of a stream is about: its log up to now, and the score in use at its end."""
    row = reader.stream(name)
    assert row is not None  # noqa: S101 - the caller has looked
    last = reader.numbered(row.id, reader.numbers(row.id, 0, 1, kinds=[LISTED], newest=True))
    listed = last[0].event if last else None
    return Extent(row, listed.fit if isinstance(listed, Listed) else None)


def export_page(reader: Reader, extent: Extent, after: int, form: str) -> tuple[str, int | None]:
    """Return the next part of a stream's log, and the number to go on after, if there is more."""
    out = io.StringIO()
    page = reader.page(extent.stream.id, after, _PAGE, kinds=[LISTED] if form == "csv" else ())
    more = page[-1].number if page and page[-1].number < extent.stream.last_number else None
    page = [entry for entry in page if entry.number <= extent.stream.last_number]  # what came later is not part of it
    if form == "csv":
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        if after == 0:
            writer.writeheader()
        writer.writerows({name: safe(cell) for name, cell in row.items()} for row in _rows(reader, extent, page))
    else:
        for entry in page:
            about = {"stream": extent.stream.name, "number": entry.number, "at": entry.at, "kind": kind_of(entry.event)}
            fields = encode(entry.event)
            if isinstance(entry.event, Fitted):  # its number is called as in lists: here `number` is the event's
                fields["fit"] = fields.pop("number")
            out.write(to_json(about | fields) + "\n")
    return out.getvalue(), more


def _rows(reader: Reader, extent: Extent, shown: list[LogEntry]) -> Iterator[dict[str, Any]]:
    """Yield the rounds that count, or may: none of another fit, and none withdrawn before it could be counted."""
    stream, fit = extent
    closed = {
        entry.round_id: entry
        for entry in reader.rounds(stream.id, [entry.round_id for entry in shown], lists=False)
        if entry.is_answer and entry.number <= stream.last_number
    }
    for entry in shown:
        listed, answer = entry.event, closed.get(entry.round_id)
        if (
            not isinstance(listed, Listed)
            or listed.fit != fit
            or fit == 0
            or listed.explored is False  # only explored rounds count, and only if somebody clicks
            or (listed.explored and answer is None)
            or _is_withdrawn(reader, extent, entry, answer)
        ):
            continue
        event = None if answer is None else answer.event
        picked = event if isinstance(event, Hit) else None
        one = len(listed.scorers or ("",)) == 1
        yield {
            "round_id": entry.round_id,
            "shown_at": entry.at,
            "epoch": listed.epoch,
            "threshold": encode(listed.threshold),
            "candidates": len(listed.scores),
            "list_length": len(listed.positions),
            "truncated": listed.truncated,
            "answer": None if event is None else kind_of(event),
            "member": picked and picked.member,
            "raw_score": listed.scores[(listed.ids or ()).index(picked.member)] if picked and one else None,
            "true_score": picked and picked.score,
            "answered_at": None if answer is None else answer.at,
        }


def _is_withdrawn(reader: Reader, extent: Extent, shown: LogEntry, answer: LogEntry | None) -> bool:
    """Return whether a round left the sample before `patience` later ones were shown: absent, or never seen."""
    event = None if answer is None else answer.event
    if answer is None or not (isinstance(event, Withdrawn) or (isinstance(event, Absent) and event.believed)):
        return False
    later = reader.count_shown(extent.stream.id, shown.number, answer.number)
    return bool(later < extent.stream.settings["patience"])
