r"""Users who only click: ``explore_share``, for interfaces without a "not in here" button.

Without that button a miss looks like silence. Counting silent rounds as misses is safe but teaches nothing; dropping
them silently loses coverage. So in a share of rounds, drawn at random in advance, **everything is shown, in random
order, and only those rounds count**. Silent ones among them never do.

**Guarantee.** That of the policy, if in explored rounds, given everything before, a click within d rounds is at least
as likely for a right answer at or below the optimal threshold as for one above it, for every d >= `patience`. The
random order is what makes that plausible: users read from the top, and with the best candidates there, low ones
would be clicked less.

- The draw is a pure function of the stream's seed and the round's name. Its probability may depend on the past, never
  on the list: `explore_share`; ``"auto"`` is 0.2 while the threshold is minus infinity, then min(0.2, 2 / sqrt(t)).
- Lists that are not explored never count, so nothing forbids cutting them from the first one on: until there is a
  threshold they are the best 10, by the score so far. The guarantee begins with the first cut.
- Explored rounds enter the sample in the order shown; each is waited for while `patience` later rounds are shown. A
  later click enters the sample when it arrives; dropping it would be a bias.
- `at_most` does not apply to explored lists. The error budget and the drift alarm need reported misses: they are off.
"""

import math
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import check_number
from shortlist.errors import InvalidParameter
from shortlist.rounds.shown import RoundName

__all__ = ["ExploreShare", "check_explore_share", "coin", "share_at", "shuffled"]

#: A share of rounds, or the schedule that decreases over time.
ExploreShare = float | Literal["auto"]
#: ``"auto"`` is at most this.
_MOST: Final = 0.2


def check_explore_share(value: object) -> "ExploreShare | None":
    """Return a share of rounds to explore, or raise."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return value  # type: ignore[return-value]
    if isinstance(value, str):
        raise InvalidParameter(f'explore_share is {value!r}; it must be a number above 0 and at most 1, or "auto"')
    share = check_number("explore_share", value, "a number above 0 and at most 1, for example 0.05")
    if not 0.0 < share <= 1.0:
        raise InvalidParameter(f'explore_share is {share}; it must be above 0 and at most 1, or "auto"')
    return share


def coin(seed: str, name: RoundName) -> float:
    """Return a number in [0, 1) that depends only on the seed and the round's name.

    >>> round(coin("docs", 7), 6) == round(coin("docs", 7), 6), coin("docs", 7) != coin("docs", 8)
    (True, True)
    """
    import hashlib  # noqa: PLC0415 - where it is used only

    digest = hashlib.blake2b(_text(seed, name), digest_size=7).digest()
    return int.from_bytes(digest) / 2**56


def share_at(share: ExploreShare, rounds: int, threshold: float) -> float:
    """Return the probability that the next round is explored, after so many rounds.

    >>> [round(share_at("auto", t, 0.5), 3) for t in (0, 100, 10_000)], share_at("auto", 10_000, -math.inf)
    ([0.2, 0.199, 0.02], 0.2)
    """
    if not isinstance(share, str):
        return share
    return _MOST if threshold == -math.inf else min(_MOST, 2.0 / math.sqrt(rounds + 1))


def shuffled(seed: str, name: RoundName, candidates: int) -> NDArray[np.intp]:
    """Return all positions in an order that depends only on the seed and the round's name."""
    import hashlib  # noqa: PLC0415 - where it is used only

    noise = hashlib.shake_256(_text(seed, name)).digest(8 * candidates)
    return np.frombuffer(noise, dtype="<u8").argsort(kind="stable")


def _text(seed: str, name: RoundName) -> bytes:
    return f"{seed}\0{name}".encode()
