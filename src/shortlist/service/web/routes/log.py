"""Reading a stream's log: its rounds, its history in a few hundred points, and all of it as a file."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from shortlist.rounds.codec import to_json
from shortlist.service.engine.paging import Asked
from shortlist.service.engine.round_cache import Seen
from shortlist.service.web import replies, stream_replies
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.fields import MOST_CANDIDATES, PageLimit, RoundPath, StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.serializers import as_json, round_json, round_view

__all__ = ["router"]

router = APIRouter(responses=EVERYWHERE)

#: Up to how many candidates are written at once; for more there is a thread.
_SMALL: Final = 500
CandidateCount = Annotated[
    int | None,
    Query(
        ge=0,
        le=MOST_CANDIDATES,
        description="At most this many candidates and members of each round: those shown, in their order, then the "
        "others, best first. If left out: all candidates, in the order sent.",
    ),
]


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
    before: Annotated[int | None, Query(ge=0, lt=2**63, description="Rounds before this number.")] = None,
    limit: PageLimit = 100,
    open_: Annotated[bool, Query(alias="open", description="Only those without an answer.")] = False,
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    candidates: CandidateCount = None,
) -> Response:
    """Return the log: rounds in the order shown, each with its answer.

    A page ends after about a megabyte of lists and texts as they are stored, or after one round that is larger. Go on
    with `next`: send it as `after`, or with `newest` as `before`.
    """
    asked = Asked(after, before, limit, open_, newest)
    rounds, following = await engine.history.rounds(name, asked)
    if sum(map(_size, rounds)) <= _SMALL:
        return as_json({"rounds": [round_view(*each, candidates) for each in rounds], "next": following})
    return StreamingResponse(_page(rounds, following, candidates), media_type="application/json")


async def _page(rounds: list[Seen], following: int | None, candidates: int | None) -> AsyncIterator[bytes]:
    """Yield a page in parts, each written by a thread: others are served meanwhile."""
    separator, part = b'{"rounds":[', list[Seen]()
    for count, each in enumerate(rounds, 1):
        part.append(each)
        if count == len(rounds) or sum(map(_size, part)) > _SMALL:
            yield separator + await asyncio.to_thread(_written, part, candidates)
            separator, part = b",", []
    yield f'],"next":{to_json(following)}}}'.encode()


def _written(rounds: list[Seen], candidates: int | None) -> bytes:
    return b",".join([round_json(*each, candidates) for each in rounds])


def _size(seen: Seen) -> int:
    return len(seen[0].listed.scores)


@router.get(
    "/v1/streams/{name}/rounds/{round_id}",
    operation_id="get_round",
    response_model=replies.RoundView,
    responses=responses(404),
)
async def get_round(
    engine: CurrentEngine, name: StreamPath, round_id: RoundPath, candidates: CandidateCount = None
) -> Response:
    """Return one round."""
    seen = await engine.history.round(name, round_id)
    if _size(seen) <= _SMALL:
        return as_json(round_view(*seen, candidates))
    return Response(await asyncio.to_thread(round_json, *seen, candidates), media_type="application/json")


@router.get(
    "/v1/streams/{name}/series",
    operation_id="get_series",
    response_model=stream_replies.SeriesView,
    responses=responses(404),
)
async def get_series(engine: CurrentEngine, name: StreamPath) -> Response:
    """Return a stream's history in a few hundred points, however long it is."""
    return as_json(await engine.history.series(name))


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
    return StreamingResponse(engine.history.export(name, form), media_type=kind, headers=headers)
