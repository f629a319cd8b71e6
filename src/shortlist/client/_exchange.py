"""Requests as they are sent, and what their answers say."""

import contextlib
import math
import random
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx2

from shortlist import errors
from shortlist.errors import NotAllowed, ServiceError, ShortlistError

__all__ = ["Call", "Reply", "Request", "Result", "asked_pause", "error_of", "problem_in", "read", "results_of"]

_ERRORS: Final = {f"urn:shortlist:problem:{errors.problem_name(kind)}": kind for kind in errors.all_errors()}

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Request:
    """A request to be sent."""

    method: str
    path: str
    json: Any = None
    parameters: dict[str, Any] | None = None
    #: Seconds to wait for its response; by default the client's.
    timeout: float | None = None


#: A call: yields requests and pauses (seconds), is sent responses and errors, and returns its result.
Call = Generator[Request | float, Any, Result]


class Reply(dict[str, Any]):
    """A response; one from a stranger, such as a proxy, may lack fields."""

    def __missing__(self, name: str) -> Any:
        raise ServiceError(f"not a response of this service, because it has no {name!r}: {str(self)[:200]}")


def results_of(reply: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the results of so many items."""
    results = reply["results"]
    if not isinstance(results, list) or len(results) != count or not all(isinstance(each, dict) for each in results):
        raise ServiceError(
            f"not a response of this service, because it does not have {count} results: {str(reply)[:200]}"
        )
    return results


def read(answer: httpx2.Response, *, repeated: bool) -> Reply | None:
    """Return the JSON of a response, or raise its error."""
    if answer.is_success:
        if answer.status_code == 204:
            return None
        with contextlib.suppress(ValueError):
            document = answer.json()
            if isinstance(document, dict):
                return Reply(document)
        raise ServiceError(f"not a response of this service: {answer.text[:200]!r}")
    if repeated and answer.status_code == 404:
        return None  # the first attempt had succeeded
    raise error_of(problem_in(answer) | {"status": answer.status_code})


def problem_in(answer: httpx2.Response) -> dict[str, Any]:
    """Return the problem document of a response, or one that says that it has none."""
    try:
        document = answer.json()
    except ValueError:
        document = None
    return (
        document if isinstance(document, dict) else {"detail": f"not a response of this service: {answer.text[:200]!r}"}
    )


def error_of(problem: dict[str, Any]) -> ShortlistError:
    """Return the error that a problem document describes."""
    detail, status = str(problem.get("detail", "no reason was given")), problem.get("status")
    kind = _ERRORS.get(str(problem.get("type")))
    if status == 401:
        return NotAllowed("the service needs a valid key: give api_key=, or --api-key on the command line")
    if kind is not None:
        error: ShortlistError = kind(detail)
        return error
    if status == 403:
        return NotAllowed(detail)
    if status in (400, 413, 422):
        return errors.InvalidInput(detail)
    return ServiceError(f"{status}: {detail}")


def asked_pause(answer: Any) -> float | None:
    """Return the pause that the service asks for, if it is a valid one."""
    try:
        seconds = float(answer.headers["Retry-After"])
    except (AttributeError, KeyError, ValueError):
        return None
    return seconds * random.uniform(0.5, 1.0) if 0 <= seconds < math.inf else None
