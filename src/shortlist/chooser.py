r"""Which of several scores gives the shortest lists: found out without labels.

Each score has a learner, and in every round its lists' lengths can be counted without an answer. So
they are compared on every round, at the threshold that each learner expects to end at (the empirical
quantile of what it has seen: early thresholds are cautious, and a score that is short when nearly
everything is shown need not be short in the end). A score is dropped when it is clearly longer than
another: when, over at least 100 rounds, its lists were longer by four standard errors of the paired
difference on average. After 1,000 rounds only the shortest is kept: what is undecided then hardly
matters.

**Why this costs no promise.** With probability 1 - delta the thresholds of *all* scores stay at or
below their own optimum, for ever, because each learner has its share of delta. On that event every
score's list covers, whichever is shown; and who is dropped depends on past rounds alone, never on
the round at hand. (Showing the shortest list of each round would not be allowed: that choice depends
on the question, and short lists are short where they are wrong.)

Rounds count from the moment when all scores have a threshold.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

__all__ = ["Chooser"]

#: How many rounds are compared before a score may be dropped.
_FIRST: Final = 100
#: How many rounds are compared before all but the best are dropped.
_LAST: Final = 1_000
#: How many standard errors make a difference clear.
_CLEAR: Final = 4.0


class Chooser:
    """Keeps the scores that may still be the best one.

    >>> chooser = Chooser(2)
    >>> for i in range(100):
    ...     chooser.compare([3 + i % 2, 9 - i % 3])
    >>> chooser.remaining
    [0]
    """

    def __init__(self, count: int) -> None:
        #: The scores that are still in the race, by their index.
        self.remaining = list(range(count))
        #: How many rounds have been compared.
        self.rounds = 0
        # For each pair of scores the sum and the sum of squares of the difference of their lengths.
        self._sums = [[0] * count for _ in range(count)]
        self._squares = [[0] * count for _ in range(count)]

    @property
    def decided(self) -> bool:
        """Whether one score is left."""
        return len(self.remaining) == 1

    def compare(self, lengths: Sequence[int]) -> None:
        """Take the list lengths of one round, and drop what is clearly longer than another."""
        if self.decided:
            return
        self.rounds += 1
        for i in self.remaining:
            for j in self.remaining:
                if i < j:
                    difference = lengths[i] - lengths[j]
                    self._sums[i][j] += difference
                    self._squares[i][j] += difference * difference
        if self.rounds >= _LAST:
            self.remaining = [self.leader]
        elif self.rounds >= _FIRST:
            best = self.leader
            self.remaining = [i for i in self.remaining if i == best or not self._clearly_longer(i, best)]

    @property
    def leader(self) -> int:
        """The score with the shortest lists so far; the first of equals."""
        best = self.remaining[0]
        for i in self.remaining[1:]:
            if self._excess(i, best) < 0:
                best = i
        return best

    def _excess(self, i: int, j: int) -> int:
        """By how much the lists of i were longer than those of j, in all."""
        return self._sums[i][j] if i < j else -self._sums[j][i]

    def _clearly_longer(self, i: int, j: int) -> bool:
        mean = self._excess(i, j) / self.rounds
        squares = self._squares[min(i, j)][max(i, j)] / self.rounds
        error = math.sqrt(max(squares - mean * mean, 0.0) / self.rounds)
        return mean > _CLEAR * error

    def to_dict(self) -> dict[str, Any]:
        """Return the race so far as plain data."""
        return {
            "remaining": self.remaining,
            "rounds": self.rounds,
            "sums": self._sums,
            "squares": self._squares,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Chooser":
        """Return the chooser that `to_dict` described."""
        chooser = cls(len(data["sums"]))
        chooser.remaining, chooser.rounds = list(data["remaining"]), data["rounds"]
        chooser._sums, chooser._squares = data["sums"], data["squares"]
        return chooser
