"""LlamaIndex: nodes above a learned threshold, from one retriever or several.

retriever = ShortlistFusionRetriever({"dense": dense, "bm25": bm25}, lister=Shortlister(coverage=0.9))
nodes = retriever.retrieve("...")
retriever.hit(nodes[0])

postprocessor = ShortlistPostprocessor(lister=Shortlister(coverage=0.9))
engine = index.as_query_engine(similarity_top_k=50, node_postprocessors=[postprocessor])
nodes = postprocessor.postprocess_nodes(retriever.retrieve("..."))
postprocessor.hit(nodes[0])
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

from shortlist.errors import InvalidParameter, needs_extra
from shortlist.integrations._adapter import NOTES, Adapter, Candidates, ShownList, check_searches
from shortlist.integrations._feedback import FeedbackMixin

needs_extra("the LlamaIndex adapter", "llama-index", "llama_index")

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from pydantic import ConfigDict, PrivateAttr, SkipValidation

from shortlist.integrations._models import checked_settings

__all__ = ["ShortlistFusionRetriever", "ShortlistPostprocessor"]


class _NodeFeedback(FeedbackMixin):
    """Answers to shown nodes, through their metadata."""

    def _marked(self, shown: Any, items: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return copies with the notes in their metadata, where no model and no embedding reads them."""
        marked = []
        for each, note in zip(items, self._adapter.metadata(shown), strict=True):
            node = each.node.model_copy()
            node.metadata = {**node.metadata, **note}
            node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *note]
            node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *note]
            notes = note[NOTES]
            marked.append(NodeWithScore(node=node, score=each.score if len(notes["scores"]) == 1 else notes["score"]))
        return marked

    @staticmethod
    def _metadata_of(item: Any) -> Any:
        return item.node.metadata

    @staticmethod
    def _identity_of(item: NodeWithScore) -> tuple[Any, str]:
        return item.node_id, item.node.get_content(metadata_mode=MetadataMode.NONE)


class ShortlistPostprocessor(_NodeFeedback, BaseNodePostprocessor):
    """Keeps the nodes of a retrieval that reach the learned threshold.

    If the last node would still be shown, the retriever may have left some out, and the nodes are marked
    ``truncated``; set `complete` if the retriever returns everything. Keep `similarity_top_k` the same
    from the first question on, and large enough that the right node is among the results more often than
    `coverage` requires; if it is not, ``summary()["waiting_for"]`` says so.

    Parameters
    ----------
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    higher_is_better
        False if the scores are distances.
    complete
        Whether the retriever returns all nodes.
    autosave
        A file that a lister of this process is saved to after every list and answer.
    """

    model_config = ConfigDict(extra="forbid")
    lister: Any = None
    higher_is_better: SkipValidation[bool] = True
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

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex stores.

        Returns
        -------
        str
            The name.
        """
        return "ShortlistPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._offer(self._candidates_of("", nodes), _question(query_bundle))

    def _candidates_of(self, question: str, documents: Any) -> Candidates[NodeWithScore]:  # noqa: ARG002
        return self._alone(documents, complete=self.complete)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        candidates = self._alone(nodes, complete=self.complete)
        return await self._offer_async(candidates, _question(query_bundle))


class ShortlistFusionRetriever(_NodeFeedback, BaseRetriever):
    """A retriever over several others, each with its own scores; their weights and the cutoff are learned.

    Each node's metadata carries, under ``shortlist``: ``round_id``, ``member``, ``score`` (the learned one, which is
    compared with the threshold), ``scores`` (one per retriever, None if it did not return the node), ``threshold``,
    ``truncated``, and ``kept``: in shadow mode, whether it would be shown. The node's own score is the retriever's if
    there is only one, otherwise the learned one. If a retriever fails, its error is raised, and no round is opened.

    Parameters
    ----------
    retrievers
        By name, ``{"dense": ..., "bm25": ...}``, or a list, whose names are then ``"retriever_1"`` and so on. Give
        each the same `similarity_top_k` from the first question on, large enough that the right node is among the
        results more often than `coverage` requires; if it is not, ``summary()["waiting_for"]`` says so.
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    higher_is_better
        False if scores are distances; or one per retriever by name.
    complete
        Whether each retriever returns all nodes. Otherwise a list that may lack a node above the threshold is marked
        ``truncated``.
    autosave
        A file that a lister of this process is saved to after every list and answer.
    callback_manager, verbose
        As in any retriever of LlamaIndex.
    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever] | Sequence[BaseRetriever],
        lister: Any,
        *,
        higher_is_better: bool | Mapping[str, bool] = True,
        complete: bool = False,
        autosave: str | os.PathLike[str] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        if isinstance(retrievers, Sequence):
            retrievers = {f"retriever_{number}": each for number, each in enumerate(retrievers, 1)}
        check_searches("retrievers", retrievers, higher_is_better)
        for name, each in retrievers.items():
            if not isinstance(each, BaseRetriever):
                raise InvalidParameter(
                    f"retriever {name!r} is {each!r}; give a retriever, such as index.as_retriever(similarity_top_k=50)"
                )
        self.retrievers, self.lister, self.complete = dict(retrievers), lister, complete
        self._adapter = Adapter(lister, higher_is_better=higher_is_better, autosave=autosave)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._offer(self._found(query_bundle), query_bundle.query_str)

    def _found(self, question: Any) -> Candidates[NodeWithScore]:
        nodes = {name: each.retrieve(question) for name, each in self.retrievers.items()}
        return self._joined(nodes, complete=self.complete)

    def _handle_recursive_retrieval(self, query_bundle: QueryBundle, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        return _again(nodes, super()._handle_recursive_retrieval(query_bundle, nodes))

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return _again(nodes, await super()._ahandle_recursive_retrieval(query_bundle, nodes))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = await asyncio.gather(*(each.aretrieve(query_bundle) for each in self.retrievers.values()))
        candidates = self._joined(dict(zip(self.retrievers, nodes, strict=True)), complete=self.complete)
        return await self._offer_async(candidates, query_bundle.query_str)


def _again(shown: list[NodeWithScore], nodes: list[NodeWithScore]) -> list[NodeWithScore]:
    """Return nodes as the list that was shown: LlamaIndex makes another one of it."""
    if isinstance(shown, ShownList):
        shown[:] = nodes
        return shown
    return nodes


def _question(query: QueryBundle | None) -> str | None:
    return None if query is None else query.query_str
