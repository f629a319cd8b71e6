"""Fits that nobody waits for: computed off the lock, committed once, given up at once when the service stops."""

import asyncio
import threading

import pytest

from shortlist import Shortlister
from shortlist.errors import StoreUnavailable
from shortlist.rounds import learning, repeated_fits
from shortlist.rounds.codec import encode
from shortlist.rounds.events import Fitted, Listed, kind_of
from shortlist.scores.learned import FitStopped
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.background_fits import BackgroundFits
from shortlist.service.store import Store
from tests.service.playing import play, play_tables, tables

PICKS = 100  # with several scorers


async def landed(engine):
    """Wait until no fit is being computed."""
    while engine.fits_waiting:  # noqa: ASYNC110 - the engine has no event for it
        await asyncio.sleep(0.001)


def events(address, name="a"):
    """Return the events of a stream, after checking that the log is sound."""
    store = Store(address, read_only=True)
    try:
        assert not any(found.problems for found in verify(store))
        with store.reading() as reader:
            return list(reader.events(reader.stream(name).id))
    finally:
        store.close()


def kinds(address):
    return [kind_of(entry.event) for entry in events(address)]


class HeldFit:
    """Fits that wait until they are released, or given up."""

    def __init__(self, monkeypatch):
        self.began, self.released, self.count = threading.Event(), threading.Event(), 0
        real = learning.fit

        def fit(examples, scorers, coverage, stopping=bool):
            self.count += 1
            self.began.set()
            while not self.released.wait(0.01):
                if stopping():
                    raise FitStopped
            return real(examples, scorers, coverage, stopping)

        for module in (learning, repeated_fits):
            monkeypatch.setattr(module, "fit", fit)


@pytest.mark.parametrize("dies", [False, True])
def test_a_fit_is_written_once(address, monkeypatch, dies):
    """Right after the last pick it needs; if the process dies in between, it is begun again when the stream is used."""

    async def first():
        async with Engine.open(address, snapshot_every=7) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(engine, PICKS - 1)
            if dies:
                monkeypatch.setattr(BackgroundFits, "start", lambda *_: None)
            await play_tables(engine, 1, seed=1)
            return await engine.summary("a")

    async def second():
        async with Engine.open(address) as engine:
            scores, _ = next(tables(1, seed=2))
            await engine.propose("a", list(range(12)), scores, round_id="next")
            await landed(engine)
            shown, _ = await engine.propose("a", list(range(12)), scores, round_id="last")
            return shown.listed.fit, (await engine.summary("a")).learned

    summary = asyncio.run(first())
    assert (summary.learned is None, summary.fit_picks) == ((True, PICKS) if dies else (False, None))
    assert ("the fit of the score" in summary.waiting_for) is dies
    monkeypatch.undo()
    fit, learned = asyncio.run(second())
    assert fit == 1
    assert learned == summary.learned or dies
    assert kinds(address)[-3:] == (["listed", "fitted", "listed"] if dies else ["fitted", "listed", "listed"])
    assert kinds(address).count("fitted") == 1


def test_a_fit_that_cannot_be_written_is_computed_again(sqlite, monkeypatch, caplog):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play(engine, 29)
            append = Store.append

            def fail(store, entries, *more):
                if any(isinstance(entry.event, Fitted) for entry in entries):
                    raise StoreUnavailable("the disk is full")
                append(store, entries, *more)

            monkeypatch.setattr(Store, "append", fail)
            await play(engine, 1, seed=1)  # its answer is stored
            assert (await engine.summary("a")).fit_picks == 30
            monkeypatch.undo()
            await engine.propose("a", [0, 1], [0.1, 0.2])
            await landed(engine)
            shown, _ = await engine.propose("a", [0, 1], [0.1, 0.2])
            assert shown.listed.fit == 1

    asyncio.run(main())
    assert "the fit of stream a is computed again later: the disk is full" in caplog.text
    assert kinds(sqlite).count("fitted") == 1


def test_nothing_waits_for_a_fit(address, monkeypatch):
    """While it is computed, other streams are written to, and so is its own: it lands at the event reached by then."""
    held = HeldFit(monkeypatch)

    async def main():
        async with Engine.open(address, fit_patience=0.0) as engine:
            for name in ("a", "b"):
                await engine.create_stream(name, StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(engine, PICKS)
            await asyncio.to_thread(held.began.wait)
            for i in range(20):
                await engine.propose("b", [0, 1], [0.5, 0.6], round_id=f"b{i}")
                await engine.answer("b", f"b{i}", "hit", 1)
            await play_tables(engine, 30, seed=1)  # it goes on, with complete lists
            assert engine.fits_waiting == 1
            assert (await engine.summary("a")).fit_picks == PICKS  # picks that come meanwhile are no examples
            held.released.set()
            await landed(engine)
            await play_tables(engine, 1, seed=2)
            return await engine.summary("a")

    summary = asyncio.run(main())
    monkeypatch.undo()
    entries = events(address)
    (fitted,) = [entry for entry in entries if isinstance(entry.event, Fitted)]
    before = [entry.event for entry in entries[: fitted.number - 1] if isinstance(entry.event, Listed)]
    assert len(before) == PICKS + 30
    assert {each.fit for each in before} == {0}
    assert all(len(each.positions) == 12 for each in before)
    assert fitted.event.seen == 2 * PICKS < fitted.number - 1
    assert (summary.counted, summary.rounds, held.count) == (1, PICKS + 31, 1)  # only rounds shown after it count


def test_the_library_learns_the_same_weights(sqlite):
    """From the same rounds, to the bit."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(engine, PICKS)
            return (await engine.summary("a")).learned

    lister = Shortlister(0.9, delta=0.01)
    for scores, right in tables(PICKS, seed=0):
        lister.reveal(lister.propose(scores).round_id, right)
    assert encode(lister.learned) == asyncio.run(main())


def test_long_lists_too(sqlite):
    """Of which only a part is kept: the draw is a function of the seed, and the log has what is needed of the pick."""
    rows = list(tables(PICKS, candidates=300, seed=3))

    async def main():
        async with Engine.open(sqlite, snapshot_every=13) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            for i, (scores, right) in enumerate(rows):
                await engine.propose("a", list(range(300)), scores, round_id=str(i))
                await engine.answer("a", str(i), "hit", (right + 150) % 300)
            return await engine.summary("a")

    summary = asyncio.run(main())
    assert summary.score_why.startswith("learned from 100 picks and 128 candidates of each list")
    (fitted,) = [entry.event for entry in events(sqlite) if isinstance(entry.event, Fitted)]  # and the log is sound
    assert encode(fitted.score) == summary.learned


def test_short_lists_are_cut_as_before_while_a_fit_is_computed(address, monkeypatch):
    """By default there are five fits. Rounds shown while one is computed never enter by the old score."""
    held = HeldFit(monkeypatch)

    async def main():
        async with Engine.open(address, fit_patience=0.0) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            while not held.began.is_set():
                await play_tables(engine, 1, seed=held.count + (await engine.summary("a")).rounds)
            await play_tables(engine, 40, seed=1000)
            before = await engine.summary("a")
            assert (engine.fits_waiting, before.learned) == (1, None)
            held.released.set()
            await landed(engine)
            counted = (await engine.summary("a")).counted
            assert counted < before.counted  # those that were answered when it was due
            for seed in range(250):
                await play_tables(engine, 1, seed=seed)
            await landed(engine)  # the last one may still be computed
            return await engine.summary("a")

    summary = asyncio.run(main())
    monkeypatch.undo()
    entries = events(address)
    fits = [entry for entry in entries if isinstance(entry.event, Fitted)]
    assert [entry.event.number for entry in fits] == list(range(1, len(fits) + 1))
    first = fits[0].event
    assert first.score.rounds == 15
    assert first.seen is not None
    assert first.seen <= fits[0].number - 80
    assert fits[1].event.score.rounds > 30  # picks came in meanwhile: the next ones are of all that are there
    assert len(first.windows["a"]) // 2 <= first.seen
    during = [entry.event for entry in entries[first.seen : fits[0].number - 1] if isinstance(entry.event, Listed)]
    assert {each.fit for each in during} == {0}
    assert min(len(each.positions) for each in during) < 10
    assert summary.score_why.startswith(f"learned from {fits[-1].event.score.rounds} picks")


@pytest.mark.parametrize("stop", ["close", "prepare_shutdown"])
def test_a_fit_ends_when_the_service_stops_and_is_begun_again(address, monkeypatch, stop):
    held = HeldFit(monkeypatch)

    async def first():
        async with Engine.open(address, fit_patience=0.0) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(engine, PICKS)
            await asyncio.to_thread(held.began.wait)
            if stop == "prepare_shutdown":
                engine.prepare_shutdown()
                await landed(engine)

    async def second():
        async with Engine.open(address) as engine:
            await play_tables(engine, 1, seed=1)
            await landed(engine)

    asyncio.run(first())  # it would hang otherwise: the fit is never released
    assert kinds(address).count("fitted") == 0
    held.released.set()
    asyncio.run(second())
    assert kinds(address).count("fitted") == 1


def test_a_restart_overtakes_a_fit(sqlite, monkeypatch):
    """The score is learned again from later picks: what was computed from the earlier ones is dropped."""
    held = HeldFit(monkeypatch)
    held.released.set()

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(engine, PICKS)
            await landed(engine)
            held.released.clear()
            held.began.clear()
            await engine.restart("a", refit=True)  # it has the picks for another one
            await asyncio.to_thread(held.began.wait)
            await engine.delete_stream("a")
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            held.released.set()
            await landed(engine)
            await play_tables(engine, 1)
            return await engine.summary("a")

    assert asyncio.run(main()).learned is None
    assert kinds(sqlite) == ["listed", "hit"]


def test_replicas_commit_it_once(postgresql, monkeypatch):
    held = HeldFit(monkeypatch)

    async def main():
        async with Engine.open(postgresql, fit_patience=0.0) as one, Engine.open(postgresql, fit_patience=0.0) as two:
            await one.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(one, PICKS)
            await play_tables(two, 1, seed=1)  # it has read that the fit is due
            assert (one.fits_waiting, two.fits_waiting) == (1, 1)
            held.released.set()
            await landed(one)
            await landed(two)
            await play_tables(two, 1, seed=2)
            return [(await each.summary("a")).learned for each in (one, two)]

    first, second = asyncio.run(main())
    assert first == second
    monkeypatch.undo()
    assert kinds(postgresql).count("fitted") == 1


def test_a_fit_that_fails_is_not_tried_for_ever(sqlite, monkeypatch, caplog):
    calls = []

    def fail(*_):
        calls.append(1)
        raise ArithmeticError("no such weights")

    monkeypatch.setattr(learning, "fit", fail)

    async def main(count=PICKS + 5):
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play_tables(engine, count, seed=count)
            await landed(engine)

    asyncio.run(main())
    assert len(calls) == 1
    assert "the fit of stream a failed, and is tried again in a minute: lists are cut as before" in caplog.text
    monkeypatch.setattr("shortlist.service.engine.background_fits._PAUSE", 0.0)
    asyncio.run(main(5))
    assert len(calls) > 1
