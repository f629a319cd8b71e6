"""The rest of the field: each rule against its formula, and against its public implementation where one installs.

How close: threshold tracking, SF-OGD, PID and MVP equal their formulas, written out with numpy, to 1e-11. SF-OGD,
SAOCP and DtACI equal the package ``online-conformal`` 1.0.2 under full feedback to 1e-9, over a thousand rounds.
"""

import importlib
import importlib.abc
import importlib.machinery
import math
import sys
import types

import numpy as np
import pytest

from shortlist import ACI, DLR, MVP, SAOCP, ConformalPID, DtACI, ScaleFreeOGD, ThresholdTracking, replay

COVERAGE, P0 = 0.9, 0.1
MISSES = ("dropped", "threshold", "beyond")


def streams():
    rng = np.random.default_rng(7)
    yield rng.random(400)
    yield rng.beta(5, 2, 400)
    yield np.concatenate([rng.random(200) * 0.4 + 0.6, rng.random(200) * 0.5])


def each_round(stream, first, learn):
    """Yield thresholds; `learn(missed, score or None)` returns the next one, with semi-bandit feedback."""
    threshold = first
    for score in stream:
        yield threshold
        missed = score < threshold
        threshold = learn(missed, None if missed else score)


def taken(miss, missed):
    """Return whether the round counts, and whether as a miss."""
    return not (missed and miss == "dropped"), missed and miss == "beyond"


@pytest.mark.parametrize("miss", MISSES)
def test_threshold_tracking_is_its_formula(miss):
    for stream in streams():
        at = [0.0]

        def learn(missed, _score, at=at):
            counts, error = taken(miss, missed)
            if counts:
                at[0] += 0.02 * (P0 - error)
            return at[0]

        expected = list(each_round(stream, 0.0, learn))
        np.testing.assert_allclose(replay(ThresholdTracking(COVERAGE, 0.02, miss=miss), stream), expected, atol=1e-12)


@pytest.mark.parametrize("miss", MISSES)
def test_scale_free_ogd_is_its_formula(miss):
    for stream in streams():
        radius, slopes = [1.0], []

        def learn(missed, score, radius=radius, slopes=slopes):
            counts, error = taken(miss, missed)
            if counts:
                hit_slope = 0.0 if missed or 1.0 - score >= radius[0] else P0
                slope = -COVERAGE if error else hit_slope
                slopes.append(slope)
                if any(slopes):
                    radius[0] = max(0.0, radius[0] - slope / math.sqrt(3 * np.sum(np.square(slopes))))
            return 1.0 - radius[0]

        expected = list(each_round(stream, 0.0, learn))
        np.testing.assert_allclose(replay(ScaleFreeOGD(COVERAGE, miss=miss), stream), expected, atol=1e-12)


@pytest.mark.parametrize("saturation", [5.0, 0.2])  # at 0.2 the tangent is infinite now and then
@pytest.mark.parametrize("miss", MISSES)
def test_conformal_pid_is_its_formula(miss, saturation):
    for stream in streams():
        errors = []

        def learn(missed, _score, errors=errors):
            counts, error = taken(miss, missed)
            if counts:
                errors.append(error - P0)
            t = len(errors) + 1
            angle = sum(errors) * math.log(t) / (saturation * t)
            pushed = math.copysign(math.inf, angle) if abs(angle) >= math.pi / 2 else math.tan(angle)
            return 1.0 - (1.0 + 0.02 * sum(errors) + pushed)

        expected = list(each_round(stream, 0.0, learn))
        found = replay(ConformalPID(COVERAGE, step=0.02, saturation=saturation, miss=miss), stream)
        np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("miss", MISSES)
def test_mvp_is_its_formula(miss):
    buckets, eta, seed = 12, 0.3, 5
    for stream in streams():
        booked = np.zeros(buckets)
        used = np.zeros(buckets)
        state = {"random": seed, "bucket": 0, "radius": 1 / buckets - 1 / (1000 * buckets)}

        def learn(missed, _score, booked=booked, used=used, state=state):
            counts, error = taken(miss, missed)
            if not counts:
                return 1.0 - state["radius"]
            booked[state["bucket"]] += P0 - error
            used[state["bucket"]] += 1
            scale = np.sqrt(used + 1) * np.log2(used + 2)
            pulls = (np.exp(eta * booked / scale) - np.exp(-eta * booked / scale)) / scale
            state["random"] = state["random"] * 48271 % 2147483647
            if (pulls > 0).all():
                state["radius"], state["bucket"] = 0.0, 0
            elif (pulls < 0).all():
                state["radius"], state["bucket"] = 1.0, buckets - 1
            else:
                j = next(j for j in range(buckets - 1) if pulls[j] * pulls[j + 1] <= 0)
                weights = abs(pulls[j]) + abs(pulls[j + 1])
                low = weights == 0 or state["random"] / 2147483647 < abs(pulls[j + 1]) / weights
                state["bucket"] = j if low else j + 1
                state["radius"] = (j + 1) / buckets - low / (1000 * buckets)
            return 1.0 - state["radius"]

        expected = list(each_round(stream, 1.0 - state["radius"], learn))
        found = replay(MVP(COVERAGE, buckets=buckets, eta=eta, seed=seed, miss=miss), stream)
        np.testing.assert_allclose(found, expected, atol=1e-12)


class _Merlion(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for the forecasting library: only the names of its classes are needed."""

    def find_spec(self, name, *_):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] == "merlion" else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = self.anything
        return module

    @staticmethod
    def anything(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return object

    def exec_module(self, module):
        pass


@pytest.fixture
def public(monkeypatch):
    """The package online-conformal, without the forecasting library that it wraps and we do not need."""
    pytest.importorskip("online_conformal", reason="online-conformal is not installed: no comparison with it")
    monkeypatch.setattr(sys, "meta_path", [_Merlion(), *sys.meta_path])
    import pandas as pd  # noqa: PLC0415 - needed here only

    def make(module, name, **settings):
        kind = getattr(importlib.import_module(f"online_conformal.{module}"), name)
        return kind(model=None, train_data=None, coverage=COVERAGE, **settings)

    def tell(model, distance):
        model.update(pd.Series([distance]), pd.Series([0.0]), horizon=1)
        return float(model.predict(1)[1])

    yield make, tell
    for name in [name for name in sys.modules if name.split(".")[0] in ("merlion", "online_conformal")]:
        del sys.modules[name]


def told_everything(policy, carry, stream):
    """Return the radius after each round of full feedback, from a given start."""
    state = policy.init()
    state.carry = carry
    for score in stream.tolist():
        state.carry = policy.rule(state.carry, state.values, state.constants, score, score < state.threshold)
        yield 1.0 - state.threshold


def test_equal_to_the_public_implementations(public):
    make, tell = public
    rng = np.random.default_rng(3)
    stream = np.concatenate([rng.random(500), rng.beta(2, 5, 500)])
    for policy, carry, model in (
        (ScaleFreeOGD(COVERAGE), (1.0, 0.0, 0.0), make("ogd", "ScaleFreeOGD", max_scale=1.0)),
        (SAOCP(COVERAGE), (1.0, 0.0, 1), make("saocp", "SAOCP", max_scale=1.0)),
        (DtACI(COVERAGE), (-math.inf,), make("faci", "FACI")),
    ):
        found = list(told_everything(policy, carry, stream))
        expected = [tell(model, 1.0 - score) for score in stream.tolist()]
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=policy.key)


@pytest.mark.parametrize(
    "policy",
    [
        ThresholdTracking(COVERAGE, 0.01),
        ScaleFreeOGD(COVERAGE),
        ConformalPID(COVERAGE),
        DtACI(COVERAGE),
        SAOCP(COVERAGE),
        MVP(COVERAGE),
    ],
    ids=lambda policy: policy.key,
)
def test_told_everything_they_cover_what_they_promise(policy):
    """10,000 i.i.d. rounds of full feedback: within 0.02 of the target.

    The methods are a little biased and have their own spread; the widest, MVP (0.898 +- 0.003), fails with 2e-8.
    """
    stream = np.random.default_rng(11).beta(4, 2, 10_000)
    covered = (stream >= replay(policy, stream, full_feedback=True)).mean()
    assert abs(covered - COVERAGE) < 0.02


def test_a_dropped_miss_ruins_them():
    """The negative control: what the natural mistake does to methods that learn from misses."""
    stream = np.random.default_rng(12).random(10_000)
    for kind in (ThresholdTracking, ScaleFreeOGD, ConformalPID, DtACI, SAOCP, MVP):
        covered = (stream >= replay(kind(COVERAGE, miss="dropped"), stream))[-1000:].mean()
        assert covered < 0.5, kind


@pytest.mark.parametrize(
    "policy", [ACI(COVERAGE, 0.05), DLR(COVERAGE), ThresholdTracking(COVERAGE), ConformalPID(COVERAGE), MVP(COVERAGE)]
)
def test_a_late_hit_is_a_hit(policy):
    """It was judged against the threshold that it was shown with; that today's is higher changes nothing."""
    late, prompt = policy.init(), policy.init()
    for state in (late, prompt):
        for score in np.linspace(0.2, 0.9, 50).tolist():
            policy.learn(state, score)
    policy.learn(late, late.threshold - 0.001 if math.isfinite(late.threshold) else 0.1)
    policy.learn(prompt, 0.95)
    if not isinstance(policy, ACI):  # which keeps the scores
        assert late == prompt
    else:
        assert late.carry[1] == prompt.carry[1]
