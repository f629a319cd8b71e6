"""The order in which rounds enter, against the rule written out, whatever happens to them and in whatever order."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from shortlist.policies.base import MISS
from shortlist.policies.ordered import Ordered, OrderedState

WITHDRAWN = "withdrawn"


@dataclass(slots=True)
class Recorded(OrderedState):
    """What happened to the sample."""

    entered: list = field(default_factory=list)
    corrected: list = field(default_factory=list)
    left: int = 0


@dataclass(frozen=True)
class Recorder(Ordered):
    """A policy that writes down what enters, is corrected, and leaves."""

    key: ClassVar[str] = "recorder"

    @staticmethod
    def rule(carry, values, constants, seen, missed, /):  # noqa: ARG004
        return carry

    def init(self, share=1.0):
        return Recorded((-math.inf,), [], (), share=share)

    def _judge(self, score, bound):
        return MISS if score is None or score < bound else score

    def _enter(self, state, index, seen):
        state.entered.append((index, seen))

    def _correct(self, state, index, seen):
        state.corrected.append((index, seen))

    def _leave(self, state):
        state.left += 1


class WrittenOut:
    """The same from the whole history, computed again for every step: a prefix of the rounds shown."""

    def __init__(self):
        self.answers, self.waited, self.entered, self.corrected, self.left = {}, 0, [], [], 0
        self.shown = self.passed = 0

    def show(self):
        self.shown += 1

    def close(self, index, answer):
        if index >= self.passed:
            self.answers[index] = answer
        else:
            self.corrected.append((index, MISS if answer in (WITHDRAWN, None) else answer))

    def step(self, until=0):
        while self.passed < self.shown and (self.passed in self.answers or self.passed < until):
            answer = self.answers.get(self.passed)
            if answer == WITHDRAWN:
                self.left += 1
            else:
                open_or_silent = self.passed not in self.answers
                self.entered.append((self.passed, None if open_or_silent else MISS if answer is None else answer))
            self.passed += 1


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["show", "show", "hit", "low", "miss", "silence", "withdraw", "wait"]), st.integers(0, 20)
    ),
    max_size=120,
)


@given(MOVES)
def test_the_sample_is_always_a_prefix_of_the_rounds_shown(moves):
    policy, written = Recorder(), WrittenOut()
    state, names = policy.init(), []
    for move, number in moves:
        if move == "show":
            names.append(written.shown)
            policy.show(state, written.shown, bound=0.5)
            written.show()
        elif move == "wait":
            policy.advance(state, until=written.shown - number)
            written.step(until=written.shown - number)
        elif names:
            name = names.pop(number % len(names))
            if move == "hit":
                policy.answer(state, name, 0.7)
                written.close(name, 0.7)
            elif move in ("low", "miss"):  # a score below its round's bound is a miss
                policy.answer(state, name, 0.3 if move == "low" else None)
                written.close(name, None)
            elif move == "silence":
                policy.silence(state, name)
                written.close(name, None)
            else:
                policy.withdraw(state, name)
                written.close(name, WITHDRAWN)
            written.step()
        assert [index for index, _ in state.entered] == sorted(index for index, _ in state.entered)
        assert (state.entered, state.corrected, state.left) == (written.entered, written.corrected, written.left)
        assert (state.shown, state.passed, set(state.open)) == (written.shown, written.passed, set(names))


def test_rounds_of_an_older_epoch_never_enter():
    policy = Recorder()
    state = policy.init()
    policy.show(state, "old", bound=0.0)
    policy.restart(state, 0.5)
    policy.show(state, "copy", bound=0.0, epoch=0)  # cut by a replica that has not seen the restart
    policy.show(state, "new", bound=0.0)
    assert policy.answer(state, "old", 0.9) == policy.silence(state, "copy") == []
    assert policy.answer(state, "new", 0.9) == [(0, 0.9)]
    assert (state.epoch, state.share, state.entered) == (1, 0.5, [(0, 0.9)])


def test_a_silent_round_enters_without_an_answer_to_the_alarm():
    """It counts as missed for the threshold, and is no evidence of a miss."""
    policy = Recorder()
    state = policy.init()
    for name in ("first", "second"):
        policy.show(state, name, bound=0.0)
    policy.silence(state, "second")
    assert policy.answer(state, "first", 0.9) == [(0, 0.9), (1, None)]
