"""Embeddings of texts: an HTTP endpoint, or a local model of sentence-transformers."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InvalidParameter, ServiceUnavailable, needs_extra
from shortlist.integrations.tools.ranking import Embed

__all__ = ["endpoint", "local_model"]

#: After so many seconds without an answer a search goes on by words.
_TIMEOUT: Final = 5.0


def endpoint(
    url: str, model: str | None = None, *, headers: Mapping[str, str] | None = None, timeout: float = _TIMEOUT
) -> Embed:
    """Return a function that gets embeddings from an address of OpenAI's shape.

    Parameters
    ----------
    url
        An address that takes ``{"model": ..., "input": [texts]}`` and returns ``{"data": [{"embedding": [...]}]}``,
        such as ``http://127.0.0.1:8080/v1/embeddings``.
    model
        The model's name there.
    headers
        Headers to send, such as a key.
    timeout
        Seconds to wait for an answer.

    Returns
    -------
    Embed
        A function from texts to vectors, for `ToolShortlist`.
    """
    needs_extra("an endpoint of embeddings", "client", "httpx2")
    import httpx2  # noqa: PLC0415 - comes with the extra

    host, http = urlsplit(url).hostname, httpx2.Client(timeout=timeout, headers=dict(headers or {}))

    def embed(texts: list[str]) -> NDArray[np.float64]:
        body: dict[str, Any] = {"input": texts} if model is None else {"model": model, "input": texts}
        try:
            answer = http.post(url, json=body)
            answer.raise_for_status()
            return np.array([each["embedding"] for each in answer.json()["data"]], dtype=np.float64)
        except httpx2.HTTPStatusError as error:  # its own words have the whole address, where a key may be
            raise ServiceUnavailable(f"{host} gave no embeddings: status {error.response.status_code}") from None
        except (httpx2.HTTPError, LookupError, TypeError, ValueError) as error:
            raise ServiceUnavailable(f"{host} gave no embeddings: {type(error).__name__}: {error}") from None

    return embed


def local_model(name: str) -> Embed:
    """Return a function that computes embeddings with a model on this machine (extra ``embeddings``).

    Parameters
    ----------
    name
        A model of sentence-transformers, such as ``sentence-transformers/all-MiniLM-L6-v2``, or a folder with one.

    Returns
    -------
    Embed
        A function from texts to vectors, for `ToolShortlist`.

    Raises
    ------
    InvalidParameter
        If there is no such model, or it cannot be loaded.
    """
    needs_extra("a local model of embeddings", "embeddings", "sentence_transformers")
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - large, and only needed here

    try:
        model = SentenceTransformer(name, device="cpu")
    except Exception as error:  # noqa: BLE001 - whatever its libraries raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise InvalidParameter(f"the model {name!r} cannot be loaded ({reason}); give a name or a folder") from None

    def embed(texts: list[str]) -> NDArray[np.float64]:
        return np.asarray(model.encode(texts, show_progress_bar=False), dtype=np.float64)

    return embed
