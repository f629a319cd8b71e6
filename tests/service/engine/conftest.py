"""A log to look at."""

import asyncio
import shutil

import pytest

from shortlist.service.engine import Engine, StreamSettings
from tests.service.playing import play


async def _play(address):
    async with Engine.open(address, snapshot_every=150) as engine:
        await engine.create_stream("a", StreamSettings.of(coverage=0.9))
        await play(engine, 200)


@pytest.fixture(scope="session")
def _played_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("played") / "log.db"
    asyncio.run(_play(f"sqlite:///{path}"))
    return path


@pytest.fixture
def played(sqlite, _played_once):
    """The address of a database with a stream `a` of 200 rounds, each answered: a copy."""
    shutil.copy(_played_once, sqlite.removeprefix("sqlite:///"))
    return sqlite


@pytest.fixture
def played_anywhere(address):
    """The same, on SQLite and then on PostgreSQL."""
    asyncio.run(_play(address))
    return address
