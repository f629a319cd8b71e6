"""What a batch is about: rounds and streams from memory and from the log, and those that shadow them."""

import asyncio

from shortlist.errors import UnknownStream
from shortlist.rounds.events import Answer
from shortlist.service.engine import Engine, Settings
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
        sight = asyncio.run(lookup.look(commands(stream), streams))
    finally:
        store.close()
    rounds = {(next(each.name for each in streams.values() if each.id == of), name) for of, name in sight.known}
    return rounds, sorted(each.name for each in streams.values()), sorted(sight.others), begun


def logged(address, count=1, also=True):
    """Make two streams, of which one shadows the other, with some open rounds; and one that stands alone."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("old", Settings(coverage=0.9))
            await engine.create_stream("new", Settings(coverage=0.9, shadows="old"))
            await engine.create_stream("alone", Settings(coverage=0.9))
            for i in range(count):
                extra = {"new": SCORES} if also else None
                await engine.propose("old", IDS, SCORES, round_id=f"r{i}", also=extra)
            await engine.propose("alone", IDS, SCORES, round_id="r0")

    asyncio.run(main())


def test_an_answer_is_about_the_rounds_of_all_that_have_it(address):
    logged(address)
    rounds, streams, others, begun = looked_up(address, lambda of: [Close(of("old"), "r0", Answer.MISS)])
    assert rounds == {("old", "r0"), ("new", "r0")}
    assert (streams, others) == (["new", "old"], ["new"])
    # That another stream has it is in the log: then all are locked again, in one order.
    assert begun == ["begin", "rollback", "begin"]


def test_a_stream_that_nobody_shadows_is_looked_up_at_once(address):
    logged(address)
    rounds, streams, others, begun = looked_up(address, lambda of: [Close(of("alone"), "r0", Answer.MISS)])
    assert (rounds, streams, others, begun) == ({("alone", "r0")}, ["alone"], [], ["begin"])
    rounds, *_ = looked_up(address, lambda of: [Close(of("alone"), "never", Answer.MISS)])
    assert rounds == set()


def test_a_list_names_the_streams_that_it_is_for(sqlite):
    logged(sqlite)
    also = {"new": (None, ("",)), "nowhere": (None, ("",))}
    rounds, streams, others, _ = looked_up(sqlite, lambda of: [Propose(of("old"), "r9", IDS, None, also=also)])
    assert (rounds, streams, others) == (set(), ["new", "old"], ["new"])


def test_rounds_that_may_be_closed_to_make_room_are_looked_up_where_others_have_them(sqlite):
    logged(sqlite, count=5)
    new = [Propose, "x", IDS, None]

    def commands(of):
        return [new[0](of("old"), *new[1:], fresh=True)]

    assert looked_up(sqlite, commands, open_limit=100)[0] == set()
    rounds, *_ = looked_up(sqlite, commands, open_limit=5)
    assert rounds == {(name, f"r{i}") for name in ("old", "new") for i in range(2)}


def test_without_such_streams_nothing_more_is_read(sqlite):
    logged(sqlite, count=5, also=False)
    *_, begun = looked_up(sqlite, lambda of: [Propose(of("old"), "x", IDS, None, fresh=True)], open_limit=5)
    assert begun == []
