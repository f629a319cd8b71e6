"""Labeled questions, searched as lists are: from the ids of right documents to lists and positions for a warm start."""

import logging
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from shortlist._validation import plain_member
from shortlist.errors import InvalidParameter
from shortlist.integrations._candidates import Candidates

__all__ = ["Labels", "Progress", "to_terminal"]

#: Called with how many are done, and of how many.
Progress = Callable[[int, int], None]
_log: Final = logging.getLogger("shortlist")


def to_terminal(done: int, count: int) -> None:
    """Count questions on a terminal, if there is one."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done:,} of {count:,} questions searched" + "\n" * (done == count))
        sys.stderr.flush()


class Labels:
    """The lists of labeled questions, as `warm_start` takes them.

    Parameters
    ----------
    questions, right_ids
        The questions, and the ids of the right documents of each.
    identity_of, metadata_of
        Return the id of a document, with its text, and its metadata.
    by
        What a right id is compared with: a key of the metadata, a function of it, or the document's own id.
    """

    def __init__(
        self,
        questions: Sequence[str],
        right_ids: Sequence[Any],
        identity_of: Callable[[Any], tuple[Any, Any]],
        metadata_of: Callable[[Any], Any],
        by: Any,
    ) -> None:
        self.questions, self._right_ids = _as_list("questions", questions), _as_list("right_ids", right_ids)
        if len(self.questions) != len(self._right_ids):
            raise InvalidParameter(
                f"there are {len(self.questions)} questions and {len(self._right_ids)} right_ids; give the id of the "
                "right document of each question"
            )
        if not self.questions:
            raise InvalidParameter("questions is empty; give labeled questions, some fifteen at least")
        self._needed = [_needed(i, right) for i, right in enumerate(self._right_ids)]
        self.lists: list[Any] = []
        self.right: list[Any] = []
        self._identity_of, self._metadata_of, self._by = identity_of, metadata_of, by
        self._seen: Any = None

    def add(self, candidates: Candidates[Any]) -> None:
        """Take the candidates of the next question."""
        needed = self._needed[len(self.lists)]
        names = [self._name(item) for item in candidates.items]
        if self._seen is None and names:
            self._seen = names[0]
        ranks = _ranks(candidates)
        positions = []
        for one in needed:
            alike = [i for i, name in enumerate(names) if _is_same(name, one, by_id=self._by is None)]
            if alike:
                positions.append(min(alike, key=ranks.__getitem__))
        columns = list(candidates.scores.values())
        scores = columns[0] if len(columns) == 1 else candidates.scores  # one has no name, as when it is shown
        self.lists.append(scores if candidates.ids else [])
        is_there = len(positions) == len(needed)
        self.right.append(-1 if not is_there else positions[0] if len(positions) == 1 else positions)

    def _name(self, item: Any) -> Any:
        """Return what a right id is compared with."""
        if self._by is None:
            return self._identity_of(item)[0]
        metadata = self._metadata_of(item)
        return self._by(metadata) if callable(self._by) else metadata.get(self._by)

    def checked(self) -> int:
        """Return for how many questions the right document was found, or raise if for none."""
        count: int = sum(right != -1 for right in self.right)
        if not count:
            raise InvalidParameter(
                f"no search found the right document of any of {len(self.right):,} questions: right_ids are like "
                f"{self._right_ids[0]!r}, and documents are like {self._seen!r}; if their ids are in the metadata, say "
                "where: by='...'"
            )
        if count < len(self.right):
            _log.info("the right document was found for %s of %s labeled questions", count, len(self.right))
        return count


def _as_list(name: str, given: Any) -> list[Any]:
    """Return labels as a list, or raise."""
    if isinstance(given, (str, bytes, Mapping, set, frozenset)) or not isinstance(given, Iterable):
        raise InvalidParameter(f"{name} is {str(given)[:60]!r}; give a list with one entry per question")
    return list(given)


def _needed(i: int, right: Any) -> list[Any]:
    """Return the ids of the right documents of a question, all of them needed."""
    several = [plain_member(one) for one in (right if isinstance(right, (list, tuple)) else [right])]
    if not several or not all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in several):
        raise InvalidParameter(
            f"right_ids[{i}] is {right!r}; it must be the id of a document, or a list of ids if all of them are needed"
        )
    return several


def _is_same(name: Any, right: Any, *, by_id: bool) -> bool:
    """Return whether a document is the right one; frameworks turn ids into texts."""
    name = plain_member(name)
    return (name == right and type(name) is type(right)) or (by_id and isinstance(name, str) and name == str(right))


def _ranks(candidates: Candidates[Any]) -> list[int]:
    """Return the best rank that each candidate has in any search."""
    best = [len(candidates.items)] * len(candidates.items)
    for column in candidates.scores.values():
        order = sorted((i for i, value in enumerate(column) if not math.isnan(value)), key=lambda i: -column[i])
        for rank, i in enumerate(order):
            best[i] = min(best[i], rank)
    return best
