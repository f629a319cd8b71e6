"""Scores of one list: against their formulas, and at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import metrics
from shortlist.errors import InvalidParameter
from shortlist.lab.tasks import load_task
from shortlist.scores import Adaptive, Margin, Rank, Raw, Relative, name_of, to_score

EVERY = [Raw(), Margin(), Relative(), Relative(1.0), Rank(), Adaptive(), Adaptive(1.0, penalty=0.1, free=1)]
LISTS = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([1e308, -1e308, 5e-324])),
    min_size=1,
    max_size=30,
)
each_score = pytest.mark.parametrize("score", EVERY, ids=name_of)


@each_score
@given(LISTS)
def test_order_is_kept_equals_stay_equal_and_all_is_finite(score, values):
    raw = np.array(values)
    made = score(raw)
    assert made.shape == raw.shape
    assert np.isfinite(made).all()
    order = np.argsort(raw, kind="stable")
    assert (made[order][1:] >= made[order][:-1] - 1e-12).all()
    for value in set(values):
        assert len(set(made[raw == value].tolist())) == 1
    assert np.array_equal(raw, values)  # a pure function


@each_score
@given(st.lists(st.lists(st.floats(-10, 10), min_size=7, max_size=7), min_size=1, max_size=6))
def test_a_table_is_its_rows_bit_for_bit(score, rows):
    table = np.array(rows)
    assert np.array_equal(score(table), np.stack([score(row) for row in table]))


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=20), st.floats(0.1, 10), st.floats(-100, 100))
def test_what_is_free_of_shift_and_scale(values, scale, shift):
    raw = np.array(values) / 100
    for score in (Relative(), Relative(1.0), Adaptive()):
        assert score(raw * scale + shift) == pytest.approx(score(raw), abs=1e-6)
    assert Margin()(raw + shift) == pytest.approx(Margin()(raw), abs=1e-9)
    assert Rank()(raw * 2).tolist() == Rank()(raw).tolist()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0.2, 2))
def test_the_formulas_written_out(values, temperature):
    n, mean = len(values), math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / n)
    if 0 < deviation < 1e-6:
        return  # z-scores of rounding errors
    z = [(v - mean) / deviation if deviation else 0.0 for v in values]
    weights = [math.exp((x - max(z)) / temperature) for x in z]
    mass = [w / math.fsum(weights) for w in weights]
    raw = np.array(values)
    assert Relative(temperature)(raw) == pytest.approx(mass, abs=1e-9)
    assert Margin()(raw).tolist() == [v - max(values) for v in values]
    assert Rank()(raw).tolist() == [-sum(w > v for w in values) for v in values]
    less_good = [math.fsum(m for m, w in zip(mass, values, strict=True) if w < v) for v in values]
    assert Adaptive(temperature)(raw) == pytest.approx(less_good, abs=1e-9)
    penalised = [a - 0.1 * max(1 + sum(w > v for w in values) - 2, 0) for a, v in zip(less_good, values, strict=True)]
    assert Adaptive(temperature, penalty=0.1, free=2)(raw) == pytest.approx(penalised, abs=1e-9)


def test_the_edges():
    for one in ([5.0], [-1e308]):
        assert Relative()(np.array(one)).tolist() == [1.0]
        assert Margin()(np.array(one)).tolist() == [0.0]
        assert Rank()(np.array(one)).tolist() == [0.0]
    assert Relative()(np.full(4, 7.0)).tolist() == [0.25] * 4
    assert Adaptive()(np.full(4, 7.0)).tolist() == [0.0] * 4
    spread = Relative()(np.array([1e308, 0.0, -1e308]))
    assert spread[0] > spread[1] > spread[2] > 0


@pytest.mark.parametrize(
    ("task", "lengths"),
    [
        ("retrieval", {"raw": 11.2, "margin": 3.59, "rank": 5.0, 0.3: 3.58, 0.5: 3.65, 0.75: 4.00, 1.0: 4.35}),
        ("images", {"raw": 3.27, "margin": 2.46, "rank": 4.0, 0.3: 2.54, 0.5: 2.40, 0.75: 2.29, 1.0: 2.45}),
    ],
)
def test_list_lengths_on_the_real_scores(task, lengths):
    """Mean list length at 90 % coverage with the optimal threshold, as a prototype measured it (on all images)."""
    scores = load_task(task).scores
    raw, true = scores.candidate_scores.astype(np.float64), scores.true_scores.astype(np.float64)
    places = (raw == true[:, None]).argmax(axis=1)
    for name, expected in lengths.items():
        made = (Relative(name) if isinstance(name, float) else to_score(name))(raw)
        best = metrics.optimal_threshold(made[np.arange(len(raw)), places], 0.9)
        assert (made >= best).sum(axis=1).mean() == pytest.approx(expected, rel=0.05 if task == "images" else 0.02)


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter, match="temperature is 0"):
        Relative(0)
    with pytest.raises(InvalidParameter, match="penalty is -1"):
        Adaptive(penalty=-1)
