"""May silence be ignored? What a log shows about who answers and who does not.

``unanswered="ignore"`` is safe if an answer is at least as likely, and comes no later, for right answers low in the
list as for those high up. Silence hides where the right answer was, so no log can prove that. It can be evidence
against it: answers become rarer as lists grow longer or are cut, misses are never reported, low picks come later.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from shortlist._shares import trend, wilson
from shortlist.logs.reading import LoggedRound, read_log

__all__ = ["IgnoreCheck", "Row", "check_ignore"]

#: The largest number of bins for rounds.
_PARTS: Final = 5
#: The significance level of each of the three tests.
_LEVEL: Final = 0.01
#: The smallest number of rounds for any conclusion.
_FEW: Final = 100


class Row(NamedTuple):
    """A group of rounds, or of picks, and the share of them that was answered, or came late.

    Attributes
    ----------
    low, high
        The range of list lengths, or of ranks.
    rounds
        The number of rounds, or of picks.
    number
        How many of the rounds were answered; how many of the picks came later than the median pick.
    share
        `number` divided by `rounds`.
    interval
        Its 95 % Wilson interval.
    """

    low: int
    high: int
    rounds: int
    number: int
    share: float
    interval: tuple[float, float]


class IgnoreCheck(NamedTuple):
    """What a log shows about silence.

    Attributes
    ----------
    rounds, answered
        The number of rounds, and of those that were answered: by a pick, "not in this list" or "there is none".
    by_length
        Rounds by the length of their lists: the share that was answered.
    length_trend
        The p-value of "the share does not depend on the length"; None if there is nothing to compare.
    by_rank
        Picks by the rank of what was picked: the share that came later than the median pick.
    rank_trend
        The p-value of "low picks come no later than high ones"; None if there is nothing to compare, or the times of
        answers are unknown.
    complete, cut
        How often complete lists were answered, and cut ones; None if there are none.
    cut_trend
        The p-value of "both are answered equally often".
    misses
        The number of answers that were misses, or picks after `more`.
    against
        Evidence against ignoring silence, in words; empty if there is none.
    untested
        What the log is too small, or too uniform, to test, in words.
    """

    rounds: int
    answered: int
    by_length: list[Row]
    length_trend: float | None
    by_rank: list[Row]
    rank_trend: float | None
    complete: Row | None
    cut: Row | None
    cut_trend: float | None
    misses: int
    against: list[str]
    untested: list[str]

    def __str__(self) -> str:
        lines = [f"{self.answered:,} of {self.rounds:,} rounds were answered"]
        lines += [_in_words("lists of", "answered", row) for row in self.by_length]
        lines += [_in_words("picks at rank", "late", row) for row in self.by_rank]
        nothing = "no test found evidence against ignoring silence, which is not proof that it is safe"
        return "\n".join([*lines, *self.untested, *(self.against or [nothing])])


def check_ignore(log: Any) -> IgnoreCheck:
    """Test a log for evidence that silence must not be ignored (``unanswered="ignore"``).

    Parameters
    ----------
    log
        A file that ``shortlist export STREAM`` wrote, or rounds; see `shortlist.logs.read_log`. Rounds that still await
        an answer are silent, so leave out the most recent ones.

    Returns
    -------
    IgnoreCheck
        Answered shares by list length, and lateness by the rank of the pick, each with a Cochran-Armitage test for
        trend; and the evidence, in words. `print` it.

    Raises
    ------
    InvalidParameter
        If `log` is neither a file nor rounds, or a round is malformed.
    """
    rounds = [each for each in read_log(log) if each.candidates and each.answer != "withdrawn"]
    lengths = [(each.length, not each.is_silent) for each in rounds]
    by_length = _rows(lengths)
    picks = _picks(rounds)
    by_rank = _rows(picks)
    complete = _row([pair for pair, each in zip(lengths, rounds, strict=True) if _is_complete(each)])
    cut = _row([pair for pair, each in zip(lengths, rounds, strict=True) if not _is_complete(each)])
    answered = sum(answered for _, answered in lengths)
    length = _trend(by_length)
    rank = _trend(by_rank)
    both = _trend([row for row in (cut, complete) if row is not None], level=lambda i: i)
    misses = sum(each.is_miss for each in rounds)
    against = []
    if len(rounds) >= _FEW:
        against = [*_against_length(length, both, by_length, complete, cut), *_against_misses(rounds, cut)]
        if rank is not None and rank[1] < _LEVEL and rank[0] > 0:
            against.append(f"picks low in the list come later than those at its top (p = {rank[1]:.2g})")
    return IgnoreCheck(
        len(rounds),
        answered,
        by_length,
        length and length[1],
        by_rank,
        rank and rank[1],
        complete,
        cut,
        both and both[1],
        misses,
        against,
        _untested(rounds, complete, cut),
    )


def _is_complete(logged: LoggedRound) -> bool:
    return logged.length == len(logged.candidates)


def _picks(rounds: Sequence[LoggedRound]) -> list[tuple[int, bool]]:
    """Return the rank of each pick, and whether it came later than the median, in rounds shown meanwhile."""
    shown = sorted(each.shown_at for each in rounds if each.shown_at is not None)
    ranks, delays = [], []
    for each in rounds:
        if each.answer == "hit" and each.answered_at is not None and each.shown_at is not None:
            ranks.append(1 + max(each.members.index(member) for member in each.right))
            delays.append(bisect_left(shown, each.answered_at) - bisect_right(shown, each.shown_at))
    if not delays:
        return []
    middle = sorted(delays)[len(delays) // 2]
    if middle == max(delays):
        return []  # all of them came at once
    return [(rank, delay > middle) for rank, delay in zip(ranks, delays, strict=True)]


def _rows(values: Sequence[tuple[int, bool]]) -> list[Row]:
    """Return values in a few bins of about the same size, lowest first; equal values stay together."""
    ordered = sorted(values)
    rows: list[Row] = []
    start = 0
    while start < len(ordered):
        stop = min(len(ordered), start + math.ceil(len(ordered) / _PARTS))
        while stop < len(ordered) and ordered[stop][0] == ordered[stop - 1][0]:
            stop += 1
        row = _row(ordered[start:stop])
        assert row is not None  # noqa: S101 - it is not empty
        rows.append(row)
        start = stop
    return rows


def _row(values: Sequence[tuple[int, bool]]) -> Row | None:
    if not values:
        return None
    count = sum(yes for _, yes in values)
    numbers = [number for number, _ in values]
    share = count / len(values)
    return Row(min(numbers), max(numbers), len(values), count, share, wilson(count, len(values)))


def _trend(rows: Sequence[Row], level: Callable[[int], float] = float) -> tuple[float, float] | None:
    if len(rows) < 2:
        return None
    return trend([level(i) for i in range(len(rows))], [row.number for row in rows], [row.rounds for row in rows])


def _against_length(
    length: tuple[float, float] | None,
    both: tuple[float, float] | None,
    by_length: Sequence[Row],
    complete: Row | None,
    cut: Row | None,
) -> list[str]:
    against = []
    if both is not None and both[1] < _LEVEL and both[0] > 0 and complete is not None and cut is not None:
        against.append(
            f"complete lists are answered in {complete.share:.0%} of rounds, cut ones in {cut.share:.0%} "
            f"(p = {both[1]:.2g}): users who do not find the right answer seem to leave"
        )
    if length is not None and length[1] < _LEVEL:
        first, last = by_length[0], by_length[-1]
        against.append(
            f"answers depend on the length of the list: {first.share:.0%} of the shortest, {last.share:.0%} of the "
            f"longest lists are answered (p = {length[1]:.2g})"
        )
    return against


def _against_misses(rounds: Sequence[LoggedRound], cut: Row | None) -> list[str]:
    """Report that misses are never reported, if so many cut lists without one cannot be chance."""
    reported = any(not _is_complete(each) and each.is_miss for each in rounds)
    if cut is None or reported or cut.number < _FEW:
        return []
    return [f"none of {cut.number:,} answers to cut lists is a miss: users seem not to report them"]


def _untested(rounds: Sequence[LoggedRound], complete: Row | None, cut: Row | None) -> list[str]:
    if len(rounds) < _FEW:
        return [f"there are {len(rounds)} rounds; at least {_FEW} are needed for any conclusion"]
    if cut is None or cut.rounds < _FEW:
        return [
            "hardly any list was cut, so the log cannot show whether users who do not find the right answer stay silent"
        ]
    if complete is None or complete.rounds < _FEW:
        return ["hardly any list was complete, so cut lists cannot be compared with complete ones"]
    return []


def _in_words(what: str, how: str, row: Row) -> str:
    ends = f"{row.low}" if row.low == row.high else f"{row.low} to {row.high}"
    return f"  {what} {ends}: {row.share:.1%} of {row.rounds:,} {how} ({row.interval[0]:.1%} to {row.interval[1]:.1%})"
