"""What the log of a stream tells after the fact."""

from collections.abc import Iterable

from shortlist.logs import IgnoreCheck, check_ignore
from shortlist.logs.reading import logged_round
from shortlist.service.engine.rounds import Round
from shortlist.service.store import Entry

__all__ = ["look_at_silence"]


def look_at_silence(entries: Iterable[Entry], patience: int) -> IgnoreCheck:
    """Return who answers and who does not.

    Parameters
    ----------
    entries
        The last entries of a log; rounds whose list is not among them are left out.
    patience
        How many of the last rounds are left out, answered or not: others of their age may be answered yet.
    """
    rounds = list(Round.of(entries).values())
    old = rounds[: max(0, len(rounds) - patience)]
    return check_ignore([_logged(each) for each in old])


def _logged(each: Round) -> object:
    closed = each.closed
    event, at = (None, None) if closed is None else (closed.event, closed.at)
    return logged_round(each.listed, each.shown.at, event, at)
