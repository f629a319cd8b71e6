"""The rules that hyper-parameters obey, and the one place where a coverage becomes exact.

A coverage is the decimal that was written. In floats ``1 - 0.9`` is 0.09999999999999998, so
``floor(n * (1 - coverage))`` would be one too small at every n = 10, 20, ...; `miss_rate`
goes through the decimal digits instead.
"""

import math
import numbers
from typing import TYPE_CHECKING, Any

from shortlist.errors import InvalidParameter

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["check_count", "check_delta", "check_number", "check_probability", "miss_rate"]

#: Below this the boundaries' walks would leave the range of floats.
_LEAST_DELTA = 1e-200


def miss_rate(coverage: float) -> "Fraction":
    """Return ``1 - coverage`` as an exact fraction of the decimal that was written.

    >>> miss_rate(0.9)
    Fraction(1, 10)
    """
    from fractions import Fraction  # noqa: PLC0415 - slow to import

    return 1 - Fraction(str(coverage))


def check_probability(name: str, value: Any, example: float) -> float:
    """Return `value` as a float strictly between 0 and 1, or say what is wrong with it."""
    number = _number(name, value, f"a number strictly between 0 and 1, for example {example}")
    if not 0.0 < number < 1.0:
        raise InvalidParameter(f"{name} is {value}; it must lie strictly between 0 and 1, for example {name}={example}")
    return number


def check_delta(value: Any) -> float:
    """Return `value` as a probability of failure that floats can work with."""
    delta = check_probability("delta", value, 0.05)
    if delta < _LEAST_DELTA:
        raise InvalidParameter(f"delta is {value}; it must be at least {_LEAST_DELTA}: floats cannot count further")
    return delta


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an integer of at least `least`, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(f"{name} is {value!r}; it must be a whole number of at least {least}")
    count = int(value)
    if count < least:
        raise InvalidParameter(f"{name} is {count}; it must be at least {least}")
    if count > 2**53:
        raise InvalidParameter(f"{name} is too large: it must be at most {2**53}")
    return count


def check_number(name: str, value: Any, rule: str, *, above: float = -math.inf) -> float:
    """Return `value` as a finite float greater than `above`, or say what is wrong with it."""
    number = _number(name, value, rule)
    if not math.isfinite(number) or number <= above:
        raise InvalidParameter(f"{name} is {value}; it must be {rule}")
    return number


def _number(name: str, value: Any, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(f"{name} is {value!r}; it must be {rule}")
    if isinstance(value, (float, int, numbers.Rational)):
        return float(value)
    return float(str(value))  # a float32 of 0.9 means the decimal 0.9, not 0.8999999761581421
