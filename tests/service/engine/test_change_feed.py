"""Those who listen hear of every change, and what they are told is made once."""

import asyncio
import json

from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.engine.logged_stream import LoggedStream
from tests.service.playing import play


def test_what_many_listeners_are_told_is_made_once(sqlite, monkeypatch):
    made, summary = [], LoggedStream.summary

    def counted(stream):
        made.append(stream.number)
        return summary(stream)

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            monkeypatch.setattr(LoggedStream, "summary", counted)
            listeners = [engine.changes("a", pause=0) for _ in range(20)]
            first = await asyncio.gather(*map(anext, listeners))
            await play(engine, 1)
            second = await asyncio.gather(*map(anext, listeners))
            for listener in listeners:
                await listener.aclose()
            return first, second, engine.listeners

    first, second, left = asyncio.run(main())
    assert (len(set(first)), len(set(second)), left) == (1, 1, 0)
    assert (first[0].number, second[0].number) == (0, 2)
    assert json.loads(second[0].summary)["rounds"] == 1
    assert made == [0, 2]
