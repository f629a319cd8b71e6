"""Proportions: Wilson's interval and a test for trend. Needs only the standard library."""

import math
from collections.abc import Sequence

__all__ = ["trend", "wilson"]

#: The 97.5th percentile of the standard normal distribution.
_Z = 1.959963984540054


def wilson(hits: int, of: int, z: float = _Z) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion.

    >>> [round(end, 4) for end in wilson(90, 100)]
    [0.8256, 0.9448]
    """
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / of + spread / of / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def trend(levels: Sequence[float], successes: Sequence[int], totals: Sequence[int]) -> tuple[float, float] | None:
    """Return the Cochran-Armitage trend statistic of proportions along levels, and its p-value.

    Parameters
    ----------
    levels
        The level of each proportion.
    successes, totals
        The counts at each level.

    Returns
    -------
    tuple[float, float] | None
        The statistic is in standard errors; above 0, proportions rise with the level. The p-value is two-sided. None if
        there is nothing to compare: a single level, or all outcomes alike.

    Examples
    --------
    >>> [round(x, 3) for x in trend([1, 2, 3], [30, 25, 15], [40, 40, 40])]
    [-3.402, 0.001]
    """
    of, hits = sum(totals), sum(successes)
    if not 0 < hits < of:
        return None
    share = hits / of
    mean = sum(level * total for level, total in zip(levels, totals, strict=True)) / of
    spread = sum(total * (level - mean) ** 2 for level, total in zip(levels, totals, strict=True))
    if spread <= 0:
        return None
    slope = sum((level - mean) * count for level, count in zip(levels, successes, strict=True))
    z = slope / math.sqrt(share * (1 - share) * spread)
    return z, math.erfc(abs(z) / math.sqrt(2))
