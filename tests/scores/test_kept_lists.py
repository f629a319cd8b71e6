"""What is kept of long lists: exact moments, unbiased sums, and the same bits where nothing is left out."""

import itertools
import math
import re

import numpy as np
import pytest

from shortlist import Shortlister
from shortlist.rounds.codec import encode
from shortlist.scores import kept_lists
from shortlist.scores.kept_lists import MOST_KEPT, Example, KeptList, keep, scale_of
from shortlist.scores.learned import features_of, fit, lengths_without


def table(count, scorers, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(count, scorers))
    values[rng.random(values.shape) < gaps] = np.nan
    return values if scorers > 1 else values[:, 0]


def in_order(count):
    return np.arange(count)


@pytest.mark.parametrize("scorers", [1, 3])
def test_short_lists_are_kept_whole(scorers):
    values = table(MOST_KEPT, scorers)
    kept = keep(values, list(range(MOST_KEPT)), in_order)
    assert kept == KeptList(values)
    assert kept.example(5) == Example(values, 5)


@pytest.mark.parametrize("scorers", [1, 2])
@pytest.mark.parametrize(("position", "kind"), [(3, "one of the best"), (70, "drawn"), (499, "neither")])
def test_the_pick_is_kept_and_the_others_stand_for_all(scorers, position, kind):
    values = table(500, scorers)
    kept = keep(values, list(range(500)), in_order)
    assert kept.positions == list(range(MOST_KEPT))
    example = kept.example(position, values[position])
    assert len(example.values) == MOST_KEPT + (kind == "neither")
    assert np.array_equal(example.values[example.position], values[position])
    assert example.weights[example.position] == 1.0
    assert example.weights.sum() == pytest.approx(500, rel=1e-12)
    assert (example.weights[:64] == 1.0).all()


def test_sums_are_unbiased(monkeypatch):
    """Over all draws: the mean of the estimate is the sum over the whole list, wherever the pick is."""
    monkeypatch.setattr(kept_lists, "MOST_KEPT", 4)
    monkeypatch.setattr(kept_lists, "_BEST", 2)
    values = np.array([5.0, 4.0, 0.3, 0.2, 0.7, 0.1, 0.9])
    exact = np.exp(values).sum()
    for position in range(7):
        estimates, wrong = [], []
        for draw in itertools.permutations(range(5)):
            example = keep(values, [0, 1], lambda _, draw=draw: np.array(draw)).example(position, values[position])
            estimates.append(example.weights @ np.exp(example.values))
            wrong.append(np.exp(example.values).sum())
        assert np.mean(estimates) == pytest.approx(exact, rel=1e-12)
        assert abs(np.mean(wrong) - exact) > 0.5  # without the weights


@pytest.mark.parametrize("scorers", [1, 3])
def test_features_are_those_of_the_whole_list(scorers):
    """To the bit: mean and spread of the whole list are kept with its part. So is the lowest value, for gaps."""
    values = table(500, scorers, gaps=0.1)
    whole = values[:, None] if scorers == 1 else values
    rows = np.random.default_rng(1).permutation(500)[:100]
    spread = [1.0, 2.0, 0.5][:scorers]
    assert np.array_equal(features_of(whole, spread)[rows], features_of(whole[rows], spread, scale_of(values)))
    assert not np.array_equal(features_of(whole, spread)[rows], features_of(whole[rows], spread))


@pytest.mark.parametrize("scorers", [1, 2])
def test_a_fit_on_parts_is_near_that_on_whole_lists(scorers):
    rng, whole, parts = np.random.default_rng(3), [], []
    weights = [2.0, 1.0][:scorers]
    for i in range(100):
        values = table(600, scorers, seed=i)
        linear = values * 2.0 if scorers == 1 else values @ weights
        position = int(np.argmax(linear + rng.gumbel(size=600)))
        whole.append(Example(values, position))
        order = np.argsort(-linear, kind="stable").tolist()
        parts.append(keep(values, order, rng.permutation).example(position, values[position]))
    names = ["a", "b"][:scorers]
    one, other = fit(whole, names), fit(parts, names)
    assert other.form == one.form
    assert other.influence == pytest.approx(one.influence, abs=0.02)
    assert np.add(other.relative, other.absolute) == pytest.approx(np.add(one.relative, one.absolute), rel=0.05)
    lengths = [lengths_without(one, examples, 0.9).mean() for examples in (whole, parts)]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.15)


def long_lists(count, seed=0):
    """Yield lists of 200 candidates and two scorers, each with the right candidate; often it is far down."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        values = rng.normal(size=(200, 2))
        values[rng.random(200) < 0.1, 1] = np.nan
        yield {"a": values[:, 0], "b": values[:, 1]}, int(rng.integers(200))


@pytest.mark.parametrize("delta", [None, 0.01])
def test_a_lister_keeps_a_part_and_says_so(delta, tmp_path):
    """Saved in the middle it goes on with the same bits; the file does not grow with the candidates."""
    lister, loaded = Shortlister(0.9, delta=delta), None
    for i, (scores, right) in enumerate(long_lists(120)):
        for each in [lister] if loaded is None else [lister, loaded]:
            shown = each.propose(scores)
            each.reveal(shown.round_id, right)
        if i == 60:
            lister.save(tmp_path / "lister.json")
            loaded = Shortlister.load(tmp_path / "lister.json")
    assert encode(lister.learned) == encode(loaded.learned)
    assert re.match(r"learned from \d+ picks and 128 candidates of each list: ", lister.summary().score_why)
    assert not math.isnan(lister.learned.relative[0])
    assert (tmp_path / "lister.json").stat().st_size < 61 * 129 * 2 * 26
