"""What is old goes, and only that."""

import asyncio

from shortlist.service.engine import Engine, StreamSettings


def test_old_rounds_and_texts_go_by_themselves(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await engine.propose("a", ["x"], [0.5], round_id="r", question="?")
            await engine.retention.retain(3600, 3600)
            assert (await engine.summary("a"))["open"] == 1
            await engine.retention.retain(-1, -1)
            assert (await engine.summary("a"))["expired"] == 1
            assert (await engine.history.round("a", "r"))[1] is None

    asyncio.run(main())
