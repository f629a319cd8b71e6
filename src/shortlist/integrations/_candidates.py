"""From the results of searches to one list of candidates, each with a score from every search that returned it.

Two results are the same document if they have the same id. If one of them has no id, they are the same if their texts
are the same. A document that a search returned twice gets the better of its scores there; one that a search did not
return has no score there: NaN.
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
    """The results of a search."""

    items: Sequence[Item]
    #: As the store returns them.
    scores: Sequence[float]
    #: Whether the store may have more.
    more: bool
    #: Whether the store is known to return the best first.
    best_first: bool = False


class Candidates(NamedTuple, Generic[Item]):
    """The candidates of a list."""

    items: list[Item]
    ids: list[Member]
    #: For each search, one score per item, larger is better; an unnamed search is called "".
    scores: dict[str, list[float]]
    #: The lowest score that a search returned, for those that may have more.
    below: dict[str, float]

    def by_member(self) -> dict[Member, Any]:
        """Return the scores of each item: a number, or one number per search if these have names."""
        if list(self.scores) == [""]:
            return dict(zip(self.ids, self.scores[""], strict=True))
        rows = zip(*self.scores.values(), strict=True)
        return {member: dict(zip(self.scores, row, strict=True)) for member, row in zip(self.ids, rows, strict=True)}


class _Positions:
    """The position of each document in the list of candidates."""

    def __init__(self) -> None:
        self.members: list[Member] = []
        self._by_id: dict[Member, int] = {}
        self._by_content: dict[str, int] = {}
        # Those without an id so far.
        self._nameless: dict[str, int] = {}

    def of(self, identity: Any, content: str) -> int:
        """Return the position of a document, a new one if it is new."""
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
        The results of each search, with scores for which larger is better.
    identify
        A function from an item to its id, None if it has none, and its text.
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
    """Return a name for a document without an id, derived from its text."""
    return f"content-{hashlib.sha256(content.encode(errors='surrogatepass')).hexdigest()[:32]}"


def is_usable(identity: Any) -> bool:
    """Return whether a lister accepts this as an id."""
    return isinstance(identity, (str, int)) and not isinstance(identity, bool)


def distinct(ids: Sequence[Any]) -> list[Member]:
    """Return the ids, or positions if some are missing or equal."""
    usable = [identity for identity in ids if is_usable(identity)]
    return list(usable) if len(set(usable)) == len(ids) else list(range(len(ids)))


def numbers(scores: Any, search: str = "", *, gaps: bool = False) -> list[float]:
    """Return scores as numbers, or raise; with `gaps`, None and NaN stand for missing scores."""
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
