"""The score is learned first, frozen, and only later rounds count."""

import json
import math

import numpy as np
import pytest

from shortlist import AnytimeSPS, GroupedShortlister, Shortlister
from shortlist.errors import InvalidParameter, InvalidScores, NoCandidates
from shortlist.rounds import learning
from shortlist.rounds.admission import admit
from shortlist.rounds.codec import from_json, to_json
from shortlist.rounds.events import Fitted, Miss
from shortlist.rounds.progress import summarize
from shortlist.rounds.repeated_fits import make_learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Stream
from shortlist.scores import Learned, Margin, learn
from shortlist.scores.learned import prior
from tests.listers.playing import named


def lists(count, scorers=2, candidates=8, seed=0):
    """Yield lists, each with the position of the right candidate."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        table = rng.normal(size=(candidates, scorers))
        right = int((table.sum(axis=1) + rng.gumbel(size=candidates)).argmax())
        yield (table if scorers > 1 else table[:, 0]), right


def teach(lister, rounds, **options):
    """Show lists and say which candidate is right."""
    for table, right in rounds:
        shown = lister.propose(named(table), **options)
        lister.reveal(shown.round_id, right)
    return lister


@pytest.mark.parametrize("scorers", [1, 2])
@pytest.mark.parametrize("unanswered", ["miss", "ignore"])
def test_after_the_fit_it_is_a_lister_with_that_score(scorers, unanswered):
    """Bit for bit: the rounds of the fit have left no trace but the score."""
    rounds = list(lists(700, scorers))
    fitted = 30 if scorers == 1 else 100
    auto = teach(Shortlister(0.8, 0.01, unanswered=unanswered), rounds[:fitted])
    assert auto.learned == learn(
        *zip(*rounds[:fitted], strict=True), auto.learned.scorers if scorers > 1 else None, coverage=0.8
    )
    other = Shortlister(0.8, 0.01, score=auto.learned, unanswered=unanswered)
    for table, right in rounds[fitted:]:
        shown, alone = auto.propose(named(table)), other.propose(named(table))
        assert (shown.members, shown.threshold, shown.truncated) == (alone.members, alone.threshold, alone.truncated)
        auto.reveal(shown.round_id, right)
        other.reveal(alone.round_id, right)
    assert auto.threshold == other.threshold > 0
    assert auto.summary().counted == other.summary().counted


def test_everything_is_shown_best_first_until_then(constants):
    constants(picks=10)
    lister = Shortlister(0.9, 0.01)
    for i, (table, right) in enumerate(lists(10)):
        shown = lister.propose({"a": table[:, 0], "b": table[:, 1]})
        assert len(shown.members) == 8
        assert shown.threshold == -math.inf
        made = prior(("a", "b"))(table)
        assert list(shown.members) == sorted(range(8), key=lambda j: -made[j])
        assert f"of which there are {i}" in lister.summary().waiting_for
        assert lister.learned is None
        lister.hit(shown.round_id, right)
    assert lister.learned is not None
    assert lister.learned.rounds == 10
    assert "learned from 10 picks" in lister.summary().score_why


def test_rounds_of_the_fit_never_count_however_late_their_answers_come(constants):
    constants(picks=20)
    rounds = list(lists(400))
    lister = Shortlister(0.8, 0.01)
    early = [lister.propose(named(table)) for table, _ in rounds[:30]]
    for shown, (_, right) in zip(early[:20], rounds[:20], strict=True):
        lister.hit(shown.round_id, right)
    frozen = lister.learned
    teach(lister, rounds[30:])
    before = (lister.threshold, lister.summary().counted)
    assert before[1] == 370
    for verb, shown, (_, right) in zip(["hit", "miss", "skip", "absent"] * 3, early[20:], rounds[20:30], strict=False):
        getattr(lister, verb)(shown.round_id, *([right] if verb == "hit" else []))
        assert (lister.threshold, lister.summary().counted) == before
    assert lister.learned is frozen


@pytest.mark.parametrize("answer", ["miss", "skip", "absent", None])
def test_after_ten_times_as_many_rounds_it_is_frozen_all_the_same(answer, constants):
    constants(picks=5)
    lister = Shortlister(0.9, 0.01)
    for i, (table, right) in enumerate(lists(50)):
        assert lister.learned is None
        shown = lister.propose(named(table))
        if i < 2:
            lister.hit(shown.round_id, right)
        elif answer is not None:
            getattr(lister, answer)(shown.round_id)
    assert lister.learned is not None
    assert lister.learned.rounds == 2


def test_nothing_picked_at_all_is_the_prior(constants):
    constants(picks=2)
    lister = Shortlister(0.9, 0.01)
    for table, _ in lists(20):
        lister.miss(lister.propose({"a": table[:, 0], "b": table[:, 1]}).round_id)
    assert lister.learned == prior(("a", "b"))
    assert "nothing was picked" in lister.summary().score_why


def test_one_candidate_per_list():
    """Questions differ in level: those with a low score are the ones that may be cut."""
    rng, lister = np.random.default_rng(0), Shortlister(0.8, 0.2)
    lengths = []
    for _ in range(400):
        shown = lister.propose(rng.random(1))
        lengths.append(len(shown.members))
        lister.reveal(shown.round_id, 0)
    assert lister.learned is not None
    assert lister.learned.form == "sum"
    assert 0 < 1 - np.mean(lengths[-100:]) <= 0.35


def test_a_right_one_that_is_always_on_top_makes_lists_of_one():
    rng, lister = np.random.default_rng(0), Shortlister(0.9, 0.01)
    for _ in range(600):
        scores = rng.random(20) * 0.8
        scores[3] = 1.0 + rng.random() / 10
        shown = lister.propose(scores)
        lister.reveal(shown.round_id, 3)
    assert lister.threshold > 0
    assert max(map(abs, [*lister.learned.relative, *lister.learned.absolute])) < 50
    assert shown.members == (3,)


def test_groups_share_one_fit_and_have_their_own_thresholds():
    rounds = list(lists(900, scorers=1))
    lister = GroupedShortlister(0.8, 0.1)
    for i, (table, right) in enumerate(rounds):
        shown = lister.propose(table, group="ab"[i % 2])
        lister.reveal(shown.round_id, right)
        if i == 29:
            assert lister.learned is not None  # 15 picks of each group
    assert lister.learned == learn(*zip(*rounds[:30], strict=True), coverage=0.8)
    assert {lister.summary(group).counted for group in "ab"} == {435}
    assert lister.threshold("a") != lister.threshold("b")
    new = lister.propose(rounds[0][0], group="new")
    lister.reveal(new.round_id, 0)
    assert lister.summary("new").counted == 1


def test_a_warm_start_is_split():
    """The first lists are for the score, and only the others are for its threshold."""
    rounds = list(lists(500, scorers=1))
    rounds[3] = (rounds[3][0], -1)  # it is not among its candidates: no example for the score
    tables, right = zip(*rounds, strict=True)
    lister = Shortlister(0.8, 0.01)
    lister.warm_start(tables, right)
    score = learn(tables[:31], right[:31], coverage=0.8)
    assert lister.learned == score
    other = Shortlister(0.8, 0.01, score=score)
    other.warm_start(tables[31:], right[31:])
    assert lister.threshold == other.threshold > 0
    assert lister.summary().counted == other.summary().counted == 469
    with pytest.raises(
        InvalidParameter, match="there are 20 lists with a right candidate, and learning the score takes 30"
    ):
        Shortlister(delta=0.01).warm_start(tables[:20], [0] * 20)
    with pytest.raises(InvalidParameter, match="right is missing"):
        Shortlister(delta=0.01).warm_start([0.5] * 40)
    with pytest.raises(InvalidParameter, match="examples have no group"):
        GroupedShortlister(delta=0.01).warm_start(tables, right)


@pytest.mark.parametrize("at", [7, 99, 100, 101, 300])
def test_a_file_goes_on_with_the_same_bits_and_fits_nothing_again(at, tmp_path, monkeypatch):
    rounds = list(lists(400))
    lister = teach(Shortlister(0.8, 0.01), rounds[:at])
    open_round = lister.propose(named(rounds[at][0])).round_id
    lister.save(tmp_path / "lister.json")
    json.loads((tmp_path / "lister.json").read_text(), parse_constant=pytest.fail)
    if at > 100:
        monkeypatch.setattr(learning, "fit", lambda *_: pytest.fail("it was fitted again"))
    again = Shortlister.load(tmp_path / "lister.json")
    for each in (lister, again):
        each.reveal(open_round, rounds[at][1])
        teach(each, rounds[at + 1 :])
    assert again.learned == lister.learned is not None
    assert again.threshold == lister.threshold > 0
    monkeypatch.undo()
    assert dict(again.summary()) == dict(lister.summary())


def test_a_fit_is_written_down_bit_for_bit():
    lister = teach(Shortlister(0.8, 0.01), lists(100))
    event = Fitted(1, lister.learned)
    again = from_json(Fitted, to_json(event))
    assert again == event
    assert again.score.gradient == event.score.gradient < 1e-10


def test_a_restart_keeps_the_score_and_a_refit_does_not():
    rounds = list(lists(800))
    lister = teach(Shortlister(0.8, 0.01, on_drift="restart"), rounds[:400])
    first, late = lister.learned, lister.propose(named(rounds[0][0]))
    lister.restart()
    assert lister.learned is first
    assert (lister.summary().epoch, lister.threshold) == (1, -math.inf)
    teach(lister, rounds[400:450])
    lister.restart(refit=True)  # on the last 100 picks, which are there
    assert lister.learned != first
    assert (lister.summary().epoch, lister.summary().counted) == (2, 0)
    lister.hit(late.round_id, late.members[0])  # of an older epoch
    assert lister.summary().counted == 0
    teach(lister, rounds[450:])
    assert lister.threshold > 0
    with pytest.raises(InvalidParameter, match='True needs score="auto"'):
        Shortlister(score="raw").restart(refit=True)
    with pytest.raises(InvalidParameter, match='needs unanswered="miss"'):
        Shortlister(unanswered="ignore", delta=0.01).restart()


def test_what_a_fresh_fit_would_change():
    """Where the scorers swap their roles after the fit, a fresh one would shorten lists a lot; else hardly."""
    rng = np.random.default_rng(0)
    for swap, least, most in ((False, -0.2, 0.2), (True, 0.4, 1.0)):
        lister = Shortlister(0.8, 0.01)
        for i in range(400):
            table = rng.normal(size=(12, 2))
            weights = np.array([4.0, 0.0] if i < 100 or not swap else [0.0, 4.0])
            shown = lister.propose(named(table))
            if i < 150:
                assert lister.summary().refit_gain is None
            lister.reveal(shown.round_id, int((table @ weights + rng.gumbel(size=12)).argmax()))
        assert least < lister.summary().refit_gain < most


# What comes in.


def test_what_takes_a_while_is_known_before_it_is_done(monkeypatch, constants):
    """A service asks first, and does it where nobody waits: the fit, and what a fresh one would gain."""
    constants(picks=20)
    settings = Settings(policy=AnytimeSPS(0.9))
    stream = Stream(settings, learning=make_learning(settings))
    made = []
    real = learning.fit
    monkeypatch.setattr(learning, "fit", lambda *examples: made.append(1) or real(*examples))
    for i, (table, position) in enumerate(lists(45, scorers=1)):
        assert stream.learning.is_due == (i == 20)
        stream.settle()
        assert stream.learning.gain_is_due == (i >= 40)
        shown = stream.decide(i, table)
        stream.apply(shown)
        stream.apply(admit(shown, position) if position in shown.positions else Miss(i))
    assert len(made) == 1
    assert summarize(stream, 0, measure=False)["refit_gain"] is None
    assert len(made) == 1
    gain = summarize(stream, 0)["refit_gain"]
    assert gain is not None
    assert len(made) == 3
    assert not stream.learning.gain_is_due
    assert summarize(stream, 0, measure=False)["refit_gain"] == gain


@pytest.mark.parametrize("score", ["auto", "raw"])
def test_an_empty_search_does_not_say_which_scorers_there_are(score):
    lister = Shortlister(coverage=0.9, score=score)
    lister.miss(lister.propose([], allow_empty=True).round_id)
    shown = lister.propose({"bm25": [1.0, 2.0]})
    assert shown.members == (1, 0)
    assert lister.propose([], allow_empty=True).members == ()
    with pytest.raises(InvalidScores, match="those of the first round were of 'bm25'"):
        lister.propose([1.0])


def frames(table):
    """Return a list's scores in all the ways that they may come."""
    named = {"a": table[:, 0], "b": table[:, 1]}
    frames = [pytest.importorskip(name).DataFrame(named) for name in ("pandas", "polars")]
    return [named, {"a": table[:, 0].tolist(), "b": table[:, 1].tolist()}, *frames]


def test_scores_by_name_and_as_a_frame_are_the_same():
    rounds = list(lists(160))
    listers = [Shortlister(0.8, 0.2) for _ in range(4)]
    for table, right in rounds:
        shown = [lister.propose(way) for lister, way in zip(listers, frames(table), strict=True)]
        assert len({(each.members, each.threshold) for each in shown}) == 1
        for lister, each in zip(listers, shown, strict=True):
            lister.reveal(each.round_id, right)
    assert listers[0].threshold > 0
    table = rounds[0][0]
    shown = listers[0].propose({"b": table[:, 1], "a": table[:, 0]})  # in another order
    assert shown.members == listers[1].propose({"a": table[:, 0], "b": table[:, 1]}).members
    assert shown.scores == tuple(tuple(table[i]) for i in shown.members)


def test_a_candidate_that_one_retriever_did_not_return():
    rng, lister = np.random.default_rng(0), Shortlister(0.8, 0.2)
    for table, right in lists(300):
        gaps = rng.random(table.shape) < 0.3
        gaps[gaps.all(axis=1)] = False
        a, b = np.where(gaps, np.nan, table).T
        shown = lister.propose({"a": a, "b": [None if math.isnan(x) else x for x in b]})
        lister.reveal(shown.round_id, right)
    assert lister.threshold > 0
    assert any(lister.learned.missing)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (
            {"a": [1.0], "c": [2.0]},
            InvalidScores,
            "the scores are of 'a', 'c', and those of the first round were of 'a', 'b'",
        ),
        ({"a": [1.0]}, InvalidScores, "the scores are of 'a', and those of the first round"),
        ([0.5, 0.25], InvalidScores, "of one scorer without a name"),
        (np.ones((2, 3)), InvalidScores, "which scorers are these"),
        ({"a": [1.0, 2.0], "b": [1.0]}, InvalidScores, "there are 2 scores of 'a' and 1 of 'b'"),
        ({"a": [math.nan], "b": [math.nan]}, InvalidScores, "candidate 0 has no score at all"),
        ({"a": [math.inf], "b": [1.0]}, InvalidScores, "the score of 'a' for candidate 0 is inf"),
        ({"a": ["x"], "b": [1.0]}, InvalidScores, "the scores of 'a'"),
        ({"a": [], "b": []}, NoCandidates, "scores are empty"),
        ({}, InvalidParameter, "give a list of their names"),
        (np.ones((2, 2, 2)), InvalidScores, "shape"),
    ],
    ids=str,
)
def test_what_is_refused_leaves_everything_as_it_was(scores, error, message):
    lister = Shortlister(0.9)
    lister.propose({"a": [1.0, 0.5], "b": [0.5, 1.0]})
    before = dict(lister.summary())
    with pytest.raises(error, match=message):
        lister.propose(scores)
    assert dict(lister.summary()) == before
    assert lister.propose({"b": [0.5], "a": [math.nan]}).scores == ((pytest.approx(math.nan, nan_ok=True), 0.5),)


def test_the_first_round_fixes_nothing_if_it_is_refused():
    lister = Shortlister(0.9)
    with pytest.raises(InvalidScores):
        lister.propose({"a": [math.inf, 1.0], "b": [1.0, 1.0]})
    assert lister.propose({"x": [1.0], "y": [2.0]}, ids=[0]).members == (0,)


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", Margin()])
def test_a_fixed_score_is_of_one_scorer(score):
    lister = Shortlister(0.9, score=score)
    with pytest.raises(InvalidScores, match=r'there are 2 scores per candidate.*use score="auto"'):
        lister.propose({"a": [1.0], "b": [2.0]}, ids=[0])
    assert lister.propose({"a": [1.0, 2.0]}).members == (1, 0)  # one, with a name


def test_a_function_of_the_table():
    lister = Shortlister(0.9, score=lambda table: np.nanmax(table, axis=1))
    shown = lister.propose({"a": [0.1, math.nan, 0.3], "b": [0.2, 0.9, 0.1]})
    assert shown.members == (1, 2, 0)
    with pytest.raises(InvalidScores, match="the scores are of 'a', and those"):
        lister.propose({"a": [0.1]})


def test_a_learned_score_knows_its_scorers():
    score = Learned(("a", "b"), (1.0, 1.0), (0.0, 0.0))
    lister = Shortlister(0.9, score=score)
    with pytest.raises(InvalidScores, match="of one scorer without a name"):
        lister.propose([0.5, 0.25])
    assert lister.propose({"b": [0.0, 1.0], "a": [0.0, 1.0]}).members == (1, 0)


def test_what_a_search_left_out_with_several_scorers():
    rounds = list(lists(400))
    lister = teach(Shortlister(0.8, 0.2), rounds)
    table = np.vstack([np.full((6, 2), -3.0), [[4.0, 4.0]]])
    assert not lister.propose(named(table), truncated_below={"0": -3.5, "1": -3.5}).truncated
    assert lister.propose(named(table), truncated_below={"0": 4.0, "1": 4.0}).truncated
    with pytest.raises(InvalidParameter, match="truncated_below names 'x'"):
        lister.propose(named(table), truncated_below={"x": 1.0})
    with pytest.raises(InvalidParameter, match="there are 2 scorers; give one for each"):
        lister.propose(named(table), truncated_below=1.0)
