"""scikit-learn: a classifier that returns sets of labels, whose size is learned from feedback.

model = ShortlistClassifier(LogisticRegression(), coverage=0.9).fit(X_train, y_train)
sets = model.predict_set(X)             # True where a label is in the set
model.partial_fit(X, y, hit=hit)        # hit[i] is False where the right label was not in the set
"""

from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.errors import InvalidParameter, needs_extra
from shortlist.listers.shortlister import Shortlister
from shortlist.rounds.shown import Shown
from shortlist.rounds.summary import Summary

needs_extra("the scikit-learn adapter", "sklearn", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = ["ShortlistClassifier"]

#: Lower probabilities are raised to this one if a score is learned from their logarithms.
_LEAST: Final = 1e-6
#: More rows than any call has.
_MANY: Final = 10**9


class ShortlistClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Wraps a classifier: its probabilities are the scores, and the threshold is learned from feedback.

    `fit` trains the classifier and leaves the threshold at minus infinity: sets hold the ten likeliest labels, with
    `delta` every label.
    `partial_fit` learns the score and then its threshold, from examples that the classifier was not trained on, in
    the order given; the classifier stays as it is.

    Parameters
    ----------
    estimator
        A classifier with ``predict_proba`` or ``decision_function``.
    coverage
        The share of sets that must contain the right label.
    delta
        None: sets are short from the first one on, and an error budget bounds their misses. Or the probability that a
        set may ever be cut further than the optimal threshold would: then the first sets hold every label.
    set_score
        How probabilities become comparable scores; see `shortlist.Shortlister`. ``"auto"``, the default: learned from
        the right labels, on the logarithms of the probabilities, so that 0.001 and 0.0001 differ as 0.1 and 0.01 do;
        all below one in a million are treated alike.

    Attributes
    ----------
    classes_
        The labels; columns of `predict_set` are in their order.
    lister_
        The lister.
    threshold_
        The threshold in force.
    """

    def __init__(
        self, estimator: Any = None, coverage: float = 0.9, delta: float | None = None, set_score: Any = "auto"
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.delta = delta
        self.set_score = set_score

    def __sklearn_tags__(self) -> Tags:
        """Return tags with the input that the wrapped classifier accepts."""
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags.sparse = inner.input_tags.sparse
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.classifier_tags.multi_class = True
        return tags

    def _model(self) -> Any:
        if self.estimator is None:
            from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - only where none is given

            return LogisticRegression()
        return clone(self.estimator)

    def _checked(self, X: Any, *, reset: bool) -> Any:  # noqa: N803 - scikit-learn's name
        finite = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True
        return validate_data(self, X, reset=reset, accept_sparse=True, ensure_all_finite=finite)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Train the classifier; the threshold is learned by `partial_fit`.

        Parameters
        ----------
        X
            The rows.
        y
            The right labels.

        Returns
        -------
        Self
            The classifier itself.
        """
        finite = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True
        X, y = validate_data(self, X, y, accept_sparse=True, ensure_all_finite=finite)  # noqa: N806
        check_classification_targets(y)
        self.estimator_ = self._model().fit(X, y)
        self.classes_ = self.estimator_.classes_
        # All rows of a call are shown before the first is answered: their sets were predicted together.
        self.lister_ = Shortlister(self.coverage, self.delta, score=self.set_score, patience=_MANY, keep=_MANY)
        return self

    def partial_fit(self, X: Any, y: Any, hit: ArrayLike | None = None, classes: Any = None) -> Self:  # noqa: ARG002, N803
        """Learn the score, then its threshold, from answered rounds, one per row, in order.

        Before `fit` this trains the classifier on the rows instead, and learns no threshold from them.

        Parameters
        ----------
        X
            The rows.
        y
            The right labels. Where `hit` is False they are ignored, and may be anything.
        hit
            Whether the right label was in the set; by default computed from `y`.
        classes
            For compatibility with other estimators; not used.

        Returns
        -------
        Self
            The classifier itself.

        Raises
        ------
        InvalidParameter
            If `y` or `hit` does not have one entry per row, or `hit` is True for a label outside its set.
        """
        if not hasattr(self, "estimator_"):
            return self.fit(X, y)
        X = self._checked(X, reset=False)  # noqa: N806
        labels = np.asarray(y)
        rows = self._scores(X)
        if labels.shape != (len(rows),):
            raise InvalidParameter(
                f"y has the shape {labels.shape}; it must have one label for each of {len(rows)} rows"
            )
        hits = None if hit is None else np.asarray(hit)
        if hits is not None and (hits.shape != labels.shape or hits.dtype != np.bool_):
            raise InvalidParameter(
                f"hit is of shape {hits.shape} and type {hits.dtype}; it must be a mask over the rows"
            )
        columns = {label: column for column, label in enumerate(self.classes_.tolist())}
        lists: dict[int, Shown] = {}
        for i, scores in enumerate(rows):
            lists[i] = self.lister_.propose(scores)
            # With delta, no set depends on the answers until the score is learned: answered at once, no row is lost.
            if self.delta is not None and self.lister_.score == "auto" and self.lister_.learned is None:
                self._answer(i, lists, labels, columns, hits)
        for i in list(lists):
            self._answer(i, lists, labels, columns, hits)
        return self

    def _answer(
        self, i: int, lists: dict[int, Shown], labels: NDArray[Any], columns: dict[Any, int], hits: NDArray[Any] | None
    ) -> None:
        """Answer row `i`, and remove it from the `lists` that wait."""
        shown = lists.pop(i)
        column = columns.get(labels[i].item() if hasattr(labels[i], "item") else labels[i])
        if hits is not None and not hits[i]:
            self.lister_.miss(shown.round_id)
        elif column is not None and column in shown.members:
            self.lister_.hit(shown.round_id, column)
        elif hits is None:
            self.lister_.miss(shown.round_id)  # also for a label that the classifier does not have
        else:
            for left in (shown, *lists.values()):
                self.lister_.skip(left.round_id)
            raise InvalidParameter(
                f"hit[{i}] is True, but the label {labels[i]!r} is not in the set of row {i}: were the sets "
                "predicted before another partial_fit? the rows before this one were learned"
            )

    def _scores(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        model = self.estimator_
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
            if self.lister_.score != "auto":
                return probabilities
            logarithms: NDArray[np.float64] = np.log(np.maximum(probabilities, _LEAST))
            return logarithms
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores

    @property
    def threshold_(self) -> float:
        """The threshold in force."""
        check_is_fitted(self)
        return self.lister_.threshold

    def predict_set(self, X: Any) -> NDArray[np.bool_]:  # noqa: N803 - scikit-learn's name
        """Return which labels are in the set of each row.

        Parameters
        ----------
        X
            The rows.

        Returns
        -------
        NDArray[np.bool_]
            One row per row of `X`, True in the columns of `classes_` that are in its set.
        """
        check_is_fitted(self)
        rows = self._scores(self._checked(X, reset=False))
        sets = np.zeros(rows.shape, dtype=np.bool_)
        for i, scores in enumerate(rows):
            sets[i, list(self.lister_.preview(scores))] = True
        return sets

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """Return the single best label, as the classifier does.

        Parameters
        ----------
        X
            The rows.

        Returns
        -------
        NDArray[Any]
            One label per row.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(self._checked(X, reset=False)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Return the classifier's probabilities.

        Parameters
        ----------
        X
            The rows.

        Returns
        -------
        NDArray[np.float64]
            One row per row of `X`, one column per label of `classes_`.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(self._checked(X, reset=False)))

    def summary(self) -> Summary:
        """Return a summary of all rounds so far.

        Returns
        -------
        Summary
            The summary of the lister.
        """
        check_is_fitted(self)
        return self.lister_.summary()
