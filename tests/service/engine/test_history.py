"""What has happened in a stream, page by page."""

import asyncio

import pytest

from shortlist.errors import UnknownRound
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.engine.paging import Asked


def test_pages_of_rounds(address):
    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            for i in range(7):
                await engine.propose("a", ["x"], [0.5], round_id=f"r{i}", question=f"q{i}")
                if i % 2:
                    await engine.answer("a", f"r{i}", "miss")
            after, found = 0, []
            while after is not None:
                page, after = await engine.history.rounds("a", Asked(after=after, limit=3))
                found += page
            assert [made.shown.round_id for made, _, _ in found] == [f"r{i}" for i in range(7)]
            assert [text.question for _, text, _ in found] == [f"q{i}" for i in range(7)]
            assert [compared() for _, _, compared in found] == [[0.5]] * 7
            assert [made.answer() for made, _, _ in found] == [{"miss": True} if i % 2 else None for i in range(7)]
            waiting = await engine.history.rounds("a", Asked(only_open=True, limit=2))
            assert [made.shown.round_id for made, _, _ in waiting.rounds] == ["r0", "r2"]
            asked = Asked(only_open=True, newest=True, limit=2)
            assert [made.shown.round_id for made, _, _ in (await engine.history.rounds("a", asked)).rounds] == [
                "r6",
                "r4",
            ]
            with pytest.raises(UnknownRound):
                await engine.history.round("a", "r9")

    asyncio.run(main())
