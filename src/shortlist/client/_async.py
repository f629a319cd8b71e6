"""The client for asyncio."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import httpx

from shortlist._validation import Member, plain_members
from shortlist.client._protocol import Call, Calls, Result
from shortlist.errors import ShortlistError
from shortlist.rounds.shown import More, Shown

__all__ = ["AsyncClient"]


class AsyncClient(Calls):
    """The same for asyncio; see `Client`. Every verb is awaited."""

    def _connect(self) -> None:
        self._http = httpx.AsyncClient(**self._settings)

    async def _do(self, call: Call[Result]) -> Result:
        answer: Any = None
        try:
            while True:
                wanted = call.send(answer)
                if isinstance(wanted, float):
                    await asyncio.sleep(wanted)
                    answer = None
                else:
                    try:
                        async with asyncio.timeout(wanted.timeout):
                            answer = await self._http.request(
                                wanted.method, wanted.path, json=wanted.json, params=wanted.parameters
                            )
                    except (httpx.HTTPError, TimeoutError) as error:
                        answer = error
        except StopIteration as done:
            result: Result = done.value
            return result

    async def create(self, coverage: float = 0.9, **settings: Any) -> dict[str, Any]:
        """Create the stream, or find it with this `coverage` and these settings."""
        return await self._do(self._create(coverage, settings))

    async def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        texts: Sequence[str | None] | None = None,
        question: str | None = None,
        truncated_below: float | Mapping[str, float] | None = None,
        scorer_version: str | None = None,
        round_id: str | None = None,
        tags: Mapping[str, str | int] | None = None,
        allow_empty: bool = False,
        also: Mapping[str, Any] | None = None,
    ) -> Shown:
        """Open a round and return its shortlist; parameters and errors are those of `Client.propose`."""
        call = self._propose(
            scores,
            ids,
            texts,
            question=question,
            truncated_below=truncated_below,
            scorer_version=scorer_version,
            round_id=round_id,
            tags=tags,
            allow_empty=allow_empty,
            also=also,
        )
        return await self._do(call)

    async def more(self, round_id: Any, count: int | None = None, *, shown: int | None = None) -> More:
        """Show `count` more of the list with this `round_id`; `shown` is how many you have. See `Client.more`."""
        return await self._do(self._more(round_id, count, shown))

    async def configure(self, **changes: Any) -> dict[str, Any]:
        """Change settings of the stream, from its next list on; `changes` are those of `Shortlister.configure`."""
        return await self._do(self._configure(changes))

    async def warm_start(self, lists: Any, right: Any) -> dict[str, Any]:
        """Learn from labelled examples before the first list is shown; parameters are those of `Client.warm_start`."""
        return await self._do(self._warm_start(lists, right))

    async def restart(self, *, refit: bool = False) -> dict[str, Any]:
        """Start learning over; with `refit`, learn the score again too. See `Shortlister.restart`."""
        return await self._do(self._restart(refit))

    async def hit(self, round_id: Any, member: Member | Sequence[Member]) -> None:
        """Take the answer "this one", or "all of these": `member` of the list with this `round_id`."""
        await self._do(self._answer(round_id, {"hit": plain_members(member)}))

    async def miss(self, round_id: Any) -> None:
        """Take the answer "not in this list", for the list with this `round_id`."""
        await self._do(self._answer(round_id, {"miss": True}))

    async def skip(self, round_id: Any) -> None:
        """Say that no answer will come to `round_id`; it counts as not found."""
        await self._do(self._answer(round_id, {"skip": True}))

    async def absent(self, round_id: Any) -> None:
        """Take the answer "I looked through everything: no candidate is right"; see `Shortlister.absent`.

        The list is the one with this `round_id`.
        """
        await self._do(self._answer(round_id, {"absent": True}))

    async def withdraw(self, round_id: Any) -> None:
        """Take back the list with this `round_id`, which nobody saw; see `Shortlister.withdraw`."""
        await self._do(self._withdraw(round_id))

    async def reveal(self, round_id: Any, right: Member | None) -> None:
        """Take the `right` answer of the list with this `round_id`, shown or not: a hit if it is in it, else a miss."""
        await self._do(self._reveal(round_id, right))

    async def propose_many(self, rounds: Iterable[Mapping[str, Any]]) -> list[Shown | ShortlistError]:
        """Open many `rounds` in few requests; see `Client.propose_many`."""
        return await self._do(self._propose_many(rounds))

    async def answer_many(self, answers: Iterable[tuple[str, dict[str, Any]]]) -> list[ShortlistError | None]:
        """Send many `answers` at once; return what was wrong with each, or None."""
        return await self._do(self._answer_many(answers))

    async def summary(self) -> dict[str, Any]:
        """Return what has happened so far."""
        return await self._do(self._summary())

    async def rounds(self, *, after: int = 0, limit: int = 100, only_open: bool = False) -> dict[str, Any]:
        """Return a page of the log: up to `limit` rounds `after` a number, or `only_open` ones."""
        return await self._do(self._rounds(after, limit, only_open))

    async def log(self) -> list[dict[str, Any]]:
        """Return all rounds, oldest first, with their answers: what `shortlist.rescore` and `check_ignore` take."""
        return await self._do(self._log())

    async def subgroups(self) -> list[dict[str, Any]]:
        """Return coverage after the fact, by each value of each tag; see `Shortlister.subgroups`."""
        return await self._do(self._subgroups())

    async def silence(self) -> dict[str, Any]:
        """Return who answers and who does not, of the last rounds that had time for it; see `check_ignore`."""
        return await self._do(self._silence())

    async def expire(self, older_than: float) -> int:
        """Close rounds that have waited for an answer for `older_than` seconds; return how many."""
        return await self._do(self._expire(older_than))

    async def erase_texts(self, older_than: float = 0.0) -> int:
        """Erase questions and texts of rounds shown more than `older_than` seconds ago; return of how many."""
        return await self._do(self._erase_texts(older_than))

    async def delete(self) -> None:
        """Erase the stream and its log."""
        await self._do(self._delete())

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
