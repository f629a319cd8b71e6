"""What a batch is about: rounds and streams from memory and from the log."""

import asyncio

from shortlist.errors import UnknownStream
from shortlist.rounds.events import Answer
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.engine.commands import Close, Propose
from shortlist.service.engine.lookup import Lookup
from shortlist.service.engine.memory import Memory, load
from shortlist.service.store import Store

IDS, SCORES = ["a", "b"], [0.9, 0.1]


def looked_up(address, commands, open_limit=100):
    """Return what commands see, which are made of the streams in a log by their names."""
    store, memory, begun = Store(address), Memory(), []

    def stream(name):
        if name not in memory.by_name:
            with store.reading() as reader:
                row = reader.stream(name)
                if row is None:
                    raise UnknownStream(name)
                memory.add(*load(reader, row))
        return memory.by_name[name]

    async def find(name):
        return stream(name)

    async def do(work, *arguments):
        begun.append(work.__name__)
        return work(*arguments)

    streams = {}
    try:
        lookup = Lookup(store, memory, do, find, open_limit)
        context = asyncio.run(lookup.look(commands(stream), streams))
    finally:
        store.close()
    rounds = {
        (next(each.name for each in streams.values() if each.id == of), name)
        for (of, name), found in context.rounds.items()
        if found
    }
    return rounds, sorted(each.name for each in streams.values()), begun


def logged(address, count=1):
    """Make two streams, one with some open rounds and one with one."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("old", StreamSettings.of(coverage=0.9))
            await engine.create_stream("alone", StreamSettings.of(coverage=0.9))
            for i in range(count):
                await engine.propose("old", IDS, SCORES, round_id=f"r{i}")
            await engine.propose("alone", IDS, SCORES, round_id="r0")

    asyncio.run(main())


def test_rounds_are_looked_up_at_once(address):
    logged(address)
    rounds, streams, begun = looked_up(address, lambda of: [Close(of("alone"), "r0", Answer.MISS)])
    assert (rounds, streams, begun) == ({("alone", "r0")}, ["alone"], ["begin"])
    rounds, *_ = looked_up(address, lambda of: [Close(of("alone"), "never", Answer.MISS)])
    assert rounds == set()


def test_for_a_new_round_nothing_is_read(sqlite):
    logged(sqlite, count=5)
    *_, begun = looked_up(sqlite, lambda of: [Propose(of("old"), "x", IDS, None, is_fresh=True)], open_limit=5)
    assert begun == []
