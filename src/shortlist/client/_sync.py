"""The client that waits."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import httpx

from shortlist._validation import Member, plain_members
from shortlist.client._protocol import Call, Calls, Result
from shortlist.errors import ShortlistError
from shortlist.rounds.shown import More, Shown

__all__ = ["Client"]


class Client(Calls):
    """A stream of a running service.

    Parameters
    ----------
    url
        Where the service is: ``http://127.0.0.1:8000``.
    stream
        The stream's name; `create` makes it.
    api_key
        The key, where keys are on.
    timeout
        Seconds to wait for an answer before trying again.
    retries
        How often to try again, with pauses that grow.
    deadline
        With a `fallback`, the seconds in which `propose` returns, whatever the service does.
    fallback
        ``"everything"``: where the service is away, or does not answer in time, `propose` returns all candidates, best
        first (``shown.fallback``), so that a search page always has something to show. Answers to such a round go
        nowhere, and if the service has stored it after all, it is taken back. None: `propose` tries again, and then
        raises ServiceUnavailable.
    scorer_version
        Of the model behind the scores, sent with every round: a stream takes one version only.

    Examples
    --------
        client = shortlist.Client("http://127.0.0.1:8000", "docs")
        client.create(coverage=0.9)
        shown = client.propose([0.31, 0.87], ids=["faq-7", "faq-2"])
        client.hit(shown.round_id, "faq-2")

    Several scorers for each candidate, in a stream of its own:

        shown = client.propose({"bm25": [7.1, 3.3], "dense": [0.31, 0.87]}, ids=["faq-7", "faq-2"])
    """

    def _connect(self) -> None:
        self._http = httpx.Client(**self._settings)

    def _do(self, call: Call[Result]) -> Result:
        answer: Any = None
        try:
            while True:
                wanted = call.send(answer)
                if isinstance(wanted, float):
                    time.sleep(wanted)
                    answer = None
                else:
                    try:
                        answer = self._http.request(
                            wanted.method,
                            wanted.path,
                            json=wanted.json,
                            params=wanted.parameters,
                            timeout=self._timeout if wanted.timeout is None else wanted.timeout,
                        )
                    except httpx.HTTPError as error:
                        answer = error
        except StopIteration as done:
            result: Result = done.value
            return result

    def create(self, coverage: float = 0.9, **settings: Any) -> dict[str, Any]:
        """Create the stream, or find it with these settings.

        Parameters
        ----------
        coverage
            The share of rounds in which the right answer must be in the list.
        settings
            The other settings of a stream: policy, score, miss_budget, patience, on_drift ... A score may be a name, or
            an object of `shortlist.scores`, such as one that was learned.

        Raises
        ------
        ConflictingStream
            It exists with other settings.
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
        tags: Mapping[str, str | int] | None = None,
        allow_empty: bool = False,
        also: Mapping[str, Any] | None = None,
    ) -> Shown:
        """Open a round and return its shortlist; what people read can be stored with it.

        Parameters
        ----------
        scores
            The score of each candidate, finite; larger is better. Or of several scorers: ``{"bm25": [...], "dense":
            [...]}``, a data frame with a column for each, or an array of candidates x scorers; NaN where one has no
            score for a candidate. All rounds of a stream have the scorers of the first.
        ids
            Your own names for the candidates, strings or integers; their positions otherwise.
        texts
            What the page shows for each candidate; kept apart from the log, and can be erased.
        question
            What was asked; kept in the same way.
        truncated_below
            The lowest score that your search returned, if it may have left candidates out; with several scorers
            ``{"dense": 0.2}``, of those whose search may have.
        scorer_version
            The model behind the scores, if it is not the client's own: all rounds of a stream name the same.
        round_id
            Your own id for the round; one is made otherwise. The same id with another list is refused.
        tags
            What to see coverage by, after the fact: ``{"language": "de"}``. It decides nothing.
        allow_empty
            Open a round for a search that found nothing, too.
        also
            For streams that shadow this one, by name: their scores of the same candidates, as `scores`.

        Raises
        ------
        ConflictingRound
            The id was used for another list.
        ScorerChanged
            The stream has another scorer version, or needs one.
        ServiceUnavailable
            The service could not be reached, or could not store it; trying again is safe.
        """
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
        return self._do(call)

    def more(self, round_id: Any, count: int | None = None, *, shown: int | None = None) -> More:
        """Show more of a list: the next candidates, best first; see `Shortlister.more`. Their scores are not returned.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        count
            How many more; all the rest if not given.
        shown
            How many candidates you have. With it, a request whose answer is lost is sent again; without it, sending it
            again could skip candidates, so it is sent once.
        """
        return self._do(self._more(round_id, count, shown))

    def configure(self, **changes: Any) -> dict[str, Any]:
        """Change settings of the stream, from its next list on; `changes` are those of `Shortlister.configure`."""
        return self._do(self._configure(changes))

    def warm_start(self, lists: Any, right: Any) -> dict[str, Any]:
        """Learn from labelled examples before the first list is shown; see `Shortlister.warm_start`.

        The same examples again change nothing. The examples are sent at once: at most 10,000 lists, and 2 MB.

        Parameters
        ----------
        lists
            The scores of all candidates of each example: examples x candidates, with several scorers examples x
            candidates x scorers, or a list of what `propose` takes.
        right
            The position of the right candidate in each example, a list of them where several are needed; -1 where
            it was not among them.

        Raises
        ------
        ConflictingStream
            A list has been shown already, or the stream has learned from other examples.
        """
        return self._do(self._warm_start(lists, right))

    def restart(self, *, refit: bool = False) -> dict[str, Any]:
        """Start learning over; with `refit`, learn the score again too. See `Shortlister.restart`."""
        return self._do(self._restart(refit))

    def hit(self, round_id: Any, member: Member | Sequence[Member]) -> None:
        """Take the answer "this one", or "all of these": `member` of the list with this `round_id`."""
        self._do(self._answer(round_id, {"hit": plain_members(member)}))

    def miss(self, round_id: Any) -> None:
        """Take the answer "not in this list", for the list with this `round_id`."""
        self._do(self._answer(round_id, {"miss": True}))

    def skip(self, round_id: Any) -> None:
        """Say that no answer will come to `round_id`; it counts as not found."""
        self._do(self._answer(round_id, {"skip": True}))

    def absent(self, round_id: Any) -> None:
        """Take the answer "I looked through everything: no candidate is right"; see `Shortlister.absent`.

        The list is the one with this `round_id`.
        """
        self._do(self._answer(round_id, {"absent": True}))

    def withdraw(self, round_id: Any) -> None:
        """Take back the list with this `round_id`, which nobody saw; see `Shortlister.withdraw`."""
        self._do(self._withdraw(round_id))

    def reveal(self, round_id: Any, right: Member | None) -> None:
        """Take the `right` answer of the list with this `round_id`, shown or not: a hit if it is in it, else a miss."""
        self._do(self._reveal(round_id, right))

    def propose_many(self, rounds: Iterable[Mapping[str, Any]]) -> list[Shown | ShortlistError]:
        """Open many rounds in few requests; return the shortlist of each, or what was wrong with it.

        Parameters
        ----------
        rounds
            The parameters of `propose`, as mappings: ``{"scores": [0.31, 0.87], "ids": ["faq-7", "faq-2"]}``. Lists
            that are sent together are cut with the threshold from before the first of them.
        """
        return self._do(self._propose_many(rounds))

    def answer_many(self, answers: Iterable[tuple[str, dict[str, Any]]]) -> list[ShortlistError | None]:
        """Send many `answers` at once, as ``(round_id, {"hit": member})``; return what was wrong with each, or None."""
        return self._do(self._answer_many(answers))

    def summary(self) -> dict[str, Any]:
        """Return what has happened so far."""
        return self._do(self._summary())

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list, asked for now."""
        threshold: float = self.summary()["threshold"]
        return threshold

    def rounds(self, *, after: int = 0, limit: int = 100, only_open: bool = False) -> dict[str, Any]:
        """Return a page of the log: ``rounds``, and in ``next`` what to pass as `after`.

        Parameters
        ----------
        after
            Rounds after this number.
        limit
            The most on a page.
        only_open
            Only those without an answer.
        """
        return self._do(self._rounds(after, limit, only_open))

    def log(self) -> list[dict[str, Any]]:
        """Return all rounds, oldest first, with their answers: what `shortlist.rescore` and `check_ignore` take."""
        return self._do(self._log())

    def subgroups(self) -> list[dict[str, Any]]:
        """Return coverage after the fact, by each value of each tag; see `Shortlister.subgroups`."""
        return self._do(self._subgroups())

    def silence(self) -> dict[str, Any]:
        """Return who answers and who does not, of the last rounds that had time for it; see `check_ignore`."""
        return self._do(self._silence())

    def expire(self, older_than: float) -> int:
        """Close rounds that have waited for an answer for `older_than` seconds; return how many."""
        return self._do(self._expire(older_than))

    def erase_texts(self, older_than: float = 0.0) -> int:
        """Erase questions and texts of rounds shown more than `older_than` seconds ago; return of how many."""
        return self._do(self._erase_texts(older_than))

    def delete(self) -> None:
        """Erase the stream and its log."""
        self._do(self._delete())

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
