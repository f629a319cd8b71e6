"""A log to look at."""

import asyncio
import shutil

import pytest

from shortlist.service.engine import Engine, StreamSettings
from tests.service.playing import play


async def _play(address, delta=0.01):
    async with Engine.open(address, snapshot_every=150) as engine:
        await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=delta))
        await play(engine, 200)


@pytest.fixture(scope="session")
def _played_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    paths = {delta: folder / f"{delta}.db" for delta in (0.01, None)}
    for delta, path in paths.items():
        asyncio.run(_play(f"sqlite:///{path}", delta))
    return paths


@pytest.fixture
def played(sqlite, _played_once):
    """The address of a database with a stream `a` of 200 rounds with a delta, each answered: a copy."""
    shutil.copy(_played_once[0.01], sqlite.removeprefix("sqlite:///"))
    return sqlite


@pytest.fixture
def played_short(sqlite, _played_once):
    """The same of a stream as it is by default: short from the first list on."""
    shutil.copy(_played_once[None], sqlite.removeprefix("sqlite:///"))
    return sqlite


@pytest.fixture
def played_anywhere(address):
    """The same, on SQLite and then on PostgreSQL."""
    asyncio.run(_play(address))
    return address
