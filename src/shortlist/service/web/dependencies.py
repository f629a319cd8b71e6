"""What routes take from the app and from the gate: the engine, the metrics, and the caller's key."""

from collections.abc import Callable
from typing import Annotated, Final

from fastapi import Depends, Request

from shortlist.errors import ConflictingAnswer, ShortlistError
from shortlist.service.engine import Engine
from shortlist.service.engine.commands import Author
from shortlist.service.keys import Key
from shortlist.service.web.service_metrics import Metrics

__all__ = [
    "KEY",
    "CurrentEngine",
    "CurrentKey",
    "CurrentMetrics",
    "KeyCheck",
    "annotator_of",
    "author_of",
    "only_answers",
    "unnamed",
]

#: Where the gate leaves the key of a request.
KEY: Final = "shortlist.key"

# Coroutines, although they await nothing: FastAPI would run plain functions in a thread of its pool.


async def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


async def _key(request: Request) -> Key | None:
    return request.scope.get(KEY)


async def _key_check(request: Request) -> Callable[[], bool]:
    """Return a function that returns whether the key of a request is still valid: for responses that last."""
    keys, key = request.app.state.keys, request.scope.get(KEY)
    return lambda: keys is None or key is None or keys.is_valid(key.id)


def annotator_of(key: Key | None, given: str | None) -> str | None:
    """Return who answers: whom a program names, or whose key it is, which nobody can borrow.

    >>> annotator_of(None, "ann")
    'ann'
    """
    return given if key is None or (given is not None and key.may("propose")) else key.name


def only_answers(key: Key | None) -> bool:
    """Return whether a key can only answer: it is an annotator's, not a program's."""
    return key is not None and not key.may("propose")


def author_of(key: Key | None, annotator: str | None, holder: str | None) -> Author:
    """Return who answers, and what binds them."""
    return Author(annotator_of(key, annotator), holder, only_answers(key))


def unnamed(key: Key | None, error: ShortlistError) -> ShortlistError:
    """Return an error as a key may see it: what others have answered is for keys that may read."""
    if key is None or key.may("read") or not isinstance(error, ConflictingAnswer):
        return error
    return ConflictingAnswer("this round already has another answer, which is final")


CurrentEngine = Annotated[Engine, Depends(_engine)]
CurrentMetrics = Annotated[Metrics, Depends(_metrics)]
CurrentKey = Annotated[Key | None, Depends(_key)]
KeyCheck = Annotated[Callable[[], bool], Depends(_key_check)]
