"""Observed coverage by the caller's tags of a round: its language, its customer.

Tags affect no list: all rounds share one threshold, and the guarantee is over all of them together. A subgroup may be
covered less than the rest, and this shows it. (For one threshold per group, see `shortlist.GroupedShortlister`.)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from shortlist._shares import wilson
from shortlist.errors import InvalidParameter
from shortlist.rounds.shown import RoundName

__all__ = ["OTHERS", "Subgroup", "Subgroups", "SubgroupsState", "Tags", "check_tags", "subgroups_of"]

#: The tags of a round, by name.
Tags = Mapping[str, str | int] | None

#: The most tags of a round, the most distinct tags overall, the greatest length of a tag and its value, and the most
#: distinct values of a tag.
_TAGS: Final = 10
_NAMES: Final = 50
_LENGTH: Final = 100
_VALUES: Final = 200
#: The value under which all further ones are counted together.
OTHERS: Final = "(others)"


class Subgroup(NamedTuple):
    """The rounds with one value of one tag.

    Attributes
    ----------
    tag, value
        The tag and its value.
    rounds
        The number of rounds shown.
    hits, misses
        The number of final answers that the list had, and had not; in shadow mode, would have had.
    coverage
        The share of hits among these; None if there is no answer.
    interval
        The 95 % Wilson interval of `coverage`. With many subgroups, one in twenty is outside its interval by chance.
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
    """The state of the counts."""

    #: The tags of rounds without a final answer.
    open: dict[RoundName, dict[str, str]] = field(default_factory=dict)
    #: For each tag and value: rounds, hits, misses.
    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)


class Subgroups:
    """Counts of rounds by tag.

    Parameters
    ----------
    state
        The state to continue from.
    """

    def __init__(self, state: SubgroupsState | None = None) -> None:
        self.state = SubgroupsState() if state is None else state

    def show(self, round_id: RoundName, tags: Mapping[str, str]) -> None:
        """Record a round and its tags."""
        kept: dict[str, str] = {}
        for tag, value in tags.items():
            if tag not in self.state.counts and len(self.state.counts) == _NAMES:
                continue
            counts = self.state.counts.setdefault(tag, {})
            name = value if value in counts or len(counts) < _VALUES else OTHERS
            counts.setdefault(name, [0, 0, 0])[0] += 1
            kept[tag] = name
        self.state.open[round_id] = kept

    def answer(self, round_id: RoundName, *, missed: bool | None) -> None:
        """Take the final answer to a round: whether its list missed it; None if unknown."""
        for tag, value in self.state.open.pop(round_id, {}).items():
            if missed is not None:
                self.state.counts[tag][value][1 + missed] += 1


def subgroups_of(states: Iterable[SubgroupsState]) -> list[Subgroup]:
    """Return the subgroups of several streams together, by tag and then by number of rounds."""
    together: dict[tuple[str, str], list[int]] = {}
    for state in states:
        for tag, counts in state.counts.items():
            for value, numbers in counts.items():
                sums = together.setdefault((tag, value), [0, 0, 0])
                sums[:] = [one + other for one, other in zip(sums, numbers, strict=True)]
    ordered = sorted(together.items(), key=lambda item: (item[0][0], -item[1][0], item[0][1]))
    return [_subgroup(tag, value, *counts) for (tag, value), counts in ordered]


def _subgroup(tag: str, value: str, rounds: int, hits: int, misses: int) -> Subgroup:
    answered = hits + misses
    coverage, interval = (hits / answered, wilson(hits, answered)) if answered else (None, None)
    return Subgroup(tag, value, rounds, hits, misses, coverage, interval)


def check_tags(tags: Any) -> dict[str, str] | None:
    """Return tags as strings, None if there are none; or raise."""
    if tags is None:
        return None
    if not isinstance(tags, Mapping):
        raise InvalidParameter(f'tags is {tags!r}; give names and values, for example {{"language": "de"}}')
    if len(tags) > _TAGS:
        raise InvalidParameter(f"there are {len(tags)} tags; a round may have at most {_TAGS}")
    return {_text("a tag", tag): _text(f"tag {tag!r}", value) for tag, value in tags.items()} or None


def _text(what: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidParameter(f"{what} is {value!r}; it must be a string or an integer")
    text = str(value)
    if not 0 < len(text) <= _LENGTH:
        raise InvalidParameter(f"{what} is {text[:40]!r}, of {len(text)} characters; it must have 1 to {_LENGTH}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidParameter(f"{what} is {text!r}, which is not valid Unicode") from None
    return text
