"""The commands `verify` and `export`: what they print, and refusals in one line."""

import asyncio
import json

from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.store import Store
from tests.cli.command import shortlist
from tests.service.playing import play
from tests.service.tampering import alter


def test_the_commands(sqlite, tmp_path):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play(engine, 200)

    asyncio.run(main())
    done = shortlist("verify", "--database", sqlite)
    assert done.returncode == 0, done.stderr
    assert "sound" in done.stdout
    assert "1 stream, 0 with problems" in done.stdout
    done = shortlist("export", "a", "--database", sqlite)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["number"] for event in events] == list(range(1, 402))
    assert [(event["kind"], event.get("fit")) for event in events[59:63]] == [
        ("hit", None),
        ("fitted", 1),
        ("listed", 1),
        ("hit", None),
    ]
    out = tmp_path / "rounds.csv"
    done = shortlist("export", "a", "--database", sqlite, "--format", "csv", "--out", str(out))
    assert "170 lines" in done.stderr
    done = shortlist("replay", str(out), "--out", str(tmp_path / "replayed"))  # what was exported can be replayed
    assert done.returncode == 0, done.stderr
    alter(sqlite, "DELETE FROM events WHERE number = 7")
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


def test_a_database_that_was_never_served_is_said_in_one_line(sqlite):
    done = shortlist("verify", "--database", sqlite)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_an_export_that_fails_leaves_the_old_file(sqlite, tmp_path):
    Store(sqlite).close()
    old = tmp_path / "old.jsonl"
    old.write_text("precious")
    assert shortlist("export", "typo", "--database", sqlite, "--out", str(old)).returncode == 2
    assert old.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []
