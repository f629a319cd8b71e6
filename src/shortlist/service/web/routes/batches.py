"""Many lists, or many answers, in one request: as JSON, or as JSON lines of any number."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from shortlist.errors import ShortlistError
from shortlist.service.engine import Engine
from shortlist.service.engine.pages import settled
from shortlist.service.engine.rounds import Round
from shortlist.service.web import replies, requests
from shortlist.service.web.bodies import BodyRoute, is_lines, path_reader_of, reader_of
from shortlist.service.web.dependencies import CurrentEngine
from shortlist.service.web.fields import StreamPath
from shortlist.service.web.lines import LINES_TYPE, LinesResponse
from shortlist.service.web.problems import EVERYWHERE, problem, responses
from shortlist.service.web.views import as_json, shown_view

__all__ = ["propose_one", "router"]


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
        truncated_below=body.truncated_below,
        scorer_version=body.scorer_version,
        tags=body.tags,
        allow_empty=body.allow_empty,
        also=body.beside(),
    )


async def _answer(engine: Engine, name: str, answers: Sequence[requests.RoundAnswer]) -> list[dict[str, Any]]:
    """Take answers; return the result of each."""
    outcomes = await engine.answer_all(name, [(each.round_id, each.outcome()) for each in answers])
    return [
        _refused(each.round_id, outcome)
        if isinstance(outcome, ShortlistError)
        else {"round_id": each.round_id, "status": 200, "answer": outcome[0]}
        for each, outcome in zip(answers, outcomes, strict=True)
    ]


async def _propose(engine: Engine, name: str, rounds: Sequence[requests.NewRound]) -> list[dict[str, Any]]:
    """Show lists; return the result of each."""
    outcomes = await settled(propose_one(engine, name, each) for each in rounds)
    return [
        _refused(each.round_id, outcome)
        if isinstance(outcome, ShortlistError)
        else {**shown_view(outcome[0]), "status": 201 if outcome[1] else 200}
        for each, outcome in zip(rounds, outcomes, strict=True)
    ]


def _refused(round_id: str | None, error: ShortlistError) -> dict[str, Any]:
    document = problem(error)
    return {"round_id": round_id, "status": document["status"], "problem": document}


#: What a line of each operation is, and what stores it.
_LINES: Final[dict[str, Any]] = {
    "answer_many": (reader_of(TypeAdapter(requests.RoundAnswer)), _answer),
    "propose_many": (reader_of(TypeAdapter(requests.NewRound)), _propose),
}


class _BatchRoute(BodyRoute):
    """A route that takes JSON lines, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        whole = super().get_route_handler()
        read, store = _LINES[self.operation_id or ""]
        read_path = path_reader_of(self.endpoint)

        async def answer(request: Request) -> Response:
            if not is_lines(request.headers.get("content-type", "").encode("latin-1")):
                return await whole(request)
            name: str = read_path(request)["name"]
            engine: Engine = request.app.state.engine
            await engine.require(name)
            return LinesResponse(request, read, partial(store, engine, name))

        return answer


def _with_lines(item: str, results: str) -> dict[str, Any]:
    """Return what the OpenAPI document says of JSON lines."""
    text = {"type": "string", "description": f"One JSON object per line: {item}. Any number of lines."}
    content = {kind: {"schema": text} for kind in (LINES_TYPE, "application/x-ndjson")}
    lines = {"type": "string", "description": f"One JSON object per line: {results}, and `line`, its number from 1."}
    return {
        "requestBody": {"content": content},
        "responses": {"207": {"content": {LINES_TYPE: {"schema": lines}}}},
    }


router = APIRouter(route_class=_BatchRoute, responses=EVERYWHERE)


@router.post(
    "/v1/streams/{name}/feedback",
    operation_id="answer_many",
    status_code=207,
    response_model=replies.AnswerResults,
    responses=responses(404),
    openapi_extra=_with_lines("an item of `answers`", "an item of `results`"),
)
async def answer_many(engine: CurrentEngine, name: StreamPath, body: requests.Answers) -> Response:
    """Take many answers; each is taken or refused on its own.

    As JSON, at most 1,000; as JSON lines any number, which are stored and answered in parts while they arrive.
    """
    await engine.require(name)  # an unknown stream is one error, not one per answer
    return as_json({"results": await _answer(engine, name, body.answers)}, 207)


@router.post(
    "/v1/streams/{name}/rounds:batch",
    operation_id="propose_many",
    status_code=207,
    response_model=replies.RoundResults,
    responses=responses(404),
    openapi_extra=_with_lines("an item of `rounds`", "an item of `results`"),
)
async def propose_many(engine: CurrentEngine, name: StreamPath, body: requests.Rounds) -> Response:
    """Show many lists; each is shown or refused on its own.

    Lists that are stored together are cut with the threshold, and within the error budget, from before the first of
    them. As JSON, at most 1,000; as JSON lines any number, which are stored and answered in parts while they arrive.
    """
    await engine.require(name)
    return as_json({"results": await _propose(engine, name, body.rounds)}, 207)
