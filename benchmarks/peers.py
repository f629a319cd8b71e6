"""Other libraries, each on its own natural update, behind one small protocol.

All see the same thing: a stream of true scores in [0, 1], and want a *lower limit* that nine of ten
scores reach. What differs is each library's own idea of an update; where it wants residuals, the
forecast is 1, and the residual is how far the score is below it.

None of these libraries was designed for semi-bandit feedback, and none claims to be: they are given the
right answer in every round. ``exact`` says whether the limit is the quantile of everything reported
so far, or an approximation or another quantity.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["PEERS", "Ours", "Peer", "Subject"]

COVERAGE = 0.9
GAMMA = 0.005  # the step of the adaptive methods: the middle of the range their papers use


class Subject(Protocol):
    """Something that has a limit and learns from scores."""

    def limit(self) -> float:
        """Return the lower limit for the next round."""

    def learn(self, score: float) -> None:
        """Take the score of the right answer."""


class Ours:
    """AnytimeSPS, as a bare policy."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        from shortlist import AnytimeSPS

        self.policy = AnytimeSPS(COVERAGE)
        self.state = self.policy.init()
        for score in scores.tolist():
            self.policy.update(self.state, score)
        self.learn = partial(self.policy.update, self.state)

    def limit(self) -> float:
        return self.state.threshold


class River:
    def __init__(self, scores: NDArray[np.float64]) -> None:
        from river import conf, dummy, stats

        # Its interval has two sides; at 0.8 a tenth lies below it.
        self.model = conf.RegressionJackknife(dummy.StatisticRegressor(stats.Mean()), confidence_level=0.8)
        for score in scores.tolist():
            self.model.learn_one({}, score)
        self.learn = partial(self.model.learn_one, {})

    def limit(self) -> float:
        interval: Any = self.model.predict_one({}, with_interval=True)
        return float(interval.lower)


class Mapie:
    def __init__(self, scores: NDArray[np.float64]) -> None:
        from mapie.regression import TimeSeriesRegressor
        from sklearn.dummy import DummyRegressor

        # Its intervals have two sides, so residuals are given signs in turn, around a forecast of 0.
        self.row, self.sign = np.zeros((1, 1)), 1.0
        signs = np.where(np.arange(scores.size) % 2, -1.0, 1.0)
        features, residuals = np.zeros((scores.size, 1)), signs * (1.0 - scores)
        estimator = DummyRegressor(strategy="constant", constant=0.0).fit(features, residuals)
        self.model = TimeSeriesRegressor(estimator, method="aci", cv="prefit")
        self.model.fit(features, residuals)

    def limit(self) -> float:
        _, bounds = self.model.predict(self.row, confidence_level=COVERAGE, allow_infinite_bounds=True)
        return 1.0 - float(bounds[0, 1, 0] - bounds[0, 0, 0]) / 2

    def learn(self, score: float) -> None:
        self.sign = -self.sign
        residual = np.array([self.sign * (1.0 - score)])
        self.model.adapt_conformal_inference(self.row, residual, gamma=GAMMA, confidence_level=COVERAGE)


class Crepes:
    def __init__(self, scores: NDArray[np.float64]) -> None:
        from crepes import ConformalClassifier

        self.classifier = ConformalClassifier()
        self.distances = 1.0 - scores
        self.classes = np.array([0])

    def limit(self) -> float:
        # predict_set_online wants the right answers beforehand; between rounds, this is its limit.
        allowed = int((1.0 - COVERAGE) * (len(self.distances) + 1))
        return 1.0 - float(np.sort(self.distances)[-allowed]) if allowed else -np.inf

    def learn(self, score: float) -> None:
        self.distances = np.append(self.distances, 1.0 - score)

    def online(self, scores: NDArray[np.float64]) -> None:
        """Take a block of rounds, all answers revealed: its own online call, which keeps nothing for the next."""
        self.classifier.fit(self.distances)
        self.classifier.predict_set_online(
            (1.0 - scores)[:, None],
            self.classes,
            np.zeros(scores.size, dtype=int),
            confidence=COVERAGE,
            smoothing=False,
        )


class OnlineCP:
    def __init__(self, scores: NDArray[np.float64]) -> None:
        from online_cp import ConformalRidgeRegressor

        self.row = np.ones(1)
        self.model = ConformalRidgeRegressor(a=1.0)
        if scores.size:
            self.model.learn_initial_training_set(np.ones((scores.size, 1)), scores)

    def limit(self) -> float:
        return float(self.model.predict(self.row, epsilon=1.0 - COVERAGE, bounds="lower").lower)

    def learn(self, score: float) -> None:
        self.model.learn_one(self.row, score)


class AdaptiveConformalInference:
    def __init__(self, scores: NDArray[np.float64]) -> None:
        from aci import ACI

        self.model = ACI(
            alpha=1.0 - COVERAGE,
            gamma=GAMMA,
            score_fn=lambda truth, _: 1.0 - truth,
            set_fn=lambda _, quantile: 1.0 - quantile,
        )
        for score in scores.tolist():
            self.model.issue(None)
            self.model.observe(score)

    def limit(self) -> float:
        if not self.model.has_pending_prediction:
            self.pending = float(self.model.issue(None))
        return self.pending

    def learn(self, score: float) -> None:
        self.limit()
        self.model.observe(score)


class OnlineConformal:
    """Salesforce's library; one of its predictors."""

    def __init__(self, predictor: str, scores: NDArray[np.float64]) -> None:
        import importlib

        import pandas as pd

        module, name = {
            "split": ("split_conformal", "SplitConformal"),
            "faci": ("faci", "FACI"),
            "saocp": ("saocp", "SAOCP"),
        }[predictor]
        self.series = pd.Series
        kwargs = {"max_scale": 1.0} if predictor == "saocp" else {}
        kind = getattr(importlib.import_module(f"online_conformal.{module}"), name)
        self.model = kind(model=None, train_data=None, coverage=COVERAGE, **kwargs)
        if scores.size:
            self.model.update(pd.Series(1.0 - scores), pd.Series(np.zeros(scores.size)), horizon=1)

    def limit(self) -> float:
        return 1.0 - float(self.model.predict(1)[1])

    def learn(self, score: float) -> None:
        self.model.update(self.series([1.0 - score]), self.series([0.0]), horizon=1)


@dataclass(frozen=True)
class Peer:
    """A library as it is described beside its figures."""

    name: str
    call: str
    package: str
    grown: Callable[[NDArray[np.float64]], Any]
    exact: bool
    lacks: str


PEERS = {
    peer.name: peer
    for peer in (
        Peer("river", "`conf.RegressionJackknife`", "river", River, False, "quantile approximated by P² markers"),
        Peer(
            "MAPIE",
            "`TimeSeriesRegressor.adapt_conformal_inference`",
            "mapie",
            Mapie,
            True,
            "scores are refitted in batches; only the level moves online",
        ),
        Peer(
            "crepes",
            "`ConformalClassifier.predict_set_online`",
            "crepes",
            Crepes,
            True,
            "wants the right answers of all its rounds beforehand; here it gets one round at a time",
        ),
        Peer(
            "online-cp",
            "`ConformalRidgeRegressor`",
            "online-cp",
            OnlineCP,
            True,
            "full conformal: refits a ridge regression with every candidate value",
        ),
        Peer(
            "adaptive-conformal-inference",
            "`ACI.issue`, `ACI.observe`",
            "adaptive-conformal-inference",
            AdaptiveConformalInference,
            True,
            "exact over its last 500 rounds",
        ),
        Peer(
            "online-conformal, split",
            "`SplitConformal`",
            "online-conformal",
            lambda scores: OnlineConformal("split", scores),
            True,
            "keeps every residual",
        ),
        Peer(
            "online-conformal, FACI",
            "`FACI`",
            "online-conformal",
            lambda scores: OnlineConformal("faci", scores),
            True,
            "keeps every residual",
        ),
        Peer(
            "online-conformal, SAOCP",
            "`SAOCP`",
            "online-conformal",
            lambda scores: OnlineConformal("saocp", scores),
            False,
            "gradient steps; no quantile",
        ),
    )
}
