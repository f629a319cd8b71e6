"""A batch: what is asked becomes entries of the log, or is refused; nothing else changes."""

import asyncio
import dataclasses
import math

import numpy as np
import pytest

from shortlist._validation import check_table
from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    InvalidParameter,
    InvalidScores,
    RoundClosed,
    ScorerChanged,
    UnknownRound,
)
from shortlist.rounds.codec import from_json, to_json
from shortlist.rounds.events import Answer, Expired, Listed, kind_of
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.engine.batch import Batch
from shortlist.service.engine.commands import Close, Expand, Propose
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.round_cache import Round
from shortlist.service.store import LogEntry, StreamRow
from tests.service.playing import refused

NOW = 7.0


def test_one_and_its_text_are_two_candidates(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await engine.propose("a", [1, "1"], [0.1, 0.2], round_id="r")
            await engine.answer("a", "r", "hit", "1")
            await refused(ConflictingAnswer, engine.answer("a", "r", "hit", 1))

    asyncio.run(main())


def test_a_scorer_of_another_version_is_refused(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("set", StreamSettings.of(coverage=0.9, scorer_version="v1"))
            await engine.propose("set", ["x"], [0.1], scorer_version="v1")
            await refused(ScorerChanged, engine.propose("set", ["x"], [0.1]), "scorer_version is missing")
            await refused(
                ScorerChanged, engine.propose("set", ["x"], [0.1], scorer_version="v2"), "create a new stream"
            )
            await engine.create_stream("first", StreamSettings.of(coverage=0.9))
            await engine.propose("first", ["x"], [0.1], scorer_version="v1")
            await engine.create_stream("none", StreamSettings.of(coverage=0.9))
            both = [engine.propose("none", ["x"], [0.1]), engine.propose("none", ["x"], [0.1], scorer_version="v1")]
            done = await asyncio.gather(*both, return_exceptions=True)  # in one batch
            assert isinstance(done[1], ScorerChanged)
        async with Engine.open(sqlite) as engine:
            await refused(ScorerChanged, engine.propose("first", ["x"], [0.1], scorer_version="v2"), "from 'v1'")
            await refused(ScorerChanged, engine.propose("first", ["x"], [0.1]), "is missing")
            await refused(ScorerChanged, engine.propose("none", ["x"], [0.1], scorer_version="v1"), "without a")
            await engine.propose("none", ["x"], [0.1])

    asyncio.run(main())


def test_two_versions_of_a_scorer_in_one_batch(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            done = await asyncio.gather(
                engine.propose("a", ["x"], [0.5], scorer_version="v1"),
                engine.propose("a", ["x"], [0.5], scorer_version="v2"),
                return_exceptions=True,
            )
            assert isinstance(done[1], ScorerChanged)

    asyncio.run(main())


def test_when_too_many_wait_the_oldest_are_closed(address):
    async def main():
        async with Engine.open(address, open_limit=5) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await asyncio.gather(*(engine.propose("a", ["x"], [0.5], round_id=f"r{i}") for i in range(3)))
            await asyncio.gather(*(engine.propose("a", ["x"], [0.5], round_id=f"s{i}") for i in range(4)))
            summary = await engine.summary("a")
            assert (summary["open"], summary["expired"]) == (5, 2)
            await refused(RoundClosed, engine.answer("a", "r0", "miss"), "it expired before its answer arrived")
            _, new = await engine.answer("a", "r2", "miss")
            assert new
            assert await engine.retention.expire("a", before=math.inf) == 4
            await refused(RoundClosed, engine.answer("a", "s3", "hit", "x"))

    asyncio.run(main())


def stream_of(*entries, **settings):
    """Return a stream after some entries."""
    stream = LoggedStream(StreamRow(1, "a", {"coverage": 0.9, **settings}, 0.0, len(entries)))
    for number, event in enumerate(entries, 1):
        stream.apply(LogEntry(1, number, 0.0, event))
    return stream


def proposal(stream, round_id, scores=(0.1, 0.2), **more):
    return Propose(stream, round_id, [f"c{i}" for i in range(len(scores))], np.array(scores), **more)


def test_of_two_answers_in_one_batch_the_first_counts():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    shown, new = batch.judge(proposal(stream, "r"))
    assert (shown.members, new) == (["c1", "c0"], True)
    first, new = batch.judge(Close(stream, "r", "c1"))
    assert (first.answer(), new) == ({"hit": "c1"}, True)
    again, new = batch.judge(Close(stream, "r", "c1"))
    assert (again.answer(), new) == ({"hit": "c1"}, False)
    other = batch.judge(Close(stream, "r", Answer.MISS))
    assert isinstance(other, ConflictingAnswer)
    assert str(other).startswith(
        "round r was already answered hit 'c1'; it cannot be answered miss now: the first answer is final"
    )
    assert [(entry.number, entry.at, kind_of(entry.event)) for entry in batch.entries] == [
        (1, NOW, "listed"),
        (2, NOW, "hit"),
    ]


def test_a_batch_changes_no_stream():
    stream = stream_of()
    before = stream.snapshot()
    batch = Batch({}, NOW, 100)
    for i in range(5):
        batch.judge(proposal(stream, f"r{i}"))
        batch.judge(Close(stream, f"r{i}", "c1"))
    assert stream.snapshot() == before
    for entry in batch.entries:  # and what it has judged can be folded
        stream.apply(entry)
    assert stream.number == 10


def test_the_same_list_again_is_the_same_round_and_another_is_refused():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    texts = {"question": "who", "texts": ["one", None]}
    shown, _ = batch.judge(proposal(stream, "r", **texts))
    assert batch.judge(proposal(stream, "r", **texts)) == (shown, False)
    for other in (
        proposal(stream, "r", scores=(0.1, 0.3), **texts),
        proposal(stream, "r", question="who"),
        proposal(stream, "r", truncated_below=0.1, **texts),
    ):
        assert isinstance(batch.judge(other), ConflictingRound)
    assert len(batch.entries) == len(batch.texts) == 1


def test_an_answer_in_the_batch_makes_room():
    """The oldest round is closed only if there is no room without that."""
    first = Listed("r0", ["c0"], [0.5], [0], -math.inf, 0, 1, complete=True)
    for answered, expired in ((True, []), (False, ["r0"])):
        stream = stream_of(first, first._replace(round_id="r1"))
        rounds = {(1, f"r{i}"): Round(LogEntry(1, i + 1, 0.0, first._replace(round_id=f"r{i}"))) for i in range(2)}
        batch = Batch(rounds, NOW, open_limit=2)
        if answered:
            batch.judge(Close(stream, "r1", "c0"))
        batch.judge(proposal(stream, "r2"))
        assert [entry.round_id for entry in batch.entries if isinstance(entry.event, Expired)] == expired


def test_a_round_that_was_closed_in_the_batch_has_no_answer():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    batch.judge(proposal(stream, "r"))
    assert batch.judge(Close(stream, "r", Answer.EXPIRED))[1]
    assert isinstance(batch.judge(Close(stream, "r", "c1")), RoundClosed)


def test_a_round_that_was_never_shown_has_no_answer():
    refusal = Batch({}, NOW, 100).judge(Close(stream_of(), "r", Answer.MISS))
    assert isinstance(refusal, UnknownRound)


def table(stream, round_id, columns, **more):
    """Return the proposal of a list with a column for each scorer."""
    values, scorers = check_table(columns)
    return Propose(stream, round_id, [f"c{i}" for i in range(len(values))], values, scorers, **more)


def test_the_first_list_names_the_scorers_of_those_behind_it_in_its_batch():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    first, _ = batch.judge(table(stream, "r0", {"dense": [0.1, 0.2], "bm25": [math.nan, 5.0]}))
    turned, _ = batch.judge(table(stream, "r1", {"bm25": [7.0], "dense": [0.3]}))
    part, _ = batch.judge(table(stream, "r2", {"bm25": [7.0]}))
    assert [shown.listed.scorers for shown in (first, turned, part)] == [["dense", "bm25"]] * 3
    assert turned.listed.scores.tolist() == [[0.3, 7.0]]
    assert np.array_equal(part.listed.scores, [[math.nan, 7.0]], equal_nan=True)
    for wrong in (table(stream, "r3", {"bm25": [7.0], "recency": [0.3]}), proposal(stream, "r3")):
        refusal = batch.judge(wrong)
        assert isinstance(refusal, InvalidScores)
        assert "those of the first round were of 'dense', 'bm25'" in str(refusal)
    assert len(batch.entries) == 3
    for entry in batch.entries:
        stream.apply(entry)
    assert stream.stream.scorers == ("dense", "bm25")
    later = Batch({}, NOW, 100)
    assert isinstance(later.judge(table(stream, "r3", {"bm25": [7.0], "recency": [0.3]})), InvalidScores)
    assert later.judge(table(stream, "r3", {"bm25": [7.0], "dense": [math.nan]}))[1]


def test_a_scorer_without_a_name_stays_without_one():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    batch.judge(proposal(stream, "r0"))
    refusal = batch.judge(table(stream, "r1", {"bm25": [7.0]}))
    assert isinstance(refusal, InvalidScores)
    assert "the scores are of 'bm25', and those of the first round were of one scorer without a name" in str(refusal)


def test_a_list_with_missing_scores_again_is_the_same_round():
    """NaN is not equal to itself, and null in the log is NaN here."""
    stream = stream_of()
    columns = {"dense": [0.1, 0.2], "bm25": [math.nan, 5.0]}
    batch = Batch({}, NOW, 100)
    shown, _ = batch.judge(table(stream, "r", columns, truncated_below={"bm25": 5.0}))
    (entry,) = batch.entries
    read = dataclasses.replace(entry, event=from_json(Listed, to_json(entry.event)))
    for known in (shown, Round(read)):
        again = Batch({(1, "r"): known}, NOW, 100)
        assert again.judge(table(stream, "r", columns, truncated_below={"bm25": 5.0})) == (known, False)
        for other in (
            {"columns": columns},
            {"columns": columns, "truncated_below": {"dense": 5.0}},
            {"columns": columns | {"bm25": [4.0, 5.0]}, "truncated_below": {"bm25": 5.0}},
            {"columns": {"dense": [0.1, 0.2]}, "truncated_below": {"bm25": 5.0}},
            {"columns": {"recency": [0.1, 0.2]}},
        ):
            assert isinstance(again.judge(table(stream, "r", **other)), ConflictingRound), other


def test_bounds_of_a_search_name_the_scorers():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    columns = {"dense": [0.1], "bm25": [5.0]}
    for below, message in (({"recency": 1.0}, "names 'recency'"), (1.0, "there are 2 scorers; give one for each")):
        refusal = batch.judge(table(stream, "r", columns, truncated_below=below))
        assert isinstance(refusal, InvalidParameter)
        assert message in str(refusal)
    assert batch.entries == []


@pytest.mark.parametrize("score", ["raw", "relative"])
def test_what_the_scores_give_is_given_by_them(score):
    """The log does not have it: a list that was read from there is answered as one that was just cut."""
    stream = stream_of(score=score, at_most=1)
    batch = Batch({}, NOW, 100)
    batch.judge(proposal(stream, "r"))
    shown, _ = batch.judge(Expand(stream, "r"))
    stored = [dataclasses.replace(entry, event=entry.event._replace(comparable=None)) for entry in batch.entries]
    hits = []
    for round_ in (shown, Round(stored[0], None, (stored[1],)), Round(batch.entries[0], None, (stored[1],))):
        answered, _ = Batch({(stream.id, "r"): round_}, NOW, 100).judge(Close(stream, "r", "c0"))
        hits.append(answered.closed.event)
    assert hits[0] == hits[1] == hits[2]
    assert hits[0].score == stream.settings.rounds.score(np.array([0.1, 0.2]))[0]


def test_a_list_twice_in_one_batch_is_known_by_its_texts():
    stream = stream_of()
    batch = Batch({}, NOW, 100)
    _, new = batch.judge(proposal(stream, "r", question="who"))
    assert new
    _, new = batch.judge(proposal(stream, "r", question="who"))
    assert not new
    for other in ({"question": "what"}, {}, {"question": "who", "texts": ["a", "b"]}):
        assert isinstance(batch.judge(proposal(stream, "r", **other)), ConflictingRound)
    (text,) = batch.texts
    assert (text.number, text.question) == (1, "who")
    assert batch.entries[0].event.has_text


def test_of_texts_that_are_erased_it_is_known_only_that_there_were_some():
    stream, batch = stream_of(), Batch({}, NOW, 100)
    shown, _ = batch.judge(proposal(stream, "r", question="who"))
    later = Batch({(1, "r"): shown}, NOW, 100)
    for same in ("who", "what"):
        assert later.judge(proposal(stream, "r", question=same)) == (shown, False)
    assert isinstance(later.judge(proposal(stream, "r")), ConflictingRound)
    assert isinstance(later.judge(proposal(stream, "r", (0.1, 0.3), question="who")), ConflictingRound)
    assert later.texts == []
