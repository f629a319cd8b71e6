"""The figures of all streams, whether or not they are in memory."""

import asyncio

from shortlist.service.engine import Engine, StreamSettings


async def play(engine, name, rounds):
    for _ in range(rounds):
        made, _ = await engine.propose(name, ["x", "y"], [0.2, 0.9])
        await engine.answer(name, made.shown.round_id, "hit", "y")


def test_figures_of_streams_that_nobody_has_asked_for(address):
    """The same before and after a restart; a stream that is then used is told from memory, one that is gone is gone."""

    async def before():
        async with Engine.open(address) as engine:
            for name in ("b", "a", "c"):
                await engine.create_stream(name, StreamSettings.of(coverage=0.9))
                await play(engine, name, 3)
            return await engine.overview(10)

    async def after():
        async with Engine.open(address) as engine:
            first = await engine.overview(10)
            again = await engine.overview(10)
            assert first == again
            await play(engine, "a", 2)
            await engine.delete_stream("c")
            later = await engine.overview(10)
            return first, later, await engine.overview(1)

    known = asyncio.run(before())
    first, later, one = asyncio.run(after())
    assert first == known
    count, seen = first
    assert [stream["name"] for stream in seen.summaries] == ["b", "a", "c"]  # in the order they were made
    assert (count, seen.unread, seen.damaged) == (3, [], [])
    assert [(stream["name"], stream["rounds"]) for stream in later[1].summaries] == [("b", 3), ("a", 5)]
    assert ([stream["name"] for stream in one[1].summaries], one[0]) == (["b"], 2)


def test_what_others_write_is_seen(postgresql):
    async def main():
        async with Engine.open(postgresql) as one, Engine.open(postgresql) as two:
            await one.create_stream("a", StreamSettings.of(coverage=0.9))
            counts = []
            for _ in range(3):
                await play(one, "a", 2)
                counts.append((await two.overview(10))[1].summaries[0]["rounds"])
            return counts

    assert asyncio.run(main()) == [2, 4, 6]
