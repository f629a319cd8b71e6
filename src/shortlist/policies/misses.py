"""What a miss means to a rule that needs a score.

Most methods of the field were made for full feedback: they are told the score of the right answer in
every round. Here a miss has no score, and somebody has to say what to do. Three answers are common,
and all the policies that need one take them as ``miss``:

``"dropped"``
    the round is left out, as if it had not been: what people do who only log clicks;
``"threshold"``
    the right answer is taken to have scored just what the threshold was;
``"beyond"``
    it is taken to be further away than any score can be. The default, and the only one of the three
    that counts a miss as a miss. Rules that need a number for it (DtACI, SAOCP) take the far end of the
    range they were told, so the range must hold.
"""

from typing import Any, Final

from shortlist.errors import InvalidParameter
from shortlist.parameters import check_number

__all__ = ["BEYOND", "DROPPED", "THRESHOLD", "check_miss", "check_scale", "miss_code"]

DROPPED, THRESHOLD, BEYOND = 0, 1, 2
_CODES: Final = {"dropped": DROPPED, "threshold": THRESHOLD, "beyond": BEYOND}


def check_miss(miss: Any) -> str:
    """Return one of the three words, or say what they are."""
    if miss not in _CODES:
        raise InvalidParameter(f'miss is {miss!r}; it must be "dropped", "threshold" or "beyond"')
    return str(miss)


def miss_code(miss: str) -> int:
    """Return the number that steps know a word by."""
    return _CODES[miss]


def check_scale(top: Any, scale: Any) -> tuple[float, float]:
    """Return the highest score there is, and how far below it scores lie."""
    return check_number("top", top, "the highest score there is"), check_number("scale", scale, "above 0", above=0.0)
