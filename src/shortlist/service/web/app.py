"""The app: routes that check what comes in, call the engine, and say what came of it."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse
from fastapi.routing import APIRoute

import shortlist
from shortlist.errors import ShortlistError
from shortlist.rounds.codec import to_json
from shortlist.service.engine import Engine, Settings
from shortlist.service.keys import KeyFile
from shortlist.service.web import models, replies
from shortlist.service.web.bodies import BodyRoute
from shortlist.service.web.gate import Gate
from shortlist.service.web.metrics import Metrics
from shortlist.service.web.pages import add_pages
from shortlist.service.web.problems import handle_problems, problem, responses
from shortlist.service.web.views import as_json, round_view, shown_view

__all__ = ["create_app"]

_log = logging.getLogger("shortlist.service")

StreamName = Annotated[str, Path(alias="name", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="The stream.")]
RoundPath = Annotated[
    str, Path(alias="round_id", pattern=r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}$", description="The round.")
]
Limit = Annotated[int, Query(ge=1, le=models.MOST_ON_PAGE, description="The most on a page.")]

_FEEDBACK_LINK = {
    "operationId": "answer",
    "parameters": {"name": "$request.path.name", "round_id": "$response.body#/round_id"},
    "requestBody": {"hit": "$response.body#/members/0"},
}
_STREAM_LINKS = {
    operation: {"operationId": operation, "parameters": {"name": "$response.body#/name"}}
    for operation in ("propose", "get_stream", "get_rounds", "answer_many", "delete_stream")
}
_ROUND_LINKS = {
    "answer": _FEEDBACK_LINK,
    "get_round": {
        "operationId": "get_round",
        "parameters": {"name": "$request.path.name", "round_id": "$response.body#/round_id"},
    },
}


def create_app(
    address: str,
    *,
    keys: KeyFile | None = None,
    allowed_hosts: Sequence[str] = (),
    rate: float | None = None,
    body_limit: int = 8 * 2**20,
    expire_after: float | None = None,
    erase_texts_after: float | None = None,
    **settings: Any,
) -> FastAPI:
    """Return the app of the database at an address.

    Parameters
    ----------
    address
        ``sqlite:///file`` or ``postgresql://...``.
    keys
        The keys that are let in; None lets everybody in who asks for this machine.
    allowed_hosts
        Names by which it may be asked for where there are no keys, besides localhost and addresses.
    rate
        Requests a second for each key, or for each address where there are no keys.
    body_limit
        The largest body of a request, in bytes.
    expire_after
        Close rounds that have waited for an answer for so many seconds.
    erase_texts_after
        Erase questions and texts after so many seconds.
    settings
        Of the engine.
    """
    metrics = Metrics()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Engine.open(address, observe=metrics.commit, **settings) as engine:
            app.state.engine = engine
            metrics.watch(engine.figures, engine.totals)
            retention = asyncio.create_task(_retain(engine, expire_after, erase_texts_after))
            yield
            retention.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await retention

    app = FastAPI(
        title="shortlist",
        version=shortlist.__version__,
        summary="Shortlists that keep the right answer, with a cut-off learned from what people pick.",
        lifespan=lifespan,
        docs_url=None,  # its scripts come from elsewhere
        redoc_url=None,
        responses=responses(400, 401, 403, 413, 421, 422, 429, 500, 503),
    )
    app.add_middleware(Gate, keys=keys, allowed_hosts=allowed_hosts, rate=rate, body_limit=body_limit, metrics=metrics)
    handle_problems(app)
    app.router.route_class = BodyRoute
    _add_rounds(app)  # first, for routes are tried in their order and these are the busy ones
    app.router.route_class = APIRoute
    _add_log(app)
    _add_streams(app)
    _add_history(app)
    _add_retention(app)
    _add_operations(app, metrics)
    add_pages(app)
    return app


async def _retain(engine: Engine, expire_after: float | None, erase_after: float | None) -> None:
    """Close and erase what is old, once an hour."""
    while expire_after is not None or erase_after is not None:
        try:
            await engine.retain(expire_after, erase_after)
        except Exception:  # noqa: BLE001 - the next hour is another chance
            _log.exception("retention has to wait")
        await asyncio.sleep(3600)


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _add_streams(app: FastAPI) -> None:
    @app.post(
        "/v1/streams",
        operation_id="create_stream",
        status_code=201,
        response_model=replies.StreamView,
        responses={
            **responses(409),
            200: {"model": replies.StreamView, "description": "It was there already.", "links": _STREAM_LINKS},
            201: {"description": "It is made.", "links": _STREAM_LINKS},
        },
    )
    async def create_stream(request: Request, body: models.NewStream) -> Response:
        """Make a stream; the same again finds the one that is there."""
        plain = body.model_dump()
        summary, created = await _engine(request).create_stream(plain.pop("name"), Settings(**plain))
        return as_json(summary, 201 if created else 200)

    @app.get("/v1/streams", operation_id="list_streams", response_model=replies.StreamPage)
    async def list_streams(
        request: Request,
        after: Annotated[str, Query(pattern=r"^[A-Za-z0-9._-]{0,100}$", description="Names after this one.")] = "",
        limit: Limit = 100,
    ) -> Response:
        """Return streams by name."""
        return as_json(await _engine(request).streams(after=after, limit=limit))

    @app.get(
        "/v1/streams/{name}",
        operation_id="get_stream",
        response_model=replies.StreamView,
        responses=responses(404),
    )
    async def get_stream(request: Request, name: StreamName) -> Response:
        """Return a stream: settings, threshold, counts, coverage with its interval, drift."""
        return as_json(await _engine(request).summary(name))

    @app.delete("/v1/streams/{name}", operation_id="delete_stream", status_code=204, responses=responses(404))
    async def delete_stream(request: Request, name: StreamName) -> Response:
        """Erase a stream, its log and all that people wrote."""
        await _engine(request).delete_stream(name)
        return Response(status_code=204)

    @app.get(
        "/v1/streams/{name}/live",
        operation_id="live",
        response_class=StreamingResponse,
        responses={
            **responses(404),
            200: {"description": "The stream's summary whenever it changes.", "content": {"text/event-stream": {}}},
        },
    )
    async def live(request: Request, name: StreamName) -> StreamingResponse:
        """Send the stream's summary now and whenever it changes, as server-sent events."""
        engine = _engine(request)
        await engine.threshold(name)  # a stream that is not there is an error, not an empty stream of events

        async def events() -> AsyncIterator[str]:
            yield "retry: 2000\n\n"
            async for summary in engine.changes(name):
                if summary is None:
                    yield ": still here\n\n"
                else:
                    yield f"event: stream\nid: {summary['events']}\ndata: {to_json(summary)}\n\n"
            yield "event: end\ndata: {}\n\n"

        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(events(), media_type="text/event-stream", headers=headers)


def _add_rounds(app: FastAPI) -> None:
    @app.post(
        "/v1/streams/{name}/rounds",
        operation_id="propose",
        status_code=201,
        response_model=replies.RoundShown,
        responses={
            **responses(404, 409),
            200: {"model": replies.RoundShown, "description": "It was shown already.", "links": _ROUND_LINKS},
            201: {"description": "It is on disk: show it.", "links": _ROUND_LINKS},
        },
    )
    async def propose(request: Request, name: StreamName, body: models.NewRound) -> Response:
        """Show a list; the same `round_id` and body again give the same answer."""
        texts = [candidate.text for candidate in body.candidates]
        made, created = await _engine(request).propose(
            name,
            [candidate.id for candidate in body.candidates],
            [candidate.score for candidate in body.candidates],
            round_id=body.round_id,
            question=body.question,
            texts=texts if any(text is not None for text in texts) else None,
            truncated_below=body.truncated_below,
            scorer_version=body.scorer_version,
            allow_empty=body.allow_empty,
        )
        return as_json(shown_view(made), 201 if created else 200)

    @app.put(
        "/v1/streams/{name}/rounds/{round_id}/feedback",
        operation_id="answer",
        response_model=replies.AnswerTaken,
        responses=responses(404, 409, 410),
    )
    async def answer(request: Request, name: StreamName, round_id: RoundPath, body: models.Answer) -> Response:
        """Take a round's answer; the same again changes nothing, another one is refused."""
        engine = _engine(request)
        made, _ = await engine.answer(name, round_id, body.kind, body.member)
        summary = {"round_id": round_id, "answer": made.answer(), "threshold": await engine.threshold(name)}
        return as_json(summary)

    @app.post(
        "/v1/streams/{name}/feedback",
        operation_id="answer_many",
        status_code=207,
        response_model=replies.AnswerResults,
        responses=responses(404),
    )
    async def answer_many(request: Request, name: StreamName, body: models.Answers) -> Response:
        """Take many answers; each is taken or refused on its own."""
        engine = _engine(request)
        await engine.threshold(name)  # a stream that is not there is one error, not many
        done = await asyncio.gather(
            *(engine.answer(name, each.round_id, each.kind, each.member) for each in body.answers),
            return_exceptions=True,
        )
        results = []
        for each, outcome in zip(body.answers, done, strict=True):
            if isinstance(outcome, ShortlistError):
                told = problem(outcome)
                results.append({"round_id": each.round_id, "status": told["status"], "problem": told})
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                results.append({"round_id": each.round_id, "status": 200, "answer": outcome[0].answer()})
        return as_json({"results": results}, 207)


def _add_log(app: FastAPI) -> None:
    @app.get(
        "/v1/streams/{name}/rounds",
        operation_id="get_rounds",
        response_model=replies.RoundPage,
        responses=responses(404),
    )
    async def get_rounds(
        request: Request,
        name: StreamName,
        after: Annotated[int, Query(ge=0, lt=2**63, description="Rounds after this number.")] = 0,
        limit: Limit = 100,
        open_: Annotated[bool, Query(alias="open", description="Only those without an answer.")] = False,
        newest: Annotated[bool, Query(description="The newest first: one page, of the last rounds.")] = False,
    ) -> Response:
        """Return the log: rounds in the order shown, each with its answer."""
        found = await _engine(request).rounds(name, after=after, limit=limit, only_open=open_, newest=newest)
        following = found[-1][0].shown.number if len(found) == limit and not newest else None
        return as_json({"rounds": [round_view(*each) for each in found], "next": following})

    @app.get(
        "/v1/streams/{name}/rounds/{round_id}",
        operation_id="get_round",
        response_model=replies.RoundView,
        responses=responses(404),
    )
    async def get_round(request: Request, name: StreamName, round_id: RoundPath) -> Response:
        """Return one round."""
        return as_json(round_view(*await _engine(request).round(name, round_id)))


def _add_history(app: FastAPI) -> None:
    @app.get(
        "/v1/streams/{name}/series",
        operation_id="get_series",
        response_model=replies.SeriesView,
        responses=responses(404),
    )
    async def get_series(request: Request, name: StreamName) -> Response:
        """Return a stream's history in a few hundred points, however long it is."""
        return as_json(await _engine(request).series(name))

    @app.get(
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
        request: Request,
        name: StreamName,
        form: Annotated[Literal["jsonl", "csv"], Query(alias="format", description="Events, or rounds.")] = "jsonl",
    ) -> StreamingResponse:
        """Return the log as a file: every event as JSON, or a table of the rounds."""
        engine = _engine(request)
        await engine.threshold(name)
        kind = "text/csv; charset=utf-8" if form == "csv" else "application/jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
        return StreamingResponse(engine.export(name, form), media_type=kind, headers=headers)


def _add_retention(app: FastAPI) -> None:
    @app.post(
        "/v1/streams/{name}/expire",
        operation_id="expire",
        response_model=replies.Expired,
        responses=responses(404),
    )
    async def expire(request: Request, name: StreamName, body: models.OlderThan) -> Response:
        """Close rounds that have waited for an answer for too long; they count as silence."""
        return as_json({"expired": await _engine(request).expire(name, time.time() - body.older_than)})

    @app.delete(
        "/v1/streams/{name}/texts",
        operation_id="erase_texts",
        response_model=replies.Erased,
        responses=responses(404),
    )
    async def erase_texts(
        request: Request,
        name: StreamName,
        older_than: Annotated[
            float, Query(ge=0, le=1e10, description="Only of rounds older than so many seconds.")
        ] = 0,
    ) -> Response:
        """Erase questions and texts; the log, which has ids and scores, stays."""
        return as_json({"erased": await _engine(request).erase_texts(name, time.time() - older_than)})


def _add_operations(app: FastAPI, metrics: Metrics) -> None:
    @app.get("/healthz", operation_id="healthz", response_model=dict[str, str])
    async def healthz() -> Response:
        """Say that the process is alive."""
        return as_json({"status": "ok", "version": shortlist.__version__})

    @app.get("/readyz", operation_id="readyz", response_model=dict[str, str])
    async def readyz(request: Request) -> Response:
        """Say whether requests can be served: the database answers and takes writes."""
        await _engine(request).check()
        return as_json({"status": "ready"})

    @app.get(
        "/metrics",
        operation_id="metrics",
        response_class=PlainTextResponse,
        responses={200: {"description": "For Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def prometheus() -> Response:
        """Return metrics as Prometheus reads them."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4")
