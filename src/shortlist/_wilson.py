"""Proportions: Wilson's interval. Needs only the standard library."""

import math

__all__ = ["wilson"]

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
