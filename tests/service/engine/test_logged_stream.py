"""A stream of the service: a fold of its log that nothing can stop, least of all a chart."""

import asyncio

import numpy as np
import pytest

from shortlist.rounds.admission import admit
from shortlist.rounds.events import Restarted
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.series import Histogram
from shortlist.service.store import LogEntry, Store, StreamRow
from tests.service.playing import answer_to, lists, play, play_tables
from tests.service.running import running
from tests.service.store.entries import listed


def test_a_restart_is_never_overtaken_by_a_stale_threshold(sqlite, constants):
    """A list that was cut before the restart and stands in the log after its alarm is open, and never counted."""
    constants(alarm=5000)
    row_settings = StreamSettings.of(coverage=0.9, delta=0.01, on_drift="restart")

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", row_settings)
            for i, (scores, right) in enumerate(lists(600)):
                # Three requests in one batch: an answer that may ring the alarm, and lists cut before it.
                made, _ = await engine.propose("a", list(range(12)), scores)
                wrong = i > 300
                first, (beside, _) = await asyncio.gather(
                    engine.answer("a", made.shown.round_id, *answer_to(made, right, wrong=wrong)),
                    engine.propose("a", list(range(12)), scores, round_id=f"beside-{i}"),
                )
                assert first[1]
                await engine.answer("a", f"beside-{i}", *(("absent",) if wrong else answer_to(beside, right)))
            assert (await engine.summary("a"))["epoch"] >= 1

    asyncio.run(main())
    store = Store(sqlite, read_only=True)
    (found,) = verify(store)
    assert found.problems == []
    with store.reading() as reader:
        row = reader.stream("a")
        stream, stale = LoggedStream(row), 0
        for entry in reader.events(row.id):
            if entry.is_list:
                assert entry.event.epoch == stream.stream.tracker.epoch
                stale += stream.stream.due() is not None
            stream.apply(entry)
            if isinstance(entry.event, Restarted):
                assert stream.stream.tracker.state.policy.rounds == 0
    store.close()
    assert stale > 0  # or the test would show nothing


@pytest.mark.parametrize("score", [1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308, 9e307, 5e-324])
def test_a_score_at_the_end_of_the_range_and_a_hit(address, read, score):
    """Three valid requests leave the stream, and the list of streams, readable."""
    with running(address) as service:
        service.make("victim")
        service.make("other")
        shown = service.propose([("a", score), ("b", 0.5)], stream="victim", round_id="r1")
        assert shown.status_code == 201
        assert service.answer("r1", {"hit": "a"}, stream="victim").status_code == 200
        service.play(stream="victim")
        for path in ("/v1/streams", "/v1/streams/victim", "/v1/streams/victim/series", "/v1/streams/victim/rounds"):
            assert service.http.get(path).status_code == 200, path
    assert all(found.problems == [] for found in verify(read(address)))
    with running(address) as service:
        assert service.http.get("/v1/streams/victim").json()["hits"] == 4
        assert service.http.delete("/v1/streams/victim").status_code == 204


def test_a_chart_that_cannot_be_drawn_does_not_touch_the_stream(address, monkeypatch, caplog):
    """Whatever goes wrong in a chart: the fold goes on, the chart starts again, and it is counted."""
    with running(address) as service:
        service.make(score="raw")
        service.play(5)
        threshold = service.http.get("/v1/streams/docs").json()["counted"]
        monkeypatch.setattr(Histogram, "add", lambda *_: 1 / 0)
        service.play(1)
        monkeypatch.undo()
        service.play(1)
        summary = service.http.get("/v1/streams/docs").json()
        assert (summary["hits"], summary["counted"]) == (7, threshold + 2)
        assert "shortlist_charts_dropped_total 1.0" in service.http.get("/metrics").text
        assert service.http.get("/v1/streams/docs/series").status_code == 200
    assert "the charts of stream docs start again: event 12 cannot be drawn" in caplog.text


def test_an_event_that_does_not_follow_is_refused_and_changes_nothing(constants):
    constants(alarm=50)
    row = StreamRow(1, "a", {"coverage": 0.9}, 0.0, 0)
    stream = LoggedStream(row)
    stream.apply(listed(row, 1))
    before = stream.snapshot()
    for wrong in (listed(row, 1, "other"), listed(row, 3, "other")):
        with pytest.raises(ValueError, match="does not follow 1"):
            stream.apply(wrong)
    assert stream.snapshot() == before


@pytest.mark.parametrize(
    "settings",
    [
        {"score": "raw"},
        {},
        {"delta": 0.01},
        {"delta": 0.01, "on_drift": "restart"},
        {"scorer_version": "2"},
        {"score": "raw", "miss_budget": 2},
        {"score": "raw", "delta": 0.01, "miss_budget": None},
        {"explore_share": 0.5},
    ],
    ids=str,
)
def test_a_stream_goes_on_from_a_snapshot_as_if_there_had_been_none(sqlite, read, settings):
    """After any event, and bit for bit: the next snapshot is the same text."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, **settings))
            if "scorer_version" in settings:  # two scorers, of which one lacks scores
                await play_tables(engine, 150, version="2")
            else:
                await play(engine, 150)

    asyncio.run(main())
    with read(sqlite).reading() as reader:
        row = reader.stream("a")
        entries = list(reader.events(row.id))
    whole = LoggedStream(row)
    for entry in entries:
        whole.apply(entry)
        if entry.number % 37 == 0:
            restored = LoggedStream(row)
            restored.restore(whole.snapshot())
            assert restored.snapshot() == whole.snapshot()
            for later in entries[entry.number : entry.number + 40]:
                restored.apply(later)
            fresh = LoggedStream(row)
            for each in entries[: restored.number]:
                fresh.apply(each)
            assert restored.snapshot() == fresh.snapshot()
            assert restored.summary() == fresh.summary()


def test_picks_are_drawn_once_the_score_is_learned(constants):
    """Those it was learned from, and answers to complete lists that come later, are on another scale."""
    constants(picks=2)
    row = StreamRow(1, "a", {"coverage": 0.9, "delta": 0.01}, 0.0, 0)
    stream = LoggedStream(row)
    late = stream.stream.decide("late", np.array([0.2, 0.4]), ["x", "y"])

    def take(event):
        stream.apply(LogEntry(1, stream.number + 1, 0.0, event))

    take(late)
    for name in ("r0", "r1"):
        shown = stream.stream.decide(name, np.array([0.5, 0.25]), ["x", "y"])
        take(shown)
        take(admit(shown, "x"))
    assert stream.summary()["fit_picks"] == 2
    take(stream.stream.due())
    assert stream.summary()["fit_picks"] is None
    take(admit(late, "x"))
    assert stream.series.chosen.counts == []
    shown = stream.stream.decide("r2", np.array([0.5, 0.25]), ["x", "y"])
    take(shown)
    take(admit(shown, "x"))
    assert (stream.series.chosen.of, sum(stream.series.chosen.counts)) == (1, 1)
    assert stream.summary()["hits"] == 4
    assert stream.summary()["counted"] == 1
