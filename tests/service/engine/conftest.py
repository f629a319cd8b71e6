"""A log to look at."""

import asyncio

import pytest

from shortlist.service.engine import Engine, Settings
from tests.service.playing import play


@pytest.fixture
def played(address):
    """The address of a database with a stream `a` of 200 rounds, each answered."""

    async def main():
        async with Engine.open(address, snapshot_every=150) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 200)

    asyncio.run(main())
    return address
