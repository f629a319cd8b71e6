"""The lister for one stream: a policy, its state, and the rounds that are still open.

``propose`` shows a list, ``hit``, ``miss``, ``skip`` and ``absent`` take its answer, at once or
later, in any order. Each round remembers the threshold it was shown with, and its answer is judged
against that, never against today's.
"""

import copy
import dataclasses
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from shortlist._validation import (
    Array,
    Member,
    Scorers,
    check_below,
    check_count,
    check_ids,
    check_lists,
    check_table,
    check_true_scores,
    index_of,
    plain_member,
)
from shortlist.errors import (
    DamagedFile,
    InvalidParameter,
    MissingScore,
    RoundClosed,
    ShortlistError,
)
from shortlist.listers._rounds import Rounds, check_right, scores_of, shown_values
from shortlist.policies import OrderStatistic, Policy, ProductLimit, State
from shortlist.rounds.admission import Given, admit, needed
from shortlist.rounds.codec import decode, encode
from shortlist.rounds.events import (
    Answer,
    Configured,
    Event,
    Expired,
    Fitted,
    Hit,
    Listed,
    Restarted,
    WarmStarted,
)
from shortlist.rounds.learning import LearningState
from shortlist.rounds.news import mark, tell
from shortlist.rounds.repeated_fits import RepeatedFits, make_learning
from shortlist.rounds.settings import Settings, default_policy, with_settings
from shortlist.rounds.shown import More, Shown
from shortlist.rounds.stream import Stream, StreamState
from shortlist.scores import Learned, Score
from shortlist.scores.comparable import comparable

if TYPE_CHECKING:
    from shortlist.rounds.summary import Summary

__all__ = ["Shortlister"]


@with_settings
class Shortlister:
    """Shows shortlists, short from the first one on, and learns their threshold from the answers.

    In any W consecutive answered rounds at most (1 - coverage) W + `miss_budget` cut lists miss, for any distribution
    and any shift, if answers are prompt and misses are reported. That is a guarantee about many rounds, not
    about a single list.

    With `delta` it also guarantees every single list: with probability 1 - delta, uniformly over time, each is at least
    as long as the optimal one, whose threshold keeps the right answer in a share `coverage` of all rounds. That
    assumes rounds that are independent draws from one distribution, and the first lists are complete.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list; by default 0.9.
    delta
        The probability that the threshold may ever pass the optimal one; by default None: no guarantee about
        single lists.
    policy
        A policy other than ``ProductLimit(coverage)`` or ``AnytimeSPS(coverage, delta)``: `SPS`, or `OrderStatistic`
        with any boundary. Policies without a guarantee are for `shortlist.replay`.
    {settings}

    Examples
    --------
    >>> lister = Shortlister(coverage=0.9)
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(2000):
    ...     scores = rng.random(20)  # a model's scores for 20 candidates
    ...     right = int(rng.choice(20, p=scores**8 / (scores**8).sum()))  # what the user is looking for
    ...     shown = lister.propose(scores)
    ...     lister.reveal(shown.round_id, right)
    >>> len(shown.members), lister.summary().score_why
    (8, 'learned from 233 picks')
    """

    kind: ClassVar[str] = "shortlister"

    def __init__(
        self,
        coverage: float | None = None,
        delta: float | None = None,
        *,
        policy: Policy | None = None,
        **settings: Any,
    ) -> None:
        if policy is None:
            policy = default_policy(coverage, delta, settings)
        elif not (coverage is None and delta is None):
            raise InvalidParameter("coverage and delta belong to the policy: give either them or a policy, not both")
        elif isinstance(policy, Policy) and not isinstance(policy, (ProductLimit, OrderStatistic)):
            raise InvalidParameter(
                f"policy is {policy}, which has no guarantee that a lister could keep: use ProductLimit, AnytimeSPS, "
                "SPS or OrderStatistic; to compare other policies, shortlist.replay runs any of them on recorded scores"
            )
        self._start(Settings.of(policy, settings, others=("coverage", "delta", "policy")))
        self._streams[None] = self._new_stream(None, 1)
        self._learn_names()

    def _start(self, settings: Settings) -> None:
        """Begin with these settings, and nothing learned."""
        #: The settings of each of its streams, except the policy.
        self._settings = settings
        self._rounds = Rounds()
        self._rounds.draw_part()
        # The process that draws the ids of rounds.
        self._process = os.getpid()
        self._streams: dict[Any, Stream] = {}
        # All streams share one score; if it is learned, they learn it together.
        self._learning = make_learning(settings)
        # The names of the scorers that lists must have; None before the first list.
        self._expected: Scorers | None = None
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<Shortlister {self.policy}, {self._rounds.next_number} rounds, threshold {self.threshold:.6g}>"

    @property
    def policy(self) -> Policy:
        """The policy that learns."""
        return self._settings.policy

    @property
    def score(self) -> str:
        """The score in use."""
        return self._stream(None).score_name

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self._streams[None].threshold

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self._settings

    @property
    def learned(self) -> Learned | None:
        """The learned score, once it is frozen, otherwise None; pass it as ``score=`` to other listers."""
        return None if self._learning is None else self._learning.state.score

    def _stream(self, key: Any) -> Stream:
        """Return the stream with this key, or one as it would begin."""
        return self._streams.get(key) or self._new_stream(key, len(self._streams) + 1)

    def _new_stream(self, key: Any, number: int, state: StreamState | None = None) -> Stream:
        """Return the stream of a key, the `number`-th of them."""
        settings = dataclasses.replace(self._settings, policy=self._policy(self._settings.policy, number))
        exploring = self._policy(settings.exploring_policy, number) if settings.is_product_limit else None
        seed = "" if key is None else repr(key)
        return Stream(settings, state, self._learning, seed=seed, exploring=exploring)

    def _policy(self, policy: Policy, number: int) -> Policy:  # noqa: ARG002 - there is one
        """Return the policy of the `number`-th stream, with its share of delta."""
        return policy

    def _learn_names(self) -> None:
        """Record the scorers' names, once they are known."""
        self._expected = next((each.scorers for each in self._streams.values() if each.scorers is not None), None)

    # Rounds.

    def _checked(
        self,
        scores: Any,
        ids: Sequence[Member] | None,
        truncated_below: Any,
        allow_empty: bool,
        expected: Scorers | None,
    ) -> tuple[Array, list[Member] | None, Any, Scorers]:
        """Return the arguments of `propose`, checked, and the names of the scorers; `expected` are those before."""
        if ids is None and type(scores) is not np.ndarray:
            ids = index_of(scores)
        values, scorers = check_table(scores, expected, allow_empty=allow_empty, named=ids is not None)
        if truncated_below is not None:
            truncated_below = check_below(truncated_below, scorers)
        return values, None if ids is None else check_ids(ids, len(values)), truncated_below, scorers

    def _propose(
        self, key: Any, scores: Any, ids: Sequence[Member] | None, truncated_below: Any, allow_empty: bool
    ) -> tuple[str, Listed, Array]:
        """Open a round of the stream with this key; return its id, its list, and the scores."""
        with self._lock:
            values, names, below, scorers = self._checked(scores, ids, truncated_below, allow_empty, self._expected)
            stream = self._streams.get(key)
            if stream is None:  # it begins only if its list can be shown
                stream = self._new_stream(key, len(self._streams) + 1)
            listed = stream.decide(self._rounds.next_number, values, names, below, scorers=scorers)
            if key is not None:
                listed = listed._replace(group=key)
            self._streams[key] = stream
            self._fold(stream, listed)
            return self._open(listed), listed, values

    def _fold(self, stream: Stream, event: Event) -> None:
        """Apply an event, and all that must follow it; a fit is of all streams."""
        quiet = not stream.settles and stream.tracker.detector is None
        if quiet and ((type(event) is Listed and not event.added) or (type(event) is Hit and not event.missed)):
            stream.apply(event)  # as most are: nothing to tell, and nothing follows
            return
        before = mark(stream)
        stream.apply(event)
        while stream.settles and (following := stream.due()) is not None:
            for each in self._streams.values() if isinstance(following, Fitted) else (stream,):
                each.apply(following)
        tell(stream, before, (event,))

    def _open(self, listed: Listed) -> str:
        """Keep a list that is shown, and close rounds that are too old to keep; return its round's id."""
        rounds = self._rounds
        if self._expected is None:
            self._learn_names()
        if self._process != os.getpid():  # it was forked
            self._process = os.getpid()
            rounds.draw_part()
        rounds.open[rounds.next_number] = listed
        rounds.answers.append(None)
        rounds.next_number += 1
        if len(rounds.answers) > self._settings.keep:
            self._expire(rounds.next_number - self._settings.keep)
        return rounds.id_of(rounds.next_number - 1)

    def _answer(self, round_id: str, answer: Given) -> None:
        with self._lock:
            rounds = self._rounds
            number = rounds.number_of(round_id, self._settings.keep)
            index = number - rounds.next_number  # from the end
            given, listed = rounds.answers[index], rounds.open.get(number)
            event = admit(listed, answer, given, name=round_id)
            if event is None:
                return
            rounds.answers[index] = answer
            if given is None:
                del rounds.open[number]
            stream = self._streams[listed.group]  # type: ignore[union-attr]
            if type(event) is Hit:
                event = stream.rescored(event, listed)  # type: ignore[arg-type]
            self._fold(stream, event)

    def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
    ) -> Shown:
        """Open a round and return its shortlist.

        Parameters
        ----------
        scores
            The score of each candidate, finite; larger is better. With several scorers, their scores by name,
            ``{"bm25": [...], "dense": [...]}``, or a data frame with one column per scorer; NaN where one has no score
            for a candidate. The first round fixes their names.
        ids
            Your own ids of the candidates, strings or integers; by default the index of a pandas object, or their
            positions.
        truncated_below
            The lowest score that your search returned, if it may have left candidates out: they score at
            most that. If the threshold is not above it, ``shown.truncated`` is true. With several scorers, one
            number for each that left any out.
        allow_empty
            Also open a round for a search that found nothing: its question counts like any other, and if its
            answer is a miss, leaving it out would make the threshold too high.

        Returns
        -------
        Shown
            The list: its `round_id`, its members and more.

        Raises
        ------
        InvalidScores, InvalidIds, NoCandidates
            If the scores or ids cannot be used; then nothing has changed.
        """
        round_id, listed, values = self._propose(None, scores, ids, truncated_below, allow_empty)
        return Shown(*shown_values(round_id, listed, values))

    def more(self, round_id: str, count: int | None = None) -> More:
        """Show more of a list: the next candidates, best first. Any of them may then be picked, too.

        A pick from these was missed by the list, but its score is known. With `at_most`, a short page that users
        expand teaches as much as a long list.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        count
            How many more; by default all the rest.

        Returns
        -------
        More
            The next candidates; empty if all are already shown.

        Raises
        ------
        UnknownRound, RoundClosed
            If there is no such round, it is no longer kept, or it has an answer.
        """
        count = None if count is None else check_count("count", count)
        with self._lock:
            rounds = self._rounds
            number = rounds.number_of(round_id, self._settings.keep)
            listed = rounds.open.get(number)
            if listed is None:
                raise RoundClosed(f"round {round_id} has an answer; more of a list can only be shown before that")
            values = np.asarray(listed.scores, dtype=np.float64)
            event = self._streams[listed.group].expand(listed, values, count)
            if event is None:
                return More(round_id, (), (), 0, listed.truncated)
            rounds.open[number] = longer = listed.expanded(event)
            self._fold(self._streams[listed.group], event)
        new = longer.members[len(listed.positions) :]
        left = len(values) - len(longer.positions)
        return More(round_id, tuple(new), scores_of(values, event.positions), left, event.truncated)

    def hit(self, round_id: str, member: Member | Sequence[Member]) -> None:
        """Take the answer "this one", or "all of these".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        member
            The right candidate, as in ``shown.members`` or in what `more` showed; any of them if several are
            right. A list if all of them are needed: then the lowest of their scores counts, and the guarantee
            is that all of them are in the list.

        Raises
        ------
        UnknownRound, RoundClosed
            If there is no such round, or it is no longer kept.
        NotShown
            If the member was not in the list: that is a `miss`.
        ConflictingAnswer
            If the round has a different answer: the first one is final. The same answer again changes nothing.
        """
        kind = type(member)
        self._answer(round_id, member if kind is int or kind is str else needed(member))  # type: ignore[arg-type]

    def miss(self, round_id: str) -> None:
        """Take the answer "not in this list".

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Raises
        ------
        UnknownRound, RoundClosed, ConflictingAnswer
            As for `hit`.
        """
        self._answer(round_id, Answer.MISS)

    def skip(self, round_id: str) -> None:
        """Record that no answer will come; this is final.

        Silence may hide a miss, so the round counts as below the threshold; with
        ``unanswered="ignore"`` it does not count at all.

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Raises
        ------
        UnknownRound, RoundClosed, ConflictingAnswer
            As for `hit`.
        """
        self._answer(round_id, Answer.SKIP)

    def absent(self, round_id: str) -> None:
        """Take the answer "I looked through everything: no candidate is right".

        The guarantee is over answerable questions, so the round leaves the sample, unless it has already
        entered it: then it stays there as below the threshold. If a list is marked
        ``truncated``, or a search found nothing, nobody has seen all candidates, so there it is a miss. Report
        it in every round where it applies, or never: if it is reported only while lists are complete, cutting
        them looks like a shift.

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Raises
        ------
        UnknownRound, RoundClosed, ConflictingAnswer
            As for `hit`.
        """
        self._answer(round_id, Answer.ABSENT)

    def withdraw(self, round_id: str) -> None:
        """Take back a list that nobody saw: the user left the page, or the request timed out.

        The round leaves the sample, unless it has already entered it. That is safe only if withdrawing is independent
        of the right answer: a list that a user saw and did not answer is a `skip`.

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Raises
        ------
        ConflictingAnswer
            If the round has an answer: somebody did see it.
        """
        self._answer(round_id, Answer.WITHDRAWN)

    def reveal(self, round_id: str, right: Member | None) -> None:
        """Take the right answer, shown or not: a `hit` if it is in the list, a `miss` otherwise.

        For labels, judges and simulations, where it is always known.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        right
            The right candidate, as it would appear in ``shown.members``: your id, or its position. An id that
            was not among the candidates is a miss; None if no candidate is right.

        Raises
        ------
        InvalidIds
            If it cannot have been a candidate: a number where ids are strings, or a position out of range.
        """
        with self._lock:
            member = None if right is None else plain_member(right)
            number = self._rounds.number_of(round_id, self._settings.keep)
            given = self._rounds.answers[number - self._rounds.next_number]
            listed = self._rounds.open.get(number)
            if listed is None:  # its list is gone; only a miss can still be compared
                is_hit = not isinstance(given, Answer) or given is not Answer.MISS
            else:
                check_right(listed, member)
                is_hit = any(member == one and type(member) is type(one) for one in listed.members)
            self._answer(round_id, Answer.MISS if member is None or not is_hit else member)

    def reveal_many(self, round_ids: Sequence[str], rights: Sequence[Member | None]) -> None:
        """Take the right answers of several rounds, as if `reveal` were called for each in order.

        Parameters
        ----------
        round_ids
            The `round_id` of each list.
        rights
            The right candidate of each.

        Raises
        ------
        InvalidParameter
            If there is not one right answer per round.
        """
        if len(round_ids) != len(rights):
            raise InvalidParameter(
                f"there are {len(rights)} right answers for {len(round_ids)} rounds; give one for each"
            )
        with self._lock:
            for round_id, right in zip(round_ids, rights, strict=True):
                self.reveal(round_id, right)

    def propose_many(
        self, scores: Sequence[Any], ids: Sequence[Sequence[Member]] | None = None, **options: Any
    ) -> list[Shown]:
        """Open one round per list, as if `propose` were called for each in order; all of them, or none.

        Parameters
        ----------
        scores
            The scores of each list: a table, or a sequence of what `propose` takes.
        ids
            The ids of each list.
        options
            Further arguments of `propose`, the same for all.

        Returns
        -------
        list[Shown]
            The lists, in order.

        Raises
        ------
        InvalidParameter
            If `ids` does not have one entry per list.
        InvalidScores, InvalidIds, NoCandidates
            If a list cannot be used; then none is opened.
        """
        if ids is not None and len(ids) != len(scores):
            raise InvalidParameter(f"there are ids for {len(ids)} lists, and {len(scores)} lists; give ids for each")
        named = [None] * len(scores) if ids is None else ids
        below, empty = options.get("truncated_below"), options.get("allow_empty", False)
        with self._lock:
            expected, score = self._expected, self._settings.score
            for row, names in zip(scores, named, strict=True):  # all of them, or none
                values, _, _, scorers = self._checked(row, names, below, empty, expected)
                if len(values):
                    expected = scorers
                if not isinstance(score, str):
                    comparable(score, values)
            return [self.propose(row, names, **options) for row, names in zip(scores, named, strict=True)]

    def expire(self, before: str | None = None) -> int:
        """Close all rounds shown before one; this is final.

        Unanswered ones count as silence; later answers are refused.

        Parameters
        ----------
        before
            The `round_id` of the first round that stays open; by default all are closed.

        Returns
        -------
        int
            How many rounds were open.
        """
        with self._lock:
            rounds = self._rounds
            return self._expire(rounds.next_number if before is None else rounds.number_of(before, self._settings.keep))

    def _expire(self, before: int) -> int:
        rounds, closed = self._rounds, 0
        while rounds.answers and rounds.oldest < before:
            number = rounds.oldest
            if rounds.answers.popleft() is None:
                self._fold(self._streams[rounds.open.pop(number).group], Expired(number))
                closed += 1
        return closed

    def restart(self, *, refit: bool = False) -> None:
        """Restart learning: a new epoch, in which no earlier round counts; the learned score stays.

        The first lists are the best 10 again, or complete ones with `delta`. The error budget goes on. With `delta` and
        ``on_drift="restart"`` all epochs share one delta. Otherwise the first has used it up, and all later ones
        together may fail with probability delta/2.

        Parameters
        ----------
        refit
            Also learn the score again, from the picks to come, with `delta` from the latest ones too; with
            ``score="auto"`` only.

        Raises
        ------
        InvalidParameter
            If ``unanswered="ignore"`` does not allow it, or `refit` is not a boolean.
        """
        if self._settings.unanswered == "ignore":
            raise InvalidParameter('restart needs unanswered="miss": create a new lister')
        if not isinstance(refit, bool) or (refit and self._learning is None):
            raise InvalidParameter(f'refit is {refit!r}; it must be True or False, and True needs score="auto"')
        with self._lock:
            for stream in self._streams.values():
                self._fold(stream, Restarted(stream.tracker.epoch + 1, refit))

    def warm_start(self, lists: Any, right: ArrayLike | None = None) -> None:
        """Learn from labeled examples before the first list is shown.

        They count as rounds in which everything was shown and answered, so lists are short at once, with either
        guarantee. They must be from the same distribution, the scorer must not have been trained on them, and
        nothing may be filtered out: a click log without its misses does not qualify. With ``score="auto"`` the last
        250 also teach the score, from 15 on; with `delta` the first 30 (100 with several scorers) teach the score, and
        only the others its threshold.

        Parameters
        ----------
        lists
            The scores of all candidates of each example: an array, or a sequence of what `propose` takes. With
            ``score="raw"`` and without `right`, the score of the right answer in each example; -inf where it was not
            among the candidates.
        right
            The position of the right candidate in each example, or a list of positions if several are needed; -1 where
            it was not among the candidates.

        Raises
        ------
        InvalidParameter
            If rounds have already been shown, the score is frozen, or `right` does not fit `lists`.
        """
        self._warm_start(lists, right)

    def _warm_start(self, lists: Any, right: Any, shown: list[list[int]] | None = None) -> None:
        """Learn from labeled lists, or from those of a log, of which only a part was shown."""
        with self._lock:
            if self._rounds.next_number:
                raise InvalidParameter(
                    f"{self._rounds.next_number} rounds have already been shown; a warm start comes before the first"
                )
            again = any(
                self._settings.is_product_limit and one.tracker.state.policy.rounds for one in self._streams.values()
            )
            if again or (self._learning is not None and self._learning.number):
                raise InvalidParameter("there was a warm start already: give all examples at once")
            if right is None:
                self._warm_start_raw(check_true_scores(lists) + 0.0)  # one zero, not two
                return
            tables, positions, scorers = check_lists(lists, right, self._expected)
            for stream in self._streams.values():
                for event in stream.warm_started(tables, positions, scorers, shown):
                    stream.apply(event)
            self._learn_names()

    def _warm_start_raw(self, true_scores: Array) -> None:
        for stream in self._streams.values():
            if not stream.is_raw:
                raise InvalidParameter(
                    f"right is missing: score is {stream.score_name!r}, which needs whole lists: "
                    "warm_start(lists, right)"
                )
            stream.apply(WarmStarted(true_scores.tolist()))

    def configure(self, **changes: Any) -> None:
        """Change settings, from the next list on.

        `at_least`, `at_most`, `shadow`, `patience` and `miss_budget` may change, and `explore_share` to another share;
        without `delta` it can also be turned on.

        Parameters
        ----------
        changes
            The settings, by name; all others are fixed when a lister is created.

        Raises
        ------
        InvalidParameter
            If a setting cannot change, or its value is out of range.
        """
        with self._lock:
            settings = self._settings.changed(**changes)
            for stream in self._streams.values():
                stream.apply(Configured(changes))
            if isinstance(self._learning, RepeatedFits):
                if settings.is_product_limit:
                    self._learning.settings = settings
                else:
                    self._learning = self._learning.frozen(settings)
            self._settings = settings

    def preview(self, scores: Any) -> tuple[int, ...]:
        """Return the list that would be shown for these scores; nothing is shown or learned.

        Parameters
        ----------
        scores
            As for `propose`.

        Returns
        -------
        tuple[int, ...]
            The positions of the candidates, best first.
        """
        return self._preview(None, scores)

    def _preview(self, key: Any, scores: Any) -> tuple[int, ...]:
        with self._lock:
            values, scorers = check_table(scores, self._expected)
            return tuple(self._stream(key).decide(self._rounds.next_number, values, scorers=scorers).positions)

    def summary(self) -> "Summary":
        """Return a summary of all rounds so far.

        Returns
        -------
        Summary
            Counts, coverage, threshold, and what is needed next; see `shortlist.Summary`.
        """
        with self._lock:
            return self._summarize(self._streams[None], len(self._rounds.open))

    def _summarize(self, stream: Stream, open_rounds: int) -> "Summary":
        from shortlist.rounds.progress import summarize  # noqa: PLC0415 - not needed to show lists
        from shortlist.rounds.summary import Summary  # noqa: PLC0415

        return Summary(**summarize(stream, open_rounds, self._rounds.id_of))

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file; a crash while writing leaves the old file intact.

        Parameters
        ----------
        path
            The file; its folder must exist.

        Raises
        ------
        MissingFile, UnwritableFile
            If the folder does not exist, or the system refuses to write.
        """
        with self._lock:
            content = {
                "settings": encode(self._settings),
                "rounds": encode(self._rounds),
                "learning": self._learning and encode(self._learning.state),
                "streams": [[key, encode(stream.state)] for key, stream in self._streams.items()],
            }
            from shortlist.listers import savefile  # noqa: PLC0415 - not needed to show lists

            savefile.write(path, self.kind, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, score: Score | None = None, policy: Policy | None = None) -> Self:
        """Return a saved lister; it continues with the same bits.

        Parameters
        ----------
        path
            The file.
        score, policy
            Your own score or policy, if the lister was saved with one: a file cannot hold it.

        Returns
        -------
        Self
            The lister.

        Raises
        ------
        MissingFile, DamagedFile, NewerFile
            If there is no such file, or it cannot be read back.
        MissingScore, MissingPolicy
            If the score or the policy was one of your own and is not passed.
        """
        from shortlist.listers import savefile  # noqa: PLC0415 - not needed to show lists

        content = savefile.read(path, cls.kind)
        own = {Score: score, Policy: policy}
        savefile.check_own(content, policy, score)
        try:
            settings = decode(Settings, content["settings"], own)
            lister = cls.__new__(cls)
            lister._start(settings)
            lister._rounds = decode(Rounds, content["rounds"])
            lister._rounds.draw_part()
            if content["learning"] is not None:
                learned = decode(LearningState, content["learning"])
                lister._learning = make_learning(settings, learned)
            for number, (key, state) in enumerate(content["streams"], 1):
                state_read = decode(StreamState, state, {State: settings.policy.state_type})
                lister._streams[key] = lister._new_stream(key, number, state_read)
            lister._learn_names()
        except MissingScore:
            raise
        except (ShortlistError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is damaged: {type(error).__name__}: {error}") from None
        return lister

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return copy.deepcopy({name: value for name, value in vars(self).items() if name != "_lock"})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())
        self._process = os.getpid()
        self._rounds.draw_part()
