"""Labels: the picks as a training set, and how lists did for each class."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from shortlist._wilson import wilson
from shortlist.errors import UnknownStream, needs_extra
from shortlist.rounds.codec import to_json
from shortlist.rounds.events import LISTED, Absent, Hit, Listed, Miss, Skip
from shortlist.service.engine.csv_tables import safe
from shortlist.service.engine.round_cache import Round, with_texts
from shortlist.service.store import LogEntry, Reader, Store, Text

__all__ = ["COLUMNS", "ClassCounts", "label_rows", "labels_page", "labels_text", "texts_of_labels", "write_labels"]

#: The columns of a training set.
COLUMNS: Final = (
    "item",
    "question",
    "image",
    "label",
    "label_text",
    "labels",
    "how",
    "list_length",
    "candidates",
    "shown_at",
    "answered_at",
    "annotator",
    "first_labels",
    "corrected_by",
    "corrected_at",
    "note",
)
#: The columns that are lists.
_LISTS: Final = ("labels", "first_labels")
#: How many rounds are read at a time; fewer where they are large. How many hours are reported.
_PAGE: Final = 500
_HOURS: Final = 168


def labels_page(reader: Reader, stream_id: int, after: int, last: int) -> tuple[list[dict[str, Any]], int | None]:
    """Return the labels of the next rounds after an event, up to another, and the event to go on after, if any."""
    page = reader.page(stream_id, after, _PAGE, kinds=[LISTED])
    page = [entry for entry in page if entry.number <= last]
    return list(label_rows(reader, stream_id, page)), page[-1].number if page else None


def label_rows(reader: Reader, stream_id: int, lists: list[LogEntry]) -> Iterator[dict[str, Any]]:
    """Yield a row for each answered round: what was picked, and how.

    `how` is ``list`` for a pick from the list, ``more`` for one after more of it was shown, ``none`` where somebody
    looked through everything and nothing was right, and ``not in list`` where nobody looked further: those have no
    label. `label` is the pick where it is one, `label_text` its text, `labels` are all of them; where a lead has
    corrected them, the corrected ones, and `first_labels` are the picks. Skipped rounds are left out unless they were
    corrected, open ones always.
    """
    rounds = with_texts(reader, stream_id, lists)
    closed = [each.closed.number for each, _ in rounds if each.closed is not None]
    names = reader.annotators(stream_id, closed)
    corrections = reader.corrections(stream_id, [each.shown.round_id for each, _ in rounds])
    for each, text in rounds:
        how, first = _how(each)
        correction = corrections.get(each.shown.round_id)
        if each.closed is None or (how is None and correction is None):
            continue
        labels = first if correction is None else [] if correction.label is None else [correction.label]
        listed: Listed = each.shown.event  # type: ignore[assignment]
        yield {
            "item": each.shown.round_id,
            "question": None if text is None else text.question,
            "image": None if text is None else text.image,
            "label": labels[0] if len(labels) == 1 else None,
            "label_text": _text_of(listed, text, labels[0]) if len(labels) == 1 else None,
            "labels": labels,
            "how": how or "skipped",
            "list_length": len(listed.positions),
            "candidates": len(listed.scores),
            "shown_at": each.shown.at,
            "answered_at": each.closed.at,
            "annotator": names.get(each.closed.number),
            "first_labels": first,
            "corrected_by": correction and correction.reviewer,
            "corrected_at": correction and correction.at,
            "note": correction and correction.note,
        }


def _how(each: Round) -> tuple[str | None, list[Any]]:
    """Return how a round was answered, and its labels; None if it was not."""
    event = None if each.closed is None else each.closed.event
    if isinstance(event, Hit):
        return "more" if event.after_more else "list", event.members or [event.member]
    if isinstance(event, Absent) and event.believed:
        return "none", []
    return ("not in list" if isinstance(event, (Miss, Absent)) else None), []


def _text_of(listed: Listed, text: Text | None, label: Any) -> str | None:
    """Return the text of a candidate; None if it has none, or it was erased."""
    if text is None or text.texts is None:
        return None
    return text.texts[label if listed.ids is None else listed.ids.index(label)]


def texts_of_labels(reader: Reader, stream_id: int, rounds: Mapping[Any, str]) -> dict[Any, str | None]:
    """Return the text of each label, from a round in which it was picked."""
    lists = [entry for entry in reader.rounds(stream_id, set(map(str, rounds.values()))) if entry.is_list]
    seen = {each.shown.round_id: (each.listed, text) for each, text in with_texts(reader, stream_id, lists)}
    return {label: _text_of(*seen[round_id], label) for label, round_id in rounds.items() if round_id in seen}


def labels_text(rows: Iterable[dict[str, Any]], form: str, *, header: bool) -> str:
    """Return rows as lines of CSV or of JSON.

    In CSV `labels` and `first_labels` are JSON arrays, and a text that a spreadsheet would compute gets an apostrophe
    before it.
    """
    if form == "jsonl":
        return "".join(to_json(row) + "\n" for row in rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    if header:
        writer.writeheader()
    for row in rows:
        lists = {name: to_json(row[name]) for name in _LISTS}
        writer.writerow({name: safe(cell) for name, cell in (row | lists).items()})
    return out.getvalue()


def write_labels(store: Store, name: str, file: IO[str] | Path, form: str = "csv") -> int:
    """Write a stream's labels and return how many rows there are.

    Parameters
    ----------
    store
        The log.
    name
        The stream.
    file
        Where to write; for Parquet a path.
    form
        ``"csv"``, ``"jsonl"`` or ``"parquet"``. In Parquet, labels are texts.
    """
    with store.reading() as reader:
        row = reader.stream(name)
        if row is None:
            raise UnknownStream(f"there is no stream {name!r} in {store.shown_address}")
        sink = ParquetFile(file) if isinstance(file, Path) else None
        count, after = 0, 0
        following: int | None = 0
        try:
            while following is not None:
                rows, following = labels_page(reader, row.id, after, row.last_number)
                if sink is not None:
                    sink.write(rows)
                else:
                    file.write(labels_text(rows, form, header=after == 0))  # type: ignore[union-attr]
                count, after = count + len(rows), following or after
        finally:
            if sink is not None:
                sink.close()
    return count


class ParquetFile:
    """A Parquet file of labels, written part by part.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        needs_extra("a Parquet file", "experiments", "pyarrow")
        import pyarrow as pa  # noqa: PLC0415 - needs the extra
        from pyarrow import parquet  # noqa: PLC0415

        kinds = dict.fromkeys(_LISTS, pa.list_(pa.string())) | {"list_length": pa.int64(), "candidates": pa.int64()}
        kinds |= dict.fromkeys(("shown_at", "answered_at", "corrected_at"), pa.float64())
        self._schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        self._table, self._writer = pa.Table, parquet.ParquetWriter(path, self._schema)

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Add rows."""
        texts = [
            row
            | {"label": None if row["label"] is None else str(row["label"])}
            | {name: [*map(str, row[name])] for name in _LISTS}
            for row in rows
        ]
        if texts:
            self._writer.write_table(self._table.from_pylist(texts, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class ClassCounts:
    """How lists did for each class, and how fast answers come; fed with the answers of a stream, in their order."""

    #: The kinds of events that it takes.
    KINDS: Final = ("hit", "miss", "absent", "skip")

    def __init__(self) -> None:
        #: The number of the last entry in it.
        self.number = 0
        self._covered, self._missed = Counter[Any](), Counter[Any]()
        self._labels, self._answers = Counter[int](), Counter[int]()
        self.unlabeled = self.several = 0
        #: What each class is called: the text of its candidate where it was first picked.
        self.texts: dict[Any, str | None] = {}

    def new_labels(self, entries: Iterable[LogEntry]) -> dict[Any, str]:
        """Return the labels in some answers that were never picked before, each with a round in which they are."""
        picks = [entry for entry in entries if isinstance(entry.event, Hit) and entry.event.members is None]
        return {entry.event.member: entry.round_id for entry in picks if entry.event.member not in self.texts}  # type: ignore[union-attr]

    def take(self, entry: LogEntry) -> None:
        """Take an answer."""
        hour, event = int(entry.at // 3600), entry.event
        self.number = entry.number
        self._answers[hour] += 1
        if not isinstance(event, Hit):
            self.unlabeled += not isinstance(event, Skip)
            return
        self._labels[hour] += 1
        if event.members is not None:  # whether the list had each of them is not in the log
            self.several += 1
        else:
            (self._missed if event.missed or event.after_more else self._covered)[event.member] += 1

    def classes(self) -> list[dict[str, Any]]:
        """Return the classes, the hardest first: those that lists missed most often, then the least covered."""
        rows = []
        for label in {**self._covered, **self._missed}:
            covered, missed = self._covered[label], self._missed[label]
            count = covered + missed
            rows.append(
                {
                    "label": label,
                    "text": self.texts.get(label),
                    "labels": count,
                    "covered": covered,
                    "missed": missed,
                    "coverage": covered / count,
                    "interval": list(wilson(covered, count)),
                }
            )
        return sorted(rows, key=lambda row: (-row["missed"], row["coverage"], -row["labels"], str(row["label"])))

    def hours(self) -> list[dict[str, Any]]:
        """Return the last hours that had answers."""
        return [
            {"at": 3600.0 * hour, "labels": self._labels[hour], "answers": self._answers[hour]}
            for hour in sorted(self._answers)[-_HOURS:]
        ]
