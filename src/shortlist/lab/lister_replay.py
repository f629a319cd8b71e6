"""A lister on recorded rounds: the library's own stream, folded over lists whose right answers are known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.scored_lists import Array, Lists, Rows, Sizes
from shortlist.policies import Policy
from shortlist.rounds.admission import admit
from shortlist.rounds.events import Answer, Listed
from shortlist.rounds.repeated_fits import make_learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Stream
from shortlist.scores import Learned

__all__ = ["ListerRun", "learn", "run_lister"]


@dataclass(frozen=True, eq=False)
class ListerRun:
    """What a lister did in each round.

    Parameters
    ----------
    thresholds
        The threshold in force.
    lengths
        The length of each list.
    covered
        Whether the right answer was in it.
    added
        How many candidates the error budget added.
    begin
        The first round after the fit of a learned score.
    score
        The learned score, that of equal weights if the rounds ended before the fit; None if the score is fixed.
    """

    thresholds: Array
    lengths: Sizes
    covered: NDArray[np.bool_]
    added: Sizes
    begin: int = 0
    score: Learned | None = None


def run_lister(lists: Lists, rows: Rows, settings: Settings) -> ListerRun:
    """Return what a lister does on some rounds with prompt answers.

    Parameters
    ----------
    lists
        The lists.
    rows
        The list of each round.
    settings
        The settings of the lister; with any policy.
    """
    stream, count = _stream(settings), rows.size
    thresholds, lengths = np.empty(count), np.empty(count, dtype=np.int64)
    covered, added = np.empty(count, dtype=bool), np.empty(count, dtype=np.int64)
    begin = 0
    for number, row in enumerate(rows.tolist()):
        begin += _is_fitting(stream)
        listed, covered[number] = _answer(stream, lists, number, row)
        thresholds[number], lengths[number] = listed.threshold, len(listed.positions)
        added[number] = listed.added
    score = None if stream.learning is None else stream.learning.score(lists.scorers)
    return ListerRun(thresholds, lengths, covered, added, begin, score)


def learn(lists: Lists, rows: Rows, policy: Policy) -> Learned:
    """Return the score that a lister learns in its first rounds; that of equal weights if they end before the fit."""
    stream = _stream(Settings(policy=policy, score="auto"))
    assert stream.learning is not None  # noqa: S101 - for the type checker
    for number, row in enumerate(rows.tolist()):
        if not _is_fitting(stream):
            break
        _answer(stream, lists, number, row)
    return stream.learning.score(lists.scorers)


def _stream(settings: Settings) -> Stream:
    return Stream(settings, learning=make_learning(settings))


def _is_fitting(stream: Stream) -> bool:
    return stream.learning is not None and stream.learning.state.fitting


def _answer(stream: Stream, lists: Lists, number: int, row: int) -> tuple[Listed, bool]:
    """Show a list and give its answer; return the list, and whether the right answer was in it."""
    values, right = lists.table(row)
    listed = stream.decide(number, values, scorers=lists.scorers)
    stream.fold(listed)
    shown = right in listed.positions
    event = admit(listed, right if shown else Answer.MISS)
    assert event is not None  # noqa: S101 - it is the first answer
    stream.fold(event)
    return listed, shown
