"""The engine: exactly once, the same bits as a lister in memory, and nothing half-done when writing fails."""

import asyncio
import math
import random

import pytest

from shortlist import AnytimeSPS, Shortlister
from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    ConflictingStream,
    DuplicateIds,
    InvalidParameter,
    NotShown,
    RoundClosed,
    ScorerChanged,
    StoreUnavailable,
    UnknownRound,
    UnknownStream,
)
from shortlist.service.engine import Engine, Settings, verify
from shortlist.service.engine.memory import load
from shortlist.service.engine.rounds import RoundCache
from shortlist.service.engine.stream import Stream
from shortlist.service.store import Store


def lists(count, candidates=12, seed=0):
    rng = random.Random(seed)
    for _ in range(count):
        scores = [rng.random() for _ in range(candidates)]
        yield scores, rng.choices(range(candidates), [score**6 for score in scores])[0]


async def play(engine, count, seed=0, name="a"):
    for scores, right in lists(count, seed=seed):
        made, _ = await engine.propose(name, list(range(12)), scores)
        await engine.answer(name, made.shown.round_id, *answer_to(made, right))


def answer_to(made, right, *, wrong=False):
    """Return what a person says of a list; nothing is found in it where all is wrong."""
    return ("hit", right) if right in made.members and not wrong else ("miss",)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"score": "relative"},
        {"score": "auto"},
        {"policy": {"kind": "sps", "horizon": 700}},
        {"on_drift": "restart", "false_alarm_rounds": 50},
        {"unanswered": "ignore"},
        {"at_least": 2, "at_most": 6},
        {"shadow": True, "score": {"kind": "relative", "temperature": 0.3}},
    ],
    ids=str,
)
def test_a_stream_does_what_a_lister_in_memory_does_bit_for_bit(sqlite, settings):
    """Every list, every threshold, and the state in the end; also after a restart in the middle."""
    made = Settings(coverage=0.9, **settings)
    cutter = made.cutter()
    lister = Shortlister(
        policy=cutter.leader.policy,
        **{name: value for name, value in settings.items() if name != "policy"}
        | ({"score": cutter.scores[0]} if isinstance(settings.get("score"), dict) else {}),
    )

    async def half(start, stop):
        async with Engine.open(sqlite, snapshot_every=97) as engine:
            await engine.create_stream("a", made)
            for i, (scores, right) in list(enumerate(lists(700)))[start:stop]:
                shown = lister.propose(scores)
                remote, _ = await engine.propose("a", list(range(12)), scores)
                assert tuple(remote.members) == shown.members
                assert remote.shown.body["truncated"] == shown.truncated
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


async def refused(error, awaitable, match=None):
    with pytest.raises(error, match=match):
        await awaitable


def test_the_same_twice_changes_nothing_and_another_is_refused(address):
    async def main():
        async with Engine.open(address) as engine:
            _, new = await engine.create_stream("a", Settings(coverage=0.9))
            assert new
            _, new = await engine.create_stream("a", Settings(coverage=0.9))
            assert not new
            await refused(ConflictingStream, engine.create_stream("a", Settings(coverage=0.8)), "coverage 0.9, not 0.8")
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
                await refused(ConflictingAnswer, engine.answer("a", "r", kind, member), "was answered")
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


def test_one_and_its_text_are_two_candidates(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await engine.propose("a", [1, "1"], [0.1, 0.2], round_id="r")
            await engine.answer("a", "r", "hit", "1")
            await refused(ConflictingAnswer, engine.answer("a", "r", "hit", 1))

    asyncio.run(main())


def test_requests_that_arrive_together_share_a_commit_and_see_each_other(address):
    seen = []

    async def main():
        async with Engine.open(address, observe=lambda *what: seen.append(what)) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            made = await asyncio.gather(
                *(engine.propose("a", ["x"], [0.5], round_id=f"r{i % 10}") for i in range(100)),
            )
            assert sum(new for _, new in made) == 10
            done = await asyncio.gather(
                *(engine.answer("a", f"r{i % 10}", "hit", "x") for i in range(50)),
                *(engine.answer("a", f"r{i % 10}", "miss") for i in range(50)),
                return_exceptions=True,
            )
            assert sum(outcome[1] for outcome in done[:50]) == 10
            assert all(isinstance(outcome, ConflictingAnswer) for outcome in done[50:])

    asyncio.run(main())
    assert [(requests, events) for requests, events, _ in seen] == [(100, 10), (100, 10)]


def test_answers_are_judged_against_the_threshold_stored_with_the_round(sqlite):
    """Not against today's: an old list was complete, and its low hit is a hit, not a miss."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9, patience=0))
            await engine.propose("a", ["low", "high"], [0.001, 0.9], round_id="old")
            await play(engine, 400)
            before = await engine.summary("a")
            assert before["threshold"] > 0.3
            made, new = await engine.answer("a", "old", "hit", "low")  # today it would be hidden
            after = await engine.summary("a")
            assert new
            assert made.closed.body == {"member": "low", "made": {"0": 0.001}, "beyond": False, "complete": True}
            assert (after["hits"], after["misses"]) == (before["hits"] + 1, before["misses"])

    asyncio.run(main())
    store = Store(sqlite, read_only=True)
    assert [found.problems for found in verify(store)] == [[]]
    store.close()


def test_a_restart_is_never_overtaken_by_a_stale_threshold(sqlite):
    """A list of the old epoch that is folded after the restart is open, and never counted."""
    row_settings = Settings(coverage=0.9, on_drift="restart", false_alarm_rounds=5000)

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
        stream, stale = Stream(row), 0
        for event in reader.events(row.id):
            if event.kind == "shown":
                assert event.body["epoch"] <= stream.cutter.leader.epoch
                stale += event.body["epoch"] < stream.cutter.leader.epoch
            stream.apply(event)
    store.close()
    assert stale > 0  # or the test would show nothing


def test_a_scorer_of_another_version_is_refused(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("set", Settings(coverage=0.9, scorer_version="v1"))
            await engine.propose("set", ["x"], [0.1], scorer_version="v1")
            await refused(ScorerChanged, engine.propose("set", ["x"], [0.1]), "scorer_version is missing")
            await refused(ScorerChanged, engine.propose("set", ["x"], [0.1], scorer_version="v2"), "make a new stream")
            await engine.create_stream("first", Settings(coverage=0.9))
            await engine.propose("first", ["x"], [0.1], scorer_version="v1")
            await engine.create_stream("none", Settings(coverage=0.9))
            both = [engine.propose("none", ["x"], [0.1]), engine.propose("none", ["x"], [0.1], scorer_version="v1")]
            done = await asyncio.gather(*both, return_exceptions=True)  # in one batch
            assert isinstance(done[1], ScorerChanged)
        async with Engine.open(sqlite) as engine:
            await refused(ScorerChanged, engine.propose("first", ["x"], [0.1], scorer_version="v2"), "from 'v1'")
            await refused(ScorerChanged, engine.propose("first", ["x"], [0.1]), "is missing")
            await refused(ScorerChanged, engine.propose("none", ["x"], [0.1], scorer_version="v1"), "without a")
            await engine.propose("none", ["x"], [0.1])

    asyncio.run(main())


def test_lists_that_were_cut_off_before_they_came_here(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            made, _ = await engine.propose("a", ["x"], [0.5], truncated_below=0.4)
            assert made.shown.body["truncated"]  # the threshold is -inf, so something may be missing
            await play(engine, 400)
            tau = (await engine.summary("a"))["threshold"]
            # What the search left out may tie with the last score that it returned.
            for below, truncated in ((tau, True), (math.nextafter(tau, 1), True), (math.nextafter(tau, 0), False)):
                made, _ = await engine.propose("a", ["x"], [0.99], truncated_below=below)
                assert made.shown.body["truncated"] is truncated
            await refused(InvalidParameter, engine.propose("a", ["x"], [0.5], truncated_below=math.inf))

    asyncio.run(main())


def test_when_too_many_wait_the_oldest_are_closed(address):
    async def main():
        async with Engine.open(address, open_limit=5) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await asyncio.gather(*(engine.propose("a", ["x"], [0.5], round_id=f"r{i}") for i in range(3)))
            await asyncio.gather(*(engine.propose("a", ["x"], [0.5], round_id=f"s{i}") for i in range(4)))
            summary = await engine.summary("a")
            assert (summary["open"], summary["expired"]) == (5, 2)
            await refused(RoundClosed, engine.answer("a", "r0", "miss"), "waited for too long")
            _, new = await engine.answer("a", "r2", "miss")
            assert new
            assert await engine.expire("a", before=math.inf) == 4
            await refused(RoundClosed, engine.answer("a", "s3", "hit", "x"))

    asyncio.run(main())


def test_pages_of_rounds(address):
    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            for i in range(7):
                await engine.propose("a", ["x"], [0.5], round_id=f"r{i}", question=f"q{i}")
                if i % 2:
                    await engine.answer("a", f"r{i}", "miss")
            after, found = 0, []
            while page := await engine.rounds("a", after=after, limit=3):
                found += page
                after = page[-1][0].shown.number
            assert [made.shown.round_id for made, _ in found] == [f"r{i}" for i in range(7)]
            assert [text.question for _, text in found] == [f"q{i}" for i in range(7)]
            assert [made.answer() for made, _ in found] == [{"miss": True} if i % 2 else None for i in range(7)]
            waiting = await engine.rounds("a", only_open=True, limit=2)
            assert [made.shown.round_id for made, _ in waiting] == ["r0", "r2"]
            with pytest.raises(UnknownRound):
                await engine.round("a", "r9")

    asyncio.run(main())


def test_a_deleted_stream_is_gone(address):
    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await engine.propose("a", ["x"], [0.5], round_id="r")
            await engine.delete_stream("a")
            await refused(UnknownStream, engine.propose("a", ["x"], [0.5]))
            await engine.create_stream("a", Settings(coverage=0.5))
            await refused(UnknownRound, engine.answer("a", "r", "miss"))
            assert (await engine.summary("a"))["events"] == 0

    asyncio.run(main())


def test_snapshot_and_tail_give_what_the_whole_log_gives(sqlite):
    async def main():
        async with Engine.open(sqlite, snapshot_every=100) as engine:
            await engine.create_stream("a", Settings(coverage=0.9, score="auto"))
            await play(engine, 333)

    asyncio.run(main())
    store = Store(sqlite, read_only=True)
    with store.reading() as reader:
        row = reader.stream("a")
        short, kept = load(reader, row)
        assert kept > 0
        whole = Stream(row)
        for event in reader.events(whole.id):
            whole.apply(event)
    store.close()
    assert short.snapshot() == whole.snapshot()


def test_a_write_that_fails_changes_nothing_and_the_next_one_works(address, monkeypatch):
    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 100)
            before = await engine.summary("a")
            real = Store.append

            def fail(self, *_):
                self.rollback()
                raise StoreUnavailable("the database does not take this now")

            monkeypatch.setattr(Store, "append", fail)
            await refused(StoreUnavailable, engine.propose("a", ["x"], [0.5], round_id="r"))
            assert await engine.summary("a") == before
            monkeypatch.setattr(Store, "append", real)
            _, new = await engine.propose("a", ["x"], [0.5], round_id="r")
            assert new

    asyncio.run(main())


def test_a_commit_of_which_nobody_heard_is_found_in_the_log(address, monkeypatch):
    """The connection breaks after the commit: the request fails, its repetition finds it done."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            real = Store.append

            def break_off(self, events, texts=()):
                real(self, events, texts)
                raise StoreUnavailable("the connection was lost")

            monkeypatch.setattr(Store, "append", break_off)
            await refused(StoreUnavailable, engine.propose("a", ["x"], [0.5], round_id="r"))
            monkeypatch.setattr(Store, "append", real)
            made, new = await engine.propose("a", ["x"], [0.5], round_id="r")
            assert not new
            _, new = await engine.answer("a", made.shown.round_id, "hit", "x")
            assert new
            assert (await engine.summary("a"))["events"] == 2

    asyncio.run(main())


def test_a_bug_while_storing_leaves_nobody_waiting_and_nothing_half_done(sqlite, monkeypatch, caplog):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            real = Stream.apply

            def broken(*_):
                raise RuntimeError("a bug")

            monkeypatch.setattr(Stream, "apply", broken)
            with pytest.raises(Exception, match="try again"):
                await engine.propose("a", ["x"], [0.5], round_id="r")
            monkeypatch.setattr(Stream, "apply", real)
            _, new = await engine.propose("a", ["x"], [0.5], round_id="r")
            assert not new  # it was on disk before the bug

    asyncio.run(main())
    assert "event 1 of stream a cannot be folded" in caplog.text


def test_settings_that_cannot_be():
    for wrong, message in (
        ({"coverage": 1.5}, "coverage"),
        ({"policy": {"kind": "greedy"}}, "policy kind is 'greedy'"),
        ({"policy": {"kind": "sps"}}, "horizon"),
        ({"policy": {"kind": "anytime", "horizon": 3}}, "no setting 'horizon'"),
        ({"score": "nonsense"}, "score is 'nonsense'"),
        ({"score": {"kind": "relative", "heat": 1}}, "no such setting"),
        ({"score": {"kind": "nonsense"}}, "score kind is 'nonsense'"),
        ({"patience": -1}, "patience"),
        ({"score": "auto", "on_drift": "restart"}, "a restart would have to choose again"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            Settings(**{"coverage": 0.9, **wrong})
    assert Settings(coverage=0.9).cutter().leader.policy == AnytimeSPS(0.9)


def test_the_cache_never_has_two_of_a_round_and_stays_small():
    from shortlist.service.store import Event  # noqa: PLC0415

    def shown(i, size=10):
        return Event(1, i, "shown", f"r{i}", 0.0, {"ids": list(range(size)), "positions": []})

    cache = RoundCache(capacity=100)
    for i in range(50):
        cache.add(shown(i))
    held = cache.get((1, "r45"))
    for i in range(50, 100):
        cache.add(shown(i))
    assert len(cache._recent) == 10
    assert cache.get((1, "r0")) is None
    cache.add(shown(45))
    assert cache.get((1, "r45")) is held
    cache.add(Event(1, 200, "miss", "r45", 0.0, {}))
    assert held.answer() == {"miss": True}
    cache.add(shown(300, size=1000))  # larger than everything: kept alone
    assert len(cache._recent) == 1
    cache.forget(1)
    assert cache._size == 0
