"""The blocking client."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import httpx2

from shortlist._validation import Member, plain_members
from shortlist.client._exchange import Call, Result
from shortlist.client._items import add_items, correct, give_back, next_round, queue, renew
from shortlist.client._protocol import Calls
from shortlist.errors import ShortlistError
from shortlist.rounds.shown import More, Shown
from shortlist.rounds.stream_summary import StreamSummary

__all__ = ["Client"]


class Client(Calls):
    """A stream of a running service.

    Parameters
    ----------
    url
        The address of the service: ``http://127.0.0.1:8000``.
    stream
        The stream's name; `create` creates it.
    api_key
        The key, if the service requires one.
    timeout
        Seconds to wait for a response before retrying.
    retries
        How often to retry, with exponential backoff.
    deadline
        With a `fallback`, the seconds within which `propose` returns, whatever the service does.
    fallback
        ``"everything"``: if the service is unavailable, or does not respond in time, `propose` returns all candidates,
        best first (``shown.fallback``), so that a search page always has something to show. Answers to such a round are
        discarded, and if the service has stored it after all, it is withdrawn. None: `propose` retries, and then
        raises ServiceUnavailable.
    scorer_version
        The version of the model behind the scores, sent with every round: a stream accepts only one version.

    Examples
    --------
        client = shortlist.Client("http://127.0.0.1:8000", "docs")
        client.create(coverage=0.9)
        shown = client.propose([0.31, 0.87], ids=["faq-7", "faq-2"])
        client.hit(shown.round_id, "faq-2")

    Several scorers per candidate, in a stream of its own:

        shown = client.propose({"bm25": [7.1, 3.3], "dense": [0.31, 0.87]}, ids=["faq-7", "faq-2"])
    """

    def _connect(self) -> None:
        self._http = httpx2.Client(**self._settings)

    def _do(self, call: Call[Result]) -> Result:
        answer: Any = None
        try:
            while True:
                step = call.send(answer)
                if isinstance(step, float):
                    time.sleep(step)
                    answer = None
                else:
                    try:
                        answer = self._http.request(
                            step.method,
                            step.path,
                            json=step.json,
                            params=step.parameters,
                            timeout=self._timeout if step.timeout is None else step.timeout,
                        )
                    except httpx2.HTTPError as error:
                        answer = error
        except StopIteration as done:
            result: Result = done.value
            return result

    def create(self, coverage: float = 0.9, **settings: Any) -> StreamSummary:
        """Create the stream; if it already exists with these settings, nothing changes.

        Parameters
        ----------
        coverage
            The share of rounds in which the right answer must be in the list.
        settings
            The other settings of a stream: delta or policy, score, miss_budget, patience, on_drift, ... A policy may be
            `AnytimeSPS` or `SPS`, a score a name, or an object of `shortlist.scores`, such as a learned one.

        Returns
        -------
        StreamSummary
            The stream's settings and summary.

        Raises
        ------
        ConflictingStream
            If it already exists with other settings.
        """
        return self._do(self._create(coverage, settings))

    def propose(
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
        """Open a round and return its shortlist; the texts that users read can be stored with it.

        Parameters
        ----------
        scores
            The score of each candidate, finite; larger is better. With several scorers: ``{"bm25": [...], "dense":
            [...]}``, or a data frame with one column per scorer; NaN where one has no score for a candidate. All rounds
            of a stream must have the same scorers.
        ids
            Your own ids of the candidates, strings or integers; by default the index of a pandas object, or their
            positions.
        texts
            What the page shows for each candidate; stored apart from the log, and erasable.
        question
            The question; stored in the same way.
        truncated_below
            The lowest score that your search returned, if it may have left candidates out; with several scorers
            ``{"dense": 0.2}``, for each whose search may have done so.
        scorer_version
            The version of the model behind the scores; by default the client's. All rounds of a stream have the same.
        round_id
            Your own id of the round; generated by default. The same id with a different list is refused.
        allow_empty
            Also open a round for a search that found nothing.

        Returns
        -------
        Shown
            The list.

        Raises
        ------
        ConflictingRound
            If the id was used for another list.
        ScorerChanged
            If the stream has another scorer version, or needs one.
        ServiceUnavailable
            If the service could not be reached, or could not store the round; retrying is safe.
        """
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
        return self._do(call)

    def more(self, round_id: Any, count: int | None = None, *, shown: int | None = None) -> More:
        """Show more of a list: the next candidates, best first; see `Shortlister.more`. Their scores are not returned.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        count
            How many more; by default all the rest.
        shown
            How many candidates you have. With it, a request whose response is lost is retried; without it, a retry
            could skip candidates, so it is sent once.

        Returns
        -------
        More
            The next candidates.
        """
        return self._do(self._more(round_id, count, shown))

    def configure(self, **changes: Any) -> StreamSummary:
        """Change settings of the stream, from its next list on; see `Shortlister.configure`.

        Parameters
        ----------
        changes
            The settings, by name.

        Returns
        -------
        StreamSummary
            The stream's settings and summary.
        """
        return self._do(self._configure(changes))

    def warm_start(self, lists: Any, right: Any) -> StreamSummary:
        """Learn from labeled examples before the first list is shown; see `Shortlister.warm_start`.

        Sending the same examples again changes nothing. They are sent in one request: at most 10,000 lists, and 2 MB.

        Parameters
        ----------
        lists
            The scores of all candidates of each example: an array, or a sequence of what `propose` takes.
        right
            The position of the right candidate in each example, or a list of positions if several are needed; -1 where
            it was not among the candidates.

        Returns
        -------
        StreamSummary
            The stream's settings and summary.

        Raises
        ------
        ConflictingStream
            If a list has already been shown, or the stream has learned from other examples.
        """
        return self._do(self._warm_start(lists, right))

    def restart(self, *, refit: bool = False) -> StreamSummary:
        """Restart learning; see `Shortlister.restart`.

        Parameters
        ----------
        refit
            Whether to learn the score again too.

        Returns
        -------
        StreamSummary
            The stream's settings and summary.
        """
        return self._do(self._restart(refit))

    def hit(self, round_id: Any, member: Member | Sequence[Member]) -> None:
        """Take the answer "this one", or "all of these"; see `Shortlister.hit`.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        member
            The right candidate; a list if all of them are needed.
        """
        self._do(self._answer(round_id, {"hit": plain_members(member)}))

    def miss(self, round_id: Any) -> None:
        """Take the answer "not in this list".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do(self._answer(round_id, {"miss": True}))

    def skip(self, round_id: Any) -> None:
        """Record that no answer will come; see `Shortlister.skip`.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do(self._answer(round_id, {"skip": True}))

    def absent(self, round_id: Any) -> None:
        """Take the answer "I looked through everything: no candidate is right"; see `Shortlister.absent`.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do(self._answer(round_id, {"absent": True}))

    def withdraw(self, round_id: Any) -> None:
        """Take back a list that nobody saw; see `Shortlister.withdraw`.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do(self._withdraw(round_id))

    def reveal(self, round_id: Any, right: Member | None) -> None:
        """Take the right answer, shown or not: a hit if it is in the list, a miss otherwise.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        right
            The right candidate; None if no candidate is right.
        """
        self._do(self._reveal(round_id, right))

    def propose_many(self, rounds: Iterable[Mapping[str, Any]]) -> list[Shown | ShortlistError]:
        """Open many rounds in few requests.

        Parameters
        ----------
        rounds
            The parameters of `propose`, as mappings: ``{"scores": [0.31, 0.87], "ids": ["faq-7", "faq-2"]}``. Lists
            sent together are cut with the threshold from before the first of them.

        Returns
        -------
        list[Shown | ShortlistError]
            The list of each, or the error that refused it.
        """
        return self._do(self._propose_many(rounds))

    def answer_many(self, answers: Iterable[tuple[Any, Mapping[str, Any]]]) -> list[ShortlistError | None]:
        """Send many answers in few requests.

        Parameters
        ----------
        answers
            Pairs of `round_id` and answer: ``("r1", {"hit": member})``.

        Returns
        -------
        list[ShortlistError | None]
            For each, None or the error that refused it.
        """
        return self._do(self._answer_many(answers))

    def add_items(self, items: Iterable[Mapping[str, Any]]) -> list[ShortlistError | None]:
        """Add items for annotators to answer; return the error for each, or None.

        Parameters
        ----------
        items
            Each with an ``id``, which will be its round's, and the parameters of `propose`: ``{"id": "img-7", "scores":
            [...], "ids": [...], "question": ..., "image": "https://..."}``; or as the service takes them, with
            ``candidates``. The next one is always drawn at random from those that wait.

        Returns
        -------
        list
            For each item None, or the error that it was refused with.
        """
        return self._do(add_items(self, items))

    def next(self, *, lease: float | None = None, annotator: str | None = None) -> dict[str, Any] | None:
        """Take something to answer: a round that somebody has left open, or the next item, drawn at random.

        Parameters
        ----------
        lease
            For how many seconds it is reserved; by default two minutes. `renew` the lease while somebody is working.
        annotator
            Who asks. The draw does not depend on it.

        Returns
        -------
        dict or None
            ``round_id``, ``question``, ``image``, ``members``, ``texts``, ``holder``, ``lease_until`` and more; None
            if nothing waits. The client sends the holder with its answer.
        """
        return self._do(next_round(self, lease, annotator))

    def renew(self, round_id: str, holder: str, *, lease: float | None = None) -> float:
        """Renew the lease of a round.

        Parameters
        ----------
        round_id, holder
            As `next` returned them.
        lease
            For how many seconds from now; by default two minutes.

        Returns
        -------
        float
            When the lease ends, in seconds since 1970.

        Raises
        ------
        LeaseLost
            Somebody else has it by now.
        RoundClosed
            It was answered.
        """
        return self._do(renew(self, round_id, holder, lease))

    def give_back(self, round_id: str, holder: str = "") -> None:
        """Give a round back: it stays open, with the same list, for another annotator or for later.

        Parameters
        ----------
        round_id
            As `next` returned it.
        holder
            As `next` returned it: the request is then refused if the lease was lost. By default that of this
            client's `next`; without one, a key that may show lists takes the round from its holder.
        """
        self._do(give_back(self, round_id, holder))

    def correct(self, round_id: str, label: Member | None, note: str | None = None) -> None:
        """Correct the label of an answered round in the training set, at any time; no threshold moves.

        Parameters
        ----------
        round_id
            The round: the item's id.
        label
            One of its candidates; None if none is right.
        note
            Why.
        """
        self._do(correct(self, round_id, label, note))

    def queue(self) -> dict[str, Any]:
        """Return how many items wait, how many rounds are open and held, and what annotators need to know.

        Returns
        -------
        dict[str, Any]
            The counts, the problems of refused items, and the guidelines for annotators.
        """
        return self._do(queue(self))

    def summary(self) -> StreamSummary:
        """Return a summary of all rounds so far.

        Returns
        -------
        StreamSummary
            The stream's settings and summary.
        """
        return self._do(self._summary())

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list, fetched from the service."""
        return self.summary().threshold

    def rounds(self, *, after: int = 0, limit: int = 100, only_open: bool = False) -> dict[str, Any]:
        """Return a page of the log.

        Parameters
        ----------
        after
            Return rounds after this number.
        limit
            The largest number of rounds to return.
        only_open
            Whether to return only rounds without an answer.

        Returns
        -------
        dict[str, Any]
            ``rounds``, and in ``next`` what to pass as `after` for the next page, or None.
        """
        return self._do(self._rounds(after, limit, only_open))

    def log(self) -> list[dict[str, Any]]:
        """Return the whole log: what `shortlist.rescore` takes.

        Returns
        -------
        list[dict[str, Any]]
            All rounds, oldest first, with their answers.
        """
        return self._do(self._log())

    def expire(self, older_than: float) -> int:
        """Close rounds that have been unanswered for a time; this is final.

        Parameters
        ----------
        older_than
            Close rounds shown more than this many seconds ago.

        Returns
        -------
        int
            How many rounds were closed.
        """
        return self._do(self._expire(older_than))

    def erase_texts(self, older_than: float = 0.0) -> int:
        """Erase the questions and texts of older rounds.

        Parameters
        ----------
        older_than
            Erase texts of rounds shown more than this many seconds ago.

        Returns
        -------
        int
            The number of rounds whose texts were erased.
        """
        return self._do(self._erase_texts(older_than))

    def delete(self) -> None:
        """Delete the stream and its log."""
        self._do(self._delete())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
