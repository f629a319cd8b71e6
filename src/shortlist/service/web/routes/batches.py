"""Many lists, or many answers, in one request."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response

from shortlist.errors import ShortlistError
from shortlist.service.engine import Engine
from shortlist.service.engine.paging import settled
from shortlist.service.engine.round_cache import Round
from shortlist.service.keys import Key
from shortlist.service.web import replies, requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine, CurrentKey, author_of, unnamed
from shortlist.service.web.fields import StreamPath
from shortlist.service.web.problems import EVERYWHERE, problem, responses
from shortlist.service.web.serializers import as_json, shown_view

__all__ = ["propose_one", "refused", "router"]


async def propose_one(engine: Engine, name: str, body: requests.NewRound) -> tuple[Round, bool]:
    """Show a list; return its round and whether it is new."""
    ids, scores, texts = body.columns()
    return await engine.propose(
        name,
        ids,
        scores,
        round_id=body.round_id,
        question=body.question,
        texts=texts,
        image=body.image,
        truncated_below=body.truncated_below,
        scorer_version=body.scorer_version,
        allow_empty=body.allow_empty,
    )


async def _answer(
    engine: Engine, name: str, key: Key | None, answers: Sequence[requests.RoundAnswer]
) -> list[dict[str, Any]]:
    """Take answers; return the result of each."""
    given = [(each.round_id, (*each.outcome(), author_of(key, each.annotator, each.holder))) for each in answers]
    outcomes = await engine.answer_all(name, given)
    return [
        refused(unnamed(key, outcome), round_id=each.round_id)
        if isinstance(outcome, ShortlistError)
        else {"round_id": each.round_id, "status": 200, "answer": outcome[0]}
        for each, outcome in zip(answers, outcomes, strict=True)
    ]


async def _propose(engine: Engine, name: str, rounds: Sequence[requests.NewRound]) -> list[dict[str, Any]]:
    """Show lists; return the result of each."""
    outcomes = await settled(propose_one(engine, name, each) for each in rounds)
    return [
        refused(outcome, round_id=each.round_id)
        if isinstance(outcome, ShortlistError)
        else {**shown_view(outcome[0]), "status": 201 if outcome[1] else 200}
        for each, outcome in zip(rounds, outcomes, strict=True)
    ]


def refused(error: ShortlistError, **about: str | None) -> dict[str, Any]:
    """Return the result of something that was refused."""
    document = problem(error)
    return {**about, "status": document["status"], "problem": document}


router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)


@router.post(
    "/v1/streams/{name}/feedback",
    operation_id="answer_many",
    status_code=207,
    response_model=replies.AnswerResults,
    responses=responses(404),
)
async def answer_many(engine: CurrentEngine, key: CurrentKey, name: StreamPath, body: requests.Answers) -> Response:
    """Take many answers; each is taken or refused on its own.

    At most 1,000.
    """
    await engine.require(name)  # an unknown stream is one error, not one per answer
    return as_json({"results": await _answer(engine, name, key, body.answers)}, 207)


@router.post(
    "/v1/streams/{name}/rounds:batch",
    operation_id="propose_many",
    status_code=207,
    response_model=replies.RoundResults,
    responses=responses(404),
)
async def propose_many(engine: CurrentEngine, name: StreamPath, body: requests.NewRounds) -> Response:
    """Show many lists; each is shown or refused on its own.

    Lists that are stored together are cut with the threshold and the error budget as they were before the first of
    them. At most 1,000.
    """
    await engine.require(name)
    return as_json({"results": await _propose(engine, name, body.rounds)}, 207)
