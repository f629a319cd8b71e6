"""Every byte of a database, flipped: what `verify` finds, and that it never fails.

A byte is in use if anything differs after it is flipped: a row of a table, the schema, or what SQLite says of the
file. Of these `verify` must find all but those in columns from which no threshold follows, which are listed here, and
those in an event's body that leave the log consistent, such as the id of a candidate that was not picked.
"""

import asyncio
import collections
import contextlib
import itertools
import sqlite3

import pytest

from shortlist.errors import ShortlistError
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.store import Store

#: All tables but Alembic's, of which the one number counts.
OURS = ("streams", "events", "snapshots", "texts", "heartbeat", "sqlite_sequence")
#: What is in use and not checked: by the table, and the name of the column.
HARMLESS = {
    "heartbeat.id",  # written to see whether the database takes it
    "heartbeat.at",
    "snapshots.version",  # one of another version is not used
    "sqlite_sequence.seq",  # a higher one: ids are left out
    "schema",  # white space, and the text of the table that is Alembic's
    "streams.name",
    "streams.settings",  # where other settings give the same log
    "streams.created",
    "events.phase",
    "events.at",
    "events.body",  # where the log fits together all the same
    "texts.question",
    "texts.texts",
    "texts.image",
    "texts.number",  # of another round, which is as good as erased
}


@pytest.fixture
def twenty(tmp_path):
    """A database with 20 events, their texts, and a snapshot."""

    async def main():
        async with Engine.open(f"sqlite:///{tmp_path}/log.db") as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            for i in range(10):
                texts = {"question": f"who is {i}", "texts": ["one", None]}
                await engine.propose("a", ["x", "y"], [0.1, 0.9], round_id=f"r{i}", **texts)
                await engine.answer("a", f"r{i}", "hit", "y") if i % 3 else await engine.answer("a", f"r{i}", "miss")
            await asyncio.to_thread(engine.store.beat, 1.0)

    asyncio.run(main())
    return tmp_path / "log.db"


def content(path):
    """Return all that is in a database, as far as it can be read, and what SQLite says of it."""
    rows = {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        try:
            rows["check"] = connection.execute("PRAGMA integrity_check").fetchall()
            rows["schema"] = connection.execute("SELECT * FROM sqlite_master").fetchall()
            for table, name in itertools.product(OURS, ("table_info", "index_list", "foreign_key_list")):
                query = f"SELECT * FROM pragma_{name}('{table}')"
                rows["tables"] = rows.get("tables", []) + connection.execute(query).fetchall()
            for table in (*OURS, "alembic_version"):
                cursor = connection.execute(f"SELECT * FROM {table}")
                names = [column[0] for column in cursor.description]
                for number, row in enumerate(cursor.fetchall()):
                    rows |= {(table, number, name): repr(value) for name, value in zip(names, row, strict=True)}
        except (sqlite3.Error, UnicodeDecodeError) as error:
            rows["error"] = str(error)
    return rows


def is_found(path):
    """Return whether `shortlist verify` ends with anything but success."""
    try:
        store = Store(f"sqlite:///{path}", read_only=True)
    except ShortlistError:
        return True
    with contextlib.closing(store):
        try:
            return any(found.problems for found in verify(store))
        except ShortlistError:
            return True


def flip(path, offsets, bits):
    """Return how many flipped bytes are in use, how many of those are found, and which of the others are what."""
    whole, counts, missed = path.read_bytes(), collections.Counter(), collections.Counter()
    before, copy = content(path), path.with_name("flipped.db")
    for offset in offsets:
        changed = bytearray(whole)
        changed[offset] ^= bits(offset)
        copy.write_bytes(changed)
        counts["bytes"] += 1
        after = content(copy)
        if after == before:
            continue
        found = is_found(copy)
        for end in ("-wal", "-shm", "-journal"):
            copy.with_name(f"flipped.db{end}").unlink(missing_ok=True)
        counts["in use"] += 1
        counts["found"] += found
        if not found:
            different = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
            names = {f"{key[0]}.{key[2]}" if len(key) == 3 else str(key) for key in different}
            missed.update(name for name in names if not name.startswith("alembic_version."))  # its schema, above
    return counts, missed


def one_bit(offset):
    return 1 << offset * 7 % 8


def all_bits(_):
    return 0xFF


def test_flipped_bytes_are_found(twenty):
    """A sample: every 97th byte."""
    assert not is_found(twenty)
    counts, missed = flip(twenty, range(0, twenty.stat().st_size, 97), one_bit)
    assert counts["in use"] > 50
    assert missed.keys() <= HARMLESS, missed


@pytest.mark.soak
@pytest.mark.parametrize("bits", [one_bit, all_bits])
def test_every_flipped_byte_is_found(twenty, bits):
    counts, missed = flip(twenty, range(twenty.stat().st_size), bits)
    print(f"\n{bits.__name__}: {dict(counts)}; in use and not found: {dict(missed)}")
    assert missed.keys() <= HARMLESS, missed
