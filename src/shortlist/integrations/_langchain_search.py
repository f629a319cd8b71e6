"""The kinds of searches of a `ShortlistRetriever`, and how each is queried for documents with scores."""

import abc
import asyncio
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from shortlist.errors import InvalidInput, InvalidParameter, InvalidScores
from shortlist.integrations._adapter import plain_call, waiting_call
from shortlist.integrations._candidates import SearchResult, numbers

__all__ = ["Search", "as_search"]

Pairs = list[tuple[Document, float]]
Asked = TypeVar("Asked")

#: The metadata keys under which retrievers write scores.
_KEYS: Final = ("score", "relevance_score")
_REMEDY: Final = (
    "give a vector store, a BM25Retriever, a retriever that writes 'score' into its documents' metadata, or a "
    "function that returns pairs of a document and its score"
)


class Search(abc.ABC):
    """One of the searches, queried for its best `fetch_k` documents."""

    def __init__(self, name: str, asked: Any, fetch_k: int, sign: float) -> None:
        self.name, self.asked, self.fetch_k, self.sign = name, asked, fetch_k, sign

    @abc.abstractmethod
    def run(self, query: str, manager: CallbackManagerForRetrieverRun) -> SearchResult[Document]:
        """Return its results."""

    async def run_async(self, query: str, manager: AsyncCallbackManagerForRetrieverRun) -> SearchResult[Document]:
        """Do the same without blocking the loop."""
        return await asyncio.to_thread(self.run, query, manager.get_sync())

    def best(
        self, pairs: Sequence[tuple[Document, float]], *, knows_k: bool, best_first: bool = False
    ) -> SearchResult[Document]:
        """Return the best results; a search that does not know `fetch_k` may have left some out before."""
        more = len(pairs) >= self.fetch_k or not knows_k
        if len(pairs) > self.fetch_k:
            values = numbers([pair[1] for pair in pairs], self.name)
            order = sorted(range(len(pairs)), key=lambda i: -self.sign * values[i])
            pairs = [pairs[i] for i in order[: self.fetch_k]]
        return SearchResult([pair[0] for pair in pairs], [pair[1] for pair in pairs], more, best_first)


class _Store(Search):
    """A vector store, with the filters of its retriever if it was passed as one."""

    def __init__(self, name: str, asked: Any, fetch_k: int, sign: float) -> None:
        super().__init__(name, asked, fetch_k, sign)
        self.filters: dict[str, Any] = {}
        if isinstance(asked, VectorStoreRetriever):
            if asked.search_type != "similarity":
                raise InvalidParameter(
                    f"search {name!r} has search_type {asked.search_type!r}, which chooses among the results before "
                    "shortlist can; give the vector store itself"
                )
            if "score_threshold" in asked.search_kwargs:
                raise InvalidParameter(
                    f"search {name!r} has a score_threshold in its search_kwargs, which cuts lists before shortlist "
                    "can; take it out"
                )
            self.asked = asked.vectorstore
            self.filters = {key: value for key, value in asked.search_kwargs.items() if key != "k"}

    def run(self, query: str, manager: CallbackManagerForRetrieverRun) -> SearchResult[Document]:  # noqa: ARG002
        pairs = self.asked.similarity_search_with_score(query, k=self.fetch_k, **self.filters)
        return self.best(pairs, knows_k=True, best_first=True)

    async def run_async(self, query: str, manager: AsyncCallbackManagerForRetrieverRun) -> SearchResult[Document]:  # noqa: ARG002
        pairs = await self.asked.asimilarity_search_with_score(query, k=self.fetch_k, **self.filters)
        return self.best(pairs, knows_k=True, best_first=True)


class _KeywordIndex(Search):
    """A `BM25Retriever`: it returns no scores, but its index has them."""

    def run(self, query: str, manager: CallbackManagerForRetrieverRun) -> SearchResult[Document]:  # noqa: ARG002
        index = self.asked
        scores = np.asarray(index.vectorizer.get_scores(index.preprocess_func(query)), dtype=np.float64)
        order = np.argsort(-scores, kind="stable")[: self.fetch_k].tolist()
        more = len(scores) > self.fetch_k
        return SearchResult([index.docs[i] for i in order], scores[order].tolist(), more=more)


class _Retriever(Search):
    """Any other retriever, which must write its scores into the metadata; its own run is traced below ours."""

    def run(self, query: str, manager: CallbackManagerForRetrieverRun) -> SearchResult[Document]:
        config: Any = {"callbacks": manager.get_child(tag=f"search:{self.name}")}
        return self._scored(self.asked.invoke(query, config=config))

    async def run_async(self, query: str, manager: AsyncCallbackManagerForRetrieverRun) -> SearchResult[Document]:
        config: Any = {"callbacks": manager.get_child(tag=f"search:{self.name}")}
        return self._scored(await self.asked.ainvoke(query, config=config))

    def _scored(self, documents: list[Document]) -> SearchResult[Document]:
        pairs = []
        for document in documents:
            key = next((key for key in _KEYS if key in document.metadata), None)
            if key is None:
                raise InvalidScores(
                    f"search {self.name!r} is a {type(self.asked).__name__}, which returns documents without scores; "
                    f"{_REMEDY}"
                )
            pairs.append((document, document.metadata[key]))
        return self.best(pairs, knows_k=False)


class _Function(Search):
    """A function from a query to pairs of a document and its score."""

    def __init__(self, name: str, asked: Callable[..., Any], fetch_k: int, sign: float) -> None:
        super().__init__(name, asked, fetch_k, sign)
        try:
            self._knows_k = "k" in inspect.signature(asked).parameters
        except ValueError:  # a built-in that does not say
            self._knows_k = False
        self._options = {"k": fetch_k} if self._knows_k else {}

    def run(self, query: str, manager: CallbackManagerForRetrieverRun) -> SearchResult[Document]:  # noqa: ARG002
        refusal = f"search {self.name!r} has to be awaited: use ainvoke, or a plain function"
        return self._checked(plain_call(refusal, self.asked, query, **self._options))

    async def run_async(self, query: str, manager: AsyncCallbackManagerForRetrieverRun) -> SearchResult[Document]:  # noqa: ARG002
        return self._checked(await waiting_call(self.asked, query, **self._options))

    def _checked(self, pairs: Any) -> SearchResult[Document]:
        pairs = list(pairs) if isinstance(pairs, Iterable) else [pairs]
        for pair in pairs:
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Document)):
                raise InvalidInput(
                    f"search {self.name!r} returned {type(pair).__name__} {str(pair)[:80]!r}; it must return pairs of "
                    "a Document and its score"
                )
        return self.best(pairs, knows_k=self._knows_k)


def as_search(name: str, asked: Any, fetch_k: int, sign: float) -> Search:
    """Return the search for one of the kinds."""
    kind: type[Search]
    if isinstance(asked, (VectorStore, VectorStoreRetriever)):
        kind = _Store
    elif all(hasattr(asked, part) for part in ("vectorizer", "preprocess_func", "docs")) and hasattr(
        asked.vectorizer, "get_scores"
    ):
        kind = _KeywordIndex
    elif isinstance(asked, BaseRetriever):
        kind = _Retriever
    elif callable(asked) and not isinstance(asked, type):
        kind = _Function
    else:
        raise InvalidParameter(f"search {name!r} is {asked!r}; {_REMEDY}")
    if kind is _KeywordIndex and sign < 0:
        raise InvalidParameter(f"search {name!r} is a BM25Retriever, whose higher scores are better")
    return kind(name, asked, fetch_k, sign)
