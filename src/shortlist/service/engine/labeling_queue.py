"""Items that wait for annotators, and who is answering which.

An item becomes a round when somebody opens it, cut with the threshold of that moment, and is theirs until their lease
ends: by an answer, by giving it back, or by time. A round whose lease has ended without an answer stays open, with the
same list, and is the first to be given to somebody else. That is no `skip`: nothing is stored.
"""

import secrets
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from shortlist.errors import ConflictingRound, LeaseLost, RoundClosed, ShortlistError, UnknownRound, UnknownStream
from shortlist.service.engine.batch import Batch
from shortlist.service.engine.commands import Take
from shortlist.service.engine.item_opening import Item
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.round_cache import Key, Round
from shortlist.service.engine.stream_loader import StreamLoader
from shortlist.service.engine.writer import Writer
from shortlist.service.store import Lease, QueueCounts, Reader, Store, Text

__all__ = ["MOST_LEASES", "LabelingQueue", "LeasedRound"]

#: Seconds of a lease, if the request does not say.
LEASE: Final = 120.0
#: How many leases a key may have at a time: a page has two or three.
MOST_LEASES: Final = 20
#: After how many more rounds one that was given back is offered again, where there is anything else.
REST: Final = 20
#: How many items are compared at a time with the rounds that they have become.
_COMPARED: Final = 100


class LeasedRound(NamedTuple):
    """A round that is leased to somebody."""

    round_id: str
    #: What they show to keep it longer, or to give it back.
    holder: str
    until: float


class LabelingQueue:
    """Gives out what is to be answered.

    Parameters
    ----------
    store, loader, writer
        The log, where streams are found, and what writes.
    """

    def __init__(self, store: Store, loader: StreamLoader, writer: Writer) -> None:
        self._store, self._loader, self._writer = store, loader, writer

    async def add(self, name: str, items: Sequence[Item]) -> list[bool | ShortlistError]:
        """Add items to those that wait, as far as they could be shown; return of each whether it is new."""
        self._writer.check()
        stream = await self._loader.fresh(name)
        draft = Batch({}, time.time(), 0)
        outcomes: list[bool | ShortlistError] = [_checked(draft, stream, item) for item in items]
        good = [position for position, outcome in enumerate(outcomes) if outcome is True]
        rows = [items[position].to_row(stream.id) for position in good]
        async with self._writer.lock:
            added = await self._writer.do(self._store.queue.add, stream.id, rows, draft.at) if rows else []
        if added is None:
            raise UnknownStream(f"there is no stream {name!r} any more")
        shown = [items[position] for position, what in zip(good, added, strict=True) if what == "shown"]
        repeated = iter(await self._repeated(stream, shown))
        for position, what in zip(good, added, strict=True):
            item_id = items[position].item_id
            if what == "shown":
                outcomes[position] = next(repeated)
            elif what == "other":
                outcomes[position] = ConflictingRound(
                    f"item {item_id} already waits with other content; send the same again, or give this one an id of "
                    "its own"
                )
            else:
                outcomes[position] = what == "new"
        return outcomes

    async def _repeated(self, stream: LoggedStream, shown: Sequence[Item]) -> list[bool | ShortlistError]:
        """Return False for each item whose round has the same content, and an error for each other one."""
        outcomes = list[bool | ShortlistError]()
        for start in range(0, len(shown), _COMPARED):  # in parts: rounds may be large
            part = shown[start : start + _COMPARED]
            ids = [item.item_id for item in part]
            rounds, texts = await self._loader.read_of(stream, partial(_with_texts, stream_id=stream.id, ids=ids))
            draft = Batch(rounds, 0.0, 0, texts)
            for item in part:
                judged = draft.judge(item.propose(stream))
                outcomes.append(judged if isinstance(judged, ShortlistError) else False)
        return outcomes

    async def take(self, name: str, seconds: float | None = None, key_id: str | None = None) -> LeasedRound | None:
        """Give out a round that nobody holds, or the next item, drawn at random; None if nothing waits.

        Raises
        ------
        LeaseLost
            The key has as many leases as one may have.
        """
        same_key, most = ("", None) if key_id is None else (f"{key_id}-", MOST_LEASES)
        holder, seconds = same_key + secrets.token_hex(8), LEASE if seconds is None else seconds
        take = Take(await self._loader.stream(name), holder, seconds, same_key, most)
        try:
            await self._writer.submit(take)
        except UnknownStream:  # another process may have deleted the stream that we knew, and made it again
            take = Take(await self._loader.stream(name), holder, seconds, same_key, most)
            await self._writer.submit(take)
        return LeasedRound(take.round_id, holder, take.until) if take.round_id else None

    async def renew(self, name: str, round_id: str, holder: str, seconds: float | None = None) -> LeasedRound:
        """Keep a round for longer.

        Raises
        ------
        LeaseLost
            Somebody else has it.
        RoundClosed
            It was answered.
        """
        stream = await self._open(name, round_id)
        await self._check_count(stream, round_id, holder)
        until = time.time() + (LEASE if seconds is None else seconds)
        lease = Lease(stream.id, round_id, holder, until)
        async with self._writer.lock:
            kept = await self._writer.do(self._store.queue.renew, lease)
        if not kept:
            raise _lost(round_id)
        return LeasedRound(round_id, holder, until)

    async def _check_count(self, stream: LoggedStream, round_id: str, holder: str) -> None:
        """Refuse to renew a lease that has ended, if the key has as many others as one may have."""
        same_key, bound, _ = holder.partition("-")
        leases = (await self._loader.read_of(stream, lambda reader: reader.queue(stream.id))).leases if bound else ()
        now = time.time()
        held = [lease for lease in leases if lease.until > now and lease.round_id in stream.open]
        mine = [lease.round_id for lease in held if lease.holder.startswith(f"{same_key}-")]
        if round_id not in mine and len(mine) >= MOST_LEASES:
            raise _lost(round_id)

    async def give_back(self, name: str, round_id: str, holder: str = "", *, only_answers: bool = False) -> None:
        """Let others have a round: it stays open, with the same list. The same again changes nothing.

        Without its holder, a program takes it from its holder; who can only answer needs the holder.
        """
        stream = await self._open(name, round_id)
        if only_answers and not holder:
            raise LeaseLost(f"round {round_id} is given back by its `holder` alone: send it, as `next` returned it")
        lease = Lease(stream.id, round_id, holder, 0.0, stream.stream.tally.rounds + REST)
        async with self._writer.lock:
            given = await self._writer.do(self._store.queue.give_back, lease)
        if not given and holder:
            raise _lost(round_id)

    async def view(self, name: str, annotator: str | None = None) -> dict[str, Any]:
        """Return what waits, who is answering, and what annotators need to know, as plain data."""
        stream = await self._loader.fresh(name)
        who = annotator if stream.settings.record_annotators else None

        def read(reader: Reader) -> tuple[QueueCounts, int | None]:
            return reader.queue(stream.id), None if who is None else reader.signed(stream.id, who)

        counts, yours = await self._loader.read_of(stream, read)
        now, tally = time.time(), stream.stream.tally
        return {
            "waiting": counts.waiting,
            "open": len(stream.open),
            "held": sum(lease.until > now and lease.round_id in stream.open for lease in counts.leases),
            "answered": tally.hits + tally.misses + tally.skipped + tally.absent,
            "refused": counts.refused,
            "problems": [{"id": item_id, "why": why} for item_id, why in counts.problems],
            "guidelines": stream.settings.guidelines,
            "annotator": annotator,
            "yours": yours,
        }

    async def remove(self, name: str, item_id: str) -> None:
        """Remove an item that nobody has opened yet."""
        self._writer.check()
        row = await self._loader.row(name)
        async with self._writer.lock:
            removed = await self._writer.do(self._store.queue.remove, row.id, item_id)
        if removed:
            return
        if await self._loader.read(lambda reader: reader.rounds(row.id, [item_id])):
            raise ConflictingRound(f"item {item_id} was opened: it is a round by now; withdraw that, or answer it")
        raise UnknownRound(f"no item {item_id} waits in stream {name}")

    async def clear(self, name: str) -> int:
        """Remove the items that wait, and those that were refused; rounds stay. Return how many there were."""
        self._writer.check()
        row = await self._loader.row(name)
        async with self._writer.lock:
            removed: int = await self._writer.do(self._store.queue.clear, row.id)
        return removed

    async def _open(self, name: str, round_id: str) -> LoggedStream:
        """Return the stream of an open round; raise if the round was answered or never shown."""
        self._writer.check()
        stream = await self._loader.fresh(name)
        if round_id in stream.open:
            return stream
        if await self._loader.read_of(stream, lambda reader: reader.rounds(stream.id, [round_id])):
            raise RoundClosed(f"round {round_id} was answered: there is nothing to keep or to give back")
        raise UnknownRound(f"round {round_id} of stream {name} was never shown")


def _with_texts(reader: Reader, stream_id: int, ids: list[str]) -> tuple[dict[Key, Round], dict[Key, Text]]:
    """Return rounds, and their texts where these are not erased."""
    rounds = {(stream_id, round_id): each for round_id, each in Round.of(reader.rounds(stream_id, ids)).items()}
    texts = reader.texts(stream_id, [each.shown.number for each in rounds.values()])
    return rounds, {key: texts[each.shown.number] for key, each in rounds.items() if each.shown.number in texts}


def _checked(draft: Batch, stream: LoggedStream, item: Item) -> Any:
    """Return True if an item could be shown now, or why not."""
    try:
        draft.check(item.propose(stream))
    except ShortlistError as error:
        return error
    return True


def _lost(round_id: str) -> LeaseLost:
    return LeaseLost(f"round {round_id} is now leased to somebody else: your lease has ended; request the next one")
