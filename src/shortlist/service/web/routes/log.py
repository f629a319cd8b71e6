"""Reading a stream's log: its rounds, its history in a few hundred points, and all of it as a file."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from shortlist.service.web import replies
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.requests import PageLimit, RoundPath, StreamPath
from shortlist.service.web.views import as_json, round_view

__all__ = ["router"]

router = APIRouter(responses=EVERYWHERE)


@router.get(
    "/v1/streams/{name}/rounds",
    operation_id="get_rounds",
    response_model=replies.RoundPage,
    responses=responses(404),
)
async def get_rounds(
    engine: CurrentEngine,
    name: StreamPath,
    after: Annotated[int, Query(ge=0, lt=2**63, description="Rounds after this number.")] = 0,
    limit: PageLimit = 100,
    open_: Annotated[bool, Query(alias="open", description="Only those without an answer.")] = False,
    newest: Annotated[bool, Query(description="The newest first: one page, of the last rounds.")] = False,
) -> Response:
    """Return the log: rounds in the order shown, each with its answer."""
    rounds = await engine.rounds(name, after=after, limit=limit, only_open=open_, newest=newest)
    following = rounds[-1][0].shown.number if len(rounds) == limit and not newest else None
    return as_json({"rounds": [round_view(*each) for each in rounds], "next": following})


@router.get(
    "/v1/streams/{name}/rounds/{round_id}",
    operation_id="get_round",
    response_model=replies.RoundView,
    responses=responses(404),
)
async def get_round(engine: CurrentEngine, name: StreamPath, round_id: RoundPath) -> Response:
    """Return one round."""
    return as_json(round_view(*await engine.round(name, round_id)))


@router.get(
    "/v1/streams/{name}/series",
    operation_id="get_series",
    response_model=replies.SeriesView,
    responses=responses(404),
)
async def get_series(engine: CurrentEngine, name: StreamPath) -> Response:
    """Return a stream's history in a few hundred points, however long it is."""
    return as_json(await engine.series(name))


@router.get(
    "/v1/streams/{name}/export",
    operation_id="export",
    response_class=StreamingResponse,
    responses={
        **responses(404),
        200: {
            "description": "The log, as a file.",
            "content": {kind: {"schema": {"type": "string"}} for kind in ("application/jsonl", "text/csv")},
        },
    },
)
async def export(
    engine: CurrentEngine,
    name: StreamPath,
    form: Annotated[Literal["jsonl", "csv"], Query(alias="format", description="Events, or rounds.")] = "jsonl",
) -> StreamingResponse:
    """Return the log as a file: every event as JSON, or a table of the rounds."""
    await engine.require(name)
    kind = "text/csv; charset=utf-8" if form == "csv" else "application/jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return StreamingResponse(engine.export(name, form), media_type=kind, headers=headers)
