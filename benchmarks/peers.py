"""Other libraries, each on its own natural update, behind one small protocol.

All see the same thing: a stream of true scores in [0, 1], of which nine in ten are to be covered. What differs is each
library's own idea of an update; where it wants residuals, the forecast is 1, and the residual is how far the score is
below it; where it classifies, the right class has the score, and another the rest. Each is really called, for its
coverage as for its time: `covers` asks its own interval or prediction set, `learn` is its own update.

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

__all__ = ["OURS", "PEERS", "Peer", "Subject"]

COVERAGE = 0.9
GAMMA = 0.005  # the step of the adaptive methods: the middle of the range their papers use


class Subject(Protocol):
    """Something that covers scores and learns from them."""

    def covers(self, score: float) -> bool:
        """Return whether the next round covers a right answer with this score."""

    def learn(self, score: float) -> None:
        """Take the score of the right answer, or the one that is put in its place."""

    def drop(self) -> None:
        """Forget the round: it had no answer."""


class Limited:
    """A subject with a lower limit."""

    def limit(self) -> float:
        """Return the lower limit for the next round."""
        raise NotImplementedError

    def covers(self, score: float) -> bool:
        return score >= self.limit()

    def drop(self) -> None:
        """Nothing was kept of the round."""


class Ours(Limited):
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


class Lister:
    """A Shortlister with the same guarantee, raw scores and lists of one candidate: silence is safe by itself."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        from shortlist import Shortlister

        self.lister = Shortlister(COVERAGE, delta=0.01, score="raw")
        if scores.size:
            self.lister.warm_start(scores)

    def covers(self, score: float) -> bool:
        self.shown = self.lister.propose([score])
        return bool(self.shown.members)

    def learn(self, score: float) -> None:
        if self.shown.members and score >= self.shown.threshold:
            self.lister.hit(self.shown.round_id, 0)
        else:
            self.lister.miss(self.shown.round_id)

    def drop(self) -> None:
        self.lister.withdraw(self.shown.round_id)


class River(Limited):
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
    """Its prediction sets of classes: calibrated again after every answer, as it has no update of its own."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self.scores = scores
        self._calibrate()

    def _calibrate(self) -> None:
        from mapie.classification import SplitConformalClassifier

        self.model = SplitConformalClassifier(_two_classes(), confidence_level=COVERAGE, conformity_score="lac")
        self.model.conformalize(self.scores[:, None], np.zeros(self.scores.size, dtype=int))

    def covers(self, score: float) -> bool:
        return bool(self.model.predict_set(np.array([[score]]))[1][0, 0, 0])

    def learn(self, score: float) -> None:
        self.scores = np.append(self.scores, score)
        self._calibrate()

    def drop(self) -> None:
        """Nothing was kept of the round."""


def _two_classes() -> Any:
    """Return a fitted classifier whose first class, the right one, has the probability that it is given."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array([0, 1])

        def fit(self, _features: Any, _labels: Any) -> "Given":
            return self

        def __sklearn_is_fitted__(self) -> bool:
            return True

        def predict_proba(self, features: Any) -> NDArray[np.float64]:
            given = np.asarray(features, dtype=float)[:, 0]
            return np.column_stack([given, 1.0 - given])

        def predict(self, features: Any) -> Any:
            return np.argmax(self.predict_proba(features), axis=1)

    return Given()


class Crepes:
    def __init__(self, scores: NDArray[np.float64]) -> None:
        from crepes import ConformalClassifier

        self.classifier = ConformalClassifier()
        self.distances = 1.0 - scores
        self.classes = np.array([0])

    def covers(self, score: float) -> bool:
        self.classifier.fit(self.distances)
        distance = np.array([[1.0 - score]])
        return bool(self.classifier.predict_set(distance, confidence=COVERAGE, smoothing=False)[0, 0])

    def learn(self, score: float) -> None:
        self.distances = np.append(self.distances, 1.0 - score)

    def drop(self) -> None:
        """Nothing was kept of the round."""

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


class OnlineCP(Limited):
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


class AdaptiveConformalInference(Limited):
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


class OnlineConformal(Limited):
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
        Peer(
            "river",
            "`conf.RegressionJackknife`, two-sided at 0.8",
            "river",
            River,
            False,
            "quantile approximated by P² markers; a tenth lies below its interval",
        ),
        Peer(
            "MAPIE",
            "`SplitConformalClassifier.predict_set`",
            "mapie",
            Mapie,
            True,
            "calibrated in one batch: every answer calibrates it again",
        ),
        Peer(
            "crepes",
            "`ConformalClassifier.predict_set`",
            "crepes",
            Crepes,
            True,
            "calibrated in one batch, cheaply; its `predict_set_online` wants the right answers beforehand",
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

#: Ours: the bare policy, and the object that users hold.
OURS: dict[str, Callable[[NDArray[np.float64]], Subject]] = {
    "shortlist, AnytimeSPS": Ours,
    "shortlist, Shortlister(delta=0.01)": Lister,
}
