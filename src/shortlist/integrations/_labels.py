"""Labeled questions, searched as lists are: from the ids of right documents to lists and positions for a warm start."""

import logging
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

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
    metadata_of
        Returns the metadata of a document.
    by
        What a right id is compared with: a key of the metadata, a function of it, or the document's own id.
    """

    def __init__(
        self, questions: Sequence[str], right_ids: Sequence[Any], metadata_of: Callable[[Any], Any], by: Any
    ) -> None:
        if isinstance(questions, str) or isinstance(right_ids, str) or len(questions) != len(right_ids):
            raise InvalidParameter(
                f"questions and right_ids are {str(questions)[:40]!r} and {str(right_ids)[:40]!r}; give a list of "
                "questions, and the id of the right document of each"
            )
        if not questions:
            raise InvalidParameter("questions is empty; give labeled questions, some fifteen at least")
        self.lists: list[Any] = []
        self.right: list[Any] = []
        self._right_ids, self._metadata_of, self._by = list(right_ids), metadata_of, by
        self._seen: Any = None

    def add(self, candidates: Candidates[Any]) -> None:
        """Take the candidates of the next question."""
        right = self._right_ids[len(self.lists)]
        several = right if isinstance(right, (list, tuple)) else [right]
        names = [self._name(item, member) for item, member in zip(candidates.items, candidates.ids, strict=True)]
        if self._seen is None and names:
            self._seen = names[0]
        ranks = _ranks(candidates)
        positions = []
        for one in several:
            alike = [i for i, name in enumerate(names) if name == one and type(name) is type(one)]
            if alike:
                positions.append(min(alike, key=ranks.__getitem__))
        columns = list(candidates.scores.values())
        scores = columns[0] if len(columns) == 1 else candidates.scores  # one has no name, as when it is shown
        self.lists.append(scores if candidates.ids else [])
        is_there = len(positions) == len(several) > 0
        self.right.append(-1 if not is_there else positions[0] if len(positions) == 1 else positions)

    def _name(self, item: Any, member: Any) -> Any:
        """Return what a right id is compared with."""
        if self._by is None:
            return member
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


def _ranks(candidates: Candidates[Any]) -> list[int]:
    """Return the best rank that each candidate has in any search."""
    best = [len(candidates.items)] * len(candidates.items)
    for column in candidates.scores.values():
        order = sorted((i for i, value in enumerate(column) if not math.isnan(value)), key=lambda i: -column[i])
        for rank, i in enumerate(order):
            best[i] = min(best[i], rank)
    return best
