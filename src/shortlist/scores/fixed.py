"""The raw scores of one list in, comparable scores out.

A raw similarity is a poor thing to threshold: questions differ in level, and a high score for one
is a low score for another. The guarantee holds for *any* score that is a function of the
question and its candidates, so each list may first be brought to a common scale:

| score | definition |
|---|---|
| `Raw` | the scores as they are |
| `Margin` | the score minus the list's best |
| `Relative` | softmax of the list's z-scores: invariant to shift and scale |
| `Rank` | minus the number of better candidates |
| `Adaptive` | the softmax mass of all lower-scored candidates (APS, RAPS) |

Each is a pure function of one list, works on a table of lists row by row, preserves the order of the
list, and gives equal scores to ties. So a threshold on it still cuts a list from below.

Edge cases are defined: a single candidate, and candidates that are all tied, get the score of a
uniform list; scores of any size and spread work, 1e308 included. A list that was truncated before it
arrives here is taken as it is: the guarantee is then about lists truncated in that way.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import check_count, check_number

__all__ = ["Adaptive", "Margin", "Rank", "Raw", "Relative", "Score", "spread_out"]

Array = NDArray[np.float64]


class Score(Protocol):
    """Anything that turns the raw scores of a list into comparable ones, one per candidate.

    With several scorers it is given one row of numbers per candidate, NaN where a scorer has no score.
    """

    def __call__(self, values: Array, /) -> Array:
        """Return the comparable scores."""


def spread_out(column: Array) -> tuple[Array, Array, Array]:
    """Return distances from the mean in units of the list's range, their standard deviation, and half the range."""
    # Halves, because the range of +-1e308 is more than a float can hold.
    count = column.shape[-1]
    low = np.minimum.reduce(column, axis=-1, keepdims=True) / 2
    half = np.maximum.reduce(column, axis=-1, keepdims=True) / 2 - low
    centered = (column / 2 - low) / np.where(half > 0, half, 1.0)
    centered -= np.add.reduce(centered, axis=-1, keepdims=True) / count
    deviation = np.sqrt(np.add.reduce(centered * centered, axis=-1, keepdims=True) / count)
    return centered, deviation, half


def _mass(values: Array, temperature: float) -> Array:
    """Return the softmax of each list's z-scores."""
    centered, deviation, _ = spread_out(values)
    z = centered / np.where(deviation > 0, deviation, 1.0)
    weights = np.exp((z - np.maximum.reduce(z, axis=-1, keepdims=True)) / temperature)
    mass: Array = weights / np.add.reduce(weights, axis=-1, keepdims=True)
    return mass


@dataclass(frozen=True)
class Raw:
    """The scores as they are: the paper's choice.

    >>> Raw()(np.array([0.2, 0.9])).tolist()
    [0.2, 0.9]
    """

    key: ClassVar[str] = "raw"

    def __call__(self, values: Array) -> Array:
        """Return the scores themselves."""
        return values


@dataclass(frozen=True)
class Margin:
    """The score minus the list's best: 0 for the best, negative for the rest. Invariant to shift.

    >>> Margin()(np.array([0.25, 0.75, 0.5])).tolist()
    [-0.5, 0.0, -0.25]
    """

    key: ClassVar[str] = "margin"

    def __call__(self, values: Array) -> Array:
        """Return each score's distance from the best one."""
        best = values.max(axis=-1, keepdims=True)
        with np.errstate(over="ignore"):
            margin: Array = np.maximum(values - best, -np.finfo(np.float64).max)
        return margin


@dataclass(frozen=True)
class Relative:
    """The softmax of the list's z-scores: invariant to shift and scale, between 0 and 1, summing to 1.

    Parameters
    ----------
    temperature
        Lower values concentrate the mass on the best candidates, higher ones spread it. 0.4 is within a few
        percent of the best on both retrieval and images.

    Examples
    --------
    >>> Relative(temperature=1.0)(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [0.063, 0.213, 0.725]
    >>> Relative()(np.array([5.0])).tolist(), Relative()(np.array([2.0, 2.0])).tolist()
    ([1.0], [0.5, 0.5])
    """

    key: ClassVar[str] = "relative"
    temperature: float = 0.4

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "temperature", check_number("temperature", self.temperature, "a number above 0", above=0.0)
        )

    def __call__(self, values: Array) -> Array:
        """Return each candidate's share of the softmax mass."""
        return _mass(values, self.temperature)


@dataclass(frozen=True)
class Rank:
    """Minus the number of better candidates: 0 for the best; ties share a rank.

    A threshold on it is a learned top-k.

    >>> Rank()(np.array([0.2, 0.9, 0.2, 0.5])).tolist()
    [-2.0, 0.0, -2.0, -1.0]
    """

    key: ClassVar[str] = "rank"

    def __call__(self, values: Array) -> Array:
        """Return minus the number of candidates with a larger score."""
        ordered = np.sort(values, axis=-1)
        if values.ndim == 1:
            at_most = np.searchsorted(ordered, values, side="right")
        else:
            at_most = np.stack([np.searchsorted(a, b, side="right") for a, b in zip(ordered, values, strict=True)])
        rank: Array = at_most.astype(np.float64) - values.shape[-1]
        return rank


@dataclass(frozen=True)
class Adaptive:
    """The softmax mass of all lower-scored candidates (APS), minus a penalty (RAPS).

    One minus the mass from the best candidate down to this one, ties included. The mass is that of
    the list's z-scores, so it is invariant to shift and scale. Deterministic: no random tie-breaking.

    Parameters
    ----------
    temperature
        The temperature of the softmax.
    penalty
        The cost of each rank beyond the `free` ones (RAPS); 0 is APS.
    free
        How many ranks cost nothing.

    Examples
    --------
    >>> Adaptive(temperature=1.0)(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [0.0, 0.063, 0.275]

    References
    ----------
    Romano, Sesia and Candès, Classification with Valid and Adaptive Coverage, NeurIPS 2020;
    Angelopoulos, Bates, Malik and Jordan, Uncertainty Sets for Image Classifiers using Conformal
    Prediction, ICLR 2021.
    """

    key: ClassVar[str] = "adaptive"
    temperature: float = 0.4
    penalty: float = 0.0
    free: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "temperature", check_number("temperature", self.temperature, "a number above 0", above=0.0)
        )
        object.__setattr__(self, "penalty", check_number("penalty", self.penalty, "0 or more", above=-1e-300))
        object.__setattr__(self, "free", check_count("free", self.free, least=0))

    def __call__(self, values: Array) -> Array:
        """Return the mass of all lower-scored candidates, minus the penalty of the candidate's rank.

        Summed from below, where the small masses are: one minus a sum close to one would turn all the
        rest into ties.
        """
        order = np.argsort(values, axis=-1, kind="stable")
        mass = np.take_along_axis(_mass(values, self.temperature), order, axis=-1)
        below = np.concatenate([np.zeros_like(mass[..., :1]), np.cumsum(mass, axis=-1)], axis=-1)
        less_good = -Rank()(-values)
        score: Array = np.take_along_axis(below, less_good.astype(np.intp), axis=-1)
        rank = 1 - Rank()(values)
        return score - self.penalty * np.maximum(rank - self.free, 0.0)
