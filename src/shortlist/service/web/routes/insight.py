"""What a log tells after the fact: coverage by subgroup, and whether silence may be ignored."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from shortlist.service.engine.tables import as_csv
from shortlist.service.web import stream_replies
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.fields import StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.views import as_json, silence_view

__all__ = ["router"]

router = APIRouter(responses=EVERYWHERE)


@router.get(
    "/v1/streams/{name}/subgroups",
    operation_id="get_subgroups",
    response_model=stream_replies.SubgroupViews,
    responses={
        **responses(404),
        200: {"description": "By tag.", "content": {"text/csv": {"schema": {"type": "string"}}}},
    },
)
async def get_subgroups(
    engine: CurrentEngine,
    name: StreamPath,
    form: Annotated[Literal["json", "csv"], Query(alias="format", description="As JSON, or as a table.")] = "json",
) -> Response:
    """Return coverage after the fact, by each value of each tag that rounds were sent with."""
    subgroups = await engine.history.subgroups(name)
    if form == "json":
        return as_json({"subgroups": [each._asdict() for each in subgroups]})
    columns = ("tag", "value", "rounds", "hits", "misses", "coverage", "low", "high")
    rows = [(*each[:-1], *(each.interval or ("", ""))) for each in subgroups]
    headers = {"Content-Disposition": f'attachment; filename="{name}-subgroups.csv"'}
    return Response(as_csv(columns, rows), media_type="text/csv; charset=utf-8", headers=headers)


@router.get(
    "/v1/streams/{name}/silence",
    operation_id="get_silence",
    response_model=stream_replies.SilenceView,
    responses=responses(404),
)
async def get_silence(engine: CurrentEngine, name: StreamPath) -> Response:
    """Return which rounds get an answer, over the last 2,000 that had time to be answered.

    Where `unanswered` is "ignore", right answers with low scores must be answered at least as often as others, and no
    later. This is what the log shows of that.
    """
    return as_json(silence_view(await engine.history.silence(name)))
