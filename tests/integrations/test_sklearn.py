"""scikit-learn: its own checks, its own tools, and sets that cover."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from shortlist.errors import InvalidParameter
from shortlist.integrations.sklearn import ShortlistClassifier
from shortlist.metrics import optimal_threshold
from shortlist.scores import learn
from tests.integrations.world import check, questions


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([ShortlistClassifier(LogisticRegression())])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)  # noqa: N806
    rng = np.random.default_rng(0)
    X = X + rng.normal(0, 6, X.shape)  # noqa: N806 - hard enough that one label is not
    return train_test_split(X, y, test_size=0.7, random_state=0)


@pytest.mark.parametrize("score", ["raw", "auto"])
def test_sets_cover_and_shrink(digits, score):
    """False alarm: coverage 0.946 +- 0.004, sets of 2.7 +- 0.2 labels in the end: eight standard errors each."""
    train, rest, labels, answers = digits
    model = ShortlistClassifier(LogisticRegression(max_iter=2000), coverage=0.9, delta=1e-7, set_score=score).fit(
        train, labels
    )
    assert model.predict_set(rest[:50]).all()  # nothing is known yet
    rng = np.random.default_rng(1)
    sizes, hits = [], []
    for _ in range(3):
        for start in range(0, len(rest), 50):
            rows = rng.permutation(len(rest))[:50] if start else np.arange(50)
            sets = model.predict_set(rest[rows])
            hit = sets[np.arange(len(rows)), answers[rows]]
            # Where the set missed, the right label is not known: anything may stand there.
            model.partial_fit(rest[rows], np.where(hit, answers[rows], -1), hit=hit)
            sizes.append(sets.sum(axis=1).mean())
            hits += hit.tolist()
    print(f"coverage {np.mean(hits):.3f}, labels a set from {sizes[0]:.1f} to {np.mean(sizes[-10:]):.2f}")
    assert np.mean(hits) >= 0.9
    assert np.mean(sizes[-10:]) < 4.5
    assert model.threshold_ > 0


class Scores(ClassifierMixin, BaseEstimator):
    """A classifier that was trained elsewhere: a row is the scores of its labels."""

    def fit(self, X, y):  # noqa: N803 - scikit-learn's name
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X):  # noqa: N803 - scikit-learn's name
        return X


def test_two_thousand_questions():
    rows = np.array([scores for scores, _ in questions()])
    answers = np.array([right for _, right in questions()])
    model = ShortlistClassifier(Scores(), set_score="relative").fit(rows[:510], np.arange(510) % 51)
    shown, hits = [], []
    for start in range(0, len(rows), 20):
        batch, right = rows[start : start + 20], answers[start : start + 20]
        sets = model.predict_set(batch)
        hit = sets[np.arange(len(batch)), right]
        model.partial_fit(batch, np.where(hit, right, -1), hit=hit)
        shown += sets.sum(axis=1).tolist()
        hits += hit.tolist()
    check(shown, hits, "scikit-learn")


def test_it_works_where_estimators_work(digits):
    train, rest, labels, answers = digits
    model = make_pipeline(StandardScaler(), ShortlistClassifier(LogisticRegression(max_iter=500), coverage=0.8))
    model.fit(train, labels)
    assert model.score(rest, answers) > 0.6
    again = clone(model[-1])
    assert again.get_params()["coverage"] == 0.8
    again.set_params(coverage=0.95, estimator__C=0.1)
    assert again.estimator.C == 0.1
    search = GridSearchCV(ShortlistClassifier(LogisticRegression(max_iter=500)), {"estimator__C": [0.01, 1.0]}, cv=2)
    search.fit(StandardScaler().fit_transform(train), labels)
    assert set(search.best_params_) == {"estimator__C"}


def test_labels_of_any_kind_and_classifiers_without_probabilities(digits):
    train, rest, labels, answers = digits
    names = np.array([f"digit {i}" for i in range(10)])
    model = ShortlistClassifier(LinearSVC(), set_score="relative").fit(train, names[labels])
    model.partial_fit(rest, names[answers])
    assert model.summary()["score"] == "relative(0.4)"
    assert model.predict_set(rest[:5]).shape == (5, 10)
    binary = ShortlistClassifier(SGDClassifier(random_state=0)).fit(train, np.where(labels > 4, 1, -1))
    assert binary.predict_set(rest[:5]).shape == (5, 2)


def test_small_probabilities_make_no_bad_score(digits):
    """Learned from 30 rows, sixty times: at the optimal threshold no set is 5 % longer than of the probabilities.

    The worst of them was 2 % longer. Negative control: fitted to the probabilities themselves, where all small ones are
    nearly the same, some have twice as many labels.
    """
    train, rest, labels, answers = digits
    model = ShortlistClassifier(LogisticRegression(max_iter=2000)).fit(train, labels)
    probabilities, rows = model.predict_proba(rest), np.arange(len(rest))

    def length(scores):
        return (scores >= optimal_threshold(scores[rows, answers], 0.9)).sum(axis=1).mean()

    logarithms, learned, wrong = np.log(np.maximum(probabilities, 1e-6)), [], []
    for seed in range(60):
        some = np.random.default_rng(seed).integers(len(rest), size=30)
        learned.append(length(learn(logarithms[some], answers[some])(logarithms)))
        wrong.append(length(learn(probabilities[some], answers[some])(probabilities)))
    best = length(probabilities)
    print(f"raw {best:.2f}; worst of the logarithms {max(learned):.2f}, of the probabilities {max(wrong):.2f}")
    assert max(learned) < 1.05 * best
    assert max(wrong) > 2 * best


@pytest.mark.parametrize("batch", [10, 1000])
def test_the_score_is_learned_from_the_first_rows_however_they_come(digits, batch):
    """From 30 right labels, also if all rows come at once; and only rows after them count for the threshold."""
    train, rest, labels, answers = digits
    model = ShortlistClassifier(LogisticRegression(max_iter=2000), delta=0.01).fit(train, labels)
    for start in range(0, 1000, batch):
        model.partial_fit(rest[start : start + batch], answers[start : start + batch])
    scores = np.log(np.maximum(model.predict_proba(rest[:30]), 1e-6))
    learned, again = model.lister_.learned, learn(scores, answers[:30])
    for name in ("relative", "absolute", "center", "spread"):  # the last bits depend on how many rows a model is given
        np.testing.assert_allclose(getattr(learned, name), getattr(again, name), rtol=1e-9)
    assert (learned.scorers, learned.form, learned.rounds) == (again.scorers, again.form, again.rounds)
    assert model.summary().score_why == "learned from 30 picks"
    assert model.summary().counted == 970
    assert not model.predict_set(rest[1000:]).all()
    assert model.fit(train, labels).predict_set(rest[:50]).all()  # from scratch


@pytest.mark.parametrize("batch", [10, 1000])
def test_sets_that_were_predicted_together_are_answered_together(digits, batch):
    """By default sets depend on the answers from the tenth on: those of a call are the ones that were predicted."""
    train, rest, labels, answers = digits
    model = ShortlistClassifier(LogisticRegression(max_iter=2000)).fit(train, labels)
    covered = []
    for start in range(0, 1000, batch):
        sets = model.predict_set(rest[start : start + batch])
        hit = sets[np.arange(len(sets)), answers[start : start + batch]]
        model.partial_fit(rest[start : start + batch], np.where(hit, answers[start : start + batch], -1), hit=hit)
        covered += hit.tolist()
    assert model.summary().rounds == 1000
    assert np.mean(covered) > 0.88
    assert model.predict_set(rest[1000:]).sum(axis=1).mean() < 2.5


def test_what_is_refused(digits):
    train, _, labels, _ = digits
    model = ShortlistClassifier(LogisticRegression(max_iter=2000)).fit(train, labels)
    with pytest.raises(InvalidParameter, match="label for each"):
        model.partial_fit(train[:5], labels[:4])
    with pytest.raises(InvalidParameter, match="must be a mask"):
        model.partial_fit(train[:5], labels[:5], hit=[1, 0, 1, 0, 1])
    with pytest.raises(InvalidParameter, match="is not in the set of row 0"):
        model.partial_fit(train[:1], [99], hit=[True])
    with pytest.raises(InvalidParameter, match="is not in the set of row 40"):
        model.partial_fit(train[:50], [*labels[:40], *[99] * 10], hit=[True] * 50)
    summary = model.summary()
    assert (summary.hits, summary.skipped, summary.open) == (40, 11, 0)
    before = model.summary()["misses"]
    model.partial_fit(train[:1], [99])  # a label that the classifier does not know is a miss
    assert model.summary()["misses"] == before + 1
