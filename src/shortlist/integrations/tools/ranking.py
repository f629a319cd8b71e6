"""How well each tool fits a task: by words, and by meaning where there are embeddings.

The lister learns how to weight the two, so nothing has to be tuned here.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shortlist._bm25 import BM25
from shortlist.errors import InvalidScores
from shortlist.integrations.tools.tool import Tool, words_of

__all__ = ["Embed", "Ranking"]

_log = logging.getLogger("shortlist.tools")

Array = NDArray[np.float64]
#: A function from texts to vectors, one each.
Embed = Callable[[list[str]], Any]
#: The most texts in one call, and the most characters of each.
_AT_ONCE: Final = 64
_LONGEST: Final = 2_000


class Ranking:
    """BM25 over names, descriptions and parameters, and optionally the cosine of embeddings.

    Parameters
    ----------
    embed
        A function from a list of texts to one vector each; by default only BM25 is used.
    """

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._index: BM25 | None = None
        self._texts: list[str] = []
        self._vectors: dict[str, Array] = {}

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names of its scorers."""
        return ("bm25",) if self._embed is None else ("bm25", "embedding")

    def scores(self, task: str, tools: Sequence[Tool]) -> dict[str, Array]:
        """Return the scores of tools for a task, by scorer; embeddings that fail give none.

        Parameters
        ----------
        task
            What an agent wants to do.
        tools
            The tools.

        Returns
        -------
        dict[str, Array]
            One number per tool for each scorer; NaN where it has none.
        """
        texts = [tool.text for tool in tools]
        with self._lock:
            if self._index is None or texts != self._texts:
                self._index, self._texts = BM25(texts), texts
            index = self._index
        scores = {"bm25": index.scores(words_of(task))}
        if self._embed is not None:
            try:
                scores["embedding"] = self._cosines(self._embed, task, tools)
            except Exception as error:  # noqa: BLE001 - a function of the user's, or a server: search goes on by words
                _log.warning("this search is by words alone: embeddings failed: %s: %s", type(error).__name__, error)
                scores["embedding"] = np.full(len(tools), np.nan)
        return scores

    def _cosines(self, embed: Embed, task: str, tools: Sequence[Tool]) -> Array:
        texts = [f"{tool.name}: {tool.description}"[:_LONGEST] for tool in tools]
        # Vectors of tools that are gone are dropped; another search may do the same meanwhile, with other tools.
        needed = set(texts)
        vectors = {text: vector for text, vector in self._vectors.items() if text in needed}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        for start in range(0, len(new), _AT_ONCE):
            batch = new[start : start + _AT_ONCE]
            vectors.update(zip(batch, _normed(embed(batch), len(batch)), strict=True))
        (of_task,) = _normed(embed([task[:_LONGEST]]), 1)
        if any(vector.shape != of_task.shape for vector in vectors.values()):
            self._vectors = {}  # of another model, perhaps: the next search asks for all of them
            raise InvalidScores("those of the task and of the tools differ in length; use one model")
        self._vectors = vectors
        cosines: Array = np.stack([vectors[text] for text in texts]) @ of_task
        return cosines


def _normed(given: Any, count: int) -> Array:
    """Return vectors scaled to length one, or raise."""
    vectors = np.asarray(given, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise InvalidScores(f"they have the shape {vectors.shape}; there must be {count} vectors of finite numbers")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normed: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return normed
