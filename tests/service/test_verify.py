"""`verify` finds what was altered, and the command says so."""

import asyncio
import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest
import sqlalchemy as sa

from shortlist import AnytimeSPS, replay
from shortlist.errors import UnknownStream
from shortlist.service.engine import Engine, Settings, export_stream, verify
from shortlist.service.store import Store, database
from tests.service.test_engine import play

ALTERED = {
    "a threshold that was too high": (
        'UPDATE events SET body = replace(body, \'"thresholds":{"0":null}\', \'"thresholds":{"0":0.001}\')'
        " WHERE number = 1",
        "above the -inf that the log gives",
    ),
    "an answer that is missing": ("DELETE FROM events WHERE number = 2", "event 3: follows event 1"),
    "a log that ends early": ("DELETE FROM events WHERE number > 300", "the log ends at event 300"),
    "a snapshot of something else": (
        "UPDATE snapshots SET state = replace(state, '\"hits\":', '\"hits\":1')",
        "is not what the log gives",
    ),
    "a hit with another score": (
        'UPDATE events SET body = replace(body, \'"made":{"0":\', \'"made":{"0":1\') WHERE kind = \'hit\'',
        "has another score than in its list",
    ),
    "a candidate that was hidden": (
        'UPDATE events SET body = replace(body, \'"positions":[\', \'"positions":[0,0,0],"was":[\') WHERE number = 1',
        "which reaches the threshold",
    ),
    "an epoch that had not come": (
        "UPDATE events SET body = replace(body, '\"epoch\":0', '\"epoch\":3') WHERE number = 5",
        "has epoch 3, and the log gives 0",
    ),
    "an event of another kind": ("UPDATE events SET kind = 'nonsense' WHERE number = 2", "event 2 cannot be applied"),
}


@pytest.fixture
def played(address):
    async def main():
        async with Engine.open(address, snapshot_every=150) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 200)

    asyncio.run(main())
    return address


@pytest.mark.parametrize("name", ALTERED)
def test_what_was_altered_is_found(played, name, read):
    sql, problem = ALTERED[name]
    assert [found.problems for found in verify(read(played))] == [[]]
    engine = database.make_engine(played)
    with engine.begin() as connection:
        connection.execute(sa.text(sql.replace(":", "\\:")))
    engine.dispose()
    (found,) = verify(read(played))
    assert problem in "\n".join(found.problems)


def shortlist(*arguments):
    return subprocess.run([sys.executable, "-m", "shortlist", *arguments], capture_output=True, text=True, check=False)


def test_the_commands(sqlite, tmp_path):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 200)

    asyncio.run(main())
    done = shortlist("verify", "--database", sqlite)
    assert done.returncode == 0, done.stderr
    assert "sound" in done.stdout
    assert "1 stream, 0 with problems" in done.stdout
    done = shortlist("export", "a", "--database", sqlite)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["number"] for event in events] == list(range(1, 401))
    out = tmp_path / "rounds.csv"
    done = shortlist("export", "a", "--database", sqlite, "--format", "csv", "--out", str(out))
    assert "200 lines" in done.stderr
    done = shortlist("replay", str(out), "--out", str(tmp_path / "replayed"))  # what was exported can be replayed
    assert done.returncode == 0, done.stderr
    engine = database.make_engine(sqlite)
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM events WHERE number = 7"))
    engine.dispose()
    done = shortlist("verify", "--database", sqlite)
    assert done.returncode == 1
    assert "1 with problems" in done.stdout
    for wrong, message in (
        (("export", "b", "--database", sqlite), "there is no stream 'b'"),
        (("export", "a", "--database", sqlite, "--format", "xml"), "it must be jsonl or csv"),
        (("verify", "--database", "mysql://x"), "'mysql'"),
        (("export", "a", "--database", sqlite, "--out", str(tmp_path)), "cannot be written"),
    ):
        done = shortlist(*wrong)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def test_an_export_has_every_round_once(played, read):
    file = io.StringIO()
    assert export_stream(read(played), "a", file, "csv") == 200
    file.seek(0)
    rows = list(csv.DictReader(file))
    assert len({row["round_id"] for row in rows}) == 200
    hits = [row for row in rows if row["answer"] == "hit"]
    assert all(row["true_score"] and row["member"] for row in hits)
    assert all(row["true_score"] == "" for row in rows if row["answer"] == "miss")
    with pytest.raises(UnknownStream):
        export_stream(read(played), "nobody", file)


def test_an_export_has_silent_rounds_too(sqlite, read):
    """Left out, they would make a replay too bold; rounds without a right answer do leave the count."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
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


def test_a_database_that_was_never_served_is_said_in_one_line(sqlite):
    done = shortlist("verify", "--database", sqlite)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_store_is_closed_twice_without_harm(sqlite):
    store = Store(sqlite)
    store.close()
    store.close()


def test_the_table_of_an_automatic_stream_has_one_scale_and_replays(sqlite, read):
    """The score in use changes on the way; a table of several scales would replay to a threshold that covers 0.7."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9, score="auto"))
            await play(engine, 1500)
            return await engine.summary("a"), "".join([text async for text in engine.export("a", "csv")])

    summary, text = asyncio.run(main())
    store = read(sqlite)
    with store.reading() as reader:
        leaders = [event.body["leader"] for event in reader.events(1, kind="shown")]
    assert len(set(leaders)) > 1  # or the test would show nothing
    file = io.StringIO()
    export_stream(store, "a", file, "csv")
    assert file.getvalue() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    true_scores = np.array([float(row["true_score"] or -np.inf) for row in rows])
    policy = AnytimeSPS(0.9, 0.05 / 5)  # each score's share of delta
    thresholds = replay(policy, np.append(true_scores, 0.0))
    assert thresholds[-1] == summary["threshold"]
    shown = [float(row["threshold"] or -np.inf) for row in rows]
    assert shown == thresholds[:-1].tolist()
