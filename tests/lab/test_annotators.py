"""Annotators who err: made-up ones, and real ones where their answers are at hand.

A stream may pass the optimum with probability delta = 0.05. How many of them may, at a false-alarm probability of 1e-6,
is computed by `most_failures`; the negative controls must exceed it.
"""

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from shortlist.lab.annotators import NETWORKS, Images, annotate
from shortlist.metrics import optimal_threshold
from shortlist.scores import Raw

FILE = Path(__file__).parents[3] / "shared" / "data" / "people" / "cifar10h_three_networks.npz"
real = pytest.mark.skipif(
    not FILE.exists(), reason=f"people's answers (../shared/data/people/{FILE.name}) are not here"
)
DELTA = 0.05


def most_failures(streams):
    return int(stats.binom.isf(1e-6, streams, DELTA))


@functools.cache
def made_up(networks=1, images=400, classes=6):
    """Return images whose right class is often a likely one, and people who are right in 6 of 10 answers."""
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.full(classes, 0.5), size=(networks, images)).transpose(1, 2, 0)
    truth = np.array([rng.choice(classes, p=row.mean(axis=1)) for row in probabilities])
    people = rng.multinomial(20, np.full(classes, 1 / classes), size=images)
    people[np.arange(images), truth] += 30
    return Images(probabilities, truth, people)


def test_wrong_picks_are_counted_where_they_hide_a_right_answer():
    images = made_up()
    values, share = images.values, 0.0
    optimum = optimal_threshold(values[np.arange(400), images.truth], 0.8)
    for row, right, people in zip(values, images.truth, images.answers, strict=True):
        if row[right] <= optimum:
            share += people[row > optimum].sum() / people.sum() / 400
    assert images.errors(Raw(), 0.8).eps == pytest.approx(share, rel=1e-12)
    assert 0.0 < share < 0.2
    errors = images.errors(Raw(), 0.8)
    assert errors.wrong == pytest.approx(1 - images.shares[np.arange(400), images.truth].mean())
    assert errors.length == pytest.approx((values >= optimum).sum(axis=1).mean())
    below = sum(
        p[v <= optimum].sum() - (v[t] <= optimum) * p[t]
        for v, t, p in zip(values, images.truth, images.shares, strict=True)
    )
    assert errors.low == pytest.approx(below / 400 / errors.wrong)


def test_those_who_lean_err_as_often_and_always_take_the_favourite():
    images, rows = made_up(), np.arange(400)
    leaning, favourites = images.leaning(), images.values.argmax(axis=1)
    wrong = favourites != images.truth
    assert (leaning.answers.sum(axis=1) == images.answers.sum(axis=1)).all()
    assert (leaning.answers[rows, images.truth] == images.answers[rows, images.truth])[wrong].all()
    assert (np.count_nonzero(leaning.answers, axis=1) == 1 + wrong).all()
    assert (leaning.answers[rows, favourites] > 0).all()


def test_picks_have_the_distribution_of_the_answers():
    """A chi-squared test over all images, at 1e-6; shares that are off by a class are noticed."""
    images = made_up()
    rows, picks, moods = images.draw(20_000, seed=0)
    seen, expected = np.bincount(picks, minlength=6), images.shares[rows].sum(axis=0)
    assert stats.chisquare(seen, expected).pvalue > 1e-6
    assert stats.chisquare(np.roll(seen, 1), expected).pvalue < 1e-6
    assert 0.0 <= min(moods) < max(moods) < 1.0


def test_with_several_networks_the_score_is_learned():
    images = made_up(networks=2)
    assert (images.score, made_up().score) == ("auto", "raw")
    assert images.pilot() == images.pilot()
    assert made_up().pilot() == Raw()
    result = annotate(images, coverage=0.8, more=0.0, settle=0.0, rounds=300, seed=0)
    assert 0.8 < result.coverage <= 1.0
    assert 0 < result.length <= 6


def test_who_settles_for_something_else_hides_misses():
    """Thresholds are higher if everybody takes the best of what is shown than if they say that it is not there."""
    told, hidden = (
        [annotate(made_up(), coverage=0.8, more=0.0, settle=share, rounds=800, seed=s) for s in range(5)]
        for share in (0.0, 1.0)
    )
    assert np.mean([run.coverage for run in told]) > np.mean([run.coverage for run in hidden])
    assert np.mean([run.length for run in told]) > np.mean([run.length for run in hidden])


def passing(images, coverage, more, rounds, streams):
    runs = [annotate(images, coverage=coverage, more=more, settle=0.0, rounds=rounds, seed=s) for s in range(streams)]
    return sum(run.passed for run in runs), runs


def test_asking_for_as_much_more_as_people_err_keeps_the_truth():
    """Wrong picks are all of the favourite, the worst case. The negative control asks for nothing on top."""
    images = made_up().leaning()
    more = images.errors(Raw(), 0.8).eps
    assert passing(images, 0.8, more, 800, 24)[0] <= most_failures(24)
    assert passing(images, 0.8, 0.0, 800, 24)[0] > most_failures(24)


@real
def test_real_people_and_the_truth():
    """As they are, and with all their errors on the network's favourite: the truth is covered with eps more."""
    images = Images.load(FILE, NETWORKS[:1])
    assert images.shares[np.arange(10_000), images.truth].mean() == pytest.approx(0.952, abs=0.001)
    for crowd in (images, images.leaning()):
        more = crowd.errors(Raw(), 0.98).eps
        passed, runs = passing(crowd, 0.98, more, 3_000, 16)
        assert passed <= most_failures(16)
        assert sum(run.coverage < 0.98 for run in runs) <= passed


@real
@pytest.mark.soak
def test_real_people_who_lean_lose_the_truth_if_nothing_more_is_asked_for():
    """60 streams of 10,000 rounds, and the negative control."""
    crowd = Images.load(FILE, NETWORKS[:1]).leaning()
    more = crowd.errors(Raw(), 0.98).eps
    kept, lost = (passing(crowd, 0.98, extra, 10_000, 60)[0] for extra in (more, 0.0))
    print(f"{more:.4f} more: {kept} of 60 streams pass the optimum; none more: {lost}")
    assert kept <= most_failures(60) < lost
