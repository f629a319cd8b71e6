r"""A learned score: one or several numbers per candidate in, one comparable score out.

Several scorers (BM25, one or two embeddings, a reranker, recency) say more together than any of them alone,
and how much each should count is best learned from what users pick. The model is a conditional logit: in a
list with features :math:`X`, one row per candidate, candidate :math:`i` is picked with probability
:math:`\mathrm{softmax}(X w)_i`. Each scorer has three columns in :math:`X`:

- *relative*: its z-scores within the list, which are invariant to shift and scale;
- *absolute*: its values divided by their spread in the rounds of the fit, which say whether a list is good at all;
- *missing*: 1 where it has no score for the candidate, whose value is then the lowest of the list.

The weights maximize the log-likelihood of the picks minus a ridge penalty, which pulls them toward equal weights, by
Newton's method, with the step halved until the objective rises. Two forms are compared: the softmax itself, and
the plain sum of the absolute columns, which is used if its lists are shorter by two standard errors. It has to be
used if lists have one candidate: a softmax of one is always 1.

Once learned, it is a fixed function of one list, so the guarantee holds for it as for any other score, in
all rounds that it was not fitted on.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

import numpy as np

from shortlist._validation import check_lists, check_probability, check_scorers, miss_rate
from shortlist.errors import InvalidParameter
from shortlist.scores.fixed import Array, spread_out
from shortlist.scores.kept_lists import Example, fill

__all__ = ["MOST_WEIGHT", "Learned", "features_of", "fit", "learn", "lengths_without", "prior", "scores_of"]


#: How strongly weights are pulled toward `_RELATIVE` and `_ABSOLUTE` (per scorer, over the root of their number).
_RIDGE: Final = 0.3
_RELATIVE: Final = 1.0
_ABSOLUTE: Final = 0.5
#: Newton's method stops at a gradient of this norm, or when rounding stops it.
_GRADIENT: Final = 1e-10
_STEPS: Final = 100
#: No weight is larger: sums of weighted features are still numbers.
MOST_WEIGHT: Final = 1e12
#: No feature is larger: differences of them are still numbers.
_LARGEST: Final = 1e12
#: Beyond this, squares may overflow.
_WIDE: Final = 1e100
#: Squares of distances that are not lost, and so near to those of the fit that `_LARGEST` does not matter.
_NARROW: Final = 1e-200
_STEEP: Final = 1e12
#: By how many standard errors lists of the plain sum must be shorter.
_CLEAR: Final = 2.0


class FitStopped(Exception):
    """A fit was given up: its result is not wanted any more."""


@dataclass(frozen=True)
class Learned:
    """A learned score: the weights of each scorer, frozen.

    `shortlist.scores.learn` returns one; pass it as ``score=``, or save it with the lister.

    Parameters
    ----------
    scorers
        The names of the scorers; a single empty name for one unnamed scorer.
    relative, absolute, missing
        The weights of each scorer's z-scores within a list, of its values over their spread, and of a missing score.
    center, spread
        Mean and standard deviation of each scorer's values in the rounds of the fit.
    form
        ``"softmax"``: the probability that each candidate is picked; ``"sum"``: the sum of the absolute columns.
    influence
        How much each scorer moves candidates within a list, as shares that sum to 1.
    rounds
        The number of rounds it was fitted on.
    lengths
        The mean list length of both forms in these rounds: softmax, sum.
    gradient, steps
        The norm of the gradient where Newton's method stopped, and the number of steps.

    Examples
    --------
    >>> score = Learned(scorers=("",), relative=(2.0,), absolute=(0.0,))
    >>> score(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [0.007, 0.079, 0.914]
    """

    key: ClassVar[str] = "learned"
    scorers: tuple[str, ...]
    relative: tuple[float, ...]
    absolute: tuple[float, ...]
    missing: tuple[float, ...] = ()
    center: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    form: Literal["softmax", "sum"] = "softmax"
    influence: tuple[float, ...] = field(default=(), compare=False)
    rounds: int = field(default=0, compare=False)
    lengths: tuple[float, ...] = field(default=(), compare=False)
    gradient: float = field(default=0.0, compare=False)
    steps: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "scorers", check_scorers(self.scorers))
        count = len(self.scorers)
        defaults = {"missing": 0.0, "center": 0.0, "spread": 1.0, "influence": 1.0 / count}
        for name in ("relative", "absolute", "missing", "center", "spread", "influence"):
            given = getattr(self, name)
            numbers = _numbers(name, given) or (defaults.get(name, 0.0),) * count
            if len(numbers) != count:
                raise InvalidParameter(f"{name} has {len(numbers)} numbers for {count} scorers; give one for each")
            put(self, name, numbers)
        put(self, "lengths", _numbers("lengths", self.lengths))
        for name in ("relative", "absolute", "missing"):
            if max(map(abs, getattr(self, name))) > MOST_WEIGHT:
                raise InvalidParameter(f"{name} is {getattr(self, name)}; weights must be within +-{MOST_WEIGHT:g}")
        if min(self.spread) <= 0:
            raise InvalidParameter(f"spread is {self.spread}; each must be above 0")
        if self.form not in ("softmax", "sum"):
            raise InvalidParameter(f'form is {self.form!r}; it must be "softmax" or "sum"')

    def __call__(self, values: Array) -> Array:
        """Return the comparable scores of a list, or of several along the axes before it.

        Parameters
        ----------
        values
            With one scorer, one number per candidate, lists along the last axis. With several, one row of numbers
            per candidate, in the order of `scorers`, NaN where one has no score.
        """
        one = len(self.scorers) == 1
        if values.ndim > 2 - one:
            return np.array([self(each) for each in values])
        if self.form == "sum":
            return _sum(self, [values] if one else list(values.T))
        linear = self._line(0, values if one else values[:, 0])
        for j in range(1, len(self.scorers)):
            linear += self._line(j, values[:, j])
        if not one:  # the best of one line is 0
            linear -= np.maximum.reduce(linear)
        np.exp(linear, out=linear)
        linear /= np.add.reduce(linear)
        return linear

    def _line(self, j: int, column: Array) -> Array:
        """Return a scorer's term in the exponents of the softmax, up to a constant; the best is at 0."""
        high = column.item(column.argmax())  # as np.maximum.reduce, at a third of its cost
        if high == high:  # noqa: PLR0124 - it passes NaN on
            return self._scaled(j, column, high)
        filled, gaps = fill(column)
        line = self._scaled(j, filled, np.maximum.reduce(filled).item())
        line += self.missing[j] * np.asarray(gaps)
        line -= np.maximum.reduce(line)
        return line

    def _scaled(self, j: int, column: Array, high: float) -> Array:
        """Return a scorer's two columns, weighted, the best at 0: within a list both are one line, with one slope."""
        relative, absolute, spread = self.relative[j], self.absolute[j], self.spread[j]
        if high < _WIDE and column.item(column.argmin()) > -_WIDE:
            # From the best, not from the mean, which is a constant away. n numbers have a deviation of 1/sqrt(2n) of
            # their range or more, so the difference below loses few digits.
            line: Array = column - high
            square = line.dot(line).item() / line.size
            if _NARROW < square < _STEEP * spread * spread:
                mean = np.add.reduce(line).item() / line.size
                slope = relative / math.sqrt(square - mean * mean) + absolute / spread
                line *= slope
                if slope < 0:
                    line -= np.maximum.reduce(line)
                return line
        line, deviation, half = spread_out(column)
        line *= relative / (deviation.item() or 1.0) + 2 * absolute * (min(half.item(), _LARGEST * spread) / spread)
        line -= np.maximum.reduce(line)
        return line


def _numbers(name: str, numbers: Any) -> tuple[float, ...]:
    try:
        values = tuple(float(number) for number in numbers)
    except (TypeError, ValueError):
        raise InvalidParameter(f"{name} is {numbers!r}; it must be a list of numbers") from None
    if not all(map(math.isfinite, values)):
        raise InvalidParameter(f"{name} is {values}; it must be a list of finite numbers")
    return values


def prior(scorers: Sequence[str]) -> Learned:
    """Return the score before anything is learned: the softmax of all scorers' z-scores, equally weighted."""
    count = len(scorers)
    weight = (_RELATIVE + _ABSOLUTE) / math.sqrt(count)
    return Learned(tuple(scorers), relative=(weight,) * count, absolute=(0.0,) * count)


def _sum(score: Learned, columns: list[Array]) -> Array:
    """Return the weighted sum of the absolute columns."""
    total: Any = 0.0
    for j, column in enumerate(columns):
        filled, gaps = fill(column)
        total = total + score.absolute[j] * _standardized(filled, score.center[j], score.spread[j])
        if gaps is not None and score.missing[j]:
            total += score.missing[j] * gaps
    return np.asarray(total)


def _standardized(column: Array, center: float, spread: float) -> Array:
    """Return distances from the center in units of the spread, within the largest that is used."""
    high, low = np.maximum.reduce(column, axis=None), np.minimum.reduce(column, axis=None)
    if max(high, -low, abs(center)) < _LARGEST / 4 * min(spread, 1.0):  # then nothing overflows, and nothing is cut
        scaled: Array = (column / 2 - center / 2) / spread * 2
        return scaled
    with np.errstate(over="ignore"):
        return np.clip((column / 2 - center / 2) / spread * 2, -_LARGEST, _LARGEST)


def learn(lists: Any, right: Any, scorers: Sequence[str] | None = None, *, coverage: float = 0.9) -> Learned:
    """Return the score that fits labeled lists, as an object: pass it as ``score=`` to any number of listers.

    They then need not show complete lists to learn a score. Rounds that it was fitted on must not be used for a
    threshold: give `warm_start` other rounds.

    Parameters
    ----------
    lists
        The scores of each list: lists x candidates, or lists x candidates x scorers if `scorers` names them; or a
        sequence of what `propose` takes.
    right
        The position of the right candidate in each list; -1 where it is not in the list.
    scorers
        The names of the scorers, if `lists` does not name them.
    coverage
        The coverage at which lists will be cut: if the plain sum of the scores gives shorter lists than the
        softmax, it is used instead.

    Returns
    -------
    Learned
        The score, frozen.

    Raises
    ------
    InvalidParameter
        If no list contains its right candidate, or `right` does not fit `lists`.
    InvalidScores
        If `lists` are not lists of finite numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> lists = rng.normal(size=(200, 20, 2))  # 20 candidates, two scorers
    >>> right = (lists @ [2.0, 1.0]).argmax(axis=1)
    >>> score = learn(lists, right, ["dense", "bm25"])
    >>> [round(share, 2) for share in score.influence]
    [0.66, 0.34]
    """
    tables, positions, names = check_lists(lists, right, scorers)
    examples = [Example(table, picks[0]) for table, picks in zip(tables, positions, strict=True) if picks]
    if not examples:
        raise InvalidParameter("right is -1 in every list; learning needs lists in which the right candidate is known")
    return fit(examples, names, coverage)


def fit(
    examples: Sequence[Example],
    scorers: Sequence[str],
    coverage: float = 0.9,
    stopping: Callable[[], bool] = bool,
) -> Learned:
    """Return the score that fits the picks.

    Parameters
    ----------
    examples
        Lists, each with the position of the pick. Without any, the result is the prior.
    scorers
        The scorers' names.
    coverage
        The coverage at which the lists of the two forms are compared.
    stopping
        Asked again and again; once it returns True, FitStopped is raised.
    """
    coverage, count = check_probability("coverage", coverage, 0.9), len(scorers)
    if not examples:
        return prior(scorers)
    tables = [each.values[:, None] if each.values.ndim == 1 else each.values for each in examples]
    weighted = [each.weights for each in examples]
    center, spread = _pooled(tables, weighted)
    features = [features_of(table, spread, each.scale) for table, each in zip(tables, examples, strict=True)]
    target = np.repeat([_RELATIVE, _ABSOLUTE, 0.0], count) / math.sqrt(count)
    picked = [each.position for each in examples]
    weights, gradient, steps = _newton(features, picked, weighted, target, stopping)
    # Of the plain sum: absolute and missing columns alone.
    own = np.arange(count, 3 * count)
    alone, _, _ = _newton([each[:, own] for each in features], picked, weighted, target[own], stopping)
    plain = np.concatenate([np.zeros(count), alone])
    common = {"scorers": tuple(scorers), "center": center, "spread": spread, "rounds": len(examples)}
    common |= {"gradient": gradient, "steps": steps}
    softmax, total = (
        Learned(
            relative=each[:count],
            absolute=each[count : 2 * count],
            missing=each[2 * count :],
            form=form,  # type: ignore[arg-type]
            influence=tuple(_influence(features, weighted, each)),
            **common,  # type: ignore[arg-type]
        )
        for form, each in (("softmax", weights.tolist()), ("sum", plain.tolist()))
    )
    lengths = [lengths_without(score, examples, coverage) for score in (softmax, total)]
    alike = all(len(table) == 1 for table in tables)  # to a softmax they are
    chosen = total if alike or _clearly_shorter(lengths[1], lengths[0]) else softmax
    object.__setattr__(chosen, "lengths", tuple(float(each.mean()) for each in lengths))
    return chosen


def _pooled(tables: list[Array], weighted: list[Array | None]) -> tuple[list[float], list[float]]:
    """Return the mean and the standard deviation of each scorer's values in all lists; 0 and 1 if it has none."""
    center, spread = [], []
    if any(each is not None for each in weighted):
        standing = np.concatenate(
            [np.ones(len(table)) if each is None else each for table, each in zip(tables, weighted, strict=True)]
        )
    else:
        standing = None
    for column in np.concatenate(tables).T:
        given = ~np.isnan(column)
        values = column[given]
        largest = float(np.abs(values).max()) if values.size else 0.0
        unit = values / largest if largest > 0 else values  # nothing overflows on the way
        if standing is None or not values.size:
            mean, deviation = float(unit.mean()) if values.size else 0.0, float(unit.std()) if values.size else 0.0
        else:
            mean = float(np.average(unit, weights=standing[given]))
            deviation = math.sqrt(np.average((unit - mean) ** 2, weights=standing[given]))
        deviation *= largest
        center.append(mean * largest if largest > 0 else 0.0)
        spread.append(deviation if 0 < deviation < math.inf else max(largest, 1.0))
    return center, spread


def features_of(table: Array, spread: Sequence[float], scale: Array | None = None) -> Array:
    """Return the columns of one list: relative, absolute and missing, each for all scorers.

    All scorers at once: one by one, a fit of many would keep other threads from the interpreter.
    """
    columns = np.ascontiguousarray(table.T)
    if scale is None:
        filled, gaps = fill(columns)
        centered, deviation, half = spread_out(filled)
    else:  # of the whole list, of which these are a part
        low, half, mean, deviation = (scale[:, i : i + 1] for i in range(4))
        filled, gaps = _filled(columns, low)
        centered = (filled / 2 - low) / np.where(half > 0, half, 1.0) - mean
    spreads = np.asarray(spread)[:, None]
    relative = centered / np.where(deviation > 0, deviation, 1.0)
    with np.errstate(over="ignore"):  # a spread of 1e300 has no such limit
        largest = _LARGEST * spreads
    absolute = centered * (np.minimum(half, largest) / spreads) * 2
    missing = np.zeros_like(filled) if gaps is None else gaps
    return np.ascontiguousarray(np.concatenate([relative, absolute, missing]).T)


def _newton(
    features: list[Array],
    picked: list[int],
    weighted: list[Array | None],
    target: Array,
    stopping: Callable[[], bool] = bool,
) -> tuple[Array, float, int]:
    """Return the weights that maximize the objective, the norm of its gradient there, and the number of steps."""
    weights = target.copy()
    value, gradient, curvature = _objective(features, picked, weighted, target, weights, stopping)
    norm = float(np.linalg.norm(gradient))
    for steps in range(_STEPS):
        if norm < _GRADIENT:
            break
        step, length = np.linalg.solve(curvature, gradient), 1.0
        while length > 1e-6:
            tried = weights + length * step
            higher, slope, bend = _objective(features, picked, weighted, target, tried, stopping)
            flatter = float(np.linalg.norm(slope))
            # Near the top the objective is flat to the last bit, and the gradient says which way is up.
            if higher > value or (higher > value - 1e-12 * abs(value) and flatter < norm):
                break
            length /= 2
        else:
            return weights, norm, steps
        weights, value, gradient, curvature, norm = tried, higher, slope, bend, flatter
    else:
        steps = _STEPS
    return weights, norm, steps


def _objective(
    features: list[Array],
    picked: list[int],
    weighted: list[Array | None],
    target: Array,
    weights: Array,
    stopping: Callable[[], bool],
) -> tuple[float, Array, Array]:
    """Return log-likelihood less ridge, its gradient, and minus its second derivative."""
    away = weights - target
    value, gradient = -_RIDGE * float(away @ away), -2 * _RIDGE * away
    curvature = 2 * _RIDGE * np.eye(weights.size)
    for columns, position, standing in zip(features, picked, weighted, strict=True):
        if stopping():
            raise FitStopped
        linear = columns @ weights
        linear -= linear.max()
        mass = np.exp(linear)
        if standing is not None:
            mass *= standing
        total = mass.sum()
        mass /= total
        mean = mass @ columns
        value += float(linear[position]) - math.log(total)
        gradient += columns[position] - mean
        curvature += (columns * mass[:, None]).T @ columns - np.outer(mean, mean)
    return value, gradient, curvature


def _influence(features: list[Array], weighted: list[Array | None], weights: list[float]) -> list[float]:
    """Return how much each scorer moves candidates within a list, as shares that sum to 1."""
    count = len(weights) // 3
    shape, moved = np.asarray(weights).reshape(3, count), np.zeros(count)
    for columns, standing in zip(features, weighted, strict=True):
        own = (columns.reshape(-1, 3, count) * shape).sum(axis=1)
        away = own - np.average(own, axis=0, weights=standing)
        moved += np.sqrt(np.average(away * away, axis=0, weights=standing))
    total = float(moved.sum())
    return [1.0 / count] * count if total <= 0 else (moved / total).tolist()


def _filled(columns: Array, low: Array) -> tuple[Array, Any]:
    """Return scorers' values with gaps filled by the list's lowest, given half of each, and where the gaps are."""
    gaps = np.isnan(columns)
    return (np.where(gaps, 2 * low, columns), gaps) if gaps.any() else (columns, None)


def scores_of(score: Learned, example: Example) -> Array:
    """Return the comparable scores of the candidates that are kept of a list."""
    if example.weights is None or example.scale is None:
        return score(example.values)
    table = example.values[:, None] if example.values.ndim == 1 else example.values
    if score.form == "sum":
        filled, _ = _filled(np.ascontiguousarray(table.T), example.scale[:, :1])
        center, spread = np.asarray(score.center)[:, None], np.asarray(score.spread)[:, None]
        values = np.clip((filled / 2 - center / 2) / spread * 2, -_LARGEST, _LARGEST)
        total: Array = np.asarray(score.absolute) @ values + np.isnan(table) @ np.asarray(score.missing)
        return total
    weights = np.concatenate([score.relative, score.absolute, score.missing])
    linear = features_of(table, score.spread, example.scale) @ weights
    mass = np.exp(linear - linear.max())
    shares: Array = mass / (example.weights @ mass)
    return shares


def lengths_without(score: Learned, examples: Sequence[Example], coverage: float) -> Array:
    """Return how long each list would be at the quantile of the picks in the other lists."""
    scores = [scores_of(score, each) for each in examples]
    picked = np.array([each[example.position] for each, example in zip(scores, examples, strict=True)])
    others = len(picked) - 1
    low = math.floor(others * miss_rate(coverage))
    ordered = np.sort(picked)
    lengths = np.empty(len(picked))
    for i, each in enumerate(scores):
        # Without its own pick: the next one, if its own is among those below.
        position = low + (picked[i] <= ordered[min(low, others)])
        reached = each >= (-math.inf if others == 0 else ordered[min(position, others)])
        standing = examples[i].weights
        lengths[i] = np.count_nonzero(reached) if standing is None else standing[reached].sum()
    return lengths


def _clearly_shorter(some: Array, others: Array) -> bool:
    """Return whether some lists are shorter than others by two standard errors of the paired difference."""
    if len(some) < 2:
        return False
    difference = others - some
    return bool(difference.mean() > _CLEAR * difference.std(ddof=1) / math.sqrt(len(difference)))
