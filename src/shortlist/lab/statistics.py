"""Means with 95 % bands over runs."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["half_width", "mean_and_band"]

Array = NDArray[np.float64]

#: Student's t, 97.5 %, for 1, 2, ... degrees of freedom.
_QUANTILES: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def half_width(values: Array) -> Array:
    """Return half the width of the 95 % confidence interval of the mean over the first axis.

    >>> float(half_width(np.arange(10.0)).round(3))
    2.166
    """
    runs = len(values)
    if runs < 2:
        return np.full(values.shape[1:], np.nan)
    quantile = _QUANTILES[runs - 2] if runs - 2 < len(_QUANTILES) else 1.96 + 2.5 / runs
    deviation: Array = np.std(values, axis=0, ddof=1)
    half: Array = quantile * deviation / np.sqrt(runs)
    return half


def mean_and_band(values: Array) -> tuple[Array, Array, Array]:
    """Return mean, lower and upper end of its 95 % band over the first axis."""
    mean: Array = np.mean(values, axis=0)
    half = np.nan_to_num(half_width(values))
    return mean, mean - half, mean + half
