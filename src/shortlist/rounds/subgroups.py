"""Coverage after the fact, by what a caller says about a round: its language, its customer.

Tags decide nothing: all rounds share one threshold, and the guarantee is over all of them together. A subgroup may be
covered less than the rest, and this is how one sees it. (Groups, which have a threshold each, are
`shortlist.GroupedShortlister`.)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from shortlist._shares import wilson
from shortlist.errors import InvalidParameter
from shortlist.rounds.shown import RoundName

__all__ = ["OTHERS", "Subgroup", "Subgroups", "SubgroupsState", "Tags", "check_tags", "subgroups_of"]

#: What a caller says about a round, by name.
Tags = Mapping[str, str | int] | None

#: How many tags a round may have, how many are told apart in all, how long a tag and its value may be, and how many
#: values of a tag are told apart.
_TAGS: Final = 10
_NAMES: Final = 50
_LENGTH: Final = 100
_VALUES: Final = 200
#: The value under which those beyond that are counted together.
OTHERS: Final = "(others)"


class Subgroup(NamedTuple):
    """The rounds that have a tag with a value.

    Attributes
    ----------
    tag, value
        What they have in common.
    rounds
        How many were shown.
    hits, misses
        How many of them have their final answer, and whether the list had it; in shadow mode, would have had it.
    coverage
        The share of hits among these; None if there is no answer.
    interval
        Its 95 % interval (Wilson). With many subgroups, one in twenty is outside of its interval by chance.
    """

    tag: str
    value: str
    rounds: int
    hits: int
    misses: int
    coverage: float | None
    interval: tuple[float, float] | None


@dataclass(slots=True)
class SubgroupsState:
    """What is remembered of rounds that have tags."""

    #: The tags of rounds without a final answer.
    open: dict[RoundName, dict[str, str]] = field(default_factory=dict)
    #: Of each tag and value: rounds, hits, misses.
    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)


class Subgroups:
    """Rounds that have tags, counted.

    Parameters
    ----------
    state
        What is remembered, if it does not start.
    """

    def __init__(self, state: SubgroupsState | None = None) -> None:
        self.state = SubgroupsState() if state is None else state

    def show(self, round_id: RoundName, tags: Mapping[str, str]) -> None:
        """Take note of a round and its tags."""
        known: dict[str, str] = {}
        for tag, value in tags.items():
            if tag not in self.state.counts and len(self.state.counts) == _NAMES:
                continue
            counts = self.state.counts.setdefault(tag, {})
            name = value if value in counts or len(counts) < _VALUES else OTHERS
            counts.setdefault(name, [0, 0, 0])[0] += 1
            known[tag] = name
        self.state.open[round_id] = known

    def answer(self, round_id: RoundName, *, missed: bool | None) -> None:
        """Take the final answer of a round: whether its list missed it; None where that is not known."""
        for tag, value in self.state.open.pop(round_id, {}).items():
            if missed is not None:
                self.state.counts[tag][value][1 + missed] += 1


def subgroups_of(states: Iterable[SubgroupsState]) -> list[Subgroup]:
    """Return the subgroups of streams together, by tag and then by their number of rounds."""
    together: dict[tuple[str, str], list[int]] = {}
    for state in states:
        for tag, counts in state.counts.items():
            for value, numbers in counts.items():
                known = together.setdefault((tag, value), [0, 0, 0])
                known[:] = [one + other for one, other in zip(known, numbers, strict=True)]
    ordered = sorted(together.items(), key=lambda item: (item[0][0], -item[1][0], item[0][1]))
    return [_subgroup(tag, value, *counts) for (tag, value), counts in ordered]


def _subgroup(tag: str, value: str, rounds: int, hits: int, misses: int) -> Subgroup:
    answered = hits + misses
    known = (hits / answered, wilson(hits, answered)) if answered else (None, None)
    return Subgroup(tag, value, rounds, hits, misses, *known)


def check_tags(tags: Any) -> dict[str, str] | None:
    """Return tags as texts, None if there are none; or say what is wrong with them."""
    if tags is None:
        return None
    if not isinstance(tags, Mapping):
        raise InvalidParameter(f'tags is {tags!r}; give names and values, for example {{"language": "de"}}')
    if len(tags) > _TAGS:
        raise InvalidParameter(f"there are {len(tags)} tags; a round may have {_TAGS}")
    return {_text("a tag", tag): _text(f"tag {tag!r}", value) for tag, value in tags.items()} or None


def _text(what: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidParameter(f"{what} is {value!r}; it must be a text or a whole number")
    text = str(value)
    if not 0 < len(text) <= _LENGTH:
        raise InvalidParameter(f"{what} is {text[:40]!r}, of {len(text)} characters; it must have 1 to {_LENGTH}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidParameter(f"{what} is {text!r}, which is no valid Unicode") from None
    return text
