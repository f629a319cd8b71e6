"""From what searches returned to one list of candidates, each with a score by every search that returned it.

Two results are the same document if they have the same id. Where one of them has no id, they are the same if they say
the same. A document that a search returned twice has the better of its scores there; one that a search did not
return has no score there, which is NaN.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from shortlist._validation import Member
from shortlist.errors import InvalidScores

__all__ = ["Candidates", "SearchResult", "content_name", "distinct", "merge", "numbers"]

Item = TypeVar("Item")


class SearchResult(NamedTuple, Generic[Item]):
    """What a search returned."""

    items: Sequence[Item]
    #: As the store gives them.
    scores: Sequence[float]
    #: Whether the store may have more.
    more: bool


class Candidates(NamedTuple, Generic[Item]):
    """What a list is made of."""

    items: list[Item]
    ids: list[Member]
    #: One score for each item by each search, larger is better; a search without a name is called "".
    scores: dict[str, list[float]]
    #: The lowest score that a search returned, for those that may have more.
    below: dict[str, float]

    def by_member(self) -> dict[Member, Any]:
        """Return the scores of each item: a number, or a number by each search where these have names."""
        if list(self.scores) == [""]:
            return dict(zip(self.ids, self.scores[""], strict=True))
        rows = zip(*self.scores.values(), strict=True)
        return {member: dict(zip(self.scores, row, strict=True)) for member, row in zip(self.ids, rows, strict=True)}


class _Positions:
    """Where each document stands in the list of candidates."""

    def __init__(self) -> None:
        self.members: list[Member] = []
        self._by_id: dict[Member, int] = {}
        self._by_content: dict[str, int] = {}
        # Those that no search has given an id yet.
        self._nameless: dict[str, int] = {}

    def of(self, identity: Any, content: str) -> int:
        """Return the position of a document: its own if it is new."""
        name = content_name(content)
        if not is_usable(identity):
            if name not in self._by_content:
                self._nameless[name] = self._by_content[name] = self._add(name)
            return self._by_content[name]
        if identity not in self._by_id:
            position = self._nameless.pop(name, None)
            if position is None:
                position = self._add(identity)
            self.members[position] = identity
            self._by_id[identity] = position
            self._by_content.setdefault(name, position)
        return self._by_id[identity]

    def _add(self, member: Member) -> int:
        self.members.append(member)
        return len(self.members) - 1


def merge(
    searches: Mapping[str, SearchResult[Item]], identify: Callable[[Item], tuple[Any, str | None]]
) -> Candidates[Item]:
    """Return the candidates of several searches.

    Parameters
    ----------
    searches
        What each search returned, with scores of which larger is better.
    identify
        From an item to its id, None where it has none, and what it says.
    """
    positions, items = _Positions(), list[Item]()
    columns: dict[str, dict[int, float]] = {name: {} for name in searches}
    for name, results in searches.items():
        column = columns[name]
        for item, score in zip(results.items, results.scores, strict=True):
            identity, content = identify(item)
            position = positions.of(identity, content or "")
            if position == len(items):
                items.append(item)
            column[position] = max(score, column.get(position, -math.inf))
    scores = {name: [column.get(i, math.nan) for i in range(len(items))] for name, column in columns.items()}
    below = {name: min(results.scores) for name, results in searches.items() if results.more and results.scores}
    return Candidates(items, positions.members, scores, below)


def content_name(content: str) -> str:
    """Return a name for a document that has no id, made of what it says."""
    return f"content-{hashlib.sha256(content.encode(errors='surrogatepass')).hexdigest()[:32]}"


def is_usable(identity: Any) -> bool:
    """Return whether a lister can take this for an id."""
    return isinstance(identity, (str, int)) and not isinstance(identity, bool)


def distinct(ids: Sequence[Any]) -> list[Member]:
    """Return the ids, or positions where they are missing or the same."""
    usable = [identity for identity in ids if is_usable(identity)]
    return list(usable) if len(set(usable)) == len(ids) else list(range(len(ids)))


def numbers(scores: Any, search: str = "", *, gaps: bool = False) -> list[float]:
    """Return scores as numbers, or say which one is none; with `gaps` None and NaN are scores that are missing."""
    where = f" of the search {search!r}" if search else ""
    try:
        given = list(scores)
    except TypeError:
        raise InvalidScores(f"the scores{where} are {scores!r}; give one number for each result") from None
    values = list[float]()
    for position, score in enumerate(given):
        try:
            value = math.nan if score is None else float(score)
        except (TypeError, ValueError):
            raise InvalidScores(f"result {position}{where} has the score {score!r}; it must be a number") from None
        if math.isnan(value) and not gaps:
            word = "no score" if score is None else "the score nan"
            raise InvalidScores(f"result {position}{where} has {word}; shortlist needs the score of every result")
        values.append(value)
    return values
