"""A score that is learned: the formula brute force, and every list that could break it."""

import itertools
import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.rounds.codec import decode, encode
from shortlist.scores import Learned, Score, learn
from shortlist.scores.kept_lists import Example
from shortlist.scores.learned import fit, lengths_without, prior

LARGEST = sys.float_info.max


def softmax(numbers):
    best = max(numbers)
    weights = [math.exp(number - best) for number in numbers]
    return [weight / sum(weights) for weight in weights]


def by_hand(score, table):
    """Return the score of a list, written out: z-scores, values over their spread, and what is missing."""
    linear = [0.0] * len(table)
    for j in range(len(score.scorers)):
        column = [row[j] for row in table]
        known = [value for value in column if not math.isnan(value)]
        filled = [(min(known) if known else 0.0) if math.isnan(value) else value for value in column]
        mean = math.fsum(filled) / len(filled)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in filled) / len(filled)) or 1.0
        for i, value in enumerate(filled):
            linear[i] += score.relative[j] * (value - mean) / deviation * (score.form == "softmax")
            linear[i] += score.absolute[j] * (value - score.center[j]) / score.spread[j]
            linear[i] += score.missing[j] * math.isnan(column[i])
    return softmax(linear) if score.form == "softmax" else linear


def objective(examples, count, spread, weights, ridge=0.3):
    """Return log-likelihood less ridge, written out."""
    score = Learned(
        tuple(map(str, range(count))),
        relative=weights[:count],
        absolute=weights[count : 2 * count],
        missing=weights[2 * count :],
        spread=spread,
    )
    target = [1.0 / math.sqrt(count)] * count + [0.5 / math.sqrt(count)] * count + [0.0] * count
    rows = (np.reshape(each.values, (len(each.values), -1)).tolist() for each in examples)
    likelihood = sum(math.log(by_hand(score, row)[each.position]) for row, each in zip(rows, examples, strict=True))
    return likelihood - ridge * sum((one - other) ** 2 for one, other in zip(weights, target, strict=True))


def picks(count, candidates=8, scorers=2, seed=0, gaps=0.0):
    """Return lists in which what is picked follows a conditional logit of the scorers."""
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        table = rng.normal(size=(candidates, scorers)) * rng.uniform(0.5, 2.0) + rng.normal()
        mass = np.exp(table @ np.linspace(2.0, 0.5, scorers))
        position = int(rng.choice(candidates, p=mass / mass.sum()))
        table[rng.random(table.shape) < gaps] = np.nan
        table[np.isnan(table).all(axis=1), 0] = 0.0
        examples.append(Example(table if scorers > 1 else table[:, 0], position))
    return examples


@pytest.mark.parametrize(
    ("scorers", "gaps", "form"), list(itertools.product((1, 2, 3), (0.0, 0.3), ("softmax", "sum")))
)
def test_a_learned_score_is_its_formula(scorers, gaps, form):
    rng = np.random.default_rng(scorers)
    score = Learned(
        tuple(map(str, range(scorers))),
        relative=rng.normal(size=scorers),
        absolute=rng.normal(size=scorers),
        missing=rng.normal(size=scorers),
        center=rng.normal(size=scorers),
        spread=rng.uniform(0.5, 2, size=scorers),
        form=form,
    )
    for example in picks(20, scorers=scorers, gaps=gaps if scorers > 1 else 0.0, seed=scorers):
        table = example.values.reshape(len(example.values), -1)
        np.testing.assert_allclose(score(example.values), by_hand(score, table.tolist()), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("scorers", "gaps"), [(1, 0.0), (2, 0.0), (2, 0.3), (3, 0.2)])
def test_the_weights_are_where_the_objective_is_flat(scorers, gaps):
    """The objective is strictly concave, so where its gradient, by differences, is zero is the one maximum."""
    examples = picks(40, scorers=scorers, gaps=gaps)
    score = fit(examples, tuple(map(str, range(scorers))))
    assert score.form == "softmax"
    assert score.gradient < 1e-10
    assert 0 < score.steps < 30
    weights = [*score.relative, *score.absolute, *score.missing]
    best = objective(examples, scorers, score.spread, weights)
    for i, step in itertools.product(range(len(weights)), (1e-4, -1e-4)):
        moved = [weight + step * (i == j) for j, weight in enumerate(weights)]
        assert objective(examples, scorers, score.spread, moved) < best
    slopes = [
        objective(examples, scorers, score.spread, [w + h * (i == j) for j, w in enumerate(weights)])
        for i in range(len(weights))
        for h in (1e-5, -1e-5)
    ]
    assert max(abs(up - down) for up, down in zip(slopes[::2], slopes[1::2], strict=True)) / 2e-5 < 1e-4


def test_it_finds_the_scorer_that_matters():
    rng = np.random.default_rng(3)
    lists = rng.normal(size=(200, 10, 3))
    right = (lists @ [3.0, 0.0, 1.0] + rng.gumbel(size=(200, 10))).argmax(axis=1)
    score = learn(lists, right, ["good", "noise", "fair"])
    shares = dict(zip(score.scorers, score.influence, strict=True))
    assert shares["good"] > 0.6
    assert 0.4 > shares["fair"] > 0.15 > shares["noise"]
    assert sum(score.influence) == pytest.approx(1)


def test_a_shorter_list_than_each_alone():
    rng = np.random.default_rng(5)
    lists = rng.normal(size=(400, 20, 2))
    right = (lists.sum(axis=2) * 1.5 + rng.gumbel(size=(400, 20))).argmax(axis=1)
    examples = [Example(table, int(place)) for table, place in zip(lists, right, strict=True)]
    both = lengths_without(learn(lists[:200], right[:200], ["a", "b"]), examples[200:], 0.9).mean()
    for j in range(2):
        alone = learn(lists[:200, :, j], right[:200])
        single = [Example(each.values[:, j], each.position) for each in examples[200:]]
        assert both < 0.7 * lengths_without(alone, single, 0.9).mean()


def test_lengths_leave_their_own_pick_out():
    examples = picks(37, seed=8)
    score = fit(examples, ("a", "b"))
    made = [score(each.values) for each in examples]
    picked = [values[each.position] for values, each in zip(made, examples, strict=True)]
    for coverage in (0.5, 0.9, 0.99):
        for i, length in enumerate(lengths_without(score, examples, coverage)):
            others = sorted(picked[:i] + picked[i + 1 :])
            threshold = others[int(36 * (1 - coverage) + 1e-9)]
            assert length == sum(values >= threshold for values in made[i])


# Lists that could break it.


def test_one_candidate_per_list():
    """A softmax of one is always 1, so what says anything is the sum."""
    rng = np.random.default_rng(0)
    score = learn(rng.random((30, 1)), np.zeros(30, dtype=int))
    assert score.form == "sum"
    low, high = (float(score(np.array([value]))[0]) for value in (0.1, 0.9))
    assert low < high


def test_rounds_in_which_the_right_one_is_always_on_top():
    lists = np.random.default_rng(0).random((30, 20)) * 0.8
    lists[:, 7] = 1.0
    score = learn(lists, [7] * 30)
    assert max(map(abs, [*score.relative, *score.absolute])) < 50
    lengths = lengths_without(score, [Example(row, 7) for row in lists], 0.9)
    assert set(lengths.tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("constant", [0.0, 7.5, -LARGEST])
def test_a_constant_scorer_changes_nothing_else(constant):
    examples = picks(60, scorers=1)
    alone = fit(examples, ("a",))
    beside = [Example(np.column_stack([each.values, np.full(8, constant)]), each.position) for each in examples]
    score = fit(beside, ("a", "b"))
    assert score.influence == (1.0, 0.0)
    assert score.gradient < 1e-10
    np.testing.assert_allclose(score(beside[0].values), alone(examples[0].values), atol=0.05)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1.0, 1e150, LARGEST])
def test_scores_of_any_size(size):
    rng = np.random.default_rng(1)
    unit = rng.uniform(-1, 1, size=(40, 6, 2))
    lists = unit * np.array([size, 1.0])
    right = unit.sum(axis=2).argmax(axis=1)
    with np.errstate(all="raise", under="ignore"):
        score = learn(lists, right, ["huge", "usual"])
        made = np.array([score(table) for table in lists])
    assert np.isfinite(made).all()
    assert score.gradient < 1e-6
    values = np.array([[-LARGEST, 0.0], [LARGEST, 1.0], [5e-324, -1.0]])
    assert np.isfinite(score(values)).all()


def test_what_a_scorer_did_not_return_is_the_lowest_of_the_list_and_has_a_weight():
    examples = picks(80, gaps=0.4, seed=2)
    score = fit(examples, ("a", "b"))
    assert any(weight != 0 for weight in score.missing)
    table = np.array([[1.0, np.nan], [2.0, 3.0], [0.5, 4.0]])
    filled = np.array([[1.0, 3.0], [2.0, 3.0], [0.5, 4.0]])
    without = Learned(score.scorers, score.relative, score.absolute, (0.0, 0.0), score.center, score.spread)
    np.testing.assert_array_equal(without(table), without(filled))


def test_a_scorer_that_returned_nothing_at_all():
    examples = [
        Example(np.column_stack([each.values, np.full(8, np.nan)]), each.position) for each in picks(40, scorers=1)
    ]
    score = fit(examples, ("a", "b"))
    assert np.isfinite(score(examples[0].values)).all()
    assert score.spread[1] == 1.0


def test_nothing_to_learn_from_is_the_prior():
    assert fit([], ("a", "b")) == prior(("a", "b"))
    np.testing.assert_allclose(prior(("",))(np.array([1.0, 2.0, 3.0])), softmax([-1.8371, 0.0, 1.8371]), atol=1e-4)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(0.01, 20), st.floats(-5, 20))
def test_equals_stay_equal_and_the_order_is_that_of_the_total_weight(values, relative, absolute):
    score = Learned(("",), relative=(relative,), absolute=(absolute,), spread=(1e7,))
    array = np.array(values)
    made = score(array)
    assert made.shape == array.shape
    for i, j in itertools.combinations(range(len(values)), 2):
        if values[i] == values[j]:
            assert made[i] == made[j]
    if absolute >= 0:
        assert (np.diff(made[array.argsort(kind="stable")]) >= 0).all()


def test_several_lists_at_once_are_one_after_the_other():
    rng = np.random.default_rng(0)
    for count in (1, 3):
        names = [str(j) for j in range(count)] if count > 1 else None
        score = learn(rng.normal(size=(30, 5, count)) if count > 1 else rng.normal(size=(30, 5)), [0] * 30, names)
        lists = rng.normal(size=(7, 5, count)) if count > 1 else rng.normal(size=(7, 5))
        np.testing.assert_array_equal(score(lists), [score(table) for table in lists])


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_the_size_of_scores_does_not_matter(slope):
    """Z-scores of values from 1e-300 to 1e300 are the same: also where squares would overflow, or vanish."""
    score = Learned(("",), relative=(slope,), absolute=(0.0,))
    values = np.random.default_rng(0).normal(size=50)
    expected = by_hand(score, values[:, None].tolist())
    for power in range(-300, 301, 20):
        np.testing.assert_allclose(score(values * 10.0**power), expected, rtol=1e-9)


@pytest.mark.parametrize("weight", [1e12, -1e12])
@pytest.mark.parametrize("form", ["softmax", "sum"])
@pytest.mark.parametrize("spread", [5e-324, 1e-150, 1.0, 1e150, LARGEST])
def test_the_largest_weights_make_numbers(weight, form, spread):
    weights = (weight, weight)
    score = Learned(("a", "b"), weights, weights, weights, spread=(spread, spread), form=form)
    with np.errstate(all="raise", under="ignore"):
        for size in (5e-324, 1e-150, 1.0, 1e99, 1e101, LARGEST):
            assert np.isfinite(score(size * np.array([[1.0, -1.0], [0.5, np.nan], [-1.0, 1.0]]))).all()
    for name in ("relative", "absolute", "missing"):
        with pytest.raises(InvalidParameter, match=f"{name} is .*; weights must be within"):
            Learned(("a",), **({"relative": (0.0,), "absolute": (0.0,)} | {name: (1.1 * weight,)}))


# As data, and as it is called.


def test_it_is_written_down_bit_for_bit():
    score = fit(picks(50, gaps=0.1), ("bm25", "dense"))
    again = decode(Score, json.loads(json.dumps(encode(score))))
    assert again == score
    assert (again.influence, again.lengths, again.gradient) == (score.influence, score.lengths, score.gradient)
    assert hash(again) == hash(score)
    for example in picks(5):
        np.testing.assert_array_equal(again(example.values), score(example.values))


def test_what_learn_takes():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 6, 2))
    right = table.sum(axis=2).argmax(axis=1)
    score = learn(table, right, ["a", "b"])
    by_name = [{"b": row[:, 1], "a": row[:, 0]} for row in table]
    assert learn(by_name, right, ["a", "b"]) == score
    assert learn(by_name, right).scorers == ("b", "a")
    ragged = [row[: 3 + i % 4] for i, row in enumerate(table)]
    short = [int(place) if place < len(row) else -1 for place, row in zip(right, ragged, strict=True)]
    assert learn(ragged, short, ["a", "b"]).rounds == sum(place >= 0 for place in short) < 40


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: learn([], []), InvalidScores, "lists are empty"),
        (lambda: learn(np.zeros((4, 3, 2)), [0] * 4), InvalidScores, "which scorers are these"),
        (lambda: learn([[1.0, 2.0]], [2]), InvalidParameter, r"right\[0\] is 2, and list 0 has the positions 0 to 1"),
        (lambda: learn([[1.0, 2.0]], [-1]), InvalidParameter, "-1 in every list"),
        (lambda: learn([[1.0, 2.0]], [0, 1]), InvalidParameter, "each of the 1 lists"),
        (lambda: learn([[1.0, 2.0]], [0.5]), InvalidParameter, r"right\[0\] is 0.5; it must be a position"),
        (lambda: learn([[1.0, math.nan]], [0]), InvalidScores, "must be finite"),
        (lambda: learn([{"a": [1.0]}, {"b": [1.0]}], [0, 0]), InvalidScores, "the scores are of 'b', and those"),
        (lambda: learn([[1.0, 2.0]], [0], coverage=1.5), InvalidParameter, "coverage is 1.5"),
        (lambda: Learned(("a", "a"), (1.0, 1.0), (1.0, 1.0)), InvalidParameter, "each needs a name of its own"),
        (lambda: Learned(("a",), (1.0, 2.0), (1.0,)), InvalidParameter, "relative has 2 numbers for 1 scorers"),
        (lambda: Learned(("a",), (math.inf,), (1.0,)), InvalidParameter, "finite numbers"),
        (lambda: Learned(("a",), ("x",), (1.0,)), InvalidParameter, "must be a list of numbers"),
        (lambda: Learned(("a",), (1.0,), (1.0,), spread=(0.0,)), InvalidParameter, "each must be above 0"),
        (lambda: Learned(("a",), (1.0,), (1.0,), form="linear"), InvalidParameter, "form is 'linear'"),
        (lambda: Learned("ab", (1.0,), (1.0,)), InvalidParameter, "give a list of their names"),
        (lambda: Learned((), (), ()), InvalidParameter, "give a list of their names"),
        (lambda: Learned((1,), (1.0,), (1.0,)), InvalidParameter, "must be strings"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
