"""A stream's log as a file: complete, on one scale, and what `shortlist replay` reads."""

import asyncio
import csv
import io

import numpy as np
import pytest

from shortlist import AnytimeSPS, replay
from shortlist.errors import UnknownStream
from shortlist.lab.round_log import LogFiles
from shortlist.rounds.events import Listed
from shortlist.service.engine import Engine, StreamSettings, export_stream, verify
from tests.service.playing import play, play_tables
from tests.service.running import running


def test_an_export_has_every_round_once(played, read):
    file = io.StringIO()
    assert export_stream(read(played), "a", io.StringIO(), "jsonl") == 401  # lists, answers, and the fit
    assert export_stream(read(played), "a", file, "csv") == 170  # but for those that the score was learned from
    file.seek(0)
    rows = list(csv.DictReader(file))
    assert len({row["round_id"] for row in rows}) == 170
    hits = [row for row in rows if row["answer"] == "hit"]
    assert all(row["true_score"] and row["member"] for row in hits)
    assert all(row["true_score"] == "" for row in rows if row["answer"] == "miss")
    with pytest.raises(UnknownStream):
        export_stream(read(played), "nobody", file)


def test_an_export_has_silent_rounds_too(sqlite, read):
    """Left out, they would make a replay too bold; rounds without a right answer leave the sample."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            for kind in ("hit", "miss", "skip", "absent", "expired", None):
                made, _ = await engine.propose("a", ["x", "y"], [0.2, 0.9], round_id=str(kind))
                if kind is not None:
                    await engine.answer("a", made.shown.round_id, kind, "y" if kind == "hit" else None)

    asyncio.run(main())
    file = io.StringIO()
    export_stream(read(sqlite), "a", file, "csv")
    file.seek(0)
    found = {row["round_id"]: (row["answer"], row["true_score"]) for row in csv.DictReader(file)}
    assert found == {
        "hit": ("hit", "0.9"),
        "miss": ("miss", ""),
        "skip": ("skip", ""),
        "expired": ("expired", ""),
        "None": ("", ""),
    }


def test_absent_of_a_truncated_list_is_a_miss_and_in_the_table_that_replay_reads(sqlite, read):
    """Nobody has seen everything there, or of an empty search: the round stays in the sample."""
    with running(sqlite) as service:
        service.make(patience=3, score="raw")
        lists = [{"truncated_below": 0.3}, {"candidates": (), "allow_empty": True}, {}, {}]
        rounds = [service.propose(**more).json() for more in lists]
        assert [shown["truncated"] for shown in rounds] == [True, False, False, False]
        for shown in rounds:
            assert service.answer(shown["round_id"], {"absent": True}).status_code == 200
            assert service.answer(shown["round_id"], {"absent": True}).status_code == 200  # twice is once
        summary = service.http.get("/v1/streams/docs").json()
        assert (summary["absent"], summary["misses"], summary["counted"]) == (2, 2, 2)
        late = service.propose().json()
        for _ in range(4):
            service.play(1)
        assert service.answer(late["round_id"], {"absent": True}).status_code == 200  # counted already
        counted = service.http.get("/v1/streams/docs").json()["counted"]
        rows = service.http.get("/v1/streams/docs/export", params={"format": "csv"}).text.splitlines()[1:]
        assert len(rows) == counted == 7
    assert [found.problems for found in verify(read(sqlite))] == [[]]


@pytest.mark.parametrize("scorers", [1, 2])
def test_the_table_of_a_learned_score_has_one_scale_and_replays(sqlite, read, scorers):
    """What the score was learned from is on another scale, and never counts: with it the replay would differ."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await (play if scorers == 1 else play_tables)(engine, 500)
            return await engine.summary("a"), "".join([text async for text in engine.history.export("a", "csv")])

    summary, text = asyncio.run(main())
    store = read(sqlite)
    with store.reading() as reader:
        first = [entry.event.fit for entry in reader.events(1) if isinstance(entry.event, Listed)].count(0)
    assert first == (30 if scorers == 1 else 100)
    file = io.StringIO()
    export_stream(store, "a", file, "csv")
    assert file.getvalue() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 500 - first
    true_scores = np.array([float(row["true_score"] or -np.inf) for row in rows])
    thresholds = replay(AnytimeSPS(0.9), np.append(true_scores, 0.0))
    assert thresholds[-1] == summary["threshold"] > 0
    shown = [float(row["threshold"] or -np.inf) for row in rows]
    assert shown == thresholds[:-1].tolist()
    assert all(bool(row["raw_score"]) == (scorers == 1 and row["answer"] == "hit") for row in rows)


def test_while_the_score_is_learned_the_table_is_empty(sqlite, read):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play(engine, 29)

    asyncio.run(main())
    assert export_stream(read(sqlite), "a", io.StringIO(), "csv") == 0


def test_no_spreadsheet_computes_what_somebody_else_wrote(sqlite, read, tmp_path):
    """Ids come from callers. `replay` reads the table as before, and numbers are numbers."""
    formula = '=HYPERLINK("http://evil.example","open")'

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            for i, member in enumerate([formula, "+1", "-2", "@x", "plain", 7]):
                await engine.propose("a", [member, "other"], [-0.5, -0.9], round_id=f"-{i}")
                await engine.answer("a", f"-{i}", "hit", member)
            return "".join([text async for text in engine.history.export("a", "csv")])

    over_http = asyncio.run(main())
    file = io.StringIO()
    export_stream(read(sqlite), "a", file, "csv")
    assert file.getvalue() == over_http
    rows = list(csv.DictReader(io.StringIO(over_http)))
    assert [row["member"] for row in rows] == [f"'{formula}", "'+1", "'-2", "'@x", "plain", "7"]
    assert [row["round_id"] for row in rows] == [f"'-{i}" for i in range(6)]
    assert {row["true_score"] for row in rows} == {row["raw_score"] for row in rows} == {"-0.5"}
    path = tmp_path / "log.csv"
    path.write_text(over_http)
    log = LogFiles((str(path),), by="round_id", time="shown_at").read([str(path)])
    assert {name: scores.tolist() for name, scores in log.items()} == {f"'-{i}": [-0.5] for i in range(6)}
