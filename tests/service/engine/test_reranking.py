"""Drafts and rounds of callers that may never give feedback."""

import asyncio
import math

import numpy as np
import pytest

from shortlist.errors import ConflictingStream, InvalidInput, NotShown, RoundClosed, UnknownRound
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.engine.reranking import Reranking, relevance
from shortlist.service.engine.verify import verify
from shortlist.service.store import Store
from tests.service.playing import lists

SCORES = {"bm25": [0.1, 0.9, 0.4, 0.3], "reranker": [0.2, 0.8, 0.9, 0.1]}


def run(address, work, **settings):
    async def go():
        async with Engine.open(address, fit_patience=60.0) as engine:
            await engine.create_stream("a", StreamSettings.of(**{"coverage": 0.9, **settings}))
            return await work(engine)

    return asyncio.run(go())


async def show(engine, scores=SCORES, **more):
    return await engine.reranking.show("a", scores, question="q", **more)


def test_without_feedback_nothing_is_stored_or_counted(sqlite):
    async def work(engine):
        for _ in range(300):
            shown = await show(engine, most=2)
            assert (shown.listed.positions, shown.counts) == ([1, 2], False)
        assert len((await show(engine)).listed.positions) == 4
        assert (await engine.summary("a")).rounds == 0

    run(sqlite, work)


def test_the_first_feedback_makes_a_draft_a_round(address):
    async def work(engine):
        first, second, third = [await show(engine, most=2, round_id=name) for name in ("r1", "r2", "r3")]
        assert (await engine.reranking.find("a", "r1")).listed == first.listed
        closed, new = await engine.answer("a", "r1", "hit", 2)
        assert new
        assert closed.listed.positions == first.listed.positions
        found = await engine.reranking.find("a", "r1")
        assert (found.counts, found.listed.positions) == (True, [1, 2])
        summary = await engine.summary("a")
        assert (summary.rounds, summary.hits) == (1, 1)
        # Now every list is a round, and drafts of before still take feedback, as they were shown.
        later = await show(engine, most=2)
        assert later.counts
        with pytest.raises(NotShown):
            await engine.answer("a", "r2", "hit", 3)
        await engine.answer("a", "r2", "miss")
        expanded, _ = await engine.more("a", third.listed.round_id)
        assert expanded.listed.positions == [1, 2, 3, 0]
        outcomes = await engine.answer_all("a", [("r3", ("hit", 0)), ("never", ("miss",))])
        assert outcomes[0][0] == {"hit": 0}
        assert isinstance(outcomes[1], UnknownRound)
        assert (await engine.summary("a")).rounds == 4
        assert second.listed.page == [2, 2]

    run(address, work)
    store = Store(address, read_only=True)
    assert all(not each.problems for each in verify(store))
    store.close()


def test_two_answers_at_once_make_one_round(sqlite):
    async def work(engine):
        await show(engine, round_id="r1")
        await asyncio.gather(*(engine.answer("a", "r1", "hit", 1) for _ in range(5)))
        assert (await engine.summary("a")).rounds == 1

    run(sqlite, work)


def test_with_labels_drafts_are_cut_by_the_threshold(sqlite):
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(200, 6, 2))
    right = (tables.sum(2) + rng.normal(size=(200, 6)) * 0.3).argmax(1)

    async def work(engine):
        await engine.warm_start("a", tables.tolist(), right.tolist(), ["bm25", "reranker"])
        lengths = []
        for table in tables:
            shown = await show(engine, {"bm25": table[:, 0].tolist(), "reranker": table[:, 1].tolist()}, most=5)
            lengths.append(len(shown.listed.positions))
            assert not shown.counts
        assert 1 <= np.mean(lengths) < 3
        assert (await engine.summary("a")).rounds == 0
        await engine.answer("a", shown.listed.round_id, "hit", shown.listed.positions[0])
        assert (await engine.summary("a")).rounds == 1

    run(sqlite, work)


def test_at_most_so_many_and_a_miss_behind_them_is_no_evidence(sqlite):
    async def work(engine):
        await show(engine, round_id="r1")
        await engine.answer("a", "r1", "hit", 1)
        shown = await show(engine, most=1)
        assert (shown.listed.positions, shown.listed.truncated, shown.listed.asked) == ([1], True, 4)

    run(sqlite, work)


def test_settings_that_show_everything_are_refused(sqlite):
    async def work(engine):
        for changes in ({"shadow": True}, {"shadow": False, "explore_share": 0.1}):
            await engine.configure("a", changes)
            with pytest.raises(ConflictingStream, match="top_n"):
                await engine.reranking.check("a", {"bm25"})

    run(sqlite, work)


def test_other_scorers_than_the_streams_are_refused(sqlite):
    async def work(engine):
        await engine.reranking.check("a", {"bm25", "reranker"})
        shown, _ = await engine.propose("a", [0, 1], {"bm25": [1.0, 2.0]})
        await engine.reranking.check("a", {"bm25"})
        with pytest.raises(InvalidInput, match="use another stream"):
            await engine.reranking.check("a", {"bm25", "reranker"})
        assert shown.members == [1, 0]

    run(sqlite, work)


def test_a_reranker_that_was_away_at_first(sqlite):
    """Its column is there from the first list on, so it can come back."""
    gone = {**SCORES, "reranker": [float("nan")] * 4}

    async def work(engine):
        shown = await show(engine, gone, most=2)
        assert shown.listed.positions == [1, 2]
        await engine.answer("a", shown.listed.round_id, "hit", 1)
        again = await show(engine, {**SCORES, "reranker": [0.1, 0.2, 0.3, 9.9]})
        assert again.listed.positions[0] == 3

    run(sqlite, work)


def test_the_oldest_drafts_are_dropped(sqlite, monkeypatch):
    monkeypatch.setitem(Reranking.__init__.__kwdefaults__, "capacity", 10)

    async def work(engine):
        for name in ("r1", "r2", "r3"):
            await show(engine, round_id=name)
        kept = [await engine.reranking.find("a", name) is not None for name in ("r1", "r2", "r3")]
        assert kept == [False, True, True]
        with pytest.raises(UnknownRound):
            await engine.answer("a", "r1", "miss")

    run(sqlite, work)


def test_relevance_is_at_least_a_hundredth_and_keeps_the_order():
    values = [-1e308, -800.0, -3.0, -1e-9, 0.0, 0.4, 5.0, 800.0, 1e308]
    relevances = [relevance(value) for value in values]
    assert relevances == sorted(relevances)
    assert (relevances[0], relevances[-1]) == (0.01, 1)
    assert relevance(0.3, is_share=True) == 0.01 + 0.99 * 0.3
    assert relevance(0.0, is_share=True) == 0.01
    assert math.isclose(relevance(2.0), 0.01 + 0.99 / (1 + math.exp(-2)))


def test_a_draft_that_settings_have_overtaken(sqlite):
    async def work(engine):
        await show(engine, most=1, round_id="r1")
        await engine.configure("a", {"at_least": 3, "at_most": 3})
        await engine.answer("a", "r1", "hit", 1)  # the caller's own limit is the smaller one
        await show(engine, round_id="r2")
        shown = await show(engine)
        assert len(shown.listed.positions) == 3
        await engine.configure("a", {"at_most": None})

    run(sqlite, work)


def test_a_draft_that_would_be_another_list_now(sqlite):
    async def work(engine):
        await show(engine, round_id="r1")
        await engine.configure("a", {"at_most": 2})
        with pytest.raises(RoundClosed, match="settings changed"):
            await engine.answer("a", "r1", "hit", 1)

    run(sqlite, work)


def test_lists_get_short_and_cover_as_asked(sqlite):
    """2,000 rounds at 0.9: misses of cut lists are within the budget, whatever the draw."""

    async def work(engine):
        lengths, misses = [], 0
        for scores, right in lists(2_000, candidates=20, seed=3):
            shown = (await show(engine, {"bm25": scores}, most=10)).listed
            hit = right in shown.positions
            await engine.answer("a", shown.round_id, *(("hit", right) if hit else ("miss",)))
            lengths.append(len(shown.positions))
            misses += not hit
        assert np.mean(lengths[-500:]) < 9
        assert misses <= 0.1 * 2_000 + 20 + sum(length == 10 for length in lengths)

    run(sqlite, work)
