"""What an operator wants to know when it happens: a fit, an alarm, an error budget that runs out.

A fold must not log: it is repeated when a log or a file is read. So whoever applies a new event takes a `mark` before
and calls `tell` after.
"""

import logging
from collections.abc import Iterable
from typing import Final, NamedTuple

from shortlist._validation import UNNAMED
from shortlist.rounds.events import Event, Listed
from shortlist.rounds.stream import Stream
from shortlist.scores import Learned

__all__ = ["Mark", "mark", "tell"]

_log: Final = logging.getLogger("shortlist")


class Mark(NamedTuple):
    """How far a stream has come: its fits, and its alarms."""

    fits: int
    alarms: int


def mark(stream: Stream) -> Mark:
    """Return how far a stream has come."""
    return Mark(0 if stream.learning is None else stream.learning.number, stream.tracker.state.alarm_count)


def tell(stream: Stream, before: Mark, events: Iterable[Event], name: str = "") -> None:
    """Log what has happened to a stream since a mark, by these events."""
    now, of = mark(stream), f"stream {name}: " if name else ""
    if now.fits != before.fits:
        score = stream.score_of(stream.scorers or UNNAMED)
        rounds = score.rounds if isinstance(score, Learned) else 0
        _log.info("%sthe score was fitted, from %s picks", of, rounds)
    if now.alarms != before.alarms:
        alarm = stream.tracker.state.alarms[-1]
        _log.warning(
            "%salarm %s: lists miss more often than allowed, at threshold %.4g", of, now.alarms, alarm.threshold
        )
    budget = stream.budget
    if budget is None:
        return
    if not stream.is_told_spent and any(map(_is_filled, events)):  # once, until it has recovered
        stream.is_told_spent = True
        _log.warning(
            "%sthe error budget is spent, %.1f of %s misses: lists are complete", of, budget.spent, budget.size
        )
    elif stream.is_told_spent and not budget.more(1):
        stream.is_told_spent = False
        _log.info("%sthe error budget has recovered: %.1f of %s misses are spent", of, budget.spent, budget.size)


def _is_filled(event: Event) -> bool:
    """Return whether the error budget made a list complete."""
    return isinstance(event, Listed) and event.added > 0 and len(event.positions) == len(event.scores)
