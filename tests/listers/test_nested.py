"""Several coverages on one stream: nested, each as in a run of its own, each held."""

import numpy as np
import pytest

from shortlist import AnytimeSPS, NestedShortlister, Shortlister, replay
from shortlist.errors import InvalidParameter
from shortlist.listers import savefile
from tests.listers.inside import everything
from tests.listers.playing import both_scores


def run(lister, rounds, seed=0, candidates=20):
    rng = np.random.default_rng(seed)
    shown_lists, trues = [], []
    for _ in range(rounds):
        scores = rng.random(candidates)
        shown = lister.propose(scores)
        if 0 in shown.members:
            lister.hit(shown.round_id, 0)
        else:
            lister.miss(shown.round_id)
        shown_lists.append((shown, scores))
        trues.append(float(scores[0]))
    return shown_lists, np.array(trues)


@both_scores
def test_each_threshold_is_bit_identical_to_a_run_of_its_own(score):
    """With auto from the fit on, which all coverages share."""
    lister = NestedShortlister((0.95, 0.8, 0.9), delta=0.1, score=score)
    lists, trues = run(lister, 3000)
    assert lister.coverages == (0.8, 0.9, 0.95)
    if score == "auto":
        frozen = lister.learned
        trues = np.array([frozen(scores)[0] for _, scores in lists[30:]])
    for coverage, summary in lister.summary().coverages.items():
        assert summary.threshold == replay(AnytimeSPS(coverage, 0.1), np.append(trues, 0.0))[-1] > 0


def test_sets_are_nested_and_each_coverage_is_held():
    """False alarm: 1e-7 for each threshold, and eleven standard errors for the coverage seen."""
    lister = NestedShortlister((0.8, 0.9, 0.95), delta=1e-7, score="raw")
    lists, _ = run(lister, 4000)
    held = dict.fromkeys(lister.coverages, 0)
    for shown, scores in lists:
        sizes = [shown.cuts[coverage] for coverage in (0.8, 0.9, 0.95)]
        assert sizes == sorted(sizes)
        assert sizes[-1] == len(shown.members) == shown.reached
        assert list(shown.scores) == sorted(scores, reverse=True)[: sizes[-1]]
        for coverage in held:
            held[coverage] += 0 in shown.members[: shown.cuts[coverage]]
    for coverage, count in held.items():
        assert count / 4000 >= coverage
    thresholds = list(lister.thresholds.values())
    assert thresholds == sorted(thresholds, reverse=True)


def test_a_higher_coverage_gives_way_to_a_lower_one(tmp_path):
    """Early on the 0.5 learner may still show everything where another has cut: then nothing is hidden."""
    lister = NestedShortlister((0.5, 0.9), score="raw")
    content = everything(lister)
    content["streams"][1][1]["tracker"]["policy"]["carry"][0] = 0.7
    savefile.write(tmp_path / "nested.json", "nested shortlister", content)
    lister = NestedShortlister.load(tmp_path / "nested.json")
    assert lister.summary().coverages[0.9].threshold == 0.7
    assert lister.thresholds == {0.5: -np.inf, 0.9: -np.inf}
    assert lister.propose([0.1, 0.9]).cuts == {0.5: 2, 0.9: 2}


def test_the_guarantee_is_said():
    alone, together = NestedShortlister((0.8, 0.9), 0.05), NestedShortlister((0.8, 0.9), 0.05, jointly=True)
    assert (
        "with probability 0.95 a given threshold never passes its optimum; with probability 0.9 none of them ever does"
        in (alone.summary()["guarantee"])
    )
    assert (
        "probability 0.975 a given threshold never passes its optimum; with probability 0.95 none"
        in together.summary().guarantee
    )
    assert together.summary().coverages[0.9].policy["delta"] == 0.025


@both_scores
def test_save_and_load(score, tmp_path):
    lister = NestedShortlister((0.8, 0.95), jointly=True, score=score, patience=5)
    run(lister, 400)
    pending = lister.propose([0.9, 0.8])
    lister.save(tmp_path / "nested.json")
    loaded = NestedShortlister.load(tmp_path / "nested.json")
    for twin in (lister, loaded):
        twin.hit(pending.round_id, 1)
        run(twin, 200, seed=2)
    assert everything(loaded) == everything(lister)
    assert loaded.summary() == lister.summary()
    assert "NestedShortlister" in repr(loaded)


@pytest.mark.parametrize("coverages", [(), (0.9, 0.9), (0.9, 1.0), 0.9, None, "0.9"])
def test_bad_coverages_are_refused(coverages):
    with pytest.raises(InvalidParameter):
        NestedShortlister(coverages)


@both_scores
@pytest.mark.parametrize("options", [{}, {"at_most": 6}, {"at_least": 3}, {"shadow": True}], ids=str)
def test_each_coverage_counts_as_in_a_run_of_its_own(options, score):
    """Also where the list that is shown is cut short, and after a shift: thresholds, answers, alarms."""
    options = options | {"score": score, "on_drift": "report", "false_alarm_rounds": 1000}
    nested, alone = NestedShortlister((0.5, 0.95), **options), Shortlister(0.5, **options)
    rng = np.random.default_rng(0)
    for t in range(1200):
        scores = rng.random(12)
        weights = (scores if t < 700 else 1 - scores) ** 4
        right = int(rng.choice(12, p=weights / weights.sum()))
        for lister in (nested, alone):
            lister.reveal(lister.propose(scores).round_id, right)
    inner, own = nested.summary().coverages[0.5], alone.summary()
    assert own.drift.alarm_count > 0
    assert (inner.threshold, inner.drift, inner.epoch) == (own.threshold, own.drift, own.epoch)
    assert (inner.hits, inner.misses) == (own.hits, own.misses)
    assert (inner.hidden_share, inner.truncated_share) == (own.hidden_share, own.truncated_share)
    assert inner.would_have_missed == own.would_have_missed
    whole = nested.summary()
    assert whole.rounds == whole.hits + whole.misses == 1200
    assert whole.hits >= whole.coverages[0.95].hits >= inner.hits
    assert nested.summary().waiting_for == nested.summary().coverages[0.95].waiting_for


def test_a_corrected_answer_is_counted_as_it_ends(tmp_path):
    lister = NestedShortlister((0.8, 0.9), score="raw", grace=2)
    for _ in range(10):
        shown = lister.propose([0.1, 0.9])
        lister.miss(shown.round_id)
        lister.hit(shown.round_id, 1)
    summary = lister.summary()
    assert (summary.hits, summary.misses, summary.held) == (8, 0, 2)
    lister.save(tmp_path / "lister.json")
    again = NestedShortlister.load(tmp_path / "lister.json")
    for _ in range(2):
        again.skip(again.propose([0.5]).round_id)
    summary = again.summary()
    assert (summary.hits, summary.misses, summary.skipped, summary.held) == (10, 0, 0, 2)
