"""Closing old rounds, taking back what nobody saw, and erasing texts."""

import time
from typing import Annotated

from fastapi import APIRouter, Query, Response

from shortlist.service.web import replies, requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.fields import RoundPath, StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.serializers import as_json

__all__ = ["router"]

router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)


@router.post(
    "/v1/streams/{name}/expire",
    operation_id="expire",
    response_model=replies.ExpiredCount,
    responses=responses(404, 409),
)
async def expire(engine: CurrentEngine, name: StreamPath, body: requests.OlderThan) -> Response:
    """Close rounds that have waited for an answer for too long; they count as silence."""
    return as_json({"expired": await engine.retention.expire(name, time.time() - body.older_than)})


@router.delete(
    "/v1/streams/{name}/rounds/{round_id}",
    operation_id="withdraw",
    status_code=204,
    responses=responses(404, 409, 410),
)
async def withdraw(engine: CurrentEngine, name: StreamPath, round_id: RoundPath) -> Response:
    """Take back a list that nobody saw; the same again changes nothing.

    Its round leaves the sample. That is safe only if withdrawing is independent of the right answer: a list that
    somebody saw and said nothing about is a `skip`.
    """
    await engine.answer(name, round_id, "withdrawn")
    return Response(status_code=204)


@router.delete(
    "/v1/streams/{name}/texts",
    operation_id="erase_texts",
    response_model=replies.ErasedCount,
    responses=responses(404),
)
async def erase_texts(
    engine: CurrentEngine,
    name: StreamPath,
    older_than: Annotated[float, Query(ge=0, le=1e10, description="Only of rounds older than this, in seconds.")] = 0,
) -> Response:
    """Erase questions and texts; the log, which has ids and scores, stays."""
    return as_json({"erased": await engine.retention.erase_texts(name, time.time() - older_than)})
