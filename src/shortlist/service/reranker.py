"""Scores of documents for a query: by BM25, and by the reranker behind the service, if there is one.

The reranker takes `{"model", "query", "documents", "top_n"}` and returns `{"results": [{"index", "relevance_score"}]}`,
as those of Cohere, Jina, vLLM, Infinity and LiteLLM do. Its address, model and key are the operator's: nothing that a
caller sends has any part in them. Redirects are not followed, neither proxies nor passwords are taken from the
environment, and an answer has limits of time and size, and must score each document once.

If it does not answer, lists are scored by BM25 alone, or refused, as the operator has set. After three failures in a
row it is left alone for ten seconds.
"""

import asyncio
import json
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from shortlist._bm25 import BM25
from shortlist.errors import InvalidParameter, ServiceUnavailable, needs_extra

__all__ = ["BM25_NAME", "RERANKER_NAME", "Reranker", "RerankerSettings", "Scored", "score"]

_log = logging.getLogger("shortlist.service")

#: The names of the two scorers.
BM25_NAME: Final = "bm25"
RERANKER_NAME: Final = "reranker"
#: The size of the largest answer, in bytes.
_LARGEST: Final = 4 * 2**20
#: After how many failures in a row it is left alone, and for how many seconds.
_FAILURES: Final = 3
_PAUSE: Final = 10.0
#: From how many characters on documents are read in another thread.
_LONG: Final = 50_000


@dataclass(frozen=True)
class RerankerSettings:
    """The reranker behind the service, as the operator gives it.

    Parameters
    ----------
    url
        Its address, such as ``http://127.0.0.1:8001/v1/rerank``.
    model, key
        Its model, and the key to send as a bearer token, if it needs them.
    timeout
        The seconds to wait for an answer.
    required
        Refuse requests that it does not answer, instead of scoring them by BM25 alone.
    """

    url: str
    model: str | None = None
    key: str | None = None
    timeout: float = 5.0
    required: bool = False

    def __post_init__(self) -> None:
        needs_extra("a reranker behind the service", "client", "httpx2")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment:
            raise InvalidParameter(
                f"reranker is {self.url!r}; give the whole address that takes requests: http://127.0.0.1:8001/v1/rerank"
            )
        if parts.username or parts.password:
            raise InvalidParameter(
                f"reranker has a password in its address ({parts.hostname}): give the key as SHORTLIST_RERANKER_KEY"
            )
        if not 0 < self.timeout < math.inf:
            raise InvalidParameter(f"reranker_timeout is {self.timeout}; it must be some seconds: 5s")


@dataclass(frozen=True)
class Scored:
    """The scores of documents, by scorer, and what is missing, in words."""

    scores: dict[str, list[float]]
    warning: str | None = None


class Reranker:
    """A client of the reranker behind the service.

    Parameters
    ----------
    settings
        Which it is.
    """

    def __init__(self, settings: RerankerSettings) -> None:
        import httpx2  # noqa: PLC0415 - needs an extra

        self.settings = settings
        self.host = urlsplit(settings.url).netloc
        headers = {"Accept-Encoding": "identity"}  # what is small must not unpack to something large
        if settings.key:
            headers["Authorization"] = f"Bearer {settings.key}"
        self._http = httpx2.AsyncClient(
            timeout=settings.timeout, headers=headers, follow_redirects=False, trust_env=False
        )  # fmt: skip
        self._errors = (httpx2.HTTPError, TimeoutError, _Unusable)
        self._failures, self._until = 0, 0.0

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        """Return a score for each document, or raise ServiceUnavailable."""
        if time.monotonic() < self._until:
            raise ServiceUnavailable("the reranker behind this service does not answer")
        try:
            async with asyncio.timeout(self.settings.timeout):
                scores = await self._asked(query, documents)
        except self._errors as error:
            self._fail(error)
            raise ServiceUnavailable("the reranker behind this service does not answer") from None
        self._failures = 0
        return scores

    async def _asked(self, query: str, documents: Sequence[str]) -> list[float]:
        body = {"query": query, "documents": list(documents), "top_n": len(documents)}
        if self.settings.model is not None:
            body["model"] = self.settings.model
        async with self._http.stream("POST", self.settings.url, json=body) as answer:
            if answer.status_code != 200:
                raise _Unusable(f"it answered with status {answer.status_code}")
            if answer.headers.get("content-encoding", "identity") != "identity":
                raise _Unusable("its answer is compressed")
            content = bytearray()
            async for part in answer.aiter_raw():
                content += part
                if len(content) > _LARGEST:
                    raise _Unusable(f"its answer is larger than {_LARGEST:,} bytes")
        return _read(bytes(content), len(documents))

    def _fail(self, error: Exception) -> None:
        """Take note of a failure; the log says what it was, and no caller hears of it."""
        self._failures += 1
        why = f"no answer within {self.settings.timeout:g} s" if _is_late(error) else f"{type(error).__name__}: {error}"
        pause = ""
        if self._failures >= _FAILURES:
            self._until = time.monotonic() + _PAUSE
            pause = f"; it is left alone for {_PAUSE:g} s"
        _log.warning("the reranker at %s did not score %s%s", self.host, f"({why})", pause)


class _Unusable(Exception):
    """An answer that cannot be used."""


def _is_late(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or "Timeout" in type(error).__name__


def _read(content: bytes, count: int) -> list[float]:
    """Return the scores in an answer; each document must have one."""
    try:
        pairs = [(row["index"], row["relevance_score"]) for row in json.loads(content)["results"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise _Unusable('its answer is not {"results": [{"index": 0, "relevance_score": 0.5}, ...]}') from None
    scores = {index: value for index, value in pairs if type(index) is int and _is_number(value)}
    if len(pairs) != count or scores.keys() != set(range(count)):
        raise _Unusable(f"its answer has {len(pairs)} results, and there are {count} documents: each needs one score")
    return [float(scores[index]) for index in range(count)]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300


async def score(query: str, documents: Sequence[str], reranker: Reranker | None) -> Scored:
    """Return the scores of documents for a query, or raise ServiceUnavailable."""
    remote = None if reranker is None else asyncio.ensure_future(reranker.scores(query, documents))
    try:
        words = await _by_words(query, documents)
    except BaseException:
        if remote is not None:
            remote.cancel()
        raise
    if remote is None:
        return Scored({BM25_NAME: words})
    try:
        return Scored({BM25_NAME: words, RERANKER_NAME: await remote})
    except ServiceUnavailable as error:
        if reranker is not None and reranker.settings.required:
            raise
        missing = [math.nan] * len(documents)
        return Scored({BM25_NAME: words, RERANKER_NAME: missing}, f"{error}: these are scored by BM25 alone")


async def _by_words(query: str, documents: Sequence[str]) -> list[float]:
    if sum(map(len, documents)) < _LONG:
        return _bm25(query, documents)
    return await asyncio.to_thread(_bm25, query, documents)


def _bm25(query: str, documents: Sequence[str]) -> list[float]:
    scores: list[float] = BM25(documents, query).scores(query).tolist()
    return scores
