"""Many items in one request, one JSON object per line: read, stored and answered in parts.

However many lines there are, what is in memory is a part of them: so many lines, or so many bytes, or one line, which
is as large as a body may be.
"""

import asyncio
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.types import Receive, Scope, Send

from shortlist.rounds.codec import to_json
from shortlist.service.web.problems import validation_problem
from shortlist.service.web.request_guard import KEEP

__all__ = ["LINES_TYPE", "LinesResponse"]

LINES_TYPE: Final = "application/jsonl"
#: How many lines, or bytes, are stored together.
_LINES: Final = 500
_BYTES: Final = 1_000_000
#: How many bytes of results are kept before the response starts: some clients read nothing until all is sent.
_KEPT: Final = 1_000_000
#: After how many seconds a client that does not read its response is given up.
_SECONDS: Final = 30.0


class Line(NamedTuple):
    """A line, and its number from 1; no content where it is too long."""

    number: int
    content: bytes | None


class LinesResponse(Response):
    """The results of lines, a line each, sent while further lines are read.

    Parameters
    ----------
    request
        Whose body has the lines.
    read
        Reads a line into an item, or raises RequestValidationError.
    store
        Stores items together, and returns the result of each.
    id_field
        What the id of an item is called in its result; a line that cannot be read has none.
    """

    def __init__(
        self,
        request: Request,
        read: Callable[[bytes], Any],
        store: Callable[[Sequence[Any]], Awaitable[list[dict[str, Any]]]],
        id_field: str = "round_id",
    ) -> None:
        super().__init__(status_code=207, media_type=LINES_TYPE)
        del self.headers["content-length"]
        self._request, self._read, self._store, self._id_field = request, read, store, id_field
        self._limit: int = request.app.state.limits.size

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Read, store and answer, part by part."""
        results, started = b"", False
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        try:
            async for part in _parts(self._request, self._limit):
                results += await self._results(part)
                if started or len(results) > _KEPT:
                    async with asyncio.timeout(_SECONDS):
                        if not started:
                            await send(start)
                        await send({"type": "http.response.body", "body": results, "more_body": True})
                    results, started = b"", True
        except TimeoutError:
            return  # nobody reads
        if not started:
            await send(start)
        await send({"type": "http.response.body", "body": results})

    async def _results(self, part: list[Line]) -> bytes:
        """Store the lines of a part, and return their results as lines."""
        results, items = dict[int, dict[str, Any]](), dict[int, Any]()
        for number, content in part:
            try:
                items[number] = self._read(_present(content, self._limit))
            except RequestValidationError as error:
                results[number] = {self._id_field: None, "status": 422, "problem": validation_problem(error)}
        results |= dict(zip(items, await self._store(list(items.values())), strict=True))
        return "".join(to_json({"line": number, **results[number]}) + "\n" for number in sorted(results)).encode()


def _present(content: bytes | None, limit: int) -> bytes:
    if content is None:
        message = f"it is longer than {limit:,} bytes: send fewer candidates, or shorter texts"
        raise RequestValidationError([{"type": "too_long", "loc": ("line",), "msg": message}])
    return content


async def _parts(request: Request, limit: int) -> AsyncIterator[list[Line]]:
    """Yield the lines of a body in parts; empty ones are left out."""
    keep: Callable[[int], None] = request.scope[KEEP]
    part, size, number, rest, is_skipping = list[Line](), 0, 0, b"", False
    async for chunk in request.stream():
        *lines, rest = (rest + (chunk if number or rest else chunk.removeprefix(BOM_UTF8))).split(b"\n")
        for content in lines:
            number += 1
            fits = not is_skipping and len(content) <= limit
            is_skipping = False
            if content.strip() or not fits:
                part.append(Line(number, content if fits else None))
                size += len(content)
            if len(part) >= _LINES or size >= _BYTES:
                yield part
                part, size = [], 0
        if len(rest) > limit:
            rest, is_skipping = b"", True
        keep(len(rest) + size)
    if rest.strip() or is_skipping:
        part.append(Line(number + 1, None if is_skipping or len(rest) > limit else rest))
    if part:
        yield part
