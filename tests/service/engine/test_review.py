"""A lead's corrections: in the training set, and nowhere else."""

import asyncio
import io
import json

import pytest

from shortlist.errors import ConflictingRound, NotShown, UnknownRound, UnknownStream
from shortlist.service.engine import Engine, StreamSettings, write_labels
from shortlist.service.engine.commands import Author
from shortlist.service.store import Store


def rows(address):
    out = io.StringIO()
    store = Store(address)
    try:
        write_labels(store, "a", out, "jsonl")
    finally:
        store.close()
    return {row["item"]: row for row in map(json.loads, out.getvalue().splitlines())}


async def answered(engine, answers):
    await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw", record_annotators=True))
    for number, (kind, member) in enumerate(answers):
        await engine.propose("a", ["x", "y"], [0.9, 0.1], round_id=f"r{number}")
        if kind is not None:
            await engine.answer("a", f"r{number}", kind, member, Author("ann"))


def test_the_training_set_has_the_final_label_the_first_who_and_when(address):
    """Of a pick, a miss and a skipped round; the last correction stays, and thresholds are the same bits."""

    async def main():
        async with Engine.open(address) as engine:
            await answered(engine, [("hit", "x"), ("miss", None), ("skip", None), ("hit", "y"), ("skip", None)])
            before = await engine.summary("a")
            await engine.review.correct("a", "r0", "x", "as it was", "lead")
            await engine.review.correct("a", "r0", "y", "looked again", "lead")
            await engine.review.correct("a", "r1", "y")
            await engine.review.correct("a", "r2", "x")
            await engine.review.correct("a", "r3", None, "no bird")
            after = await engine.summary("a")
            assert {**before, "at": 0} == {**after, "at": 0}

    asyncio.run(main())
    table = rows(address)
    assert {item: (row["label"], row["first_labels"], row["how"]) for item, row in table.items()} == {
        "r0": ("y", ["x"], "list"),
        "r1": ("y", [], "not in list"),
        "r2": ("x", [], "skipped"),
        "r3": (None, ["y"], "list"),
    }
    assert (table["r0"]["corrected_by"], table["r0"]["note"], table["r0"]["annotator"]) == (
        "lead",
        "looked again",
        "ann",
    )
    assert table["r0"]["corrected_at"] >= table["r0"]["answered_at"]
    assert (table["r3"]["labels"], table["r3"]["note"], table["r3"]["corrected_by"]) == ([], "no bird", None)


def test_what_cannot_be_corrected(address):
    async def main():
        async with Engine.open(address) as engine:
            await answered(engine, [("hit", "x"), (None, None)])
            for round_id, label, error in (
                ("none", "x", UnknownRound),
                ("r1", "x", ConflictingRound),
                ("r0", "z", NotShown),
                ("r0", 0, NotShown),
            ):
                with pytest.raises(error):
                    await engine.review.correct("a", round_id, label)
            with pytest.raises(UnknownStream):
                await engine.review.correct("nowhere", "r0", "x")

    asyncio.run(main())
    assert rows(address)["r0"]["corrected_at"] is None


def test_words_are_erased_with_the_texts_and_all_of_it_with_the_stream(address):
    async def main():
        async with Engine.open(address) as engine:
            await answered(engine, [("hit", "x")])
            await engine.review.correct("a", "r0", "y", "a note", "lead")
            await engine.retention.erase_texts("a", 1e12)

    asyncio.run(main())
    row = rows(address)["r0"]
    assert (row["label"], row["note"], row["corrected_by"], row["annotator"]) == ("y", None, None, None)

    async def again():
        async with Engine.open(address) as engine:
            await engine.delete_stream("a")
            await answered(engine, [("hit", "x")])

    asyncio.run(again())
    assert rows(address)["r0"]["label"] == "x"
