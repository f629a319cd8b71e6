"""Many lists, or many answers, in one request: as JSON, or as JSON lines of any number."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, ClassVar

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from shortlist.errors import ShortlistError
from shortlist.service.engine import Engine
from shortlist.service.engine.pages import settled
from shortlist.service.engine.rounds import Round
from shortlist.service.keys import Key
from shortlist.service.web import replies, requests
from shortlist.service.web.bodies import BodyRoute, is_lines, path_reader_of, reader_of
from shortlist.service.web.dependencies import KEY, CurrentEngine, CurrentKey, author_of, unnamed
from shortlist.service.web.fields import StreamPath
from shortlist.service.web.lines import LINES_TYPE, LinesResponse
from shortlist.service.web.problems import EVERYWHERE, problem, responses
from shortlist.service.web.views import as_json, shown_view

__all__ = ["LinesRoute", "propose_one", "refused", "router", "with_lines"]


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


async def _propose(
    engine: Engine, name: str, _key: Key | None, rounds: Sequence[requests.NewRound]
) -> list[dict[str, Any]]:
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


class LinesRoute(BodyRoute):
    """A route that takes JSON lines, too."""

    #: What a line of each operation is, what stores lines, and what the id is called in their results.
    LINES: ClassVar[dict[str, tuple[Any, Any, str]]] = {}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request."""
        whole = super().get_route_handler()
        if self.operation_id not in self.LINES:
            return whole
        line, store, id_field = self.LINES[self.operation_id]
        read, read_path = reader_of(TypeAdapter(line)), path_reader_of(self.endpoint)

        async def answer(request: Request) -> Response:
            if not is_lines(request.headers.get("content-type", "").encode("latin-1")):
                return await whole(request)
            name: str = read_path(request)["name"]
            engine: Engine = request.app.state.engine
            await engine.require(name)
            return LinesResponse(request, read, partial(store, engine, name, request.scope.get(KEY)), id_field)

        return answer


class _BatchRoute(LinesRoute):
    """The routes here."""

    LINES = {  # noqa: RUF012 - nobody changes it
        "answer_many": (requests.RoundAnswer, _answer, "round_id"),
        "propose_many": (requests.NewRound, _propose, "round_id"),
    }


def with_lines(item: str, results: str) -> dict[str, Any]:
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
    openapi_extra=with_lines("an item of `answers`", "an item of `results`"),
)
async def answer_many(engine: CurrentEngine, key: CurrentKey, name: StreamPath, body: requests.Answers) -> Response:
    """Take many answers; each is taken or refused on its own.

    As JSON, at most 1,000; as JSON lines any number, which are stored and answered in parts while they arrive.
    """
    await engine.require(name)  # an unknown stream is one error, not one per answer
    return as_json({"results": await _answer(engine, name, key, body.answers)}, 207)


@router.post(
    "/v1/streams/{name}/rounds:batch",
    operation_id="propose_many",
    status_code=207,
    response_model=replies.RoundResults,
    responses=responses(404),
    openapi_extra=with_lines("an item of `rounds`", "an item of `results`"),
)
async def propose_many(engine: CurrentEngine, name: StreamPath, body: requests.Rounds) -> Response:
    """Show many lists; each is shown or refused on its own.

    Lists that are stored together are cut with the threshold and the error budget as they were before the first of
    them. As JSON, at most 1,000; as JSON lines any number, which are stored and answered in parts while they arrive.
    """
    await engine.require(name)
    return as_json({"results": await _propose(engine, name, None, body.rounds)}, 207)
