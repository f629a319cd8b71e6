"""The engine: exactly once, and the same bits as a lister in memory."""

import asyncio
import json
import math

import pytest

from shortlist import Shortlister
from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    ConflictingStream,
    DuplicateIds,
    InvalidParameter,
    InvalidScores,
    NotShown,
    UnknownRound,
    UnknownStream,
)
from shortlist.rounds.codec import encode
from shortlist.rounds.events import Fitted, Hit, Listed
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.paging import Asked
from shortlist.service.store import Store
from tests.service.playing import SCORERS, answer_to, lists, play, play_tables, refused, tables


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"score": "relative"},
        {"score": "raw"},
        {"at_most": 8},
        {"score": {"kind": "learned", "scorers": [""], "relative": [2.0], "absolute": [0.5], "spread": [0.3]}},
        {"policy": {"kind": "sps", "horizon": 700}},
        {"delta": 0.01},
        {"delta": 0.01, "on_drift": "restart"},
        {"unanswered": "ignore"},
        {"at_least": 2, "at_most": 6},
        {"shadow": True, "score": {"kind": "relative", "temperature": 0.3}},
    ],
    ids=str,
)
def test_a_stream_does_what_a_lister_in_memory_does_bit_for_bit(sqlite, settings):
    """Every list, every threshold, and the state in the end; also after a restart in the middle."""
    made = StreamSettings.of(coverage=0.9, **settings)
    options = {name: getattr(made.rounds, name) for name in settings if name != "delta"}
    lister = Shortlister(**{"policy": made.rounds.policy} | options)

    async def half(start, stop):
        async with Engine.open(sqlite, snapshot_every=97) as engine:
            await engine.create_stream("a", made)
            for i, (scores, right) in list(enumerate(lists(700)))[start:stop]:
                shown = lister.propose(scores)
                remote, _ = await engine.propose("a", list(range(12)), scores)
                assert tuple(remote.members) == shown.members
                assert remote.listed.truncated == shown.truncated
                name = remote.shown.round_id
                if i % 50 == 7:
                    lister.skip(shown.round_id)
                    await engine.answer("a", name, "skip")
                elif i % 50 == 9:
                    lister.absent(shown.round_id)
                    await engine.answer("a", name, "absent")
                elif right in shown.members:
                    lister.hit(shown.round_id, right)
                    await engine.answer("a", name, "hit", right)
                elif i % 40:
                    lister.miss(shown.round_id)
                    await engine.answer("a", name, "miss")
            summary, mine = await engine.summary("a"), lister.summary()
            for key in (
                "threshold",
                "score",
                "score_why",
                "hidden_share",
                "hits",
                "misses",
                "open",
                "epoch",
                "counted",
                "scorers",
                "refit_gain",
            ):
                assert summary[key] == mine[key], key

    asyncio.run(half(0, 350))
    asyncio.run(half(350, 700))
    store = Store(sqlite, read_only=True)
    (found,) = verify(store)
    store.close()
    assert found.problems == []
    assert found.threshold == lister.threshold
    assert found.snapshots >= 1


def test_the_same_twice_changes_nothing_and_another_is_refused(address):
    async def main():
        async with Engine.open(address) as engine:
            _, new = await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            assert new
            _, new = await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            assert not new
            await refused(
                ConflictingStream, engine.create_stream("a", StreamSettings.of(coverage=0.8)), "coverage 0.9, not 0.8"
            )
            sent = {"ids": ["x", "y"], "scores": [0.1, 0.2], "question": "why", "texts": ["t", None]}
            first, new = await engine.propose("a", **sent, round_id="r")
            assert new
            same, new = await engine.propose("a", **sent, round_id="r")
            assert not new
            assert same.shown == first.shown
            for other in (
                {"ids": ["x", "z"]},
                {"scores": [0.1, 0.3]},
                {"question": "who"},
                {"texts": None},
                {"truncated_below": 0.1},
                {"scorer_version": "2"},
            ):
                await refused(ConflictingRound, engine.propose("a", round_id="r", **{**sent, **other}))
            await refused(NotShown, engine.answer("a", "r", "hit", "nobody"), "'nobody' was not in the list")
            _, new = await engine.answer("a", "r", "hit", "y")
            assert new
            _, new = await engine.answer("a", "r", "hit", "y")
            assert not new
            for kind, member in (("hit", "x"), ("miss", None), ("skip", None), ("absent", None)):
                await refused(ConflictingAnswer, engine.answer("a", "r", kind, member), "was already answered")
            await refused(UnknownRound, engine.answer("a", "nothing", "miss"))
            await refused(UnknownStream, engine.answer("b", "r", "miss"))
            await refused(DuplicateIds, engine.propose("a", ["x", "x"], [0.1, 0.2]))
            summary = await engine.summary("a")
            assert (summary["events"], summary["rounds"], summary["hits"]) == (2, 1, 1)
        async with Engine.open(address) as engine:  # and after a restart, when nothing is in memory
            _, new = await engine.propose("a", **sent, round_id="r")
            assert not new
            _, new = await engine.answer("a", "r", "hit", "y")
            assert not new
            await refused(ConflictingAnswer, engine.answer("a", "r", "miss"))
            await refused(ConflictingRound, engine.propose("a", ["x"], [0.1], round_id="r"))

    asyncio.run(main())


def test_answers_are_judged_against_the_threshold_stored_with_the_round(sqlite):
    """Not against today's: an old list was complete, and its low hit is a hit, not a miss."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw", patience=0))
            await engine.propose("a", ["low", "high"], [0.001, 0.9], round_id="old")
            await play(engine, 400)
            before = await engine.summary("a")
            assert before["threshold"] > 0.3
            made, new = await engine.answer("a", "old", "hit", "low")  # today it would be hidden
            after = await engine.summary("a")
            assert new
            assert made.closed.event == Hit("old", "low", 0.001, missed=False, complete=True)
            assert (after["hits"], after["misses"]) == (before["hits"] + 1, before["misses"])

    asyncio.run(main())
    store = Store(sqlite, read_only=True)
    assert [found.problems for found in verify(store)] == [[]]
    store.close()


def test_lists_that_were_cut_off_before_they_came_here(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            made, _ = await engine.propose("a", ["x"], [0.5], truncated_below=0.4)
            assert made.listed.truncated  # the threshold is -inf, so something may be missing
            await play(engine, 400)
            tau = (await engine.summary("a"))["threshold"]
            # What the search left out may tie with the last score that it returned.
            for below, truncated in ((tau, True), (math.nextafter(tau, 1), True), (math.nextafter(tau, 0), False)):
                made, _ = await engine.propose("a", ["x"], [0.99], truncated_below=below)
                assert made.listed.truncated is truncated
            await refused(InvalidParameter, engine.propose("a", ["x"], [0.5], truncated_below=math.inf))

    asyncio.run(main())


def test_a_deleted_stream_is_gone(address):
    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await engine.propose("a", ["x"], [0.5], round_id="r")
            await engine.delete_stream("a")
            await refused(UnknownStream, engine.propose("a", ["x"], [0.5]))
            await engine.create_stream("a", StreamSettings.of(coverage=0.5))
            await refused(UnknownRound, engine.answer("a", "r", "miss"))
            assert (await engine.summary("a"))["events"] == 0

    asyncio.run(main())


def test_two_processes_on_one_database_see_the_same(postgresql):
    async def main():
        async with Engine.open(postgresql) as one, Engine.open(postgresql) as two:
            await one.create_stream("a", StreamSettings.of(coverage=0.9))
            heard = []

            async def listen():
                heard.extend([json.loads(told.summary)["rounds"] async for told in two.changes("a", pause=0) if told])

            listening = asyncio.create_task(listen())
            for i in range(5):
                await one.propose("a", ["x"], [0.5], round_id=f"r{i}")
            assert (await two.summary("a"))["rounds"] == 5
            assert len((await two.history.rounds("a", Asked(only_open=True))).rounds) == 5
            await asyncio.gather(*(two.answer("a", f"r{i}", "hit", "x") for i in range(5)))
            assert await one.history.rounds("a", Asked(only_open=True)) == ([], None)
            both = await asyncio.gather(*(play(engine, 60, seed) for seed, engine in enumerate((one, two))))
            assert len(both) == 2
            assert (await one.summary("a"))["threshold"] == (await two.summary("a"))["threshold"]
            await one.delete_stream("a")
            with pytest.raises(UnknownStream):
                await two.summary("a")
            await asyncio.wait_for(listening, 20)
            assert heard[-1] > 5
            _, new = await two.create_stream("a", StreamSettings.of(coverage=0.5))
            assert new
            assert (await one.summary("a"))["settings"]["coverage"] == 0.5
            _, new = await one.propose("a", ["x"], [0.5], round_id="r0")
            assert new
            made = await asyncio.gather(
                *(
                    engine.create_stream(f"s{i}", StreamSettings.of(coverage=0.9))
                    for i in range(20)
                    for engine in (one, two)
                )
            )
            assert sum(new for _, new in made) == 20

    asyncio.run(main())
    store = Store(postgresql, read_only=True)
    assert all(found.problems == [] for found in verify(store))
    store.close()


@pytest.mark.parametrize("delta", [None, 0.01])
def test_several_scorers_do_what_a_lister_in_memory_does_bit_for_bit(address, delta):
    """With scores that are missing, through the fits, and after a restart before them and behind one."""
    lister = Shortlister(coverage=0.9, delta=delta)
    rounds = list(tables(400))

    async def part(start, stop):
        async with Engine.open(address, snapshot_every=33) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=delta))
            for scores, right in rounds[start:stop]:
                shown = lister.propose(scores)
                turned = dict(reversed(scores.items()))  # the order of the first round counts
                remote, _ = await engine.propose("a", list(range(12)), turned if start else scores)
                assert tuple(remote.members) == shown.members
                lister.reveal(shown.round_id, right)
                await engine.answer("a", remote.shown.round_id, *answer_to(remote, right))
            return await engine.summary("a")

    assert asyncio.run(part(0, 60))["fit_picks"] == (60 if delta else None)
    summary = asyncio.run(part(60, 220))
    assert summary["fit_picks"] is None
    assert summary["learned"]["rounds"] == (100 if delta else 120)
    summary, mine = asyncio.run(part(220, 400)), lister.summary()
    assert summary["scorers"] == mine.scorers
    assert list(summary["scorers"]) == list(SCORERS)
    assert summary["threshold"] == mine.threshold > 0
    assert summary["learned"] == encode(lister.learned)
    store = Store(address, read_only=True)
    (found,) = verify(store)
    store.close()
    assert found.problems == []
    assert found.events == 800 + (1 if delta else 5)  # 400 lists, 400 answers, and the fits


def test_a_scorer_that_a_list_has_nothing_of_is_missing_there(sqlite, read):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await engine.propose("a", ["x", "y"], {"dense": [0.5, 0.6], "bm25": [3.0, math.nan]}, round_id="both")
            sent = {"ids": ["x", "y"], "scores": {"bm25": [4.0, 2.0]}, "truncated_below": {"bm25": 2.0}}
            made, _ = await engine.propose("a", **sent, round_id="one")
            assert made.listed.scorers == ["dense", "bm25"]
            assert made.listed.truncated_below == [None, 2.0]
            rows = made.listed.scores.tolist()
            assert [row[1] for row in rows] == [4.0, 2.0]
            assert all(math.isnan(row[0]) for row in rows)
            none, _ = await engine.propose("a", [], [], round_id="none", allow_empty=True)
            assert none.listed.scorers == ["dense", "bm25"]
            assert not (await engine.propose("a", **sent, round_id="one"))[1]
        async with Engine.open(sqlite) as engine:  # from the log, where null is NaN
            assert not (await engine.propose("a", **sent, round_id="one"))[1]
            await refused(ConflictingRound, engine.propose("a", **sent | {"truncated_below": None}, round_id="one"))
            other = {"dense": [4.0, 2.0]}
            await refused(ConflictingRound, engine.propose("a", **sent | {"scores": other}, round_id="one"))
            assert not (await engine.propose("a", [], [], round_id="none", allow_empty=True))[1]

    asyncio.run(main())
    assert [found.problems for found in verify(read(sqlite))] == [[]]


def test_an_empty_search_does_not_say_which_scorers_there_are(sqlite, read):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await engine.propose("a", [], [], round_id="none", allow_empty=True)
            await engine.answer("a", "none", "miss")
            await play_tables(engine, 5)
            await refused(InvalidScores, engine.propose("a", ["x"], [0.5]), "of one scorer without a name")
            assert not (await engine.propose("a", [], [], round_id="none", allow_empty=True))[1]

    asyncio.run(main())
    assert [found.problems for found in verify(read(sqlite))] == [[]]


def test_several_scorers_need_a_score_that_takes_them(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="relative"))
            wrong = engine.propose("a", ["x"], {"dense": [0.5], "bm25": [1.0]})
            await refused(InvalidScores, wrong, "score is 'relative\\(0.4\\)', which takes one")
            await engine.propose("a", ["x"], {"dense": [0.5]})  # one that has a name
            assert (await engine.summary("a"))["rounds"] == 1

    asyncio.run(main())


@pytest.mark.parametrize("delta", [None, 0.01])
def test_two_processes_agree_on_a_fit(postgresql, delta):
    """Whoever writes next writes it, once: both cut with the same score, and neither cuts without."""

    async def main():
        async with Engine.open(postgresql) as one, Engine.open(postgresql) as two:
            await one.create_stream("a", StreamSettings.of(coverage=0.9, delta=delta))
            both = [play_tables(engine, 120, seed) for seed, engine in enumerate((one, two))]
            await asyncio.gather(*both)
            return [await engine.summary("a") for engine in (one, two)]

    first, second = asyncio.run(main())
    assert first["learned"] == second["learned"] is not None
    assert first["threshold"] == second["threshold"]
    store = Store(postgresql, read_only=True)
    assert [found.problems for found in verify(store)] == [[]]
    with store.reading() as reader:
        events = [entry.event for entry in reader.events(reader.stream("a").id)]
    store.close()
    fitted = [number for number, event in enumerate(events) if isinstance(event, Fitted)]
    assert len(fitted) == (1 if delta else 4)
    assert encode(events[fitted[-1]].score) == first["learned"]
    fits = [event.fit for event in events if isinstance(event, Listed)]
    before = [sum(isinstance(event, Listed) for event in events[:number]) for number in fitted]
    assert fits == [sum(start <= i for start in before) for i in range(240)]
