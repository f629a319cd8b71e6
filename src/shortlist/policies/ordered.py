"""Rounds that enter a policy's sample in the order in which they were shown, however late their answers are.

A round enters when it is answered, or when enough later ones have been shown; an answered round behind an open one
waits. So the sample is always a prefix of the rounds shown: an answered round that overtook an open one would tell of
its answer by its place. A round that enters unanswered is corrected when its answer arrives.

What entering and correcting mean is the policy's own: `_judge`, `_enter`, `_correct`, `_leave`.
"""

import abc
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final

from shortlist.policies.base import MISS, Policy, State

__all__ = ["WITHDRAWN", "Joined", "Ordered", "OrderedState"]

#: A round that has entered the sample: its index, and the score of a hit, MISS, or None without an answer.
Joined = tuple[int, float | None]

#: Takes the position of a round that was withdrawn: the round never enters the sample.
WITHDRAWN: Final = math.inf


@dataclass(slots=True)
class OrderedState(State):
    """The state of a policy whose rounds enter in order, with its open rounds."""

    share: float = 1.0
    #: Restarts so far; the index counters below are this epoch's.
    epoch: int = 0
    #: Rounds shown in this epoch.
    shown: int = 0
    #: Rounds of this epoch that have entered the sample or were withdrawn: a prefix of those shown.
    passed: int = 0
    #: Unanswered rounds: id -> (epoch, index, the bound that their answers are judged against).
    open: dict[Hashable, tuple[int, int, float]] = field(default_factory=dict)
    #: Closed rounds behind an open one: index -> score, MISS, +inf if withdrawn.
    waiting: dict[int, float] = field(default_factory=dict)
    #: Those of them that will never be answered.
    silent: set[int] = field(default_factory=set)


class Ordered(Policy):
    """A policy whose rounds enter in the order shown; its states are of type `OrderedState`."""

    @abc.abstractmethod
    def init(self, share: float = 1.0) -> OrderedState:
        """Return a fresh state.

        Parameters
        ----------
        share
            The share of the policy's delta, if it has one, that may be used.

        Returns
        -------
        OrderedState
            The state before the first round.
        """

    @abc.abstractmethod
    def _judge(self, score: float | None, bound: float) -> float:
        """Return what an answer says: the score of a hit, or `MISS`; `bound` is what its list was shown with."""

    @abc.abstractmethod
    def _enter(self, state: Any, index: int, seen: float | None) -> None:
        """Add a round to the sample: the score of a hit, `MISS`, or None if it has no answer yet."""

    @abc.abstractmethod
    def _correct(self, state: Any, index: int, seen: float) -> None:
        """Take the answer of a round that entered without one."""

    def _leave(self, state: Any) -> None:
        """Pass over a round that was withdrawn before it entered."""

    def show(self, state: Any, name: Hashable, bound: float | None = None, epoch: int | None = None) -> None:
        """Open a round under a name; its answer is judged against its own bound, by default the threshold now.

        A replica that shows lists from an older copy of the state passes that copy's bound and `epoch`; a
        round of an older epoch never enters the sample.

        Parameters
        ----------
        state
            The state, changed in place.
        name
            The round's name, not used by another open round.
        bound
            What answers are judged against: the threshold that the list was cut at; by default the one in force.
        epoch
            The epoch it was cut in; by default the current one.
        """
        state.open[name] = (
            state.epoch if epoch is None else epoch,
            state.shown,
            state.threshold if bound is None else bound,
        )
        state.shown += epoch is None or epoch == state.epoch

    def answer(self, state: Any, name: Hashable, score: float | None) -> list[Joined]:
        """Take the answer to an open round, judged against that round's own bound.

        Parameters
        ----------
        state
            The state, changed in place.
        name
            The name of an open round.
        score
            The true label's score, or None for a miss.

        Returns
        -------
        list[Joined]
            The rounds that entered the sample, in order.
        """
        epoch, index, bound = state.open.pop(name)
        seen = self._judge(score, bound)
        if index != state.passed or epoch != state.epoch:
            return self._close(state, epoch, index, seen)
        state.passed = index + 1  # in order, as nearly all are
        self._enter(state, index, seen)
        return [(index, seen), *self.advance(state)] if state.waiting else [(index, seen)]

    def silence(self, state: Any, name: Hashable) -> list[Joined]:
        """Close an open round that will never be answered: it counts as missed.

        Parameters
        ----------
        state
            The state, changed in place.
        name
            The name of an open round.

        Returns
        -------
        list[Joined]
            The rounds that entered the sample, in order.
        """
        epoch, index, _ = state.open.pop(name)
        if epoch == state.epoch and index >= state.passed:
            state.silent.add(index)
        return self._close(state, epoch, index, MISS)

    def withdraw(self, state: Any, name: Hashable) -> list[Joined]:
        """Remove an open round; one that is already in the sample stays there as missed.

        Parameters
        ----------
        state
            The state, changed in place.
        name
            The name of an open round.

        Returns
        -------
        list[Joined]
            The rounds that entered the sample, in order.
        """
        epoch, index, _ = state.open.pop(name)
        return self._close(state, epoch, index, WITHDRAWN)

    def _close(self, state: Any, epoch: int, index: int, seen: float) -> list[Joined]:
        if epoch != state.epoch:
            return []  # of another epoch: accepted, never counted
        if index >= state.passed:
            state.waiting[index] = seen
            return self.advance(state) if index == state.passed else []
        self._correct(state, index, MISS if seen == WITHDRAWN else seen)
        return []

    def advance(self, state: Any, until: int = 0) -> list[Joined]:
        """Add rounds to the sample in the order shown: closed ones, and all with an index below `until`.

        An unanswered round enters as missed and is corrected if a hit arrives. Any `until` is safe;
        ``shown - patience`` waits for a round while `patience` later ones are shown.

        Parameters
        ----------
        state
            The state, changed in place.
        until
            Rounds with an index below this enter even if unanswered.

        Returns
        -------
        list[Joined]
            The rounds that entered the sample, in order: index, and the score of a hit, `MISS`, or None without an
            answer.
        """
        joined: list[Joined] = []
        waiting, silent = state.waiting, state.silent
        while (index := state.passed) < state.shown:
            seen = waiting.pop(index, None)
            if seen is None and index >= until:
                break
            state.passed = index + 1
            if seen == WITHDRAWN:
                self._leave(state)
                continue
            self._enter(state, index, seen)
            if silent and index in silent:
                silent.discard(index)
                seen = None
            joined.append((index, seen))
        return joined

    def restart(self, state: Any, share: float) -> None:
        """Start a new epoch: forget everything learned, and use `share` of delta from here on.

        Answers to rounds of older epochs are accepted but not counted.

        Parameters
        ----------
        state
            The state, changed in place.
        share
            The share of the policy's delta for the new epoch.
        """
        fresh = self.init(share)
        state.carry, state.values, state.constants = fresh.carry, fresh.values, fresh.constants
        state.share, state.epoch = share, state.epoch + 1
        state.shown = state.passed = 0
        state.waiting, state.silent = {}, set()
