"""Making, listing, watching and deleting streams."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from shortlist.errors import ServiceUnavailable
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.web import stream_replies, stream_requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine, CurrentMetrics, KeyCheck
from shortlist.service.web.fields import AFTER_NAME, PageLimit, StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.serializers import as_json
from shortlist.service.web.service_metrics import Metrics

__all__ = ["router"]

router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)

#: How many may listen to one process: each wakes up whenever its stream changes.
_MOST_LISTENERS: Final = 1_000
_LINKS: Final = {
    operation: {"operationId": operation, "parameters": {"name": "$response.body#/name"}}
    for operation in (
        "propose",
        "propose_many",
        "get_stream",
        "get_rounds",
        "answer_many",
        "warm_start",
        "restart",
        "delete_stream",
    )
}


@router.post(
    "/v1/streams",
    operation_id="create_stream",
    status_code=201,
    response_model=StreamSummary,
    responses={
        **responses(409),
        200: {"model": StreamSummary, "description": "It already exists.", "links": _LINKS},
        201: {"description": "It is created.", "links": _LINKS},
    },
)
async def create_stream(engine: CurrentEngine, body: stream_requests.NewStream) -> Response:
    """Create a stream; the same request again returns the one that exists."""
    settings = body.model_dump()
    summary, created = await engine.create_stream(settings.pop("name"), StreamSettings.of(**settings))
    return as_json(summary, 201 if created else 200)


@router.get("/v1/streams", operation_id="list_streams", response_model=stream_replies.StreamPage)
async def list_streams(
    engine: CurrentEngine,
    after: Annotated[str, Query(pattern=AFTER_NAME, description="Names after this one.")] = "",
    limit: PageLimit = 100,
) -> Response:
    """Return streams by name."""
    return as_json(await engine.streams(after=after, limit=limit))


@router.get(
    "/v1/streams/{name}",
    operation_id="get_stream",
    response_model=StreamSummary,
    responses=responses(404),
)
async def get_stream(engine: CurrentEngine, name: StreamPath) -> Response:
    """Return a stream: settings, threshold, counts, coverage with its interval, drift."""
    return as_json(await engine.summary(name))


@router.patch(
    "/v1/streams/{name}",
    operation_id="configure_stream",
    response_model=StreamSummary,
    responses=responses(404),
)
async def configure_stream(engine: CurrentEngine, name: StreamPath, body: stream_requests.Changes) -> Response:
    """Change settings of a stream, from its next list on. What is not in the body stays as it is."""
    return as_json(await engine.configure(name, body.given()))


@router.delete("/v1/streams/{name}", operation_id="delete_stream", status_code=204, responses=responses(404, 409))
async def delete_stream(engine: CurrentEngine, name: StreamPath) -> Response:
    """Erase a stream, its log, and all questions and texts."""
    await engine.delete_stream(name)
    return Response(status_code=204)


@router.get(
    "/v1/streams/{name}/live",
    operation_id="live",
    response_class=StreamingResponse,
    responses={
        **responses(404),
        200: {"description": "The stream's summary whenever it changes.", "content": {"text/event-stream": {}}},
    },
)
async def live(
    engine: CurrentEngine, metrics: CurrentMetrics, is_allowed: KeyCheck, name: StreamPath
) -> StreamingResponse:
    """Send the stream's summary now and whenever it changes, as server-sent events, until the key is revoked."""
    await engine.require(name)  # an unknown stream is an error, not an empty stream of events
    if engine.listeners >= _MOST_LISTENERS:
        raise ServiceUnavailable(f"{_MOST_LISTENERS:,} live streams are open, and that is the most: close some")
    headers = {"X-Accel-Buffering": "no"}
    events = _events(engine, metrics, name, is_allowed)
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def _events(engine: Engine, metrics: Metrics, name: str, is_allowed: Callable[[], bool]) -> AsyncIterator[str]:
    with metrics.listeners.track_inprogress():
        yield "retry: 2000\n\n"
        async for change in engine.changes(name, is_allowed):
            if change is None:
                yield ": still here\n\n"
            else:
                yield f"event: stream\nid: {change.number}\ndata: {change.summary}\n\n"
        yield "event: end\ndata: {}\n\n"
