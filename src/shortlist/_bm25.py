"""BM25: how well passages match a question, by the words they share.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, with k1 = 1.2
and b = 0.75, and the variant of inverse document frequency that is never negative. Words are runs of letters
and digits, in lower case.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BM25"]

_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75


class BM25:
    """An index over passages.

    Parameters
    ----------
    passages
        The passages.
    question
        The only question that will be asked, for an index that is used once: it has no other words.

    Examples
    --------
    >>> index = BM25(["a cat sat", "a dog sat down", "fish swim"])
    >>> index.best("where did the dog sit down", 2).tolist()
    [1, 0]
    """

    def __init__(self, passages: Sequence[str], question: str | None = None) -> None:
        asked = None if question is None else set(_WORD.findall(question.lower()))
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(passages))
        for number, passage in enumerate(passages):
            words = _WORD.findall(passage.lower())
            lengths[number] = len(words)
            for word, count in Counter(words if asked is None else filter(asked.__contains__, words)).items():
                postings[word].append((number, count))
        norms = _K1 * (1 - _B + _B * lengths / max(lengths.mean(), 1.0)) if len(passages) else lengths
        self.size = len(passages)
        self._weights: dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        for word, pairs in postings.items():
            where = np.array([number for number, _ in pairs])
            counts_of = np.array([count for _, count in pairs], dtype=np.float64)
            rarity = math.log(1 + (self.size - len(pairs) + 0.5) / (len(pairs) + 0.5))
            self._weights[word] = (where, rarity * counts_of * (_K1 + 1) / (counts_of + norms[where]))

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return how well each passage matches a question."""
        totals = np.zeros(self.size)
        for word in _WORD.findall(question.lower()):
            if word in self._weights:
                where, weights = self._weights[word]
                totals[where] += weights
        return totals

    def best(self, question: str, count: int) -> NDArray[np.intp]:
        """Return the best-matching passages, best first, ties in their original order."""
        return np.argsort(-self.scores(question), kind="stable")[:count]
