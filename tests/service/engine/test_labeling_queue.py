"""Items become rounds when somebody opens them, and nobody is given what another holds."""

import asyncio
import time

import numpy as np
import pytest

from shortlist.errors import (
    ConflictingRound,
    LeaseLost,
    RoundClosed,
    ServiceUnavailable,
    UnknownRound,
    UnknownStream,
)
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.commands import Author
from shortlist.service.engine.item_opening import Item
from shortlist.service.engine.labeling_queue import REST
from shortlist.service.store import Store
from tests.service.tampering import alter


def item(name, scores=(0.9, 0.1), **more):
    ids = [f"c{place}" for place in range(len(scores))]
    return Item(name, ids, np.array(scores, dtype=float), ("",), f"which of {name}", **more)


def items(count, **more):
    return [item(f"i{number}", **more) for number in range(count)]


def run(address, work, **settings):
    """Run something with an engine that has a stream `a`."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, **settings))
            return await work(engine)

    return asyncio.run(main())


def test_items_are_cut_when_they_are_opened(address):
    """Uploaded before the first answer, they are as short as the threshold of the moment makes them."""

    async def work(engine):
        scores = [0.9, *(0.3 - 0.001 * place for place in range(40))]
        assert await engine.labeling.add("a", items(120, scores=scores)) == [True] * 120
        lengths = []
        for _ in range(120):
            held = await engine.labeling.take("a")
            shown, _, _ = await engine.history.round("a", held.round_id)
            lengths.append(len(shown.members))
            await engine.answer("a", held.round_id, "hit", "c0")
        assert await engine.labeling.take("a") is None
        return lengths

    lengths = run(address, work, score="raw", delta=0.01)
    assert (lengths[0], lengths[-1]) == (41, 1)


def test_nobody_is_given_what_another_holds(address):
    async def work(engine):
        await engine.labeling.add("a", items(30))
        held = await asyncio.gather(*(engine.labeling.take("a") for _ in range(20)))  # in one batch
        more = await asyncio.gather(*(engine.labeling.take("a") for _ in range(20)))
        return [each.round_id for each in [*held, *more] if each is not None], more

    taken, more = run(address, work)
    assert len(taken) == len(set(taken)) == 30
    assert sum(each is None for each in more) == 10


def test_a_lease_that_ends_leaves_the_round_open_with_the_same_list(address):
    async def work(engine):
        await engine.labeling.add("a", items(2))
        first = await engine.labeling.take("a", seconds=0.05)
        before = (await engine.history.round("a", first.round_id))[0].members
        await asyncio.sleep(0.06)
        second = await engine.labeling.take("a")
        after = (await engine.history.round("a", second.round_id))[0].members
        with pytest.raises(LeaseLost, match="now leased to somebody else"):
            await engine.labeling.renew("a", first.round_id, first.holder)
        with pytest.raises(LeaseLost):
            await engine.labeling.give_back("a", first.round_id, first.holder)
        kept = await engine.labeling.renew("a", second.round_id, second.holder, 600)
        summary = await engine.summary("a")
        return first, second, before, after, kept, summary

    first, second, before, after, kept, summary = run(address, work)
    assert first.round_id == second.round_id
    assert before == after
    assert kept.until > second.until + 300
    assert (summary["rounds"], summary["skipped"], summary["open"]) == (1, 0, 1)


def test_what_was_given_back_rests_while_anything_else_waits(address):
    async def work(engine):
        await engine.labeling.add("a", items(REST + 5))
        back = await engine.labeling.take("a")
        await engine.labeling.give_back("a", back.round_id, back.holder)
        order = []
        for _ in range(REST + 2):
            held = await engine.labeling.take("a")
            order.append(held.round_id)
            await engine.answer("a", held.round_id, "hit", "c0")
        alone = await engine.labeling.take("a")
        for _ in range(2):
            await engine.labeling.give_back("a", alone.round_id)  # twice is once
        await engine.labeling.clear("a")
        again = await engine.labeling.take("a")  # there is nothing else
        return back, order, alone, again

    back, order, alone, again = run(address, work)
    assert order.index(back.round_id) == REST
    assert again.round_id == alone.round_id


def test_rounds_that_were_sent_as_such_are_given_out_too_the_oldest_first(address):
    async def work(engine):
        await engine.labeling.add("a", items(1))
        await engine.propose("a", ["x"], [0.5], round_id="sent")
        return [(await engine.labeling.take("a")).round_id for _ in range(2)]

    assert run(address, work) == ["sent", "i0"]


def test_what_cannot_be_shown_is_refused_or_set_aside(address):
    async def work(engine):
        two = Item("two", ["c0"], np.array([[0.5, 0.5]]), ("bm25", "dense"))
        assert await engine.labeling.add("a", [item("one"), two]) == [True, True]  # no round says yet which is right
        first, second = await engine.labeling.take("a"), await engine.labeling.take("a")
        assert second is None
        view = await engine.labeling.view("a")
        late = (await engine.labeling.add("a", [two._replace(item_id="three")]))[0]
        same = (await engine.labeling.add("a", [item("one")]))[0]
        return first, view, late, same

    first, view, late, same = run(address, work)
    assert (view["waiting"], view["refused"]) == (0, 1)
    other = "two" if first.round_id == "one" else "one"
    assert view["problems"][0]["id"] == other
    if first.round_id == "one":
        assert "bm25" in str(late)
    assert same is False or first.round_id == "two"


def test_many_that_cannot_be_shown_do_not_hold_up_everybody(sqlite):
    async def work(engine):
        two = [Item(f"two{n}", ["c0"], np.array([[0.5, 0.5]]), ("bm25", "dense")) for n in range(120)]
        assert await engine.labeling.add("a", two) == [True] * 120
        await engine.propose("a", ["x"], [0.5], round_id="first")  # of one scorer: none of them can follow
        await engine.answer("a", "first", "hit", "x")
        refusals = 0
        while True:
            try:
                assert await engine.labeling.take("a") is None
            except ServiceUnavailable:
                refusals += 1
                continue
            view = await engine.labeling.view("a")
            again = await engine.labeling.add("a", [item("two0")])  # mended, and sent again
            return refusals, view["refused"], again

    assert run(sqlite, work) == (2, 120, [True])


def test_another_item_of_the_same_id_is_refused(address):
    async def work(engine):
        await engine.labeling.add("a", [item("one")])
        return (await engine.labeling.add("a", [item("one", scores=(0.5, 0.4))]))[0]

    error = run(address, work)
    assert isinstance(error, ConflictingRound)
    assert "already waits with other content" in str(error)


def test_rounds_that_are_not_there_or_answered(address):
    async def work(engine):
        await engine.labeling.add("a", items(1))
        held = await engine.labeling.take("a")
        await engine.answer("a", held.round_id, "miss")
        for call in (
            engine.labeling.renew("a", held.round_id, held.holder),
            engine.labeling.give_back("a", held.round_id),
        ):
            with pytest.raises(RoundClosed, match="was answered"):
                await call
        with pytest.raises(UnknownRound):
            await engine.labeling.renew("a", "nowhere", held.holder)
        with pytest.raises(UnknownStream):
            await engine.labeling.take("b")
        with pytest.raises(UnknownStream):
            await engine.labeling.add("b", items(1))

    run(address, work)


def test_items_and_leases_outlive_the_service(address):
    async def first(engine):
        await engine.labeling.add("a", items(5))
        return await engine.labeling.take("a", seconds=600)

    async def second(engine):
        taken = [(await engine.labeling.take("a")).round_id for _ in range(4)]
        assert await engine.labeling.take("a") is None
        return taken

    held = run(address, first)
    taken = run(address, second)
    assert held.round_id not in taken
    assert len({held.round_id, *taken}) == 5


def test_an_item_that_is_a_round_by_now(address):
    """The same again changes nothing; with other candidates, scores or texts it is refused, as a round would be."""

    async def work(engine):
        await engine.labeling.add("a", items(2))
        for _ in range(2):
            held = await engine.labeling.take("a")
            await engine.answer("a", held.round_id, "hit", "c0")
        changed = [
            item("i0", scores=(0.8, 0.1)),
            item("i1")._replace(question="another"),
            item("i0")._replace(ids=["c0", "x"]),
        ]
        return await engine.labeling.add("a", [*items(3), *changed])

    *same, score, question, ids = run(address, work)
    assert same == [False, False, True]
    for error in (score, question, ids):
        assert isinstance(error, ConflictingRound)
        assert "was shown before with other candidates, texts or settings" in str(error)


def test_the_draw_is_in_the_log_and_verify_makes_it_again(sqlite, read):
    async def work(engine):
        await engine.labeling.add("a", items(50))
        for _ in range(30):
            held = await engine.labeling.take("a")
            await engine.answer("a", held.round_id, "hit", "c0")

    run(sqlite, work)
    (sound,) = verify(read(sqlite))
    assert sound.problems == []
    with read(sqlite).reading() as reader:
        draws = [entry.event.drawn for entry in reader.events(1, kinds=["listed"])]
    assert [waiting for _, waiting in draws] == list(range(50, 20, -1))
    alter(sqlite, """UPDATE events SET body = replace(body, '"drawn":[', '"drawn":[1') WHERE number = 3""")
    (unsound,) = verify(read(sqlite))
    assert any("was drawn as item" in problem for problem in unsound.problems)


def test_who_answered_is_recorded_where_the_stream_says_so(address):
    async def work(engine):
        await engine.labeling.add("a", items(4))
        for who in ("ann", "bob", "ann"):
            held = await engine.labeling.take("a")
            await engine.answer("a", held.round_id, "hit", "c0", Author(who))
        before = await engine.labeling.view("a", "ann")
        await engine.configure("a", {"record_annotators": False})
        held = await engine.labeling.take("a")
        await engine.answer("a", held.round_id, "miss", None, Author("ann"))
        _, signers = await engine.history.classes("a")
        await engine.retention.erase_texts("a", time.time() + 1)
        _, erased = await engine.history.classes("a")
        return before, signers, erased

    before, signers, erased = run(address, work, record_annotators=True)
    assert (before["annotator"], before["yours"], before["answered"]) == ("ann", 2, 3)
    assert signers == [("ann", 2), ("bob", 1)]
    assert erased == []


def test_nothing_is_lost_where_the_database_fails(sqlite, set_writer):
    """A draw whose transaction fails is as if it had not been."""

    async def work(engine):
        await engine.labeling.add("a", items(3))
        set_writer("PRAGMA query_only = ON")
        with pytest.raises(Exception, match="did not accept this"):
            await engine.labeling.take("a")
        set_writer("PRAGMA query_only = OFF")
        return [(await engine.labeling.take("a")).round_id for _ in range(3)]

    assert sorted(run(sqlite, work)) == ["i0", "i1", "i2"]
    store = Store(sqlite, read_only=True)
    (sound,) = verify(store)
    store.close()
    assert sound.problems == []
