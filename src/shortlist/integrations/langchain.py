"""LangChain: a retriever that shows the documents above a threshold it learns, instead of the top k.

retriever = ShortlistRetriever(vectorstore=store, lister=Shortlister(coverage=0.9), fetch_k=50)
documents = retriever.invoke("Where is my invoice?")
retriever.hit(documents[0])                       # the person used this one
retriever.miss(documents[0].metadata["round_id"]) # or: none of these
"""

from typing import Any

from shortlist.errors import InvalidInput, needs_extra
from shortlist.integrations._adapter import Adapter, FeedbackMixin, SearchResult

needs_extra("the LangChain adapter", "langchain", "langchain_core")

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import Field, PrivateAttr

__all__ = ["ShortlistRetriever"]


class ShortlistRetriever(FeedbackMixin, BaseRetriever):
    """A retriever over any vector store that gives scores.

    Each document's metadata carries ``round_id``, ``member``, ``score``, ``threshold`` and ``truncated``. Early
    lists are long, because nothing is known yet: give the lister an `at_most` if a prompt has to be short.

    Parameters
    ----------
    vectorstore
        The store; it is asked with ``similarity_search_with_score``.
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    fetch_k
        How many documents to ask for, in every round. A right document that the store does not return counts as
        missed, so choose `fetch_k` large enough that it is among them more often than `coverage` asks for; if it is
        not, ``summary()["waiting_for"]`` says so. Where a document that was not returned may reach the threshold, the
        list says ``truncated``.
    higher_is_better
        False if the store's scores are distances.
    search_kwargs
        For the store's search: filters and the like.
    """

    vectorstore: VectorStore
    lister: Any
    fetch_k: int = 50
    higher_is_better: bool = True
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    _adapter: Adapter = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Check the settings that belong together."""
        super().model_post_init(context)
        self._adapter = Adapter(self.lister, higher_is_better=self.higher_is_better)
        if self.fetch_k < 1:
            raise InvalidInput(f"fetch_k is {self.fetch_k}; it must be at least 1")

    def _results(self, pairs: list[tuple[Document, float]]) -> SearchResult[Document]:
        return SearchResult([pair[0] for pair in pairs], [pair[1] for pair in pairs], more=len(pairs) >= self.fetch_k)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        results = self._results(
            self.vectorstore.similarity_search_with_score(query, k=self.fetch_k, **self.search_kwargs)
        )
        ids = [document.id for document in results.items]
        return self._marked(*self._adapter.offer(results, ids, **_words(query, results)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        results = self._results(
            await self.vectorstore.asimilarity_search_with_score(query, k=self.fetch_k, **self.search_kwargs)
        )
        ids = [document.id for document in results.items]
        return self._marked(*await self._adapter.offer_async(results, ids, **_words(query, results)))

    def _marked(self, shown: Any, items: list[Document]) -> list[Document]:
        return [
            document.model_copy(update={"metadata": {**document.metadata, **note}})
            for document, note in zip(items, self._adapter.metadata(shown), strict=True)
        ]

    @staticmethod
    def _metadata_of(item: Any) -> Any:
        return item.metadata


def _words(query: str, results: SearchResult[Document]) -> dict[str, Any]:
    return {"question": query[:20_000], "texts": [document.page_content[:20_000] for document in results.items]}
