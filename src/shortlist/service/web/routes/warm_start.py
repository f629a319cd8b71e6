"""Learning: from labeled lists before the first round, and from scratch."""

from fastapi import APIRouter, Response

from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.web import learning_requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.fields import StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.serializers import as_json

__all__ = ["router"]

router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)


@router.post(
    "/v1/streams/{name}/warm-start",
    operation_id="warm_start",
    response_model=StreamSummary,
    responses=responses(404, 409),
)
async def warm_start(engine: CurrentEngine, name: StreamPath, body: learning_requests.NewExamples) -> Response:
    """Learn from labeled lists, before the first round. The same lists again change nothing.

    They count as rounds in which everything was shown and answered. Where the score is learned, the last 250 of them
    teach it too; with a delta the first of them are for the score, and only the others are for its threshold.
    """
    return as_json(await engine.warm_start(name, body.lists, body.right, body.scorers))


@router.post(
    "/v1/streams/{name}/restart",
    operation_id="restart",
    response_model=StreamSummary,
    responses=responses(404, 409),
)
async def restart(engine: CurrentEngine, name: StreamPath, body: learning_requests.RestartRequest) -> Response:
    """Start learning over: a new epoch, in which no earlier round counts.

    The first lists are the best 10 again, or complete ones with a delta.
    """
    return as_json(await engine.restart(name, refit=body.refit, epoch=body.epoch))
