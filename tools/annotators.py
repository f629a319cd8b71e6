"""Annotators who err: they pick a class as often as real annotators did, right or not.

The answers come from a file that is not part of the package: CIFAR-10H (CC BY-NC-SA 4.0), how often annotators chose
each of ten classes for 10,000 images, with the class probabilities of three networks. The file is a ``.npz``
with the arrays `people` (int[n, k], answers by class), `truth` (int[n]), and one float[n, k] per network of `NETWORKS`.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.scored_lists import Lists, score_lists
from shortlist.listers.shortlister import Shortlister
from shortlist.metrics import optimal_threshold
from shortlist.scores import Raw, Score

__all__ = ["NETWORKS", "Annotated", "Errors", "Images", "annotate"]

Array = NDArray[np.float64]

#: As for the users of the same page.
DELTA: Final = 0.05
#: The networks of the file.
NETWORKS: Final = ("resnet", "preresnet", "densenet")


@dataclass(frozen=True)
class Errors:
    """How annotators err.

    Parameters
    ----------
    eps
        P(the truth is at or below the optimal threshold, and the pick above it): how much coverage to add.
    wrong
        The share of picks that are wrong.
    low
        The share of wrong picks at or below the optimal threshold: they look like misses, and make lists longer.
    length
        Mean list length at the optimal threshold.
    """

    eps: float
    wrong: float
    low: float
    length: float


@dataclass(frozen=True, eq=False)
class Images:
    """Images, the probabilities of networks, and the answers of annotators.

    Parameters
    ----------
    probabilities
        float[n, k, d]: of each class, by each network.
    truth
        int[n]: the right class.
    answers
        int[n, k]: how often annotators chose each class.
    """

    probabilities: Array
    truth: NDArray[np.intp]
    answers: NDArray[np.int64]

    @classmethod
    def load(cls, path: Path, networks: tuple[str, ...]) -> Self:
        """Return the images of a file, with some of its networks."""
        with np.load(path) as file:
            values = np.stack([file[name].astype(np.float64) for name in networks], axis=2)
            return cls(values, file["truth"].astype(np.intp), file["people"].astype(np.int64))

    @cached_property
    def shares(self) -> Array:
        """The probability of each class to be picked if all are shown."""
        shares: Array = self.answers / self.answers.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def lists(self) -> Lists:
        """The lists of classes, with the right ones."""
        names = tuple(str(number) for number in range(self.probabilities.shape[2]))
        return Lists(self.probabilities, self.truth, names)

    def errors(self, score: Score, coverage: float) -> "Errors":
        """Return how annotators err if all classes are shown, at the optimal threshold of a score for the truth."""
        scored = score_lists(self.lists, score)
        optimum = optimal_threshold(scored.true, coverage)
        above = scored.scores > optimum
        wrong = self.shares.copy()
        wrong[np.arange(len(wrong)), self.truth] = 0.0
        return Errors(
            float(((scored.true <= optimum) * (self.shares * above).sum(axis=1)).mean()),
            float(wrong.sum(axis=1).mean()),
            float((wrong * ~above).sum() / wrong.sum()),
            float((scored.scores >= optimum).sum(axis=1).mean()),
        )

    @property
    def values(self) -> Array:
        """The scores as a lister takes them: one column per network, or none if there is one."""
        return self.probabilities if self.probabilities.shape[2] > 1 else self.probabilities[:, :, 0]

    @property
    def score(self) -> str:
        """The `score` of listers: the probabilities themselves, or learned from those of several networks."""
        return "auto" if self.values.ndim == 3 else "raw"

    def leaning(self) -> Self:
        """Return the same images, with every wrong answer replaced by the networks' most likely class."""
        rows = np.arange(len(self.truth))
        right = self.answers[rows, self.truth]
        answers = np.zeros_like(self.answers)
        answers[rows, self.truth] = right
        answers[rows, self.probabilities.mean(axis=2).argmax(axis=1)] += self.answers.sum(axis=1) - right
        return dataclasses.replace(self, answers=answers)

    def draw(self, rounds: int, seed: int) -> tuple[list[int], list[int], list[float]]:
        """Return images, the pick for each if all classes are shown, and a number in [0, 1) per round."""
        rng = np.random.default_rng(seed)
        rows = rng.integers(len(self.truth), size=rounds)
        passed = self.shares.cumsum(axis=1)[rows, :-1] <= rng.random((rounds, 1))
        return rows.tolist(), passed.sum(axis=1).tolist(), rng.random(rounds).tolist()

    def pilot(self, seed: int = 1_000) -> Score:
        """Return the score after a pilot in which all classes are shown; wrong picks are counted with it."""
        lister = Shortlister(delta=DELTA, score=self.score)
        rows, picks, _ = self.draw(1_000, seed)
        for row, pick in zip(rows, picks, strict=True):
            if self.score == "raw" or lister.learned is not None:
                break
            lister.hit(lister.propose(self.values[row]).round_id, pick)
        return lister.learned or Raw()


@dataclass(frozen=True)
class Annotated:
    """One run.

    Parameters
    ----------
    coverage
        The share of all images whose right class reaches the last threshold.
    length
        Mean length of the last lists.
    passed
        Whether the threshold ever passed the optimum of its score, at the target coverage of the truth.
    """

    coverage: float
    length: float
    passed: bool


def annotate(
    images: Images, *, coverage: float, more: float, settle: float, rounds: int, seed: int, last: int = 2_000
) -> Annotated:
    """Run annotators who pick as the real ones did.

    Parameters
    ----------
    images
        What they look at.
    coverage
        The target coverage of the right classes.
    more
        What is added to it in the lister.
    settle
        The share of those whose pick is not in the list who settle for the most chosen of the classes shown; the
        others report a miss.
    rounds, seed, last
        The number of rounds; the run; the number of last rounds.
    """
    rows, picks, moods = images.draw(rounds, seed)
    lister = Shortlister(coverage + more, DELTA, score=images.score)
    lengths, highest = np.zeros(rounds, dtype=np.int64), -np.inf
    for number, (row, pick, mood) in enumerate(zip(rows, picks, moods, strict=True)):
        shown = lister.propose(images.values[row])
        lengths[number], highest = len(shown.members), max(highest, shown.threshold)
        if pick in shown.members:
            lister.hit(shown.round_id, pick)
        elif shown.members and mood < settle:
            lister.hit(shown.round_id, max(shown.members, key=images.answers[row].__getitem__))
        else:
            lister.miss(shown.round_id)
    true = score_lists(images.lists, lister.learned or Raw()).true
    final = lister.threshold
    return Annotated(
        float((true >= final).mean()),
        float(lengths[-last:].mean()),
        max(highest, final) > optimal_threshold(true, coverage),
    )
