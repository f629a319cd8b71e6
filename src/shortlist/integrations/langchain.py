"""LangChain: documents above a learned threshold, instead of the top k, from one search or several.

retriever = ShortlistRetriever(searches={"dense": store, "bm25": bm25}, lister=Shortlister(coverage=0.9), fetch_k=50)
documents = retriever.invoke("Where is my invoice?")
retriever.hit(documents[0])  # the user used this one
retriever.miss(documents)    # or: none of these

`ShortlistCompressor` does the same behind a retriever or a reranker that you already have.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shortlist._validation import check_count
from shortlist.errors import InvalidScores, needs_extra
from shortlist.integrations._adapter import (
    Adapter,
    Candidates,
    SearchResult,
    check_searches,
    plain_call,
    waiting_call,
)
from shortlist.integrations._candidates import numbers
from shortlist.integrations._feedback import FeedbackMixin

needs_extra("the LangChain adapter", "langchain", "langchain_core")

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun, Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr, SkipValidation

from shortlist.integrations._langchain_search import Search, as_search
from shortlist.integrations._models import checked_settings

__all__ = ["ShortlistCompressor", "ShortlistRetriever"]


class _DocumentFeedback(FeedbackMixin):
    """Answers to shown documents, through their metadata."""

    def _marked(self, shown: Any, items: list[Document]) -> list[Document]:
        return [
            document.model_copy(update={"metadata": {**document.metadata, **note}})
            for document, note in zip(items, self._adapter.metadata(shown), strict=True)
        ]

    @staticmethod
    def _metadata_of(item: Any) -> Any:
        return item.metadata

    @staticmethod
    def _identity_of(item: Document) -> tuple[Any, str]:
        return item.id, item.page_content


class ShortlistRetriever(_DocumentFeedback, BaseRetriever):
    """A retriever over one search or several.

    Each document's metadata carries, under ``shortlist``: ``round_id``, ``member``, ``score`` (the learned one, which
    is compared with the threshold), ``scores`` (one per search, None if it did not return the document),
    ``threshold``, ``truncated``, and ``kept``: in shadow mode, whether it would be shown. If a search fails, its error
    is raised, and no round is opened.

    Parameters
    ----------
    searches
        By name, each of them one of: a vector store, queried with ``similarity_search_with_score``; its retriever
        (``store.as_retriever(search_kwargs=...)``), queried the same way with its filters; a `BM25Retriever`, whose
        scores are read from its index; another retriever that writes ``score`` or ``relevance_score`` into the
        metadata of its documents; a function from a query (and ``k``, if it has such a parameter) to pairs of a
        document and its score, plain or ``async``.
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    fetch_k
        How many documents to take from each search, in every round. A right document that no search returns counts
        as missed, so choose `fetch_k` large enough that it is among them more often than `coverage` requires; if it
        is not, ``summary()["waiting_for"]`` says so. If a document that was not returned may reach the
        threshold, the list is marked ``truncated``.
    higher_is_better
        False if scores are distances; with several searches, one per search by name.
    autosave
        A file that a lister of this process is saved to after every list and answer.
    """

    model_config = ConfigDict(extra="forbid")
    searches: SkipValidation[Mapping[str, Any]]
    lister: Any
    fetch_k: SkipValidation[int] = 50
    higher_is_better: SkipValidation[bool | dict[str, bool]] = True
    autosave: Any = None
    _adapter: Adapter = PrivateAttr()
    _searches: dict[str, Search] = PrivateAttr()

    def __init__(self, **settings: Any) -> None:
        with checked_settings(type(self), settings, ("searches", "lister")):
            super().__init__(**settings)

    def model_post_init(self, context: Any, /) -> None:
        """Check the settings together, once pydantic has set them.

        Parameters
        ----------
        context
            Pydantic's context.

        Raises
        ------
        InvalidInput
            If `fetch_k` is below 1, or a search cannot be used.
        """
        super().model_post_init(context)
        check_count("fetch_k", self.fetch_k)
        check_searches("searches", self.searches, self.higher_is_better)
        self._adapter = Adapter(self.lister, higher_is_better=self.higher_is_better, autosave=self.autosave)
        self._searches = {
            name: as_search(name, each, self.fetch_k, self._adapter.sign(name)) for name, each in self.searches.items()
        }

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        results = {name: search.run(query, run_manager) for name, search in self._searches.items()}
        return self._offer(self._adapter.merged(results, self._identity_of), query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        each = await asyncio.gather(*(search.run_async(query, run_manager) for search in self._searches.values()))
        candidates = self._adapter.merged(dict(zip(self._searches, each, strict=True)), self._identity_of)
        return await self._offer_async(candidates, query)

    def _found(self, question: str) -> Candidates[Document]:
        manager = CallbackManagerForRetrieverRun.get_noop_manager()
        results = {name: search.run(question, manager) for name, search in self._searches.items()}
        return self._adapter.merged(results, self._identity_of)

    async def _found_async(self, question: str) -> Candidates[Document]:
        manager = AsyncCallbackManagerForRetrieverRun.get_noop_manager()
        each = await asyncio.gather(*(search.run_async(question, manager) for search in self._searches.values()))
        return self._adapter.merged(dict(zip(self._searches, each, strict=True)), self._identity_of)


class ShortlistCompressor(_DocumentFeedback, BaseDocumentCompressor):
    """Keeps the documents of a retrieval that reach the learned threshold.

    For a ``ContextualCompressionRetriever``, or behind any retriever. If the last document would still be shown, the
    retriever may have left some out, and the documents are marked ``truncated``; set `complete` if it returns
    everything. Keep the number of documents that the retriever returns the same from the first question on.

    Parameters
    ----------
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    score
        The metadata key of each document's score. Or a function of a query and its documents, plain
        or ``async``, that returns one score per document; or several by name, ``{"reranker": [...], "bm25": [...]}``,
        NaN where there is none. An ``EnsembleRetriever`` writes no scores and a ``CrossEncoderReranker`` drops its
        own, so behind those it must be a function.
    higher_is_better
        False if scores are distances; with several scorers, one per scorer by name.
    complete
        Whether the retriever returns all documents.
    autosave
        A file that a lister of this process is saved to after every list and answer.
    """

    model_config = ConfigDict(extra="forbid")
    lister: Any = None
    score: SkipValidation[str | Callable[..., Any]] = "score"
    higher_is_better: SkipValidation[bool | dict[str, bool]] = True
    complete: SkipValidation[bool] = False
    autosave: Any = None
    _adapter: Adapter = PrivateAttr()

    def __init__(self, **settings: Any) -> None:
        with checked_settings(type(self), settings, ("lister",)):
            super().__init__(**settings)

    def model_post_init(self, context: Any, /) -> None:
        """Check the settings together, once pydantic has set them.

        Parameters
        ----------
        context
            Pydantic's context.
        """
        super().model_post_init(context)
        self._adapter = Adapter(self.lister, higher_is_better=self.higher_is_better, autosave=self.autosave)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,  # noqa: ARG002 - nothing else is called
    ) -> Sequence[Document]:
        """Return the documents that reach the threshold, best first.

        Parameters
        ----------
        documents
            The retriever's documents.
        query
            The question.
        callbacks
            Not used.

        Returns
        -------
        Sequence[Document]
            The documents to keep, best first.
        """
        return self._offer(self._candidates_of(query, documents), query)

    def _candidates_of(self, question: str, documents: Sequence[Document]) -> Candidates[Document]:
        score, refusal = self.score, "score has to be awaited: use acompress_documents, or a plain function"
        scores = plain_call(refusal, score, question, documents) if callable(score) else self._written(score, documents)
        return self._candidates(documents, scores)

    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,  # noqa: ARG002
    ) -> Sequence[Document]:
        """Return the documents that reach the threshold, without blocking the loop.

        Parameters
        ----------
        documents
            The retriever's documents.
        query
            The question.
        callbacks
            Not used.

        Returns
        -------
        Sequence[Document]
            The documents to keep, best first.
        """
        return await self._offer_async(await self._candidates_of_async(query, documents), query)

    async def _candidates_of_async(self, question: str, documents: Sequence[Document]) -> Candidates[Document]:
        score = self.score
        scores = await waiting_call(score, question, documents) if callable(score) else self._written(score, documents)
        return self._candidates(documents, scores)

    @staticmethod
    def _written(key: str, documents: Sequence[Document]) -> list[float]:
        """Return the scores in the documents' metadata."""
        for position, document in enumerate(documents):
            if key not in document.metadata:
                raise InvalidScores(
                    f"document {position} has no {key!r} in its metadata, only {sorted(document.metadata)}; name the "
                    "key of its score, or give a function of query and documents as score"
                )
        return [document.metadata[key] for document in documents]

    def _candidates(self, documents: Sequence[Document], scores: Any) -> Candidates[Document]:
        ids = [document.id for document in documents]
        several = isinstance(scores, Mapping)
        columns = {
            name: numbers(each, name, gaps=several) for name, each in (scores if several else {"": scores}).items()
        }
        for name, column in columns.items():
            if len(column) != len(documents):
                raise InvalidScores(
                    f"score returned {len(column)} numbers{f' called {name!r}' if name else ''} for {len(documents)} "
                    "documents; it must return one for each"
                )
        if several:
            return self._adapter.table(list(documents), ids, columns, more=not self.complete)
        return self._adapter.single(SearchResult(documents, columns[""], more=not self.complete), ids)
