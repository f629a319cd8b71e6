"""The client for asyncio."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import httpx2

from shortlist._validation import Member, plain_members
from shortlist.client._exchange import Call, Result
from shortlist.client._items import add_items, correct, give_back, next_round, queue, renew
from shortlist.client._protocol import Calls
from shortlist.client._sync import Client
from shortlist.errors import ShortlistError
from shortlist.rounds.shown import More, Shown
from shortlist.rounds.stream_summary import StreamSummary

__all__ = ["AsyncClient"]


class AsyncClient(Calls):
    """The client for asyncio. Parameters, results and errors are those of `Client`; every verb is awaited."""

    def _connect(self) -> None:
        self._http = httpx2.AsyncClient(**self._settings)

    async def _do(self, call: Call[Result]) -> Result:
        answer: Any = None
        try:
            while True:
                step = call.send(answer)
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    answer = None
                else:
                    try:
                        async with asyncio.timeout(step.timeout):
                            answer = await self._http.request(
                                step.method, step.path, json=step.json, params=step.parameters
                            )
                    except (httpx2.HTTPError, TimeoutError) as error:
                        answer = error
        except StopIteration as done:
            result: Result = done.value
            return result

    async def create(self, coverage: float = 0.9, **settings: Any) -> StreamSummary:
        """Create the stream; see `Client.create`."""
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
        allow_empty: bool = False,
    ) -> Shown:
        """Open a round and return its shortlist; see `Client.propose`."""
        call = self._propose(
            scores,
            ids,
            texts,
            question=question,
            truncated_below=truncated_below,
            scorer_version=scorer_version,
            round_id=round_id,
            allow_empty=allow_empty,
        )
        return await self._do(call)

    async def more(self, round_id: Any, count: int | None = None, *, shown: int | None = None) -> More:
        """Show more of a list; see `Client.more`."""
        return await self._do(self._more(round_id, count, shown))

    async def configure(self, **changes: Any) -> StreamSummary:
        """Change settings of the stream; see `Client.configure`."""
        return await self._do(self._configure(changes))

    async def warm_start(self, lists: Any, right: Any) -> StreamSummary:
        """Learn from labeled examples before the first list is shown; see `Client.warm_start`."""
        return await self._do(self._warm_start(lists, right))

    async def restart(self, *, refit: bool = False) -> StreamSummary:
        """Restart learning; see `Client.restart`."""
        return await self._do(self._restart(refit))

    async def hit(self, round_id: Any, member: Member | Sequence[Member]) -> None:
        """Take the answer "this one", or "all of these"; see `Client.hit`."""
        await self._do(self._answer(round_id, {"hit": plain_members(member)}))

    async def miss(self, round_id: Any) -> None:
        """Take the answer "not in this list"; see `Client.miss`."""
        await self._do(self._answer(round_id, {"miss": True}))

    async def skip(self, round_id: Any) -> None:
        """Record that no answer will come; see `Client.skip`."""
        await self._do(self._answer(round_id, {"skip": True}))

    async def absent(self, round_id: Any) -> None:
        """Take the answer "I looked through everything: no candidate is right"; see `Client.absent`."""
        await self._do(self._answer(round_id, {"absent": True}))

    async def withdraw(self, round_id: Any) -> None:
        """Take back a list that nobody saw; see `Client.withdraw`."""
        await self._do(self._withdraw(round_id))

    async def reveal(self, round_id: Any, right: Member | None) -> None:
        """Take the right answer, shown or not; see `Client.reveal`."""
        await self._do(self._reveal(round_id, right))

    async def propose_many(self, rounds: Iterable[Mapping[str, Any]]) -> list[Shown | ShortlistError]:
        """Open many rounds in few requests; see `Client.propose_many`."""
        return await self._do(self._propose_many(rounds))

    async def answer_many(self, answers: Iterable[tuple[Any, Mapping[str, Any]]]) -> list[ShortlistError | None]:
        """Send many answers in few requests; see `Client.answer_many`."""
        return await self._do(self._answer_many(answers))

    async def add_items(self, items: Iterable[Mapping[str, Any]]) -> list[ShortlistError | None]:
        """Add `items` for annotators to answer; see `Client.add_items`."""
        return await self._do(add_items(self, items))

    async def next(self, *, lease: float | None = None, annotator: str | None = None) -> dict[str, Any] | None:
        """Take something to answer, for `lease` seconds; None if nothing waits. See `Client.next`."""
        return await self._do(next_round(self, lease, annotator))

    async def renew(self, round_id: str, holder: str, *, lease: float | None = None) -> float:
        """Keep a round for `lease` more seconds; see `Client.renew`."""
        return await self._do(renew(self, round_id, holder, lease))

    async def give_back(self, round_id: str, holder: str = "") -> None:
        """Give a round back, as its `holder`, or from its holder; see `Client.give_back`.

        Parameters
        ----------
        round_id, holder
            As `next` returned them.
        """
        await self._do(give_back(self, round_id, holder))

    async def correct(self, round_id: str, label: Member | None, note: str | None = None) -> None:
        """Correct the label of an answered round in the training set; see `Client.correct`.

        Parameters
        ----------
        round_id, label, note
            The round, one of its candidates or None, and why.
        """
        await self._do(correct(self, round_id, label, note))

    async def queue(self) -> dict[str, Any]:
        """Return how many items wait, how many rounds are open and held, and what annotators need to know."""
        return await self._do(queue(self))

    async def summary(self) -> StreamSummary:
        """Return a summary of all rounds so far; see `Client.summary`."""
        return await self._do(self._summary())

    async def rounds(self, *, after: int = 0, limit: int = 100, only_open: bool = False) -> dict[str, Any]:
        """Return a page of the log; see `Client.rounds`."""
        return await self._do(self._rounds(after, limit, only_open))

    async def log(self) -> list[dict[str, Any]]:
        """Return the whole log; see `Client.log`."""
        return await self._do(self._log())

    async def expire(self, older_than: float) -> int:
        """Close rounds that have been unanswered for a time; see `Client.expire`."""
        return await self._do(self._expire(older_than))

    async def erase_texts(self, older_than: float = 0.0) -> int:
        """Erase the questions and texts of older rounds; see `Client.erase_texts`."""
        return await self._do(self._erase_texts(older_than))

    async def delete(self) -> None:
        """Delete the stream and its log."""
        await self._do(self._delete())

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


# In the interpreter, `help` shows a verb's sections here too.
for _name, _verb in vars(Client).items():
    if not _name.startswith("_") and inspect.isfunction(_verb):
        getattr(AsyncClient, _name).__doc__ = _verb.__doc__
