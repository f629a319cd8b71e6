"""Labels: what people picked, in every kind of file, and how lists did for each class."""

import asyncio
import csv
import io
import json

import numpy as np
import pytest

from shortlist.errors import UnknownStream
from shortlist.service.engine import Engine, StreamSettings, write_labels
from shortlist.service.engine.commands import Author
from shortlist.service.engine.item_opening import Item
from shortlist.service.engine.training_set import COLUMNS, ClassCounts
from shortlist.service.store import Store

#: Ids that a careless reader or writer would break.
ODD = ["=1+1", 'a "quoted", one', "two\nlines", "tab\tand, comma", "-3", "'", "ä/ö"]


def answered(address):
    """Items with odd ids, answered in every way; return the labels that were given, by item."""

    async def main():
        given = {}
        async with Engine.open(address) as engine:
            await engine.create_stream(
                "a", StreamSettings.of(coverage=0.9, score="raw", at_most=2, record_annotators=True)
            )
            scores = np.array([0.9, *np.linspace(0.4, 0.1, len(ODD) - 1)])
            names = [name.replace("/", "_") for name in ODD]
            rows = [Item(f"{number} {name}", ODD, scores, ("",), f"q {name}") for number, name in enumerate(names)]
            await engine.labeling.add("a", [*rows, *(Item(f"plain{n}", ODD, scores, ("",)) for n in range(4))])
            answers = [
                ("hit", ODD[1]),
                ("hit", ODD[4]),
                ("hit", ODD[6]),
                ("miss", None),
                ("absent", None),
                ("skip", None),
            ]
            place = 0
            while (held := await engine.labeling.take("a")) is not None:
                kind, member = answers[place] if place < len(answers) else ("hit", [ODD[0], ODD[1]])
                if kind == "absent" or (kind == "hit" and member in ODD[2:]):
                    await engine.more("a", held.round_id)
                await engine.answer("a", held.round_id, kind, member, Author("ann" if place % 2 else "=bob"))
                given[held.round_id] = (
                    kind,
                    [] if member is None else member if isinstance(member, list) else [member],
                )
                place += 1
            await engine.propose("a", ["x"], [0.5], round_id="open")
        return given

    return asyncio.run(main())


def rows_of(address, form, file=None):
    store = Store(address, read_only=True)
    try:
        out = io.StringIO() if file is None else file
        count = write_labels(store, "a", out, form)
    finally:
        store.close()
    return count, out


def test_json_lines_have_what_was_answered(address):
    given = answered(address)
    count, out = rows_of(address, "jsonl")
    rows = {row["item"]: row for row in map(json.loads, out.getvalue().splitlines())}
    assert count == len(rows) == len(given) - 1  # all but what was skipped, and what is open
    for item, (kind, labels) in given.items():
        if kind == "skip":
            assert item not in rows
            continue
        row = rows[item]
        assert list(row) == list(COLUMNS)
        assert row["labels"] == labels
        assert row["label"] == (labels[0] if len(labels) == 1 else None)
        later = {"miss": "not in list", "absent": "none", "hit": "more" if set(labels) & set(ODD[2:]) else "list"}
        assert row["how"] == later[kind]
        assert (row["list_length"], row["candidates"]) == (2, len(ODD))
        assert row["question"] == (None if item.startswith("plain") else f"q {item.partition(' ')[2]}")
        assert row["annotator"] in ("ann", "=bob")
        assert row["shown_at"] <= row["answered_at"]


def test_csv_is_read_back_and_no_spreadsheet_computes_it(sqlite):
    given = answered(sqlite)
    _, out = rows_of(sqlite, "csv")
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert {row["item"] for row in rows} == {name for name, (kind, _) in given.items() if kind != "skip"}
    assert all(json.loads(row["labels"]) == given[row["item"]][1] for row in rows)
    assert {row["annotator"] for row in rows} == {"ann", "'=bob"}
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_parquet_is_exact(sqlite, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    given = answered(sqlite)
    count, path = rows_of(sqlite, "parquet", tmp_path / "labels.parquet")
    rows = parquet.read_table(path).to_pylist()
    assert count == len(rows)
    assert {row["item"]: row["labels"] for row in rows} == {
        name: labels for name, (kind, labels) in given.items() if kind != "skip"
    }
    assert tuple(rows[0]) == COLUMNS


def test_a_stream_that_is_not_there(sqlite):
    answered(sqlite)
    store = Store(sqlite, read_only=True)
    with pytest.raises(UnknownStream):
        write_labels(store, "b", io.StringIO())
    store.close()


def test_classes_the_hardest_first(address):
    answered(address)

    async def main():
        async with Engine.open(address) as engine:
            return await engine.history.classes("a")

    counts, signers = asyncio.run(main())
    rows = {row["label"]: row for row in counts.classes()}
    assert rows[ODD[4]]["missed"] == rows[ODD[6]]["missed"] == 1
    assert rows[ODD[1]]["missed"] == 0
    assert rows[ODD[1]]["covered"] == 1
    assert counts.several == 5
    assert [row["missed"] for row in counts.classes()] == sorted((row["missed"] for row in rows.values()), reverse=True)
    assert counts.unlabeled == 2
    (hour,) = counts.hours()
    assert (hour["answers"], hour["labels"]) == (11, 8)
    assert sum(count for _, count in signers) == 11


def test_classes_are_counted_once(address):
    """Only what is new is read, and requests may come at the same time."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            seen = []
            for number in range(12):
                round_, _ = await engine.propose("a", ["x", "y"], [0.9, 0.1], round_id=f"r{number}")
                kind, member = [("hit", "x"), ("hit", "y"), ("miss", None)][number % 3]
                await engine.answer("a", round_.shown.round_id, kind, member)
                counts = await asyncio.gather(*(engine.history.classes("a") for _ in range(3)))
                seen.append(counts[0][0].classes())
                assert counts[0][0] is counts[2][0]
            live, _ = await engine.history.classes("a")
            number = live.number
        async with Engine.open(address) as engine:
            read, _ = await engine.history.classes("a")
        return seen, number, live, read

    seen, number, live, read = asyncio.run(main())
    assert [sum(row["labels"] for row in rows) for rows in seen] == [1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8]
    assert {row["label"]: row["labels"] for row in seen[-1]} == {"x": 4, "y": 4}
    assert (live.classes(), live.hours(), live.unlabeled) == (read.classes(), read.hours(), read.unlabeled)
    assert read.unlabeled == 4
    assert sum(hour["answers"] for hour in read.hours()) == 12
    assert number == read.number


def test_nothing_was_answered():
    counts = ClassCounts()
    assert (counts.classes(), counts.hours(), counts.unlabeled) == ([], [], 0)
