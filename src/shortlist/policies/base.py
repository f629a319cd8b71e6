"""The protocol of a policy, and its contract in words.

A **policy** is a frozen dataclass of hyper-parameters. Its **state** is a separate plain object of
floats, ints and lists, changed in place: it serializes to JSON directly, and hides no clock, randomness
or I/O.

- ``policy.init()``: a fresh state. Two fresh states are equal.
- ``policy.update(state, score)``: one round with a prompt answer: the true label's score, or None for a
  miss. A score below the threshold in force was not shown, so it counts as a miss, even if a caller reports it.
  This is what makes every policy *semi-bandit*: no score below the threshold ever reaches it.
- ``state.threshold``: the threshold in force for the next list, ``{candidate : score >= threshold}``.

The contract, which one test checks for every policy: updates are deterministic; a state saved and
restored at any round continues with the same bits; hyper-parameters never change; ties, constants,
huge and tiny values all work; and ``shortlist.replay`` gives the same bits as round by round.

The last one holds by construction. A policy's ``rule`` is written once, as a *step*: a plain function over
numbers, with the same signature for every policy (`Step`):

    carry = step(carry, values, constants, seen, missed)

- `carry`: a tuple of numbers, the threshold first; the step returns the next one;
- `values`: a list of floats that the step may change;
- `constants`: a tuple of numbers that never change;
- `seen`: the score of a hit, or `MISS`;
- `missed`: whether the right answer was not in the list. Under full feedback (for comparison only) a miss has a
  score too, so `seen` alone is not enough.

Streaming calls that function directly; replay compiles the same function when numba is installed. So a step
uses only arithmetic, ``math``, ``heapq`` and other plain functions, never numpy (``np.log`` and ``math.log``
differ in the last bit at some integers).

A step that seldom needs the values may have a ``prefilter``, a function that runs first, without them:

    carry, concerned = prefilter(schedule, carry, constants, seen)

The step runs only where `concerned` is true. ``policy.prefilter`` is the pair of that function and its `schedule`, a
plain function that it calls: functions cannot be among the constants. Passing the list costs as much as the rest of
a round, so this makes replay faster. The order-statistic rule has a prefilter, with its boundary as the schedule;
for most policies ``policy.prefilter`` is None.

``CONTRIBUTING.md`` says how to add a policy, and ``registry.py`` how one is named.
"""

import abc
import dataclasses
import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self, get_origin

__all__ = ["MISS", "NUMBERS", "Policy", "Prefilter", "Schedule", "State", "Step"]

MISS: Final = -math.inf
"""What a step sees when the true label was not in the list: below every score."""

#: Nested tuples of numbers.
NUMBERS = Annotated[Any, "nested tuples of numbers"]
# Carry and constants are tuples of each policy's own types.
#: (carry, values, constants, seen, missed) -> carry
Step = Callable[[Any, list[float], Any, float, bool], Any]
#: (n, k_n, first, second, constants) -> k_{n+1}, first, second: see `shortlist.boundaries.Boundary`
Schedule = Callable[[int, int, float, float, Any], tuple[int, float, float]]
#: (schedule, carry, constants, seen) -> carry, whether the step runs
Prefilter = Callable[[Schedule, Any, Any, float], tuple[Any, bool]]


@dataclass(slots=True)
class State:
    """The state of a policy: numbers, a list of scores, and the constants of its rule."""

    carry: NUMBERS
    values: list[float]
    constants: NUMBERS

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        threshold: float = self.carry[0]
        return threshold

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data: numbers and lists.

        Returns
        -------
        dict[str, Any]
            The fields by name.
        """
        return {field.name: _lists(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the state that `to_dict` described, with the same bits.

        Parameters
        ----------
        data
            What `to_dict` returned.

        Returns
        -------
        Self
            The state.
        """
        kinds: dict[str, Any] = {field.name: get_origin(field.type) for field in dataclasses.fields(cls)}
        return cls(
            **{
                name: kinds[name](_tuples(value)) if kinds[name] in (list, set, dict) else _tuples(value)
                for name, value in data.items()
            }
        )


class Policy(abc.ABC):
    """The base class of all policies. Subclasses are frozen dataclasses of their hyper-parameters."""

    #: The policy's key in the registry, and its name in files.
    key: ClassVar[str]
    #: For a policy of your own: the parameter that a number after an @ sets.
    setting: ClassVar[str | None] = None
    #: For a policy of your own: the values that experiments choose the setting from.
    grid: ClassVar[tuple[float, ...]] = ()
    #: What `init` returns.
    state_type: ClassVar[type[State]] = State

    @staticmethod
    @abc.abstractmethod
    def rule(carry: Any, values: list[float], constants: Any, seen: float, missed: bool, /) -> Any:
        """Return the carry after one round: the step, a plain function over numbers.

        Parameters
        ----------
        carry
            A tuple of numbers, the threshold first.
        values
            A list of floats that the step may change.
        constants
            A tuple of numbers that never change.
        seen
            The score of a hit, or `MISS`.
        missed
            Whether the right answer was not in the list.

        Returns
        -------
        Any
            The next carry.
        """

    @property
    def prefilter(self) -> tuple[Prefilter, Schedule] | None:
        """A function that decides, before the step, whether the step runs, and its schedule; None if there is none."""
        return None

    @abc.abstractmethod
    def init(self) -> State:
        """Return a fresh state.

        Returns
        -------
        State
            The state before the first round.
        """

    def update(self, state: State, score: float | None) -> None:
        """Take the answer of one round.

        Parameters
        ----------
        state
            The state, changed in place.
        score
            The true label's score, or None for a miss; one below the threshold counts as a miss.
        """
        # + 0.0 makes one zero of two, as replay does.
        self.learn(state, score + 0.0 if score is not None and score >= state.carry[0] else MISS)

    def learn(self, state: State, seen: float) -> None:
        """Take one round as it was seen, whatever the threshold is now.

        Parameters
        ----------
        state
            The state, changed in place.
        seen
            The score of a hit, or `MISS`.
        """
        state.carry = type(self).rule(state.carry, state.values, state.constants, seen, seen == MISS)

    def take(self, state: State, score: float | None, bound: float) -> None:
        """Take the answer of a round that was shown with a `bound`: its threshold, whatever it is now.

        Parameters
        ----------
        state
            The state, changed in place.
        score
            The true label's score, or None for a miss; one below the bound counts as a miss.
        bound
            The threshold of the round.
        """
        self.learn(state, score if score is not None and score >= bound else MISS)

    def to_dict(self) -> dict[str, Any]:
        """Return kind and hyper-parameters as plain data.

        Returns
        -------
        dict[str, Any]
            What `shortlist.policies.policy_from_dict` takes.
        """
        return {"kind": self.key} | {
            field.name: _describe(getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.init
        }


def _describe(value: Any) -> Any:
    """Return a hyper-parameter as plain data; a boundary becomes its class name and fields."""
    if not dataclasses.is_dataclass(value):
        return value
    fields = {field.name: _describe(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {"kind": type(value).__name__} | fields


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return [_lists(item) for item in value.items()]
    return [_lists(item) for item in value] if isinstance(value, (tuple, list, set, array)) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, (tuple, list)) else value
