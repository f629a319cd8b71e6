"""What goes out after reranking, in the form of Cohere's rerank."""

from typing import Any

from shortlist.service.web.replies import Out, Threshold

__all__ = ["RerankMeta", "RerankResult", "Reranked", "RoundMeta"]


class RerankResult(Out):
    """A document worth showing."""

    index: int
    """Its position in the request, and its id in feedback."""
    relevance_score: float
    """From 0.01 to 1; higher is better. 0 for a document that is cut, where the stream has `rerank_all`."""
    document: dict[str, Any] | None = None
    """The document, if `return_documents` was set."""


class RoundMeta(Out):
    """What the stream says about the list."""

    threshold: Threshold
    truncated: bool
    """Whether a document that reaches the threshold was left out, because of `top_n`."""
    counts: bool
    """Whether it counts as missed while it has no feedback; lists do once the stream has had some."""


class RerankMeta(Out):
    """What goes with the results."""

    api_version: dict[str, str]
    """Of Cohere's interface."""
    billed_units: dict[str, int]
    """None: `{"search_units": 0}`."""
    shortlist: RoundMeta
    """What the stream says."""
    warnings: list[str] | None = None
    """What was missing, such as the reranker behind the service."""


class Reranked(Out):
    """The documents worth showing, best first."""

    id: str
    """The round: `PUT /v1/streams/{model}/rounds/{id}/feedback` with `{"hit": index}` or `{"miss": true}`."""
    results: list[RerankResult]
    """Best first; none, if no document is worth showing."""
    meta: RerankMeta
    """What goes with them."""
