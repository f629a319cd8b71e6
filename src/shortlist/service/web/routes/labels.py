"""Labels: the picks as a training set, and how lists did for each class."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from shortlist.service.engine import Engine, write_labels
from shortlist.service.engine.csv_tables import as_csv
from shortlist.service.web import item_replies, item_requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine, CurrentKey
from shortlist.service.web.fields import MOST_CANDIDATES, RoundPath, StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.serializers import as_json

__all__ = ["router"]

router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)

_TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}


@router.get(
    "/v1/streams/{name}/labels",
    operation_id="get_labels",
    response_class=StreamingResponse,
    responses={
        **responses(404, 501),
        200: {
            "description": "A row for each answered round.",
            "content": {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in _TYPES.values()},
        },
    },
)
async def get_labels(
    engine: CurrentEngine,
    name: StreamPath,
    form: Annotated[Literal["csv", "jsonl", "parquet"], Query(alias="format", description="The kind of file.")] = "csv",
) -> Response:
    """Return the picks as a training set.

    `how`: `list`, picked from the list; `more`, after more of it was shown; `none`, nothing is right; `not in list`,
    nobody looked further. The last two have no label.
    """
    await engine.require(name)
    headers = {"Content-Disposition": f'attachment; filename="{name}-labels.{form}"'}
    if form == "parquet":
        path = await asyncio.to_thread(_parquet, engine, name)
        clean_up = BackgroundTask(path.unlink, missing_ok=True)
        return FileResponse(path, media_type=_TYPES[form], headers=headers, background=clean_up)
    return StreamingResponse(engine.history.labels(name, form), media_type=_TYPES[form], headers=headers)


def _parquet(engine: Engine, name: str) -> Path:
    """Write a file of labels, with a connection of its own: it may take a while."""
    with tempfile.NamedTemporaryFile(prefix="shortlist-labels-", suffix=".parquet", delete=False) as file:
        path = Path(file.name)
    store = engine.open_reader()
    try:
        write_labels(store, name, path, "parquet")
    except BaseException:
        path.unlink()
        raise
    finally:
        store.close()
    return path


@router.put(
    "/v1/streams/{name}/labels/{round_id}",
    operation_id="correct_label",
    response_model=item_replies.CorrectionView,
    responses=responses(404, 409),
)
async def correct_label(
    engine: CurrentEngine, key: CurrentKey, name: StreamPath, round_id: RoundPath, body: item_requests.LabelCorrected
) -> Response:
    """Correct the label of an answered round, at any time, with a key that may review; the last correction stays.

    It is for the training set alone: the first answer stays in the log, and no threshold moves.
    """
    reviewer = None if key is None else key.name
    correction = await engine.review.correct(name, round_id, body.label, body.note, reviewer)
    return as_json({field: value for field, value in correction._asdict().items() if field != "stream_id"})


@router.get(
    "/v1/streams/{name}/classes",
    operation_id="get_classes",
    response_model=item_replies.ClassViews,
    responses={
        **responses(404),
        200: {"description": "By class.", "content": {"text/csv": {"schema": {"type": "string"}}}},
    },
)
async def get_classes(
    engine: CurrentEngine,
    name: StreamPath,
    form: Annotated[Literal["json", "csv"], Query(alias="format", description="As JSON, or as a table.")] = "json",
    limit: Annotated[
        int | None, Query(ge=0, le=MOST_CANDIDATES, description="At most this many classes, hardest first.")
    ] = None,
) -> Response:
    """Return how lists did for each class, from labels, after the fact: hardest classes first, and labels per hour.

    Misses that nobody found a label for belong to no class.
    """
    counts, signers = await engine.history.classes(name)
    rows: list[dict[str, Any]] = counts.classes()
    if form == "csv":
        columns = ("label", "text", "labels", "covered", "missed", "coverage", "low", "high")
        table = [(*list(row.values())[:-1], *row["interval"]) for row in rows[:limit]]
        headers = {"Content-Disposition": f'attachment; filename="{name}-classes.csv"'}
        return Response(as_csv(columns, table), media_type="text/csv; charset=utf-8", headers=headers)
    return as_json(
        {
            "classes": rows[:limit],
            "class_count": len(rows),
            "unlabeled": counts.unlabeled,
            "several": counts.several,
            "hours": counts.hours(),
            "annotators": [{"annotator": who, "answers": count} for who, count in signers],
        }
    )
