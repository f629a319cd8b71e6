"""The verbs of all adapters: from a result that was shown to its answer, and from labeled questions to a warm start."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from shortlist.errors import InvalidInput, InvalidParameter
from shortlist.integrations._adapter import NOTES, Adapter, ShownList, plain_call, waiting_call
from shortlist.integrations._candidates import Candidates, SearchResult
from shortlist.integrations._labels import Labels, Progress, to_terminal
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

    def _list(self, shown: Shown, items: list[Any]) -> ShownList[Any]:
        return ShownList(self._marked(shown, items), shown)

    def _offer(self, candidates: Candidates[Any], query: str | None) -> ShownList[Any]:
        """Show a list; return its items with their notes, best first."""
        return self._list(*self._adapter.offer(candidates, **self._words(candidates, query)))

    async def _offer_async(self, candidates: Candidates[Any], query: str | None) -> ShownList[Any]:
        """Do the same without blocking the loop."""
        return self._list(*await self._adapter.offer_async(candidates, **self._words(candidates, query)))

    def more(self, shown: Any, count: int | None = None) -> ShownList[Any]:
        """Show more of a list: the next results, best first, any of which may then be a `hit`.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        count
            How many more; by default all the rest.

        Returns
        -------
        ShownList
            The next results, as the framework has them. They have no learned ``score``.
        """
        self._verb("more")  # raises if it has to be awaited
        return self._list(*self._adapter.more(self._round_of(shown), count))

    async def amore(self, shown: Any, count: int | None = None) -> ShownList[Any]:
        """Show more of a list, without blocking the loop.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        count
            How many more; by default all the rest.

        Returns
        -------
        ShownList
            The next results, as the framework has them.
        """
        return self._list(*await self._adapter.more_async(self._round_of(shown), count))

    def _verb(self, name: str) -> Callable[..., Any]:
        """Return one of the lister's verbs, if it need not be awaited."""
        if self._adapter.is_async:
            raise InvalidInput(f"{name} has to be awaited with an AsyncClient: use a{name}, or a Client")
        verb: Callable[..., Any] = getattr(self._adapter.lister, name)
        return verb

    def _notes_of(self, item: Any) -> Mapping[str, Any]:
        """Return what was added to a result when it was shown, or raise."""
        try:
            notes = self._metadata_of(item)[NOTES]
            notes["round_id"], notes["member"]
        except (AttributeError, KeyError, TypeError):
            raise InvalidInput(
                f"this {type(item).__name__} was not shown by a {type(self).__name__}: its metadata has no {NOTES!r}"
            ) from None
        return notes  # type: ignore[no-any-return]

    def _answered(self, item: Any) -> tuple[Any, Any]:
        if isinstance(item, (list, tuple)):  # all of these are needed
            each = [self._answered(one) for one in item]
            if len({round_id for round_id, _ in each}) != 1:
                raise InvalidInput("these are not from one list; give one or more results of one round")
            return each[0][0], [member for _, member in each]
        notes = self._notes_of(item)
        return notes["round_id"], notes["member"]

    def _round_of(self, shown: Any) -> Any:
        """Return the round of a list, of one of its results, or itself if it is the id of one."""
        if isinstance(shown, ShownList) and shown.round_id is not None:
            return shown.round_id
        if isinstance(shown, (list, tuple)) and shown:
            return self._answered(shown)[0]
        if isinstance(shown, (str, int)):
            return shown
        return self._notes_of(shown)["round_id"]

    def summary(self) -> Any:
        """Return a summary of all rounds so far.

        Returns
        -------
        Any
            A `shortlist.Summary`, or the service's; with an AsyncClient an awaitable.
        """
        return self._adapter.lister.summary()

    def _report(self, verb: str, *arguments: Any) -> None:
        self._verb(verb)(*arguments)
        self._adapter.save()

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
        self._report("hit", *self._answered(item))

    def miss(self, shown: Any) -> None:
        """Report that the right result was not in the list.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        """
        self._report("miss", self._round_of(shown))

    def skip(self, shown: Any) -> None:
        """Report that no answer will come.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        """
        self._report("skip", self._round_of(shown))

    def absent(self, shown: Any) -> None:
        """Report that the user saw everything and none is right; a miss if the list is marked ``truncated``.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        """
        self._report("absent", self._round_of(shown))

    async def ahit(self, item: Any) -> None:
        """Report that this result was right, without blocking the loop.

        Parameters
        ----------
        item
            A result that was shown, or a list of results of one round.
        """
        await self._adapter.call_async("hit", *self._answered(item))

    async def amiss(self, shown: Any) -> None:
        """Report that the right result was not in the list, without blocking the loop.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        """
        await self._adapter.call_async("miss", self._round_of(shown))

    async def askip(self, shown: Any) -> None:
        """Report that no answer will come, without blocking the loop.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        """
        await self._adapter.call_async("skip", self._round_of(shown))

    async def aabsent(self, shown: Any) -> None:
        """Report that the user saw everything and none is right, without blocking the loop.

        Parameters
        ----------
        shown
            The list, one of its results, or its ``round_id``.
        """
        await self._adapter.call_async("absent", self._round_of(shown))

    # Labels.

    def _found(self, question: str) -> Candidates[Any]:  # noqa: ARG002 - some have a search
        """Return the candidates of a question, as its lists have them."""
        raise InvalidParameter(
            f"documents is missing, and a {type(self).__name__} does not search by itself: give a function from a "
            "question to its documents, such as retriever.invoke"
        )

    def _candidates_of(self, question: str, documents: Any) -> Candidates[Any]:  # noqa: ARG002 - some have none
        """Return documents that were found elsewhere as the candidates of a question."""
        raise InvalidParameter(f"documents is given, and a {type(self).__name__} searches by itself: leave it out")

    def _labeled(
        self, questions: Sequence[str], right_ids: Sequence[Any], documents: Any, by: Any, progress: Progress | None
    ) -> Labels:
        labels = self._labels(questions, right_ids, documents, by)
        tell = to_terminal if progress is None else progress
        refusal = "documents has to be awaited: use awarm_start, or a plain function"
        for i, question in enumerate(labels.questions):
            if documents is None:
                candidates = self._found(question)
            else:
                results = plain_call(refusal, documents, question) if callable(documents) else documents[i]
                candidates = self._candidates_of(question, results)
            labels.add(candidates)
            tell(i + 1, len(labels.questions))
        return labels

    async def _labeled_async(
        self, questions: Sequence[str], right_ids: Sequence[Any], documents: Any, by: Any, progress: Progress | None
    ) -> Labels:
        """Do the same without blocking the loop."""
        labels = self._labels(questions, right_ids, documents, by)
        tell = to_terminal if progress is None else progress
        for i, question in enumerate(labels.questions):
            if documents is None:
                candidates = await self._found_async(question)
            else:
                results = await waiting_call(documents, question) if callable(documents) else documents[i]
                candidates = await self._candidates_of_async(question, results)
            labels.add(candidates)
            tell(i + 1, len(labels.questions))
        return labels

    def _labels(self, questions: Sequence[str], right_ids: Sequence[Any], documents: Any, by: Any) -> Labels:
        labels = Labels(questions, right_ids, self._identity_of, self._metadata_of, by)
        if documents is not None and not callable(documents):
            count = len(documents) if isinstance(documents, (list, tuple)) else None
            if count != len(labels.questions):
                given = f"of {count}" if count is not None else type(documents).__name__
                raise InvalidParameter(
                    f"documents is a list {given}, and there are {len(labels.questions)} questions; give a list with "
                    "the documents of each question, or a function from a question to its documents"
                )
        return labels

    async def _found_async(self, question: str) -> Candidates[Any]:
        """Return the candidates of a question without blocking the loop."""
        return await asyncio.to_thread(self._found, question)

    async def _candidates_of_async(self, question: str, documents: Any) -> Candidates[Any]:
        """Return documents that were found elsewhere as candidates, without blocking the loop."""
        return await asyncio.to_thread(self._candidates_of, question, documents)

    def warm_start(
        self,
        questions: Sequence[str],
        right_ids: Sequence[Any],
        documents: Any = None,
        *,
        by: str | Callable[[Any], Any] | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Learn from labeled questions before the first list, which is then about as short as later ones.

        Each question is searched once, as for a list. One whose right document no search finds counts as such: no list
        could have had it.

        Parameters
        ----------
        questions
            The questions.
        right_ids
            The id of the right document of each, or a list of ids if all of them are needed.
        documents
            For an adapter behind a retriever: a function from a question to its documents, or the documents of each.
        by
            What a right id is compared with: a key of the documents' metadata, or a function of their metadata; by
            default the documents' own ids. Of several documents that it is the id of, such as the parts of one text,
            the one that stands highest in a search is the right one.
        progress
            Called with the number of questions done, and of all; by default they are counted on a terminal.

        Returns
        -------
        int
            For how many questions the right document was found.

        Raises
        ------
        InvalidParameter
            If the two do not have the same length, no right document was found at all, or there was a list already.
        """
        verb = self._verb("warm_start")
        labels = self._labeled(questions, right_ids, documents, by, progress)
        count = labels.checked()
        verb(labels.lists, labels.right)
        self._adapter.save()
        return count

    async def awarm_start(
        self,
        questions: Sequence[str],
        right_ids: Sequence[Any],
        documents: Any = None,
        *,
        by: str | Callable[[Any], Any] | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Learn from labeled questions, without blocking the loop.

        Parameters
        ----------
        questions, right_ids, documents, by, progress
            As for `warm_start`.

        Returns
        -------
        int
            For how many questions the right document was found.
        """
        labels = await self._labeled_async(questions, right_ids, documents, by, progress)
        count = labels.checked()
        await self._adapter.call_async("warm_start", labels.lists, labels.right)
        return count

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be pickled."""
        name = type(self).__name__
        raise InvalidInput(
            f"a {name} cannot be pickled, because a copy would learn on its own: save its lister (lister.save(path)), "
            f"and build it again where it is needed: {name}(..., lister=shortlist.Shortlister.load(path)); or share "
            "the streams of a service (shortlist.Client)"
        )
