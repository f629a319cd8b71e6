"""The protocol of a policy, and its contract in words.

A **policy** is a frozen dataclass of hyper-parameters. Its **state** is a separate plain object of
floats, ints and lists, changed in place: it goes to JSON as it is, and hides no clock, randomness
or I/O.

- ``policy.init()``: a fresh state. Two fresh states are equal.
- ``policy.update(state, score)``: one round with a prompt answer: the true label's score, or None for a
  miss. A score below the threshold in force was not shown, so it counts as a miss, whoever reports it.
  This is what makes every policy *semi-bandit*: nothing below the threshold ever reaches it.
- ``state.threshold``: the threshold in force for the next list, ``{candidate : score >= threshold}``.

The contract, which one test runs every policy through: updates are deterministic; a state saved and
restored at any round goes on with the same bits; hyper-parameters never change; ties, constants,
huge and tiny values are all right; and ``shortlist.replay`` gives the same bits as round by round.

The last one holds by construction. A policy's ``rule`` is written once, as a step: a plain function
over numbers:

    carry = step(carry, values, constants, seen, missed)

(the order-statistic rule, which comes in two parts, is the exception: see below) where `carry` is a
tuple with the threshold first, `values` a list of floats that the step may change, `constants` a
tuple of numbers, `seen` the score of a hit or `MISS`, and `missed` whether the right answer was not
in the list: under full feedback (for comparing only) misses have a score too. Streaming calls that
function as it is; replay compiles the same function when numba is installed. So a step
uses nothing but arithmetic, ``math``, ``heapq`` and other plain functions, never numpy (``np.log``
and ``math.log`` differ in the last bit at some integers).

A rule that seldom needs the values may come in two parts: ``glance(advance, carry, constants, seen)``,
without them, that returns the carry and whether the step is called at all, and then
``step(carry, values, constants, seen)``. Only the order-statistic rule does; `advance` is its boundary's.

``CONTRIBUTING.md`` says how to add a policy, in four steps.
"""

import abc
import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self, get_origin

__all__ = ["MISS", "NUMBERS", "Policy", "State"]

MISS: Final = -math.inf
"""What a step sees when the true label was not in the list: lower than every score."""

#: Nested tuples of numbers.
NUMBERS = Annotated[Any, "nested tuples of numbers"]
#: (carry, values, constants, seen, missed) -> carry; each policy's own types, so loose here.
Step = Callable[..., Any]


@dataclass(slots=True)
class State:
    """What a policy remembers: numbers, a list of scores, and the constants of its rule."""

    carry: NUMBERS
    values: list[float]
    constants: NUMBERS

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        threshold: float = self.carry[0]
        return threshold

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data: numbers and lists."""
        return {field.name: _lists(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the state that `to_dict` described."""
        kinds: dict[str, Any] = {field.name: get_origin(field.type) for field in dataclasses.fields(cls)}
        return cls(
            **{
                name: kinds[name](_tuples(value)) if kinds[name] in (list, set, dict) else _tuples(value)
                for name, value in data.items()
            }
        )


class Policy(abc.ABC):
    """What all policies share. Subclasses are frozen dataclasses of their hyper-parameters."""

    #: The policy's name on the command line and in files.
    key: ClassVar[str]
    #: The step that is the policy's rule: a plain function over numbers.
    rule: ClassVar[Step]
    #: The part of the rule that comes before the step, if it is in two parts.
    glance: ClassVar[Step | None] = None
    #: What `init` returns.
    state_type: ClassVar[type[State]] = State

    @abc.abstractmethod
    def init(self) -> State:
        """Return a fresh state."""

    def update(self, state: State, score: float | None) -> None:
        """Take the answer of one round: the true label's score, or None for a miss."""
        # + 0.0 makes one zero of two, as replay does.
        self.learn(state, score + 0.0 if score is not None and score >= state.carry[0] else MISS)

    def learn(self, state: State, seen: float) -> None:
        """Take one round as it was seen: the score of a hit, whatever the threshold is now, or MISS."""
        state.carry = type(self).rule(state.carry, state.values, state.constants, seen, seen == MISS)

    def to_dict(self) -> dict[str, Any]:
        """Return kind and hyper-parameters as plain data."""
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
    return [_lists(item) for item in value] if isinstance(value, (tuple, list, set)) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, (tuple, list)) else value
