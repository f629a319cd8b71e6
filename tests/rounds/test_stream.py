"""A stream of rounds: what it decides, and what events make of it."""

import math

import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister, replay
from shortlist.errors import (
    InvalidParameter,
    InvalidScores,
    NoCandidates,
)
from shortlist.policies import State
from shortlist.rounds.admission import admit
from shortlist.rounds.codec import decode, encode, from_json, to_json
from shortlist.rounds.events import Answer, Fitted, Miss, Restarted
from shortlist.rounds.learning import LearningState
from shortlist.rounds.repeated_fits import make_learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Stream, StreamState
from tests.listers.inside import policy_state
from tests.listers.playing import answer, both_scores, teach


def test_a_warm_start_is_as_good_as_rounds():
    scores = np.random.default_rng(6).random(3000)
    warm = Shortlister(0.9, delta=0.01, score="raw")
    warm.warm_start(scores[:2000])
    assert warm.threshold == replay(AnytimeSPS(0.9), scores[:2001])[-1] > 0.05
    assert warm.summary()["rounds"] == 0
    assert warm.summary()["counted"] == 2000
    for score in scores[2000:].tolist():
        answer(warm, warm.propose([score]))
    assert warm.threshold == replay(AnytimeSPS(0.9), np.append(scores, 0.0))[-1]
    with pytest.raises(InvalidParameter, match="1000 rounds have already been shown"):
        warm.warm_start(scores)
    with pytest.raises(InvalidScores, match=r"true_scores\[0\] is nan"):
        Shortlister(delta=0.01, score="raw").warm_start([math.nan])


@both_scores
def test_a_hit_below_the_threshold_teaches_like_a_miss(score):
    """`at_least` shows more than the threshold allows; what lies below it must not count as seen."""
    listers = [teach(Shortlister(0.8, delta=0.01, score=score, at_least=at_least), 500) for at_least in (0, 8)]
    assert listers[0].threshold == listers[1].threshold > (0.5 if score == "raw" else 1 / 8)
    assert policy_state(listers[0]) == policy_state(listers[1])
    assert listers[1].summary()["misses"] == 0  # all were hits for the person


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", "auto"])
def test_what_a_search_left_out_may_tie_with_the_last_score_it_returned(score):
    """A list is truncated if its last candidate is shown: one that equals it may be missing."""
    lister, rng = Shortlister(0.9, delta=0.01, score=score), np.random.default_rng(0)
    marked = []
    for _ in range(400):
        scores = np.round(rng.normal(size=12), 1)
        shown = lister.propose(scores, truncated_below=scores.min())
        last_is_shown = int(scores.argmin()) in shown.members
        # With one more candidate in it, a list's relative scores are others: then that one may reach the threshold too.
        assert shown.truncated == last_is_shown or (shown.truncated and score in ("relative", "auto"))
        marked.append(shown.truncated)
        if shown.members:
            lister.hit(shown.round_id, shown.members[0])
        else:
            lister.miss(shown.round_id)
    assert marked[0]
    assert not all(marked)
    assert 0 < lister.summary()["truncated_share"] < 1


def test_a_threshold_that_equals_the_last_score_is_not_above_it():
    lister = Shortlister(0.9, score="raw")
    for _ in range(200):
        lister.hit(lister.propose([0.5, 0.9]).round_id, 0)
    assert lister.threshold == 0.5
    for below, truncated in ((0.5, True), (np.nextafter(0.5, 0), False), (0.6, True)):
        assert lister.propose([0.9, 0.8], truncated_below=below).truncated is truncated


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", "auto"])
def test_a_search_that_found_nothing_is_a_round(score, tmp_path):
    lister = Shortlister(0.9, delta=0.01, score=score, at_least=1)
    with pytest.raises(NoCandidates, match="allow_empty=True"):
        lister.propose([])
    shown = lister.propose([], ids=[], allow_empty=True)
    assert (shown.members, shown.candidates, shown.complete, shown.truncated) == ((), 0, True, False)
    lister.save(tmp_path / "lister.json")
    lister = Shortlister.load(tmp_path / "lister.json")
    lister.miss(shown.round_id)
    summary = lister.summary()
    assert (summary["rounds"], summary["misses"], summary["candidate_recall"]) == (1, 1, 0.0)
    assert summary["counted"] == (0 if score == "auto" else 1)  # the first rounds are for the score


def start(settings):
    return Stream(settings, learning=make_learning(settings))


def played(stream, rounds, log=None, seed=0):
    """Decide, answer and apply; the events go into the log."""
    rng = np.random.default_rng(seed)
    for i in range(rounds):
        listed = stream.decide(i, rng.random(6))
        stream.apply(listed)
        answer = 0 if 0 in listed.members else Answer.MISS
        event = admit(listed, Answer.SKIP if i % 17 == 16 else answer)
        stream.apply(event)
        events = [listed, event]
        while (following := stream.due()) is not None:
            stream.apply(following)
            events.append(following)
        if log is not None:
            log += events
    return stream


@both_scores
def test_a_stream_is_the_fold_of_its_events(score, monkeypatch, constants):
    """From the events alone, through JSON, another stream has the same state, bit for bit; no score is fitted again."""
    constants(alarm=1000)
    log = []
    settings = Settings(policy=AnytimeSPS(0.9), score=score, on_drift="restart")
    live, rebuilt = played(start(settings), 700, log), start(settings)
    monkeypatch.setattr("shortlist.rounds.learning.fit", pytest.fail)
    for event in log:
        rebuilt.apply(from_json(type(event), to_json(event)))
    assert rebuilt.state == live.state
    if score == "auto":
        assert encode(rebuilt.learning.state) == encode(live.learning.state)
        assert [type(event) for event in log].count(Fitted) == live.learning.number == 1
    assert live.threshold > -np.inf


def test_a_restart_is_due_after_an_alarm_and_only_then(constants):
    """`due` changes nothing; until its event is applied nothing more is learned, and no alarm rings again."""
    constants(alarm=1000)
    settings = Settings(policy=AnytimeSPS(0.9), score="raw", on_drift="restart")
    stream = played(start(settings), 600)
    assert stream.due() is None
    assert stream.threshold > -np.inf
    rung, missed = stream.tracker.state.alarm_count, 600
    while stream.due() is None:  # the distribution shifts: everything is missed
        stream.apply(stream.decide(missed, np.full(6, 0.5)))
        stream.apply(Miss(missed))
        missed += 1
        assert missed < 700, "no alarm"
    before = encode(stream.state)
    assert stream.due() == stream.due() == Restarted(stream.tracker.epoch + 1)
    assert encode(stream.state) == before
    for late in range(missed, missed + 50):  # others were written to the log in the same batch
        stream.apply(stream.decide(late, np.array([0.5])))
        stream.apply(Miss(late))
    assert stream.tracker.state.alarm_count == rung + 1
    epoch = stream.tracker.epoch
    stream.apply(stream.due())
    assert stream.due() is None
    assert (stream.tracker.epoch, stream.threshold) == (epoch + 1, -np.inf)


def test_deciding_changes_nothing():
    stream = played(start(Settings(policy=AnytimeSPS(0.8), score="raw")), 600)
    before = encode(stream.state)
    listed = [stream.decide(600, np.array([0.01, 0.99])) for _ in range(3)]
    assert encode(stream.state) == before
    assert [each.positions for each in listed] == [[1]] * 3


@both_scores
@pytest.mark.parametrize("rounds", [20, 300])
def test_a_stream_goes_on_from_its_state(score, rounds):
    settings = Settings(policy=AnytimeSPS(0.9), score=score, patience=5)
    whole = played(start(settings), rounds)
    state = decode(StreamState, encode(whole.state), {State: settings.policy.state_type})
    learned = whole.learning and decode(LearningState, encode(whole.learning.state))
    again = Stream(settings, state=state, learning=make_learning(settings, learned))
    for stream in (whole, again):
        listed = stream.decide(rounds, np.array([0.5, 0.6]))
        stream.fold(listed)
        stream.fold(admit(listed, listed.members[0]))
    assert again.state == whole.state
    assert encode(again.learning and again.learning.state) == encode(whole.learning and whole.learning.state)
    assert again.tally.hits == whole.tally.hits


def test_an_older_threshold_is_allowed_and_a_higher_one_is_not():
    stream = played(start(Settings(policy=AnytimeSPS(0.8))), 600)
    assert stream.threshold > -np.inf
    listed = stream.decide(600, np.array([0.5]))
    assert stream.allows(listed._replace(threshold=-np.inf))
    assert stream.allows(listed)
    assert not stream.allows(listed._replace(threshold=stream.threshold + 0.1))


@both_scores
def test_a_miss_of_a_complete_list_counts_for_recall(score):
    stream = start(Settings(policy=AnytimeSPS(0.9), score=score))
    listed = stream.decide(0, np.array([0.5]))
    assert listed.complete
    stream.apply(listed)
    stream.apply(Miss(0, complete=listed.complete))
    assert (stream.tally.recall_hits, stream.tally.recall_misses) == (0, 1)
