"""The product limit: against the estimator written out, through late answers, and where it must step down."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import ProductLimit, replay
from shortlist.errors import InvalidParameter
from shortlist.policies.product_limit import FIRST, estimate

INF = math.inf


def written_out(pairs, share, now=-INF):
    """F and the threshold straight from the definition: nothing is sorted, every product is multiplied out again.

    `pairs` are (y, censored). F(v) multiplies 1 - 1/(number at or below) over the seen y >= v; among equal y, seen
    ones come before censored ones, one by one.
    """
    ranked = sorted(range(len(pairs)), key=lambda i: (-pairs[i][0], pairs[i][1] > 0, i))

    def below(position):  # of a seen one, by its place in the order
        product = 1.0
        for place in range(position + 1):
            if not pairs[ranked[place]][1]:
                product *= 1.0 - 1.0 / (len(pairs) - place)
        return product

    for place, i in enumerate(ranked):
        if not pairs[i][1] and below(place) <= share + 1e-12:
            return pairs[i][0], True
    seen = [y for y, censored in pairs if not censored]
    lowest = min(seen, default=INF)
    middle = sorted(y for y, censored in pairs if censored and -INF < y < lowest)
    half, step = len(middle) // 2, lowest if seen else -INF
    if middle:
        step = middle[half] if len(middle) % 2 else middle[half - 1] / 2 + middle[half] / 2
    if step >= now and (now, 2) in pairs:
        # That is no step down from where it is: by as much as the missing mass takes above the lowest seen.
        at = {i: below(place) for place, i in enumerate(ranked) if not pairs[i][1]}
        above = [pairs[i][0] for i in at if at[i] >= 2 * min(at.values()) - share]
        reach = min(above, default=max(seen)) - lowest if seen else INF
        step = now - (reach if reach > 0 else INF)
    return step, False


def flat(pairs):
    return [number for y, censored in pairs for number in (float(y), float(censored))]


PAIRS = st.lists(
    st.tuples(st.sampled_from([-INF, *map(float, range(12))]), st.sampled_from([0, 0, 1, 2])).map(
        lambda pair: (pair[0], 1) if pair[0] == -INF else pair
    ),
    min_size=1,
    max_size=60,
)


@given(PAIRS, st.floats(0, 0.6), st.sampled_from([-INF, 0.0, 3.0, 4.5]))
def test_the_estimator_written_out(pairs, share, now):
    """Ties, censored ties, and lists of which everything was shown: the same bits."""
    highest = max((y for y, censored in pairs if censored), default=-INF)
    for bound in (highest, highest + 1.0, INF):  # whatever is known of the censored ones
        assert estimate(flat(pairs), share, now, bound) == (*written_out(pairs, share, now), highest)


def test_without_censoring_it_is_a_quantile():
    """F(v) is then the share of scores below v: the largest v with at most a share p0 - sqrt(p0 c / n) / 2 below."""
    scores = np.random.default_rng(1).permutation(400) / 400.0
    threshold, identified, _ = estimate(flat([(score, False) for score in scores]), 37 / 400)
    assert (threshold, identified) == (37 / 400, True)  # F is exactly the level, and rounding must not matter


def thresholds(policy, scores):
    """The rule, round by round, from the pairs that it has seen."""
    pairs, threshold, due, p0 = [], -INF, FIRST, 1 - policy.coverage
    for score in scores:
        yield threshold
        pairs.append((score, 0) if score >= threshold and score > -INF else (threshold, 2))
        pairs, due = pairs[-policy.window :], due - 1
        if due == 0:
            n = len(pairs)
            level = max(0.0, p0 - 0.5 * math.sqrt(p0 * policy.coverage / n))
            threshold, _ = written_out(pairs, level, threshold)
            due = max(1, n // 50)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("coverage", "window"), [(0.75, 1000), (0.5, 60), (0.875, 130)])
def test_the_rule_written_out(coverage, window, compiled):
    """Bit for bit, with ties and answers that are not among the candidates, beyond the window."""
    rng = np.random.default_rng(window)
    scores = rng.integers(0, 40, size=400).astype(float)
    scores[rng.random(400) < 0.05] = -INF
    policy = ProductLimit(coverage, window=window)
    assert replay(policy, scores, compiled=compiled).tolist() == list(thresholds(policy, scores.tolist()))


def test_it_covers_a_little_more_than_the_target():
    scores = np.random.default_rng(0).random(20_000)
    covered = scores >= replay(ProductLimit(0.9), scores)
    # About 0.5 sqrt(p0 c / 1000) = .0047 above; the standard error is .002 if rounds were independent.
    assert 0.90 < covered.mean() < 0.92


@pytest.mark.parametrize("wrong", ["dropped", "lowest"])
def test_what_is_tempting_and_wrong(wrong):
    """The negative controls: dropped misses destroy it; without the step down it ratchets up after an easy streak."""
    rng = np.random.default_rng(3)
    easy, scores = rng.random(2000) / 2 + 0.5, rng.random(6000)
    kept, threshold, covered = [], -INF, []
    for score in (*easy, *scores):
        hit = score >= threshold
        covered.append(hit)
        if hit or wrong == "lowest":
            kept.append((score, 0) if hit else (threshold, 1))
        kept = kept[-1000:]
        if len(kept) >= FIRST and len(covered) % 20 == 0:
            tau, identified, _ = estimate(flat(kept), 0.0953)
            threshold = tau if identified else min(y for y, censored in kept if not censored)
    stream = replay(ProductLimit(0.9), [*easy, *scores])
    assert (scores[-4000:] >= stream[-4000:]).mean() > 0.89
    assert np.mean(covered[-4000:]) < 0.8


def test_late_answers_enter_in_the_order_shown():
    """Whatever the order of answers, the window is that of prompt ones."""
    rng = np.random.default_rng(5)
    policy = ProductLimit(0.8, window=50)
    prompt, late = policy.init(), policy.init()
    for start in range(0, 200, 20):
        answers = []
        for i in range(start, start + 20):
            score, bound = float(rng.random()), float(rng.random())
            seen = score if rng.random() < 0.8 else None
            policy.show(prompt, i, bound)
            policy.answer(prompt, i, seen)
            policy.show(late, i, bound)
            answers.append((i, seen))
        for i in rng.permutation(20):
            policy.answer(late, *answers[i])
        assert (late.values, late.threshold, late.rounds) == (prompt.values, prompt.threshold, prompt.rounds)


def test_a_round_that_enters_unanswered_is_censored_and_then_corrected():
    policy = ProductLimit(0.8, window=20)
    state = policy.init()
    policy.show(state, "a", 0.3)
    policy.show(state, "b", 0.4)
    policy.answer(state, "b", 0.9)
    assert state.rounds == 0  # it waits
    policy.advance(state, until=1)
    assert (list(state.values), state.pending) == ([0.3, 1.0, 0.9, 0.0], 1)
    policy.lower(state, "a", 0.1)  # more was shown
    assert state.values[0] == 0.1
    policy.answer(state, "a", 0.2)  # found there: it is known now
    assert (list(state.values), state.pending) == ([0.2, 0.0, 0.9, 0.0], 0)


def test_a_correction_that_comes_after_the_window_changes_nothing():
    policy = ProductLimit(0.8, window=12)
    state = policy.init()
    policy.show(state, "old", 0.3)
    policy.advance(state, until=1)
    for i in range(12):
        policy.show(state, i, 0.5)
        policy.answer(state, i, 0.6)
    before = list(state.values)
    policy.answer(state, "old", 0.9)
    assert list(state.values) == before


def test_another_score_replaces_the_window():
    policy = ProductLimit(0.8, window=20)
    state = policy.init()
    for i in range(15):
        policy.show(state, i, 0.1)
        policy.answer(state, i, 0.5)
    policy.show(state, "open", 0.1)
    policy.fill(state, flat([(i / 10, False) for i in range(12)]))
    values = list(state.values)
    policy.answer(state, "open", 0.9)  # of another score: it never enters
    assert list(state.values) == values
    assert (state.rounds, state.threshold) == (12, estimate(state.values, 0.2 - 0.5 * math.sqrt(0.16 / 12))[0])
    policy.fill(state, flat([(0.5, False)] * 4))
    assert (state.threshold, state.wait) == (-INF, FIRST - 4)


@pytest.mark.parametrize("window", [5, 20])
def test_a_round_that_another_score_finds_in_the_window_is_corrected_there(window):
    """Whichever rounds fit into the window, and until later ones take its place."""
    policy = ProductLimit(0.8, window=max(10, window))
    state = policy.init()
    for name in ("first", "second"):
        policy.show(state, name, 0.1)
    policy.advance(state, until=2)
    filled = [(0.3, 1.0), *[(i / 10, 0.0) for i in range(10)], (0.4, 1.0)]
    policy.fill(state, flat(filled), [(0, "first"), (11, "second")])
    assert state.pending == (2 if window == 20 else 1)  # the first two are beyond a window of ten
    policy.answer(state, "first", 0.7)
    policy.answer(state, "second", 0.8)
    kept = filled if window == 20 else filled[2:]
    corrected = [(0.7, 0.0), *kept[1:-1], (0.8, 0.0)] if window == 20 else [*kept[:-1], (0.8, 0.0)]
    assert list(state.values) == flat(corrected)


@pytest.mark.parametrize("shift", [0.5, 1.2, 3.0, 1e6])
def test_it_comes_back_from_any_shift(shift):
    """Where misses are censored at thresholds that were too high, their median is no step down."""
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(1000), rng.random(4000) - shift])
    covered = scores >= replay(ProductLimit(0.9), scores)
    assert covered[-2000:].mean() > 0.88


def test_it_finds_scores_that_lie_far_below_all_others():
    rng = np.random.default_rng(0)
    scores = np.where(rng.random(8000) < 0.85, 20.0, -20.0) + rng.normal(size=8000)  # nothing in between
    scores[:1000] = 20.0 + rng.random(1000)
    assert (scores >= replay(ProductLimit(0.9), scores))[-3000:].mean() > 0.88


def test_a_restart_empties_it():
    policy = ProductLimit(0.8)
    state = policy.init()
    for i in range(30):
        policy.update(state, i / 30)
    policy.show(state, "old", 0.1)
    policy.restart(state, 1.0)
    assert (list(state.values), state.threshold, state.epoch) == ([], -INF, 1)
    policy.answer(state, "old", 0.9)
    assert list(state.values) == []


@pytest.mark.parametrize("window", [9, 0, 1.5, True])
def test_a_bad_window_is_named(window):
    with pytest.raises(InvalidParameter, match="window is"):
        ProductLimit(0.9, window=window)
