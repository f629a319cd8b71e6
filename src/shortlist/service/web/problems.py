"""Errors as problem documents (RFC 9457): what was wrong, and what to do. Never a trace, SQL or a path."""

import re
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    ConflictingStream,
    InvalidInput,
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
from shortlist.service.web.replies import Problem

__all__ = ["PROBLEM_TYPE", "document", "handle_problems", "problem", "responses"]

PROBLEM_TYPE: Final = "application/problem+json"
#: The first that fits.
_STATUS: Final = (
    (UnknownStream, 404),
    (UnknownRound, 404),
    (RoundClosed, 410),
    (ConflictingAnswer, 409),
    (ConflictingRound, 409),
    (ConflictingStream, 409),
    (ScorerChanged, 409),
    (InvalidInput, 422),
    (NotAllowed, 403),
    (StoreUnavailable, 503),
    (ServiceUnavailable, 503),
)


def problem(error: ShortlistError) -> dict[str, Any]:
    """Return an error of ours as a problem document."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return document(problem_name(type(error)), status, str(error))


def document(kind: str, status: int, detail: str, **more: Any) -> dict[str, Any]:
    """Return a problem document."""
    title = kind.replace("-", " ").capitalize()
    return {"type": f"urn:shortlist:problem:{kind}", "title": title, "status": status, "detail": detail, **more}


def _answer(told: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    headers = dict(headers or {})
    if told["status"] == 503:
        headers.setdefault("Retry-After", "1")
    return JSONResponse(told, status_code=told["status"], headers=headers, media_type=PROBLEM_TYPE)


def handle_problems(app: FastAPI) -> None:
    """Answer every error of this app with a problem document."""

    @app.exception_handler(ShortlistError)
    def _ours(_request: Request, error: ShortlistError) -> JSONResponse:
        return _answer(problem(error))

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.method in ("POST", "PUT") and kind != "application/json" and not kind.endswith("+json"):
            told = "send JSON, with the header Content-Type: application/json"
            return _answer(document("invalid-request", 422, told, errors=[{"where": "body", "what": told}]))
        if wrong := [each for each in error.errors() if each["type"] == "json_invalid"]:
            why = wrong[0].get("ctx", {}).get("error") or wrong[0]["msg"]
            told = f"the body is not JSON: {why.removeprefix('Invalid JSON: ')}"
            return _answer(document("invalid-request", 422, told, errors=[{"where": "body", "what": told}]))
        # Without the input: it may be large, or not be JSON at all (NaN).
        found = list({(_where(e["loc"]), e["msg"].removeprefix("Value error, ")): None for e in error.errors()[:20]})
        detail = "; ".join(f"{where}: {what}" for where, what in found[:3])
        listed = [{"where": where, "what": what} for where, what in found]
        return _answer(document("invalid-request", 422, detail, errors=listed))

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> JSONResponse:
        kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_methods(app, request))
        return _answer(document(kind, error.status_code, str(error.detail)), headers)

    @app.exception_handler(Exception)
    def _bug(_request: Request, _error: Exception) -> JSONResponse:
        return _answer(document("internal-error", 500, "the service failed; the log of the service says why"))


def _methods(app: FastAPI, request: Request) -> list[str]:
    """Return all methods that a request's path knows, whichever route has them."""
    found: set[str] = set()
    for route in app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return sorted(found)


def _where(place: tuple[Any, ...]) -> str:
    """Return the place of an error as one reads it: candidates[3].score."""
    words = ""
    for part in place[1:] if len(place) > 1 else place:
        if isinstance(part, int):
            words += f"[{part}]"
        elif not re.search(r"[^A-Za-z0-9_]|^str$|^int$|^[A-Z]", part):  # else the name of an alternative
            words += f".{part}"
    return words.lstrip(".") or "body"


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
