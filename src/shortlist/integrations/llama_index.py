"""LlamaIndex: a node postprocessor that keeps the nodes above a threshold it learns.

postprocessor = ShortlistPostprocessor(lister=Shortlister(coverage=0.9))
engine = index.as_query_engine(similarity_top_k=50, node_postprocessors=[postprocessor])
nodes = postprocessor.postprocess_nodes(retriever.retrieve("..."))
postprocessor.hit(nodes[0])
"""

from typing import Any

from shortlist.errors import needs_extra
from shortlist.integrations._adapter import Adapter, FeedbackMixin, SearchResult

needs_extra("the LlamaIndex adapter", "llama-index", "llama_index")

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from pydantic import PrivateAttr

__all__ = ["ShortlistPostprocessor"]


class ShortlistPostprocessor(FeedbackMixin, BaseNodePostprocessor):
    """Keeps the nodes of a retrieval that reach the learned threshold.

    If the last node it is given would still be shown, there may be more behind it, and the nodes are marked
    ``truncated``; say `complete` if the retriever returns everything there is. Keep `similarity_top_k` the same
    from the first question on, and large enough that the right node is among the results more often than
    `coverage` asks for; if it is not, ``summary()["waiting_for"]`` says so.

    Parameters
    ----------
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    higher_is_better
        False if the scores are distances.
    complete
        Whether the nodes passed in are all there are.
    """

    lister: Any = None
    higher_is_better: bool = True
    complete: bool = False
    _adapter: Adapter = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Check the settings that belong together."""
        super().model_post_init(context)
        self._adapter = Adapter(self.lister, higher_is_better=self.higher_is_better)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex writes down."""
        return "ShortlistPostprocessor"

    def _results(self, nodes: list[NodeWithScore]) -> SearchResult[NodeWithScore]:
        return SearchResult(nodes, [node.score for node in nodes], more=not self.complete)  # type: ignore[misc]

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        results, ids = self._results(nodes), [node.node_id for node in nodes]
        return self._marked(*self._adapter.offer(results, ids, **_words(query_bundle, nodes)))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        results, ids = self._results(nodes), [node.node_id for node in nodes]
        return self._marked(*await self._adapter.offer_async(results, ids, **_words(query_bundle, nodes)))

    def _marked(self, shown: Any, items: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return copies with the notes in their metadata, where no model and no embedding reads them."""
        marked = []
        for each, note in zip(items, self._adapter.metadata(shown), strict=True):
            node = each.node.model_copy()
            node.metadata = {**node.metadata, **note}
            node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *note]
            node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *note]
            marked.append(NodeWithScore(node=node, score=each.score))
        return marked

    @staticmethod
    def _metadata_of(item: Any) -> Any:
        return item.node.metadata


def _words(query: QueryBundle | None, nodes: list[NodeWithScore]) -> dict[str, Any]:
    texts = [node.node.get_content(metadata_mode=MetadataMode.NONE)[:20_000] for node in nodes]
    return {"question": None if query is None else query.query_str[:20_000], "texts": texts}
