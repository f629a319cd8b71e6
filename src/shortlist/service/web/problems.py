"""Errors as problem documents (RFC 9457): what was wrong, and what to do. Never a trace, SQL or a path.

What is wrong with the database is for the log: a driver's words name hosts, files and roles.
"""

from http import HTTPStatus
from typing import Any, Final, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route

from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    ConflictingStream,
    InvalidInput,
    LeaseLost,
    MissingExtra,
    NotAllowed,
    RoundClosed,
    ScorerChanged,
    ServiceUnavailable,
    ShortlistError,
    StoreUnavailable,
    UnknownRound,
    UnknownStream,
    problem_name,
)
from shortlist.service.web.body_route import is_json
from shortlist.service.web.replies import Problem
from shortlist.service.web.validation_errors import validation_errors

__all__ = [
    "EVERYWHERE",
    "PROBLEM_TYPE",
    "WHY",
    "Refusal",
    "document",
    "handle_problems",
    "problem",
    "responses",
    "validation_problem",
]

PROBLEM_TYPE: Final = "application/problem+json"
#: The first that fits.
_STATUS: Final = (
    (UnknownStream, 404),
    (UnknownRound, 404),
    (RoundClosed, 410),
    (ConflictingAnswer, 409),
    (ConflictingRound, 409),
    (ConflictingStream, 409),
    (LeaseLost, 409),
    (ScorerChanged, 409),
    (InvalidInput, 422),
    (NotAllowed, 403),
    (MissingExtra, 501),
    (StoreUnavailable, 503),
    (ServiceUnavailable, 503),
)
#: Where the gate finds why a request failed, for the log.
WHY: Final = "shortlist.why"
_AWAY: Final = "the database did not accept this: try again later; the log of the service says why"


class Refusal(NamedTuple):
    """A problem document, and headers to go with it."""

    document: dict[str, Any]
    headers: dict[str, str] = {}  # noqa: RUF012 - nobody changes it


def problem(error: ShortlistError) -> dict[str, Any]:
    """Return one of the package's errors as a problem document."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return document(problem_name(type(error)), status, _AWAY if isinstance(error, StoreUnavailable) else str(error))


def document(kind: str, status: int, detail: str, **more: Any) -> dict[str, Any]:
    """Return a problem document."""
    title = kind.replace("-", " ").capitalize()
    return {"type": f"urn:shortlist:problem:{kind}", "title": title, "status": status, "detail": detail, **more}


def handle_problems(app: FastAPI) -> None:
    """Answer every error of an app with a problem document."""
    app.add_exception_handler(ShortlistError, _of_package)
    app.add_exception_handler(RequestValidationError, _of_request)
    app.add_exception_handler(HTTPException, _of_framework)
    app.add_exception_handler(ClientDisconnect, _of_disconnect)
    app.add_exception_handler(Exception, _of_bug)


# Coroutines, although they await nothing: Starlette would run plain functions in a thread of its pool.


async def _of_package(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ShortlistError)  # noqa: S101 - for the type checker, here and below
    request.scope[WHY] = f"{type(error).__name__}: {error}"
    return _response(problem(error))


async def _of_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    if request.method in ("POST", "PUT") and not error.errors() and not is_json(request):
        return _response(_invalid("send JSON, with the header Content-Type: application/json"))
    return _response(validation_problem(error))


async def _of_framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 400 and request.method in ("POST", "PUT", "PATCH"):
        return _response(_invalid("the body cannot be read as JSON; send it as UTF-8"))
    phrase = (
        "content too large" if error.status_code == 413 else HTTPStatus(error.status_code).phrase
    )  # renamed in 3.13
    kind = phrase.lower().replace(" ", "-")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))
    return _response(document(kind, error.status_code, str(error.detail)), headers)


async def _of_disconnect(_request: Request, _error: Exception) -> JSONResponse:
    # No client receives it; it is for the log and the metrics.
    return _response(document("bad-request", 400, "the connection was closed before the whole body had arrived"))


async def _of_bug(_request: Request, _error: Exception) -> JSONResponse:
    return _response(document("internal-error", 500, "the service failed; the log of the service says why"))


def validation_problem(error: RequestValidationError) -> dict[str, Any]:
    """Return what is wrong with a request, or with a line of one, as a problem document."""
    if syntax := [each for each in error.errors() if each["type"] == "json_invalid"]:
        why = syntax[0].get("ctx", {}).get("error") or syntax[0]["msg"]
        return _invalid(f"the body is not JSON: {why.removeprefix('Invalid JSON: ')}")
    wrong = validation_errors(error.errors()[:20])
    detail = "; ".join(where + what for where, what in list(wrong.items())[:3])
    errors = [{"where": where, "what": what.removeprefix(":").lstrip()} for where, what in wrong.items()]
    return document("invalid-request", 422, detail, errors=errors)


def _invalid(detail: str) -> dict[str, Any]:
    return document("invalid-request", 422, detail, errors=[{"where": "body", "what": detail}])


def _response(payload: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    headers = dict(headers or {})
    if payload["status"] == 503:
        headers.setdefault("Retry-After", "1")
    return JSONResponse(payload, status_code=payload["status"], headers=headers, media_type=PROBLEM_TYPE)


def _methods(request: Request) -> list[str]:
    """Return all methods that a request's path accepts, over all routes."""
    methods: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return sorted(methods)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problem documents that a route may answer with, for the OpenAPI document."""
    return {
        status: {
            "model": Problem,
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


#: What any route may answer with.
EVERYWHERE: Final = responses(400, 401, 403, 413, 421, 422, 500, 503)
