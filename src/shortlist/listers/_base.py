"""What all listers share: rounds that are numbered and kept, the verbs that take answers, files and threads."""

import abc
import copy
import dataclasses
import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

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
    plain_member,
)
from shortlist.errors import (
    DamagedFile,
    InvalidParameter,
    MissingScore,
    RoundClosed,
    ShortlistError,
)
from shortlist.listers import savefile
from shortlist.listers._rounds import Rounds, check_right, scores_of
from shortlist.policies import Policy, State
from shortlist.rounds.admission import Given, admit, needed
from shortlist.rounds.codec import decode, encode
from shortlist.rounds.events import (
    Answer,
    Configured,
    Event,
    Expired,
    Fitted,
    Listed,
    Restarted,
    WarmStarted,
)
from shortlist.rounds.learning import LearningState, make_learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import More, RoundName, Shown
from shortlist.rounds.stream import Stream, StreamState
from shortlist.rounds.subgroups import Subgroup, subgroups_of
from shortlist.scores import Learned, Score

__all__ = ["BaseLister"]

List = TypeVar("List", bound=Shown)


class BaseLister(abc.ABC, Generic[List]):
    """The verbs. See `shortlist.Shortlister` for what they mean."""

    #: The word that tells its save files from others.
    kind: ClassVar[str]

    def __init__(self, settings: Settings, **own: Any) -> None:
        #: What each of its streams is set to, but for the policy.
        self._settings = settings
        # What else makes it what it is, as plain data.
        self._own = own
        self._rounds = Rounds()
        self._streams: dict[Any, Stream] = {}
        # All streams have one score; where it is learned, they learn it together.
        self._learning = make_learning(self._fit_settings())
        # The names of the scorers that lists must have; None before the first.
        self._expected: Scorers | None = None
        self._lock = threading.RLock()

    @abc.abstractmethod
    def _policy(self, key: Any, number: int) -> Policy:
        """Return the policy of the stream with this key, the `number`-th that it has."""

    def _fit_settings(self) -> Settings:
        """Return the settings that a learned score is fitted with."""
        return self._settings

    def _teaches(self, key: Any) -> bool:  # noqa: ARG002 - each round is one stream's
        """Return whether a stream's answers teach the score: where streams have the same rounds, one's do."""
        return True

    @property
    def settings(self) -> Settings:
        """What it is set to."""
        return self._settings

    @property
    def learned(self) -> Learned | None:
        """The score that was learned, once it is frozen: pass it as ``score=`` to other listers. None otherwise."""
        return None if self._learning is None else self._learning.state.score

    def _stream(self, key: Any) -> Stream:
        """Return the stream with this key, made when it is first asked for."""
        if key not in self._streams:
            self._streams[key] = self._new_stream(key, len(self._streams) + 1)
        return self._streams[key]

    def _new_stream(self, key: Any, number: int, state: StreamState | None = None) -> Stream:
        settings = dataclasses.replace(self._settings, policy=self._policy(key, number))
        teaches, seed = self._teaches(key), self._seed(key)
        return Stream(settings, state=state, learning=self._learning, teaches=teaches, seed=seed)

    def _seed(self, key: Any) -> str:  # noqa: ARG002 - all streams have the same rounds
        """Return what the coins of a stream depend on."""
        return ""

    def _learn_names(self) -> None:
        """Take note of the scorers' names, once they are known."""
        self._expected = next((each.scorers for each in self._streams.values() if each.scorers is not None), None)

    @abc.abstractmethod
    def _apply(self, listed: Listed, event: Event) -> None:
        """Apply what happened to a round to the streams that it belongs to."""

    # Rounds.

    def _checked(
        self, scores: Any, ids: Sequence[Member] | None, truncated_below: Any, allow_empty: bool
    ) -> tuple[Array, list[Member] | None, Any, Scorers]:
        """Return what `propose` was given, checked, and the names of the scorers."""
        values, scorers = check_table(scores, self._expected, allow_empty=allow_empty)
        if truncated_below is not None:
            truncated_below = check_below(truncated_below, scorers)
        return values, None if ids is None else check_ids(ids, len(values)), truncated_below, scorers

    def _open(self, listed: Listed) -> None:
        """Keep a list that is shown, and close what is too old to be kept."""
        rounds = self._rounds
        if self._expected is None:
            self._learn_names()
        rounds.open[rounds.next_id] = listed
        rounds.answers.append(None)
        rounds.next_id += 1
        if len(rounds.answers) > self._settings.keep:
            self._expire(rounds.next_id - self._settings.keep)

    def _answer(self, round_id: RoundName, answer: Given) -> None:
        with self._lock:
            rounds = self._rounds
            index = rounds.index(round_id, self._settings.keep)
            number, given = int(round_id), rounds.answers[index]
            listed = rounds.listed(number)
            event = admit(listed, answer, given, name=number, held=self._is_held(listed, number))
            if event is None:
                return
            rounds.answers[index] = answer
            if given is None:
                del rounds.open[number]
            self._apply(listed, event)  # type: ignore[arg-type]
            if self._settings.grace and answer is not Answer.WITHDRAWN:
                rounds.hold(number, listed, self._streams.values())  # type: ignore[arg-type]

    def _is_held(self, listed: Listed | None, number: int) -> bool:
        """Return whether a round's answer may still be corrected."""
        return self._settings.grace > 0 and listed is not None and self._stream_of(listed).holding.has(number)

    def more(self, round_id: RoundName, count: int | None = None) -> More:
        """Show more of a list: the next candidates, best first. Any of them may then be picked, too.

        One that is picked there was missed by the list, and its score is known all the same. With `at_most`, a short
        page that people expand teaches as much as a long list.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        count
            How many more; all the rest if not given.

        Returns
        -------
        More
            The next candidates; none of them if all are shown already.

        Raises
        ------
        UnknownRound, RoundClosed
            No such round was shown, it is too old to be kept, or its answer is final.
        """
        count = None if count is None else check_count("count", count)
        with self._lock:
            rounds = self._rounds
            rounds.index(round_id, self._settings.keep)
            number = int(round_id)
            listed = rounds.listed(number)
            if listed is None or (number not in rounds.open and not self._is_held(listed, number)):
                raise RoundClosed(
                    f"round {round_id} has its final answer; more of a list can be shown only before that"
                )
            values = np.asarray(listed.scores, dtype=np.float64)
            event = self._stream_of(listed).expand(listed, values, count)
            if event is None:
                return More(listed.round_id, (), (), 0, listed.truncated)
            kept = rounds.open if number in rounds.open else rounds.held
            kept[number] = longer = listed.expanded(event)
            self._apply(listed, event)
        new = longer.members[len(listed.positions) :]
        left = len(values) - len(longer.positions)
        return More(listed.round_id, tuple(new), scores_of(values, event.positions), left, event.truncated)

    def _stream_of(self, listed: Listed) -> Stream:  # noqa: ARG002 - they have one score
        """Return a stream that can order the candidates of a list."""
        return next(iter(self._streams.values()))

    def hit(self, round_id: RoundName, member: Member | Sequence[Member]) -> None:
        """Take the answer "this one", or "all of these".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        member
            The candidate that is right, as it stands in ``shown.members``, or in what `more` showed; any right one, if
            several are. A list of them if all are needed: then the lowest of their scores counts, and the guarantee
            is that all of them are in the list.

        Raises
        ------
        UnknownRound, RoundClosed
            No such round was shown, or it is too old to be kept.
        NotShown
            The member was not in the list: that is a `miss`.
        ConflictingAnswer
            The round has another answer, which is final (see `grace`). The same one again changes nothing.
        """
        kind = type(member)
        self._answer(round_id, member if kind is int or kind is str else needed(member))  # type: ignore[arg-type]

    def miss(self, round_id: RoundName) -> None:
        """Take the answer "not in this list", for the list with this `round_id`."""
        self._answer(round_id, Answer.MISS)

    def skip(self, round_id: RoundName) -> None:
        """Say that no answer will come to `round_id`; this is final.

        Silence may well hide a miss, so the round counts as below the threshold; with
        ``unanswered="ignore"`` it does not count at all.
        """
        self._answer(round_id, Answer.SKIP)

    def absent(self, round_id: RoundName) -> None:
        """Take the answer "I looked through everything: no candidate is right", for the list with this `round_id`.

        The guarantee is over questions that can be answered, so the round leaves the sample, unless it
        has entered it already: then it stays below the threshold. Of a list that says ``truncated`` nobody
        has seen everything, and of an empty search nobody has seen anything, so there it is a miss. Report
        it in every round in which it is so, or never: reported only while lists are complete, it looks
        like a shift once they are cut.
        """
        self._answer(round_id, Answer.ABSENT)

    def withdraw(self, round_id: RoundName) -> None:
        """Take back the list with this `round_id`, because nobody saw it: the page was left, or the request timed out.

        The round leaves the sample, unless it has entered it already. That is safe only if whether a list is taken
        back has nothing to do with its right answer: a list that somebody saw and said nothing about is a `skip`.

        Raises
        ------
        ConflictingAnswer
            The round has an answer: somebody did see it.
        """
        self._answer(round_id, Answer.WITHDRAWN)

    def reveal(self, round_id: RoundName, right: Member | None) -> None:
        """Take the right answer, shown or not: a `hit` if it is in the list, a `miss` otherwise.

        For labels, judges and simulations, which know it in any case.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        right
            The candidate that is right, as it would stand in ``shown.members``: your id, or its position. An id that
            was not among the candidates is a miss; None if no candidate is right.

        Raises
        ------
        InvalidIds
            It cannot have been a candidate: a number where ids are texts, or a position that the list has not.
        """
        with self._lock:
            member = None if right is None else plain_member(right)
            index = self._rounds.index(round_id, self._settings.keep)
            number, given = int(round_id), self._rounds.answers[index]
            listed = self._rounds.listed(number)
            if listed is None:  # its list is gone; a miss says all that is left to say
                is_hit = not isinstance(given, Answer) or given is not Answer.MISS
            else:
                check_right(listed, member)
                is_hit = any(member == one and type(member) is type(one) for one in listed.members)
            self._answer(round_id, Answer.MISS if member is None or not is_hit else member)

    def reveal_many(self, round_ids: Sequence[RoundName], rights: Sequence[Member | None]) -> None:
        """Take the right answers of several rounds, as `reveal` would one after the other.

        Parameters
        ----------
        round_ids
            The `round_id` of each list.
        rights
            The candidate that is right in each.
        """
        if len(round_ids) != len(rights):
            raise InvalidParameter(
                f"there are {len(rights)} right answers for {len(round_ids)} rounds; give one for each"
            )
        with self._lock:
            for round_id, right in zip(round_ids, rights, strict=True):
                self.reveal(round_id, right)

    @abc.abstractmethod
    def propose(self, scores: Any, ids: Sequence[Member] | None = None) -> List:
        """Open a round and return its shortlist."""

    def propose_many(
        self, scores: Sequence[Any], ids: Sequence[Sequence[Member]] | None = None, **options: Any
    ) -> list[List]:
        """Open a round for each list, as `propose` would one after the other, and return them.

        Parameters
        ----------
        scores
            The scores of each list: a table, or a list of what `propose` takes.
        ids
            The ids of each list.
        options
            What else `propose` takes, the same for all.
        """
        if ids is not None and len(ids) != len(scores):
            raise InvalidParameter(f"there are ids for {len(ids)} lists, and {len(scores)} lists; give them for each")
        named = [None] * len(scores) if ids is None else ids
        below, empty = options.get("truncated_below"), options.get("allow_empty", False)
        with self._lock:
            for row, names in zip(scores, named, strict=True):
                self._checked(row, names, below, empty)  # all of them, or none
            return [self.propose(row, names, **options) for row, names in zip(scores, named, strict=True)]

    def subgroups(self) -> list[Subgroup]:
        """Return coverage after the fact, by each value of each tag that rounds were proposed with (``tags=``).

        Returns
        -------
        list[Subgroup]
            By tag, those with the most rounds first. All rounds share the guarantee; a single subgroup has none of
            its own.
        """
        with self._lock:
            return subgroups_of(stream.subgroups.state for stream in self._tagged_streams())

    def _tagged_streams(self) -> Iterable[Stream]:
        """Return the streams that a round's tags are counted in, once each."""
        return self._streams.values()

    def expire(self, before: int) -> int:
        """Close all rounds with an id below `before` for good, and return how many were open.

        What is unanswered then stays so, and counts as silence; later answers are refused.
        """
        before = check_count("before", before, least=0)
        with self._lock:
            return self._expire(min(before, self._rounds.next_id))

    def _expire(self, before: int) -> int:
        rounds, closed = self._rounds, 0
        while rounds.answers and rounds.oldest < before:
            number = rounds.oldest
            if rounds.answers.popleft() is None:
                self._apply(rounds.open.pop(number), Expired(number))
                closed += 1
        return closed

    def restart(self, *, refit: bool = False) -> None:
        """Start learning over: a new epoch, in which everything is shown at first and no earlier round counts.

        With ``on_drift="restart"`` all epochs share one delta. Otherwise the first has spent it, and all later ones
        together may fail with half as much again.

        Parameters
        ----------
        refit
            Learn the score again too, from the last picks and those to come; with ``score="auto"`` only.
        """
        if not self._settings.is_orderly or self._settings.unanswered == "ignore":
            raise InvalidParameter('restart needs an order-statistic policy and unanswered="miss": make a new lister')
        if not isinstance(refit, bool) or (refit and self._learning is None):
            raise InvalidParameter(f'refit is {refit!r}; it must be True or False, and True needs score="auto"')
        with self._lock:
            for stream in self._streams.values():
                stream.apply(Restarted(stream.tracker.epoch + 1, refit))
            for stream in self._streams.values():
                stream.settle()

    def warm_start(self, lists: Any, right: ArrayLike | None = None) -> None:
        """Learn from labelled examples before the first list is shown.

        They count as rounds in which everything was shown and answered, so the guarantee holds from the
        first list on. It needs examples of the same distribution on which the scorer was not trained,
        with nothing filtered out: a click log without its misses is not one. With ``score="auto"`` the first
        `fit_rounds` of them are for the score, and only the others are for its threshold.

        Parameters
        ----------
        lists
            The scores of all candidates of each example: examples x candidates, with several scorers examples x
            candidates x scorers, or a list of what `propose` takes. With ``score="raw"`` and without `right`, the
            score of the right answer in each example; -inf where it was not among the candidates.
        right
            The position of the right candidate in each example, a list of them where several are needed; -1 where
            it was not among them.
        """
        with self._lock:
            if self._rounds.next_id:
                raise InvalidParameter(
                    f"{self._rounds.next_id} rounds have been shown already; a warm start comes before the first"
                )
            if right is None:
                self._warm_start_raw(check_true_scores(lists) + 0.0)  # one zero, not two
                return
            if self._learning is not None and self._learning.number:
                raise InvalidParameter(
                    "the score was learned from a warm start before, and is frozen: give all examples at once"
                )
            tables, places, scorers = check_lists(lists, right, self._expected)
            events = {key: stream.warm_started(tables, places, scorers) for key, stream in self._warm_streams().items()}
            for key, warm in events.items():
                stream = self._streams[key]
                for event in warm:
                    if not isinstance(event, Fitted) or self._teaches(key):
                        stream.apply(event)
            self._learn_names()

    def _warm_start_raw(self, true_scores: Array) -> None:
        for stream in self._warm_streams().values():
            if not stream.is_raw:
                raise InvalidParameter(
                    f"right is missing: score is {stream.score_name!r}, which needs whole lists: "
                    "warm_start(lists, right)"
                )
            stream.apply(WarmStarted(true_scores.tolist()))

    def _warm_streams(self) -> dict[Any, Stream]:
        """Return the streams that labelled examples are for."""
        return self._streams

    def configure(self, **changes: Any) -> None:
        """Change settings, from the next list on.

        Those that may change are `at_least`, `at_most`, `shadow`, `patience`, `miss_budget`, and `explore_share` to
        another share.

        Parameters
        ----------
        changes
            The settings, by name; the others are fixed when a lister is made.
        """
        with self._lock:
            settings = self._settings.changed(**changes)
            for stream in self._streams.values():
                stream.apply(Configured(changes))
            self._settings = settings

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file at `path`; a crash in the middle leaves the old file as it was."""
        with self._lock:
            content = {
                "settings": encode(self._settings),
                "lister": self._own,
                "rounds": encode(self._rounds),
                "learning": self._learning and encode(self._learning.state),
                "streams": [[key, encode(stream.state)] for key, stream in self._streams.items()],
            }
            savefile.write(path, self.kind, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, score: Score | None = None, policy: Policy | None = None) -> Self:
        """Return the lister that was saved; it goes on with the same bits.

        Parameters
        ----------
        path
            The file.
        score, policy
            The score, or the policy, if it was one of your own: a file cannot hold it.
        """
        content = savefile.read(path, cls.kind)
        own = {Score: score, Policy: policy}
        savefile.check_own(content, policy, score)
        try:
            settings = decode(Settings, content["settings"], own)
            lister = cls.__new__(cls)
            BaseLister.__init__(lister, settings, **content["lister"])
            lister._rounds = decode(Rounds, content["rounds"])
            if content["learning"] is not None:
                learned = decode(LearningState, content["learning"])
                lister._learning = make_learning(lister._fit_settings(), learned)
            for number, (key, state) in enumerate(content["streams"], 1):
                remembered = decode(StreamState, state, {State: settings.policy.state_type})
                lister._streams[key] = lister._new_stream(key, number, remembered)
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
