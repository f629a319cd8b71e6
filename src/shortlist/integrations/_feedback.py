"""The verbs of all adapters: from a result that was shown to its answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from shortlist.errors import InvalidInput
from shortlist.integrations._adapter import Adapter
from shortlist.integrations._candidates import Candidates, SearchResult
from shortlist.rounds.shown import Shown

__all__ = ["FeedbackMixin"]

#: The most characters of a question or a document that are sent to a service.
_LONGEST: Final = 20_000


class FeedbackMixin:
    """The verbs of an adapter: from a result that was shown to its answer, in one line."""

    _adapter: Adapter

    @staticmethod
    def _metadata_of(item: Any) -> Any:
        """Return the metadata of a result that was shown."""
        raise NotImplementedError

    @staticmethod
    def _identity_of(item: Any) -> tuple[Any, str | None]:
        """Return the id of an item, and its text."""
        raise NotImplementedError

    def _marked(self, shown: Shown, items: list[Any]) -> list[Any]:
        """Return copies of items with the notes of their list in their metadata."""
        raise NotImplementedError

    def _alone(self, items: Sequence[Any], *, complete: bool) -> Candidates[Any]:
        """Return scored items as candidates."""
        results = SearchResult(items, [item.score for item in items], more=not complete)
        return self._adapter.single(results, [self._identity_of(item)[0] for item in items])

    def _joined(self, searches: Mapping[str, Sequence[Any]], *, complete: bool) -> Candidates[Any]:
        """Return the scored items of several searches as candidates."""
        results = {
            name: SearchResult(items, [item.score for item in items], more=not complete)
            for name, items in searches.items()
        }
        return self._adapter.merged(results, self._identity_of)

    def _words(self, candidates: Candidates[Any], query: str | None) -> dict[str, Any]:
        texts = [self._identity_of(item)[1] for item in candidates.items]
        return {
            "question": None if query is None else query[:_LONGEST],
            "texts": [None if text is None else text[:_LONGEST] for text in texts],
        }

    def _offer(self, candidates: Candidates[Any], query: str | None) -> tuple[Shown, list[Any]]:
        """Show a list; return it and its items with their notes, best first."""
        shown, items = self._adapter.offer(candidates, **self._words(candidates, query))
        return shown, self._marked(shown, items)

    async def _offer_async(self, candidates: Candidates[Any], query: str | None) -> tuple[Shown, list[Any]]:
        """Do the same without blocking the loop."""
        shown, items = await self._adapter.offer_async(candidates, **self._words(candidates, query))
        return shown, self._marked(shown, items)

    def more(self, round_id: Any, count: int | None = None) -> list[Any]:
        """Show more of a list: the next results, best first, any of which may then be a `hit`.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        count
            How many more; by default all the rest.

        Returns
        -------
        list[Any]
            The next results, as the framework has them.
        """
        self._verb("more")  # raises if it has to be awaited
        return self._marked(*self._adapter.more(round_id, count))

    async def amore(self, round_id: Any, count: int | None = None) -> list[Any]:
        """Show more of a list, without blocking the loop.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        count
            How many more; by default all the rest.

        Returns
        -------
        list[Any]
            The next results, as the framework has them.
        """
        return self._marked(*await self._adapter.more_async(round_id, count))

    def _verb(self, name: str) -> Callable[..., Any]:
        """Return one of the lister's verbs, if it need not be awaited."""
        if self._adapter.is_async:
            raise InvalidInput(f"{name} has to be awaited with an AsyncClient: use a{name}, or a Client")
        verb: Callable[..., Any] = getattr(self._adapter.lister, name)
        return verb

    def _answered(self, item: Any) -> tuple[Any, Any]:
        if isinstance(item, (list, tuple)):  # all of these are needed
            each = [self._answered(one) for one in item]
            if len({round_id for round_id, _ in each}) != 1:
                raise InvalidInput("these are not from one list; give one or more results of one round")
            return each[0][0], [member for _, member in each]
        try:
            notes = self._metadata_of(item)
        except AttributeError:
            notes = {}
        if "round_id" not in notes or "member" not in notes:
            raise InvalidInput(f"this was not shown by a {type(self).__name__}: its metadata has no round_id")
        return notes["round_id"], notes["member"]

    @property
    def last_round_id(self) -> Any:
        """The last round of this thread or task, for a list that was empty; None if there was none.

        A chain shows its lists in its own context. If one has done so since, this raises an error rather than return
        the round before.
        """
        return self._adapter.last_round_id

    def summary(self) -> Any:
        """Return a summary of all rounds so far.

        Returns
        -------
        Any
            A `shortlist.Summary`, or the service's; with an AsyncClient an awaitable.
        """
        return self._adapter.lister.summary()

    def hit(self, item: Any) -> None:
        """Report that this result was right; or a list of results, if all of them are needed.

        Parameters
        ----------
        item
            A result that was shown, or a list of results of one round.

        Raises
        ------
        InvalidInput
            If it was not shown by this adapter, or the verb must be awaited.
        """
        self._verb("hit")(*self._answered(item))

    def miss(self, round_id: Any) -> None:
        """Report that the right result was not in the list.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        """
        self._verb("miss")(round_id)

    def skip(self, round_id: Any) -> None:
        """Report that no answer will come.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        """
        self._verb("skip")(round_id)

    def absent(self, round_id: Any) -> None:
        """Report that the user saw everything and none is right; a miss if the list is marked ``truncated``.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        """
        self._verb("absent")(round_id)

    async def ahit(self, item: Any) -> None:
        """Report that this result was right, without blocking the loop.

        Parameters
        ----------
        item
            A result that was shown, or a list of results of one round.
        """
        await self._adapter.call_async("hit", *self._answered(item))

    async def amiss(self, round_id: Any) -> None:
        """Report that the right result was not in the list, without blocking the loop.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        """
        await self._adapter.call_async("miss", round_id)

    async def askip(self, round_id: Any) -> None:
        """Report that no answer will come, without blocking the loop.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        """
        await self._adapter.call_async("skip", round_id)

    async def aabsent(self, round_id: Any) -> None:
        """Report that the user saw everything and none is right, without blocking the loop.

        Parameters
        ----------
        round_id
            The list's ``round_id``.
        """
        await self._adapter.call_async("absent", round_id)
