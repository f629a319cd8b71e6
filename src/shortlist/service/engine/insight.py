"""What the log of a stream tells after the fact."""

from collections.abc import Iterable
from typing import Final

from shortlist.logs import IgnoreCheck, check_ignore
from shortlist.logs.reading import LoggedRound, logged_round
from shortlist.rounds.events import LISTED
from shortlist.service.engine.rounds import Round
from shortlist.service.store import Entry, Reader

__all__ = ["logged_part", "logged_rounds", "look_at_silence"]

#: How many rounds are read at a time.
_PART: Final = 250


def look_at_silence(rounds: list[LoggedRound], patience: int) -> IgnoreCheck:
    """Return who answers and who does not.

    Parameters
    ----------
    rounds
        The last rounds of a log, in the order shown.
    patience
        How many of the last rounds are left out, answered or not: others of their age may be answered yet.
    """
    return check_ignore(rounds[: max(0, len(rounds) - patience)])


def logged_part(reader: Reader, stream_id: int, after: int) -> tuple[list[LoggedRound], int | None]:
    """Return the next rounds of a stream, and the number to go on after, if there are more."""
    lists = reader.page(stream_id, after, _PART, kinds=[LISTED])
    others = reader.rounds(stream_id, [entry.round_id for entry in lists], lists=False)
    return logged_rounds([*lists, *others]), lists[-1].number if lists else None


def logged_rounds(entries: Iterable[Entry]) -> list[LoggedRound]:
    """Return the rounds of some entries; those whose list is not among them are left out.

    Ranks stand for the names of candidates, which many rounds would take much memory for.
    """
    return [_nameless(each) for each in Round.of(entries).values()]


def _nameless(each: Round) -> LoggedRound:
    closed = each.closed
    event, at = (None, None) if closed is None else (closed.event, closed.at)
    logged = logged_round(each.listed, each.shown.at, event, at)
    return logged._replace(
        candidates=range(len(logged.candidates)),
        members=range(len(logged.members)),
        right=tuple(logged.members.index(member) for member in logged.right),
    )
