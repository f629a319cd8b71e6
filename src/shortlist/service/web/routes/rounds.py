"""Showing lists and taking answers: the busy routes."""

from typing import Final

from fastapi import APIRouter, Response

from shortlist.errors import ConflictingAnswer
from shortlist.rounds.shown import to_null
from shortlist.service.web import replies, requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine, CurrentKey, author_of, unnamed
from shortlist.service.web.fields import RoundPath, StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.routes.batches import propose_one
from shortlist.service.web.serializers import as_json, more_view, shown_view

__all__ = ["router"]

router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)

_THIS_ROUND: Final = {"name": "$request.path.name", "round_id": "$response.body#/round_id"}
_LINKS: Final = {
    "answer": {
        "operationId": "answer",
        "parameters": _THIS_ROUND,
        "requestBody": {"hit": "$response.body#/members/0"},
    },
    "get_round": {"operationId": "get_round", "parameters": _THIS_ROUND},
}


@router.post(
    "/v1/streams/{name}/rounds",
    operation_id="propose",
    status_code=201,
    response_model=replies.RoundShown,
    responses={
        **responses(404, 409),
        200: {"model": replies.RoundShown, "description": "It was shown already.", "links": _LINKS},
        201: {"description": "It is on disk: show it.", "links": _LINKS},
    },
)
async def propose(engine: CurrentEngine, name: StreamPath, body: requests.NewRound) -> Response:
    """Show a list; the same `round_id` and body again give the same answer."""
    shown, created = await propose_one(engine, name, body)
    return as_json(shown_view(shown), 201 if created else 200)


@router.post(
    "/v1/streams/{name}/rounds/{round_id}/more",
    operation_id="more",
    response_model=replies.MoreShown,
    responses=responses(404, 409, 410),
)
async def more(
    engine: CurrentEngine, key: CurrentKey, name: StreamPath, round_id: RoundPath, body: requests.MoreAsked
) -> Response:
    """Show more of a list: the next candidates, best first. Any of them may then be picked.

    A pick from these was missed by the list, but its score is known. If you say how many candidates you have (`shown`),
    a repeated request changes nothing.
    """
    shown, new = await engine.more(name, round_id, body.count, body.shown, author_of(key, None, body.holder))
    return as_json(more_view(shown, await engine.history.text(name, shown), new, body.shown, body.count))


@router.put(
    "/v1/streams/{name}/rounds/{round_id}/feedback",
    operation_id="answer",
    response_model=replies.AnswerTaken,
    responses=responses(404, 409, 410),
)
async def answer(
    engine: CurrentEngine, key: CurrentKey, name: StreamPath, round_id: RoundPath, body: requests.NewAnswer
) -> Response:
    """Take a round's answer; the same one again changes nothing; a different one is refused."""
    author = author_of(key, body.annotator, body.holder)
    try:
        closed, _ = await engine.answer(name, round_id, *body.outcome(), author)
    except ConflictingAnswer as error:
        raise unnamed(key, error) from None
    threshold = await engine.threshold(name)
    return as_json(
        {
            "round_id": round_id,
            "answer": closed.answer(),
            "threshold": to_null(threshold),
        }
    )
