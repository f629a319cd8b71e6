"""Reranking: a drop-in for tools that speak Cohere's format.

A stream scores documents by the reranker behind the service and by BM25, and returns those worth showing.
"""

import asyncio
import hashlib
from typing import Any, Final
from weakref import WeakValueDictionary

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError

from shortlist.errors import ConflictingRound
from shortlist.rounds.shown import to_null
from shortlist.service.engine import Engine
from shortlist.service.engine.reranking import Reranked
from shortlist.service.reranker import BM25_NAME, RERANKER_NAME, Reranker, Scored, score
from shortlist.service.web import rerank_replies, rerank_requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.serializers import as_json

__all__ = ["router"]

router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)

_HEADER: Final = "Idempotency-Key"
_LONGEST_KEY: Final = 255
#: The same request twice at once is scored once.
_LOCKS: Final = WeakValueDictionary[str, asyncio.Lock]()
_ABOUT: Final[dict[str, Any]] = {
    "response_model": rerank_replies.Reranked,
    "response_model_exclude_none": True,
    "responses": responses(404, 409),
    "openapi_extra": {
        "parameters": [
            {
                "name": _HEADER,
                "in": "header",
                "required": False,
                "description": "The same key with the same body is one round, and has the same response.",
                "schema": {"type": "string", "maxLength": _LONGEST_KEY},
            }
        ]
    },
}


@router.post("/v2/rerank", operation_id="rerank", **_ABOUT)
async def rerank(engine: CurrentEngine, request: Request, body: rerank_requests.Rerank) -> Response:
    """Return the documents worth showing, best first, at most `top_n`, as Cohere's rerank does.

    Until the stream has had feedback or labels, these are the best `top_n`, and silence means nothing; after that they
    are the list of a round, which counts as missed until it has an answer.
    """
    return await _reranked(engine, request, body, "2")


@router.post("/v1/rerank", operation_id="rerank_v1", **_ABOUT)
async def rerank_v1(engine: CurrentEngine, request: Request, body: rerank_requests.Rerank) -> Response:
    """Return the documents worth showing, as `/v2/rerank` does."""
    return await _reranked(engine, request, body, "1")


async def _reranked(engine: Engine, request: Request, body: rerank_requests.Rerank, version: str) -> Response:
    reranker: Reranker | None = request.app.state.reranker
    names = {BM25_NAME} if reranker is None else {BM25_NAME, RERANKER_NAME}
    await engine.reranking.check(body.model, names)
    key = request.headers.get(_HEADER)
    if not key:
        shown, warning = await _show(engine, reranker, body, None)
        return _response(body, shown, warning, version)
    if len(key) > _LONGEST_KEY:
        too_long = f"it has {len(key):,} characters, and {_LONGEST_KEY} are the most"
        raise RequestValidationError([{"type": "refused", "loc": ("header", _HEADER), "msg": too_long}])
    round_id = _round_id(key, body)
    lock = _LOCKS.setdefault(round_id, asyncio.Lock())
    async with lock:
        again = await engine.reranking.find(body.model, round_id)
        if again is not None:
            return _response(body, again, None, version)
        try:
            shown, warning = await _show(engine, reranker, body, round_id)
        except ConflictingRound:  # another process was faster, and its scores are others
            again = await engine.reranking.find(body.model, round_id)
            if again is None:
                raise
            shown, warning = again, None
        return _response(body, shown, warning, version)


async def _show(
    engine: Engine, reranker: Reranker | None, body: rerank_requests.Rerank, round_id: str | None
) -> tuple[Reranked, str | None]:
    scored: Scored = await score(body.query, body.texts(), reranker)
    shown = await engine.reranking.show(
        body.model, scored.scores, question=body.query, most=body.top_n, round_id=round_id
    )  # fmt: skip
    return shown, scored.warning


def _round_id(key: str, body: rerank_requests.Rerank) -> str:
    """Return the id of a request that may be repeated: of its key and of all that it says."""
    content = f"{key}\0{body.model_dump_json(exclude={'return_documents'})}"
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _response(body: rerank_requests.Rerank, shown: Reranked, warning: str | None, version: str) -> Response:
    listed = shown.listed
    results = list(zip(listed.positions, shown.relevances, strict=True))
    results.sort(key=lambda result: -result[1])
    if shown.rerank_all:
        hidden = set(range(len(body.documents))) - set(listed.positions)
        results += [(index, 0.0) for index in sorted(hidden)]
    meta: dict[str, Any] = {
        "api_version": {"version": version},
        "billed_units": {"search_units": 0},
        "shortlist": {
            "threshold": to_null(listed.threshold),
            "truncated": listed.truncated,
            "counts": shown.counts,
        },
    }
    if warning is not None:
        meta["warnings"] = [warning]
    return as_json({"id": listed.round_id, "results": [_result(body, *each) for each in results], "meta": meta})


def _result(body: rerank_requests.Rerank, index: int, relevance: float) -> dict[str, Any]:
    result: dict[str, Any] = {"index": index, "relevance_score": relevance}
    if body.return_documents:
        document = body.documents[index]
        result["document"] = {"text": document} if isinstance(document, str) else document
    return result
