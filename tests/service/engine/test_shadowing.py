"""A stream that shadows another: the same rounds, scores of its own, and answers that came to the other."""

import asyncio
import itertools
import json

import numpy as np
import pytest
import sqlalchemy as sa

import shortlist
from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    ConflictingStream,
    InvalidParameter,
    InvalidScores,
    StoreUnavailable,
)
from shortlist.metrics import optimal_threshold
from shortlist.rounds.events import Absent, Configured, Corrected, Expanded, Expired, Hit, Listed, Miss, Skip
from shortlist.service.engine import Engine, Settings, export_stream, verify
from shortlist.service.store import Store
from shortlist.service.store.tables import events as table
from tests.service.playing import refused
from tests.service.tampering import alter, connected

IDS = ["a", "b", "c", "d"]
OLD = [0.9, 0.7, 0.5, 0.3]
NEW = [0.2, 0.8, 0.4, 0.6]


def run(address, work, **options):
    """Run something with an engine."""

    async def main():
        async with Engine.open(address, **options) as engine:
            return await work(engine)

    return asyncio.run(main())


async def pair(engine, old=None, **new):
    """Make a stream and one that shadows it."""
    await engine.create_stream("old", Settings(**({"coverage": 0.9, "score": "raw"} | (old or {}))))
    await engine.create_stream("new", Settings(**({"coverage": 0.9, "score": "raw", "shadows": "old"} | new)))


def events(address, name="new"):
    """Return the events of a stream, after checking all of them."""
    store = Store(address, read_only=True)
    found = list(verify(store))
    with store.reading() as reader:
        logged = [entry.event for entry in reader.events(reader.stream(name).id)]
    store.close()
    assert [each.problems for each in found] == [[]] * len(found)
    return logged


def world(count, candidates=10, seed=0):
    """Yield scores of an old and of a better new scorer, and the right candidate."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        truth = rng.random(candidates)
        old, new = truth + 0.5 * rng.random(candidates), truth + 0.1 * rng.random(candidates)
        yield old.tolist(), new.tolist(), int(rng.choice(candidates, p=truth**8 / sum(truth**8)))


async def play(engine, rounds, ids=tuple(range(10)), *, reports=True, misses=False):
    """Show each list with its twin; answer what is found, and report what is not, or say nothing."""
    for i, (old, new, right) in enumerate(rounds):
        name = f"r{i}"
        shown, _ = await engine.propose("old", list(ids), old, round_id=name, also={"new": new})
        if right in shown.members:
            await engine.answer("old", name, "hit", right)
        elif reports or misses:
            await engine.answer("old", name, "miss")


@pytest.mark.parametrize("score", ["raw", "auto", "relative"])
def test_beside_lists_that_are_complete_it_is_a_lister_in_shadow_mode_bit_for_bit(address, score):
    rounds = list(world(250))
    settings = {"coverage": 0.8, "score": score, "at_least": 2, "on_drift": "report", "miss_budget": 5}
    lister = shortlist.Shortlister(shadow=True, **settings)

    async def work(engine):
        await pair(engine, {"coverage": 0.9, "shadow": True}, **settings)
        for i, (old, new, right) in enumerate(rounds):
            mine = lister.propose(new)
            await engine.propose("old", list(range(10)), old, round_id=f"r{i}", also={"new": new})
            logged, _, _ = await engine.history.round("new", f"r{i}")
            assert (logged.listed.threshold, logged.listed.reached) == (mine.threshold, mine.reached), i
            assert logged.listed.members == list(mine.members)
            if i % 25 == 7:
                verb = ("miss", "skip", "absent")[i % 3]
                await engine.answer("old", f"r{i}", verb)
                getattr(lister, verb)(mine.round_id)
            else:
                await engine.answer("old", f"r{i}", "hit", right)
                lister.hit(mine.round_id, right)
        return await engine.summary("new")

    summary, mine = run(address, work, snapshot_every=60), lister.summary()
    assert summary["threshold"] == lister.threshold > 0
    for name in (
        "skipped",
        "absent",
        "would_have_missed",
        "counted",
        "hidden_share",
        "candidate_recall",
    ):
        assert summary[name] == mine[name], name
    assert summary["error_budget"] == dict(mine["error_budget"])
    assert summary["drift"]["level"] == mine["drift"]["level"]
    answered = mine["hits"] + mine["misses"]
    assert summary["misses"] == mine["would_have_missed"]
    assert summary["coverage_seen"] == (answered - mine["would_have_missed"]) / answered
    assert (summary["shadows"], summary["shadow"]) == ("old", True)
    events(address)


@pytest.mark.parametrize("reports", [True, False])
def test_beside_lists_that_are_cut_its_threshold_is_safe(sqlite, reports):
    """Misses of the stream in use count as low here; so do those that nobody reports, when patience ends.

    Each run may pass the optimal threshold with probability 1e-9.
    """
    rounds = list(world(700, seed=3))
    policy = {"kind": "anytime", "delta": 1e-9}

    async def work(engine):
        await pair(
            engine,
            {"coverage": 0.8, "at_most": 6, "patience": 20},
            coverage=0.7,
            policy=policy,
            patience=20,
        )
        await play(engine, rounds, reports=reports)
        return await engine.summary("old"), await engine.summary("new")

    old, new = run(sqlite, work, snapshot_every=10_000)
    scores = [one[right] for _, one, right in world(50_000, seed=4)]
    assert old["hidden_share"] > 0.2  # something is cut
    assert 0 < new["threshold"] <= optimal_threshold(np.array(scores), 0.7)
    assert (new["rounds"], new["open"]) == (700, old["open"])
    events(sqlite)


def test_what_an_answer_becomes(sqlite):
    """A hit by its position in the new order; a miss is known if all that would have been shown was seen."""

    async def work(engine):
        await pair(engine, {"at_most": 2}, at_most=1)
        for name in ("hit", "miss", "skip", "absent", "expired", "more", "all", "both"):
            shown, _ = await engine.propose("old", IDS, OLD, round_id=name, also={"new": NEW})
            assert shown.members == ["a", "b"]
        await engine.answer("old", "hit", "hit", "a")
        await engine.answer("old", "miss", "miss")
        await engine.answer("old", "skip", "skip")
        await engine.answer("old", "absent", "absent")
        await engine.more("old", "more", 1)
        await engine.answer("old", "more", "hit", "c")
        await engine.more("old", "all", 1)
        await engine.more("old", "all")
        await engine.answer("old", "all", "absent")
        await engine.answer("old", "both", "hit", ["a", "b"])
        await engine.retention.expire("old", before=2e10)
        return await engine.summary("old"), await engine.summary("new")

    old, new = run(sqlite, work)
    listed, *rest = events(sqlite)
    assert isinstance(listed, Listed)
    assert (listed.members, listed.reached, listed.complete) == (["b", "d", "c", "a"], 4, True)
    assert (listed.seen.stream, listed.seen.positions, listed.seen.complete) == ("old", [0, 1], False)
    answers = {event.round_id: event for event in rest if not isinstance(event, (Listed, Expanded))}
    assert answers["hit"] == Hit("hit", "a", 0.2)
    assert answers["miss"] == Miss("miss", truncated=True, everything=True, paged=True)
    assert answers["skip"] == Skip("skip")
    assert answers["absent"] == Absent("absent", believed=False, truncated=True, everything=True, paged=True)
    assert answers["more"] == Hit("more", "c", 0.4)  # and not after more: its own list would have had it
    assert answers["all"] == Absent("all", believed=True, everything=True)
    assert answers["both"] == Hit("both", "a", 0.2, members=["a", "b"])
    assert answers["expired"] == Expired("expired")
    assert [event.positions for event in rest if isinstance(event, Expanded)] == [[2], [2], [3]]
    assert (old["hits"], old["found_after_more"], old["expanded"]) == (2, 1, 2)
    assert (new["hits"], new["misses"], new["absent"], new["found_after_more"], new["expanded"]) == (3, 2, 1, 0, 0)


def test_a_miss_is_known_where_everything_that_would_have_been_shown_was_seen(sqlite):
    """At a threshold of 0.7 it would have shown b alone, which the old list had."""

    async def work(engine):
        await pair(engine, {"at_most": 2}, on_drift="report")
        await engine.warm_start("new", [[0.7]] * 100, [0] * 100)
        for name, candidates, old, new in (
            ("known", IDS, OLD, NEW),
            ("unknown", IDS, OLD, [0.1, 0.2, 0.3, 0.8]),
            ("bounded", IDS, OLD, NEW),
        ):
            below = 0.1 if name == "bounded" else None
            await engine.propose("old", candidates, old, round_id=name, also={"new": new}, truncated_below=below)
            await engine.answer("old", name, "miss")
        await engine.propose("old", IDS, OLD, round_id="missed", also={"new": NEW})
        await engine.answer("old", "missed", "hit", "a")
        return await engine.summary("new")

    summary = run(sqlite, work)
    logged = events(sqlite)
    assert [event for event in logged if isinstance(event, (Miss, Hit))] == [
        Miss("known"),
        Miss("unknown", truncated=True, paged=True),
        Miss("bounded", truncated=True),  # what the search left out could have scored anything
        Hit("missed", "a", 0.2, missed=True, after_more=True),
    ]
    assert [event.truncated for event in logged if isinstance(event, Listed)] == [False, False, True, False]
    assert (summary["would_have_missed"], summary["coverage_seen"], summary["unanswered_counted"]) == (4, 0.0, 0)
    assert summary["drift"]["level"] > 0


def test_corrections_are_carried_over(sqlite):
    async def work(engine):
        await pair(engine, {"grace": 2}, grace=3)
        for i in range(6):
            await engine.propose("old", IDS, OLD, round_id=f"r{i}", also={"new": NEW} if i != 4 else None)
        await engine.answer("old", "r0", "miss")
        await engine.answer("old", "r0", "hit", "a")
        await engine.answer("old", "r1", "hit", "b")
        done = await asyncio.gather(  # in one batch
            engine.answer("old", "r2", "hit", "c"),
            engine.answer("old", "r1", "hit", "c"),
            engine.answer("old", "r3", "hit", "d"),
            engine.answer("old", "r1", "miss"),
            return_exceptions=True,
        )
        assert isinstance(done[3], ConflictingAnswer)  # two more have come
        await engine.answer("old", "r4", "miss")
        await engine.answer("old", "r5", "miss")

    run(sqlite, work)
    answers = [event for event in events(sqlite) if not isinstance(event, Listed)]
    assert answers == [
        Miss("r0", complete=True, everything=True),
        Corrected("r0", answers[1].answer),
        Hit("r1", "b", 0.8, complete=True),
        Hit("r2", "c", 0.4, complete=True),
        Corrected("r1", answers[4].answer),
        Hit("r3", "d", 0.6, complete=True),
        Miss("r5", complete=True, everything=True),
    ]
    assert answers[1].answer.hit == Hit("r0", "a", 0.2, complete=True)
    assert answers[4].answer.hit.member == "c"


def test_a_round_again_is_the_same_if_its_scores_for_others_are(sqlite):
    async def work(engine):
        await pair(engine)
        first, new = await engine.propose("old", IDS, OLD, round_id="r", also={"new": NEW})
        assert new
        again, new = await engine.propose("old", IDS, OLD, round_id="r", also={"new": NEW})
        assert (again, new) == (first, False)
        for other in (None, {"new": NEW[::-1]}, {"new": {"bm25": NEW}}, {"new": NEW, "newer": NEW}):
            await refused(ConflictingRound, engine.propose("old", IDS, OLD, round_id="r", also=other))
        await engine.propose("old", IDS, OLD, round_id="alone")
        await refused(ConflictingRound, engine.propose("old", IDS, OLD, round_id="alone", also={"new": NEW}))
        await engine.delete_stream("new")
        again, new = await engine.propose("old", IDS, OLD, round_id="r", also={"new": NEW})
        assert not new
        await engine.answer("old", "r", "hit", "a")  # nobody misses it
        await engine.answer("old", "alone", "hit", "a")

    run(sqlite, work)
    assert len(events(sqlite, "old")) == 4


def test_one_that_is_not_named_has_no_such_round_and_several_may_be(sqlite):
    async def work(engine):
        await pair(engine)
        await engine.create_stream("both", Settings(coverage=0.5, shadows="old", scorer_version="v2"))
        both = {"dense": NEW, "bm25": [7.0, float("nan"), 3.0, 1.0]}
        await engine.propose("old", IDS, OLD, round_id="r0", also={"both": both})
        await engine.propose("old", IDS, OLD, round_id="r1", also={"both": both, "new": NEW})
        await engine.answer("old", "r1", "hit", "b")
        shown, _, _ = await engine.history.round("both", "r0")
        assert shown.listed.scorers == ["dense", "bm25"]
        assert shown.listed.scorer_version == "v2"
        wrong = {"both": {"recency": NEW}}
        await refused(InvalidScores, engine.propose("old", IDS, OLD, round_id="r2", also=wrong), "'recency'")
        await refused(InvalidScores, engine.propose("old", IDS, OLD, also={"new": [0.5]}), "1 scores for 'new'")
        return await engine.summary("old"), await engine.summary("new"), await engine.summary("both")

    old, new, both = run(sqlite, work)
    assert (old["rounds"], new["rounds"], both["rounds"]) == (2, 1, 2)  # of what is refused nothing is stored
    assert (old["hits"], new["hits"], both["hits"]) == (1, 1, 1)
    events(sqlite)


def test_it_takes_nothing_itself_until_it_serves_on_its_own(sqlite):
    async def work(engine):
        await pair(engine, at_most=2)
        await engine.propose("old", IDS, OLD, round_id="r0", also={"new": NEW})
        await engine.propose("old", IDS, OLD, round_id="late", also={"new": NEW})
        for call in (
            engine.propose("new", IDS, NEW),
            engine.answer("new", "r0", "hit", "a"),
            engine.more("new", "r0"),
            engine.retention.expire("new", 2e10),
        ):
            await refused(
                ConflictingStream, call, "stream new shadows old: its rounds and answers come with those of old"
            )
        await engine.retention.retain(0.0, None)  # closes old's rounds, and new's with them
        await engine.propose("old", IDS, OLD, round_id="r1", also={"new": NEW})
        assert (await engine.configure("new", {"at_most": 1}))["settings"]["at_most"] == 1
        await refused(InvalidParameter, engine.configure("new", {"shadows": "old"}), "only when a stream is created")
        after = await engine.configure("new", {"shadows": None, "at_least": 1})
        assert (after["shadows"], after["shadow"], after["epoch"], after["expired"]) == (None, False, 0, 2)
        shown, _ = await engine.propose("new", IDS, NEW, round_id="own")
        assert shown.members == ["b"]
        await refused(ConflictingStream, engine.answer("new", "r1", "hit", "a"), "answer it there")
        await refused(ConflictingStream, engine.more("new", "r1"), "answer it there")
        await refused(ConflictingRound, engine.propose("new", IDS, NEW, round_id="r1"))
        await engine.answer("old", "r1", "hit", "a")  # one that is still out counts in both
        await engine.propose("old", IDS, OLD, round_id="own", also={"new": NEW})  # left out, for it serves
        await engine.answer("old", "own", "hit", "c")
        await engine.answer("new", "own", "hit", "b")
        return await engine.summary("new")

    summary = run(sqlite, work)
    assert (summary["rounds"], summary["hits"], summary["open"]) == (4, 2, 0)
    logged = events(sqlite)
    assert [type(event).__name__ for event in logged].count("Configured") == 2
    assert Configured({"shadows": None, "at_least": 1}) in logged
    run(sqlite, lambda engine: engine.summary("new"))  # and from the log


def test_what_it_has_learned_serves(sqlite):
    rounds = list(world(150))

    async def work(engine):
        await pair(engine, {"shadow": True}, coverage=0.8, score="auto")
        await play(engine, rounds)
        before = await engine.summary("new")
        after = await engine.configure("new", {"shadows": None})
        assert (after["threshold"], after["epoch"], after["learned"]) == (before["threshold"], 0, before["learned"])
        shown, _ = await engine.propose("new", list(range(10)), rounds[0][1])
        assert shown.listed.threshold == before["threshold"] > 0
        assert len(shown.members) < 10

    run(sqlite, work)
    events(sqlite)


def test_streams_that_cannot_shadow(sqlite):
    async def work(engine):
        await pair(engine, {"grace": 3}, grace=3)
        await engine.create_stream("clicks", Settings(coverage=0.9, explore_share=0.1))

        async def refuses(words, name="x", **settings):
            made = Settings(**({"coverage": 0.9, "shadows": "old", "grace": 3} | settings))
            await refused(InvalidParameter, engine.create_stream(name, made), words)

        await refuses("there is no such stream: create that one first", shadows="nowhere")
        await refuses("which is the stream itself", name="x", shadows="x")
        await refuses("which shadows 'old' itself: shadow 'old'", shadows="new")
        await refuses("which has explore_share 0.1", shadows="clicks")
        await refuses("grace is 2, and old has 3", grace=2)
        with pytest.raises(InvalidParameter, match="nothing can be explored here"):
            Settings(coverage=0.9, shadows="old", explore_share=0.1)
        with pytest.raises(InvalidParameter, match="shadow mode shows everything"):
            Settings(coverage=0.9, shadows="old", shadow=True, at_most=3)  # it would be so afterwards
        _, created = await engine.create_stream("new", Settings(coverage=0.9, score="raw", shadows="old", grace=3))
        assert not created
        await refused(
            ConflictingStream, engine.create_stream("new", Settings(coverage=0.9, score="raw", grace=3)), "shadows"
        )
        await refused(ConflictingStream, engine.propose("old", IDS, OLD, also={"clicks": NEW}), "does not shadow old")
        await refused(InvalidParameter, engine.propose("old", IDS, OLD, also={"nwe": NEW}), "there is no such stream")
        assert (await engine.summary("old"))["rounds"] == 0

    run(sqlite, work)


def test_the_stream_in_use_is_not_deleted_while_another_shadows_it(address):
    async def work(engine):
        await pair(engine)
        await refused(
            ConflictingStream, engine.delete_stream("old"), "stream new shadows old: delete it first, or end it"
        )
        await engine.configure("new", {"shadows": None})
        await engine.delete_stream("old")
        await engine.create_stream("old", Settings(coverage=0.9))
        await engine.create_stream("newer", Settings(coverage=0.9, shadows="old"))
        await engine.delete_stream("newer")
        await engine.delete_stream("old")

    run(address, work)


def test_both_lists_and_both_answers_are_stored_or_none(address, monkeypatch):
    append, broken = Store.append, set()

    def fail(store, *new):
        """Break when both streams have been written to, before the commit."""
        if broken:
            monkeypatch.setattr(Store, "_commit", lambda _: (_ for _ in ()).throw(StoreUnavailable("the disk is full")))
        try:
            append(store, *new)
        finally:
            monkeypatch.setattr(Store, "_commit", commit)

    commit = Store._commit
    monkeypatch.setattr(Store, "append", fail)

    async def work(engine):
        await pair(engine)
        await engine.propose("old", IDS, OLD, round_id="r0", also={"new": NEW})
        broken.add(True)
        await refused(StoreUnavailable, engine.propose("old", IDS, OLD, round_id="r1", also={"new": NEW}))
        await refused(StoreUnavailable, engine.answer("old", "r0", "hit", "a"))
        broken.clear()
        assert [(await engine.summary(name))["events"] for name in ("old", "new")] == [1, 1]
        await engine.answer("old", "r0", "hit", "a")
        await engine.propose("old", IDS, OLD, round_id="r1", also={"new": NEW})
        return [(await engine.summary(name))["events"] for name in ("old", "new")]

    assert run(address, work) == [3, 3]
    assert [type(event).__name__ for event in events(address)] == ["Listed", "Hit", "Listed"]


def test_lists_and_answers_of_one_batch(sqlite):
    """A list, more of it and its answer in one commit; and the oldest are closed in both when too many wait."""

    async def work(engine):
        await pair(engine, {"at_most": 2})
        await asyncio.gather(
            *itertools.chain.from_iterable(
                (
                    engine.propose("old", IDS, OLD, round_id=f"r{i}", also={"new": NEW}),
                    engine.more("old", f"r{i}", 1),
                    engine.answer("old", f"r{i}", "hit", "c"),
                )
                for i in range(5)
            )
        )
        for names in (("s0", "s1", "s2"), ("s3", "s4", "s5"), ("s6",), ("s7",)):
            await asyncio.gather(*(engine.propose("old", IDS, OLD, round_id=name, also={"new": NEW}) for name in names))
        return await engine.summary("old"), await engine.summary("new")

    old, new = run(sqlite, work, open_limit=4)
    for one in (old, new):
        assert (one["open"], one["expired"]) == (4, 4), one["name"]
    assert (old["misses"], new["hits"]) == (5, 5)
    assert sum(isinstance(event, Expanded) for event in events(sqlite)) == 5


def test_a_stream_that_cannot_be_read_does_not_disturb_the_one_in_use(sqlite):
    async def first(engine):
        await pair(engine)
        await engine.propose("old", IDS, OLD, round_id="r0", also={"new": NEW})

    run(sqlite, first, snapshot_every=10_000)
    alter(sqlite, "UPDATE events SET body = '{' WHERE stream_id = 2")

    async def second(engine):
        await engine.propose("old", IDS, OLD, round_id="r1", also={"new": NEW})
        await engine.answer("old", "r0", "hit", "a")
        await engine.answer("old", "r1", "hit", "a")
        return (await engine.summary("old"))["hits"], (await engine.streams())["damaged"][0]["name"]

    assert run(sqlite, second) == (2, "new")


def test_the_log_goes_out_as_a_file(sqlite, tmp_path):
    async def work(engine):
        await pair(engine, {"at_most": 2})
        await engine.propose("old", IDS, OLD, round_id="r0", also={"new": NEW})
        await engine.more("old", "r0")
        await engine.answer("old", "r0", "hit", "d")

    run(sqlite, work)
    store = Store(sqlite, read_only=True)
    with (tmp_path / "new.jsonl").open("w") as file:
        assert export_stream(store, "new", file) == 3
    with (tmp_path / "new.csv").open("w") as file:
        assert export_stream(store, "new", file, "csv") == 1
    store.close()
    listed = json.loads((tmp_path / "new.jsonl").read_text().splitlines()[0])
    assert listed["seen"] == {"stream": "old", "positions": [0, 1]}
    assert ",hit,d,0.6,0.6," in (tmp_path / "new.csv").read_text()


def test_two_processes_carry_each_others_answers(postgresql):
    """Each knows the stream that shadows from the log alone, and loads it when it is needed."""
    rounds = list(world(60))

    async def work(engine):
        async with Engine.open(postgresql) as other:
            await pair(engine, {"shadow": True}, coverage=0.8)
            engines = itertools.cycle((engine, other))
            for i, (old, new, right) in enumerate(rounds):
                await next(engines).propose("old", list(range(10)), old, round_id=f"r{i}", also={"new": new})
                if i % 3:
                    next(engines)
                await next(engines).answer("old", f"r{i}", "hit", right)
            await asyncio.gather(  # at the same time, on both
                *(
                    one.propose("old", list(range(10)), old, round_id=f"{j}-{i}", also={"new": new})
                    for i, (old, new, _) in enumerate(rounds)
                    for j, one in enumerate((engine, other))
                )
            )
            await asyncio.gather(
                *(
                    one.answer("old", f"{1 - j}-{i}", "hit", right)
                    for i, (_, _, right) in enumerate(rounds)
                    for j, one in enumerate((engine, other))
                ),
                *(one.configure("new", {"patience": 100 + j}) for j, one in enumerate((engine, other))),
            )
            return [await one.summary("new") for one in (engine, other)]

    one, other = run(postgresql, work)
    assert (one["hits"] + one["misses"], one["open"], one["threshold"]) == (180, 0, other["threshold"])
    assert one["events"] == other["events"] == len(events(postgresql)) == 362


@pytest.mark.parametrize(
    ("number", "change", "words"),
    [
        (1, lambda body: body["seen"].update(positions=[0, 1, 3]), "event 3: is Miss"),
        (1, lambda body: body["seen"].update(stream="other"), "in the place of a list of other"),
        (1, lambda body: body.pop("seen"), "in the place of a list of None"),
        (1, lambda body: body.update(reached=2), "reached is 2, and its scores give 4"),
        (2, lambda body: body.update(positions=[1]), "event 2: is Expanded"),
        (3, lambda body: body.pop("paged"), "event 3: is Miss"),
    ],
)
def test_a_log_that_was_changed_is_noticed(sqlite, number, change, words):
    """From its own log alone: what people saw is in it."""

    async def work(engine):
        await pair(engine, {"at_most": 2})
        await engine.propose("old", IDS, OLD, round_id="r", also={"new": NEW})
        await engine.more("old", "r", 1)
        await engine.answer("old", "r", "miss")

    run(sqlite, work, snapshot_every=10_000)
    assert len(events(sqlite)) == 3
    here = table.c.stream_id == 2, table.c.number == number
    with connected(sqlite) as connection:
        body = json.loads(connection.execute(sa.select(table.c.body).where(*here)).scalar_one())
        change(body)
        connection.execute(table.update().where(*here).values(body=json.dumps(body)))
    store = Store(sqlite, read_only=True)
    old, new = sorted(verify(store), key=lambda found: found.stream, reverse=True)
    store.close()
    assert old.problems == []
    assert any(words in problem for problem in new.problems), new.problems
