"""Simulated users, through the public verbs: some only click, some expand a page, and a program cites.

Questions are drawn from a fixed population with one right candidate each, in column 0. Only the simulation knows
what is right; a `shortlist.Shortlister` gets what the users would report. Runs with the same seed have the same
questions and the same users, whatever the lister does.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.scored_lists import Lists, score_lists
from shortlist.lab.tasks import load_task
from shortlist.listers.shortlister import Shortlister
from shortlist.metrics import miscoverage, optimal_threshold
from shortlist.scores import Relative, Score

__all__ = [
    "CLICKING",
    "Cited",
    "Clicked",
    "Clicking",
    "Paged",
    "Questions",
    "cite",
    "click",
    "grid",
    "noisy_passages",
    "page",
    "passages",
]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: The candidate that is right.
RIGHT: Final = 0
#: The probability with which a stream may pass the optimum: large enough that one can see it happen.
DELTA: Final = 0.05


@dataclass(frozen=True, eq=False)
class Questions:
    """A population of questions.

    Parameters
    ----------
    values
        float[n, m]: the score of each candidate, the right one in column 0.
    """

    values: Array

    def true(self, score: Score) -> Array:
        """Return the comparable scores of the right candidates."""
        rights = np.full(len(self.values), RIGHT)
        return score_lists(Lists(self.values[:, :, None], rights), score).true

    def recall(self, count: int) -> float:
        """Return how often the right candidate is among the best `count`."""
        better = (self.values > self.values[:, [RIGHT]]).sum(axis=1)
        return float((better < count).mean())


@cache
def passages() -> Questions:
    """Return the questions of the retrieval task: SQuAD, MiniLM's scores of 51 passages."""
    return Questions(load_task("retrieval").scores.lists)


@cache
def noisy_passages(recall: float, count: int, seed: int = 0) -> tuple[Questions, float]:
    """Return the same questions with a worse scorer, and the standard deviation of its noise.

    Normal noise is added to every score once. Its standard deviation is the smallest, to four digits, with
    which the right passage is among the best `count` in no more than a share `recall` of the questions.
    """
    clean = passages().values
    noise = np.random.default_rng(seed).normal(size=clean.shape)
    low, high = 0, 10_000
    while high - low > 1:
        middle = (low + high) // 2
        enough = Questions(clean + middle / 10_000 * noise).recall(count) <= recall
        low, high = (low, middle) if enough else (middle, high)
    return Questions(clean + high / 10_000 * noise), high / 10_000


@dataclass(frozen=True)
class Clicking:
    """A way to learn from clicks alone.

    Parameters
    ----------
    label
        Its name in tables.
    options
        The settings of the lister.
    best_first
        Whether explored lists are sorted by score before users see them.
    """

    label: str
    options: dict[str, Any]
    best_first: bool = False


_RELATIVE: Final = Relative()

#: As shipped, with a fixed score and with a learned one; then the negative controls.
CLICKING: Final = {
    "explored": Clicking('`explore_share="auto"`', {"explore_share": "auto", "score": _RELATIVE}),
    "learned": Clicking('the same, `score="auto"`', {"explore_share": "auto"}),
    "best-first": Clicking("explored lists best first", {"explore_share": "auto", "score": _RELATIVE}, best_first=True),
    "dropped": Clicking("silence dropped", {"unanswered": "ignore", "score": _RELATIVE}),
    "misses": Clicking("silence counted as misses", {"score": _RELATIVE}),
}


@dataclass(frozen=True)
class Clicked:
    """One run of users who only click.

    Parameters
    ----------
    coverage
        The share of lists with the right candidate, over the last rounds that were not explored.
    length
        Mean list length over all rounds, explored ones included.
    passed
        Whether the threshold ever passed the optimum of its score.
    """

    coverage: float
    length: float
    passed: bool


class _Run:
    """What happens in one run, round by round."""

    def __init__(self, questions: Questions, rounds: int, seed: int, options: dict[str, Any], coverage: float) -> None:
        rng = np.random.default_rng(seed)
        self.questions, self.coverage = questions, coverage
        self.rows = rng.integers(len(questions.values), size=rounds)
        #: One number in [0, 1) per round: what the user makes up their mind by.
        self.moods = rng.random(rounds)
        self.lister = Shortlister(coverage, DELTA, **options)
        self.score = options.get("score")
        self.thresholds = np.full(rounds + 1, -np.inf)
        self.lengths = np.zeros(rounds, dtype=np.int64)
        self.covered = np.zeros(rounds, dtype=np.bool_)

    def propose(self, number: int) -> Any:
        """Show the list of a round."""
        shown = self.lister.propose(self.questions.values[self.rows[number]])
        self.thresholds[number], self.lengths[number] = shown.threshold, len(shown.members)
        self.covered[number] = RIGHT in shown.members
        return shown

    def end(self) -> Array:
        """Return the comparable scores of the right candidates, of all questions, once all rounds are over.

        Where no score was learned, every list was complete, and any score will do.
        """
        self.thresholds[-1] = self.lister.threshold
        return self.questions.true(self.score or self.lister.learned or _RELATIVE)

    def passed(self, true: Array) -> bool:
        """Return whether the threshold ever passed the optimum."""
        return bool(self.thresholds.max() > optimal_threshold(true, self.coverage))

    def asked(self, true: Array) -> Array:
        """Return the share of all questions whose right candidate reaches the threshold, per round."""
        return 1.0 - miscoverage(self.thresholds[:-1], true)


def click(
    questions: Questions,
    way: Clicking,
    *,
    share: float,
    examination: float,
    rounds: int,
    seed: int,
    coverage: float = 0.9,
    last: int = 5_000,
) -> Clicked:
    """Run users who click what they find, and never report anything else.

    Parameters
    ----------
    questions
        What they look for.
    way
        How to learn from their clicks.
    share
        The share of users who click the right candidate when they look at it.
    examination
        The candidate at rank k, as shown, is looked at with probability k ** -examination.
    rounds, seed, coverage, last
        The number of rounds; the run; the target coverage; the number of last rounds.
    """
    run = _Run(questions, rounds, seed, way.options, coverage)
    explored = np.zeros(rounds, dtype=np.bool_)
    for number in range(rounds):
        shown = run.propose(number)
        explored[number] = shown.explored
        if not run.covered[number]:
            continue
        rank = shown.members.index(RIGHT) + 1
        if shown.explored and way.best_first:
            values = questions.values[run.rows[number]]
            rank = 1 + int((values > values[RIGHT]).sum())
        if run.moods[number] < share * rank**-examination:
            run.lister.hit(shown.round_id, RIGHT)
    plain = run.covered[-last:][~explored[-last:]]
    return Clicked(float(plain.mean()), float(run.lengths.mean()), run.passed(run.end()))


@dataclass(frozen=True)
class Paged:
    """One run with short pages.

    Parameters
    ----------
    first_cut
        The rounds shown before the threshold first moved; None if it never did.
    coverage
        The share of all questions whose right candidate reaches the threshold, whether or not it fits on the page;
        mean over the last rounds.
    page
        Mean length of the first page over all rounds.
    length
        Mean length including what was shown on request.
    passed
        Whether the threshold ever passed the optimum of its score.
    curve
        That share at the rounds of `grid`.
    """

    first_cut: int | None
    coverage: float
    page: float
    length: float
    passed: bool
    curve: tuple[float, ...]


def grid(rounds: int, points: int = 60) -> NDArray[np.intp]:
    """Return the rounds at which curves are sampled: evenly spaced on a logarithmic axis from the 50th on.

    >>> grid(5_000, 3).tolist()
    [50, 499, 4999]
    """
    return np.geomspace(min(50, rounds), rounds - 1, points).astype(np.intp)


def page(
    questions: Questions,
    *,
    expand: float,
    rounds: int,
    seed: int,
    at_most: int | None = 10,
    others: Literal["miss", "dropped"] = "miss",
    coverage: float = 0.9,
    last: int = 2_000,
) -> Paged:
    """Run users who see a page, and may ask for more of the list, page by page, until they find it.

    Parameters
    ----------
    questions
        What they look for.
    expand
        The share of users who ask for more if they do not find it.
    rounds, seed
        The number of rounds; the run.
    at_most
        The length of a page; None for lists without a limit, where misses are reported.
    others
        What happens to a page that lacks it and is not expanded: a reported miss, or no report at all.
    coverage, last
        The target coverage; the number of last rounds.
    """
    run = _Run(questions, rounds, seed, {"at_most": at_most}, coverage)
    lister, more = run.lister, np.zeros(rounds, dtype=np.int64)
    for number in range(rounds):
        expands = run.moods[number] < expand
        if others == "dropped" and not expands:
            values = questions.values[run.rows[number]]
            members = lister.preview(values)
            if RIGHT not in members:
                run.thresholds[number], run.lengths[number] = lister.threshold, len(members)
                continue
        shown = run.propose(number)
        seen = bool(run.covered[number])
        while expands and not seen:
            extra = lister.more(shown.round_id, at_most)
            more[number] += len(extra.members)
            seen = RIGHT in extra.members
        if seen:
            lister.hit(shown.round_id, RIGHT)
        else:
            lister.miss(shown.round_id)
    true = run.end()
    asked = run.asked(true)
    cut = np.flatnonzero(run.thresholds > -np.inf)
    return Paged(
        int(cut[0]) if cut.size else None,
        float(asked[-last:].mean()),
        float(run.lengths.mean()),
        float((run.lengths + more).mean()),
        run.passed(true),
        tuple(asked[grid(rounds)].round(4).tolist()),
    )


@dataclass(frozen=True)
class Cited:
    """One run of a program that cites.

    Parameters
    ----------
    coverage
        The share of the last lists with the right candidate.
    length
        Mean length of the last lists.
    passed
        Whether the threshold ever passed the optimum.
    """

    coverage: float
    length: float
    passed: bool


def cite(
    questions: Questions,
    *,
    unanswered: Literal["miss", "ignore"],
    hits_lost: float,
    misses_lost: float,
    rounds: int,
    seed: int,
    coverage: float = 0.9,
    last: int = 2_000,
) -> Cited:
    """Run a program that cites what it used, or reports that nothing fits; some of its answers get lost.

    Parameters
    ----------
    questions
        What it looks for.
    unanswered
        What silence means to the lister.
    hits_lost, misses_lost
        The share of citations, and of "nothing fits", that never arrive.
    rounds, seed, coverage, last
        The number of rounds; the run; the target coverage; the number of last rounds.
    """
    run = _Run(questions, rounds, seed, {"unanswered": unanswered, "score": _RELATIVE}, coverage)
    for number in range(rounds):
        shown = run.propose(number)
        hit = bool(run.covered[number])
        if run.moods[number] < (hits_lost if hit else misses_lost):
            continue
        if hit:
            run.lister.hit(shown.round_id, RIGHT)
        else:
            run.lister.miss(shown.round_id)
    return Cited(float(run.covered[-last:].mean()), float(run.lengths[-last:].mean()), run.passed(run.end()))
