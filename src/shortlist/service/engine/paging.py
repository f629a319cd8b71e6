"""Reading a stream in parts that have a largest size, so that a request costs as much memory as a part does."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from shortlist.errors import ShortlistError
from shortlist.rounds.events import LISTED
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.round_cache import Round, Seen, with_texts
from shortlist.service.store import Reader, Text

__all__ = ["Asked", "Page", "open_numbers", "parts_of", "read_page", "settled"]

#: How many characters of lists and texts are on a page, and how many of lists are in memory for one batch of answers.
_PAGE: Final = 1_000_000
_TOGETHER: Final = 2_000_000
#: The most answers that are written together.
_MOST: Final = 500

Item = TypeVar("Item")


class Asked(NamedTuple):
    """Which rounds a page is to have: those between two numbers, at most so many."""

    after: int = 0
    before: int | None = None
    limit: int = 100
    only_open: bool = False
    newest: bool = False


class Page(NamedTuple):
    """Rounds in the order shown, or the newest first, and the number to go on from, if there are more."""

    rounds: list[Seen]
    next: int | None


def open_numbers(stream: LoggedStream, asked: Asked) -> list[int]:
    """Return the numbers of open rounds that a page is to have."""
    numbers = [n for n in stream.open.values() if n > asked.after and (asked.before is None or n < asked.before)]
    return sorted(numbers, reverse=asked.newest)[: asked.limit]


def read_page(
    reader: Reader, stream_id: int, asked: Asked, waiting: Sequence[int] | None
) -> tuple[list[tuple[Round, Text | None]], int | None]:
    """Return the rounds of a page, and the number to go on from; `waiting` are the numbers of those that are open."""
    numbers: Sequence[int] = waiting or ()
    if waiting is None:
        after, before, limit, _, newest = asked
        numbers = reader.numbers(stream_id, after, limit, before=before, kinds=[LISTED], newest=newest)
    fitting = reader.fitting(stream_id, numbers, _PAGE)
    more = len(fitting) < len(numbers) or len(numbers) == asked.limit
    rounds = with_texts(reader, stream_id, reader.numbered(stream_id, fitting))
    return rounds, fitting[-1] if more and fitting else None


def parts_of(items: Iterable[tuple[str, Item]], sizes: dict[str, int]) -> Iterator[list[tuple[str, Item]]]:
    """Yield items in parts that can be in memory together; each has the round that it is about."""
    part, names, size = list[tuple[str, Item]](), set[str](), 0
    for name, item in items:
        more = 0 if name in names else sizes.get(name, 0)
        if part and (len(part) == _MOST or size + more > _TOGETHER):
            yield part
            part, names, size, more = [], set(), 0, sizes.get(name, 0)
        part.append((name, item))
        names.add(name)
        size += more
    if part:
        yield part


async def settled(waiting: Iterable[Awaitable[Item]]) -> list[Item | ShortlistError]:
    """Return each result, or why it was refused; raise what is a bug."""
    outcomes = list[Item | ShortlistError]()
    for outcome in await asyncio.gather(*waiting, return_exceptions=True):
        if isinstance(outcome, BaseException) and not isinstance(outcome, ShortlistError):
            raise outcome
        outcomes.append(outcome)
    return outcomes
