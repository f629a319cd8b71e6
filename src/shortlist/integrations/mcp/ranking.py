"""How well each tool fits a task: by words, and optionally by embeddings.

The lister learns how to weight them, so nothing has to be tuned here; but lists must be scored in the same way in every
round. So if the embeddings fail, there are no scores at all, and the gateway shows everything.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2
import numpy as np
from numpy.typing import NDArray

from shortlist._bm25 import BM25
from shortlist._files import import_file
from shortlist.errors import InvalidParameter, ServiceUnavailable
from shortlist.integrations.mcp.config import Embeddings
from shortlist.integrations.mcp.tools import Tool, words_of

__all__ = ["Embed", "Ranking", "Ranks", "make_embed"]

Array = NDArray[np.float64]
#: A function from texts to vectors, one each.
Embed = Callable[[list[str]], Awaitable[Array]]
#: The most texts in one request.
_AT_ONCE: Final = 64
_LONGEST: Final = 2_000


class Ranks(Protocol):
    """Anything that scores tools for a task: `Ranking`, or one of your own."""

    async def scores(self, task: str, tools: Sequence[Tool]) -> Any:
        """Return the scores of tools for a task; larger is better.

        Parameters
        ----------
        task
            What an agent wants to do.
        tools
            The tools.

        Returns
        -------
        Any
            What `Lister.propose` takes: one number per tool, or several by name.
        """


class Ranking:
    """BM25 over names, descriptions and parameters, and optionally the cosine of embeddings.

    Parameters
    ----------
    embed
        A function from texts to vectors; by default only BM25 is used.
    """

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed
        self._index: BM25 | None = None
        self._texts: list[str] = []
        self._vectors: dict[str, Array] = {}

    async def scores(self, task: str, tools: Sequence[Tool]) -> Any:
        """Return the scores of tools for a task.

        Parameters
        ----------
        task
            What an agent wants to do.
        tools
            The tools.

        Returns
        -------
        Any
            One number per tool; with embeddings ``{"bm25": ..., "embedding": ...}``.
        """
        texts = [tool.text for tool in tools]
        if self._index is None or texts != self._texts:
            self._index, self._texts = BM25(texts), texts
        by_words = self._index.scores(words_of(task))
        if self._embed is None:
            return by_words
        return {"bm25": by_words, "embedding": await self._cosines(self._embed, task, tools)}

    async def _cosines(self, embed: Embed, task: str, tools: Sequence[Tool]) -> Array:
        texts = [f"{tool.name}: {tool.description}"[:_LONGEST] for tool in tools]
        # Vectors of tools that are gone are dropped; another task may do the same meanwhile, with other tools.
        vectors = {text: vector for text, vector in self._vectors.items() if text in set(texts)}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        for start in range(0, len(new), _AT_ONCE):
            batch = new[start : start + _AT_ONCE]
            vectors.update(zip(batch, _normed(await embed(batch), len(batch)), strict=True))
        (of_task,) = _normed(await embed([task[:_LONGEST]]), 1)
        if any(vector.shape != of_task.shape for vector in vectors.values()):
            self._vectors = {}  # of another model, perhaps: the next task asks for all of them
            raise ServiceUnavailable("the embeddings of the task and of the tools differ in length; use one model")
        self._vectors = vectors
        cosines: Array = np.stack([vectors[text] for text in texts]) @ of_task
        return cosines


def make_embed(settings: Embeddings) -> Embed:
    """Return the function from texts to vectors that the settings describe.

    Parameters
    ----------
    settings
        The function, or the address of a service.

    Raises
    ------
    InvalidParameter
        If there is no such file, it cannot be imported, or it has no such function.
    """
    if settings.function is None:
        return _remote(settings)
    path_text, _, name = settings.function.rpartition(":")
    function = _load(Path(path_text), name)

    async def embed(texts: list[str]) -> Array:
        try:
            vectors = await anyio.to_thread.run_sync(function, texts)
            return np.asarray(await vectors if inspect.isawaitable(vectors) else vectors, dtype=np.float64)
        except Exception as error:
            raise ServiceUnavailable(f"{settings.function} raised {type(error).__name__}: {error}") from error

    return embed


def _remote(settings: Embeddings) -> Embed:
    host = urlsplit(str(settings.url)).hostname

    async def embed(texts: list[str]) -> Array:
        body: dict[str, Any] = {"input": texts} if settings.model is None else {"model": settings.model, "input": texts}
        try:
            async with httpx2.AsyncClient(timeout=settings.timeout, headers=dict(settings.headers)) as http:
                answer = await http.post(str(settings.url), json=body)
            answer.raise_for_status()
            return np.array([each["embedding"] for each in answer.json()["data"]], dtype=np.float64)
        except httpx2.HTTPStatusError as error:  # its own words have the whole address, where a key may be
            raise ServiceUnavailable(f"{host} gave no embeddings: status {error.response.status_code}") from None
        except (httpx2.HTTPError, LookupError, TypeError, ValueError) as error:
            raise ServiceUnavailable(f"{host} gave no embeddings: {type(error).__name__}: {error}") from error

    return embed


def _load(path: Path, name: str) -> Callable[[list[str]], Any]:
    if not path.is_file():
        raise InvalidParameter(f"embeddings.function: there is no file {path}")
    try:
        module = import_file(path)
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidParameter(f"embeddings.function: {path} cannot be imported ({reason}); correct it") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise InvalidParameter(f"embeddings.function: {path} has no function {name}")
    return function  # type: ignore[no-any-return]


def _normed(vectors: Array, count: int) -> Array:
    """Return vectors scaled to length one, or raise."""
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise ServiceUnavailable(
            f"the embeddings have the shape {vectors.shape}; there must be {count} vectors of finite numbers"
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normed: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return normed
