"""One thing to hold: a policy, its state, and the rounds that are still open.

``propose`` shows a list, ``hit``, ``miss``, ``skip`` and ``absent`` take its answer, at once or
later, in any order. Each round remembers the threshold it was shown with, and its answer is judged
against that, never against today's.
"""

import copy
import enum
import os
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist import savefile
from shortlist.boundaries import next_limit
from shortlist.candidates import Member, check_ids, check_scores
from shortlist.errors import (
    ConflictingAnswer,
    DamagedFile,
    InvalidParameter,
    NotShown,
    RoundClosed,
    ShortlistError,
    UnknownRound,
)
from shortlist.parameters import check_count
from shortlist.policies import (
    MISS,
    AnytimeSPS,
    OrderStatistic,
    OrderStatisticState,
    Policy,
    policy_from_dict,
)

__all__ = ["Shortlister", "Shown"]

_VERSION: Final = 1
#: How many rounds ahead `summary` looks for the next move of the threshold.
_LOOKAHEAD: Final = 10_000


class _Answer(enum.Enum):
    """The answers that name no member. A hit is remembered as the member itself."""

    MISS = "miss"
    SKIP = "skip"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Shown:
    """A list as it was shown.

    Attributes
    ----------
    round_id
        The round's number: hand it back with the answer.
    threshold
        The threshold the list was cut with.
    members
        The candidates shown, best first, ties in the order given: positions, or your ids.
    scores
        Their scores.
    truncated
        Whether `at_most` cut candidates off; the promise does not cover such a list.
    """

    round_id: int
    threshold: float
    members: tuple[Member, ...]
    scores: tuple[float, ...]
    truncated: bool


class Shortlister:
    """Shows shortlists and learns their threshold from the answers.

    With probability 1 - delta, and for ever, every list is at least as long as the optimal one: the
    one whose threshold keeps the right answer in a share `coverage` of all rounds. The promise needs
    rounds that are independent draws from one unchanging world; it needs nothing of the scores, and
    nothing of when or whether answers come.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list; 0.9 if not given.
    delta
        The probability that the threshold may ever pass the optimal one; 0.05 if not given.
    policy
        Another policy than ``AnytimeSPS(coverage, delta)``.
    unanswered
        What silence means. ``"miss"``: an unanswered round counts as low until its answer comes;
        always safe, for order-statistic policies only, and their default. ``"ignore"``: a round
        counts when it is answered; safe only if neither silence nor delay depends on the score.
    patience
        How many later rounds are shown before an unanswered one is counted as low. More patience
        loses less to slow answers, and makes silence hold the others up for longer; any is safe.
    at_least
        Always show that many candidates: safe.
    at_most
        Never show more: then ``shown.truncated`` says whether the promise covers the list.
    keep
        For how many later rounds a round is kept. Older ones are closed: what is unanswered then
        stays so.

    Examples
    --------
    >>> lister = Shortlister(coverage=0.9)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(2000):
    ...     scores = rng.random(20)  # what a model thinks of 20 candidates
    ...     right = int(rng.choice(20, p=scores**8 / (scores**8).sum()))  # what the person wants
    ...     shown = lister.propose(scores)
    ...     if right in shown.members:
    ...         lister.hit(shown.round_id, right)
    ...     else:
    ...         lister.miss(shown.round_id)
    >>> len(shown.members), round(lister.threshold, 2)
    (8, 0.75)
    """

    def __init__(
        self,
        coverage: float | None = None,
        delta: float | None = None,
        *,
        policy: Policy | None = None,
        unanswered: Literal["miss", "ignore"] | None = None,
        patience: int = 1000,
        at_least: int = 0,
        at_most: int | None = None,
        keep: int = 10_000,
    ) -> None:
        if policy is None:
            policy = AnytimeSPS(0.9 if coverage is None else coverage, 0.05 if delta is None else delta)
        elif not isinstance(policy, Policy):
            raise InvalidParameter(f"policy is {policy!r}; it must be a policy, for example AnytimeSPS(coverage=0.9)")
        elif not (coverage is None and delta is None):
            raise InvalidParameter("coverage and delta belong to the policy: give them, or a policy, not both")
        self._policy = policy
        self._unanswered = _check_unanswered(unanswered, policy)
        self._patience = check_count("patience", patience, least=0)
        self._at_least = check_count("at_least", at_least, least=0)
        self._at_most = None if at_most is None else check_count("at_most", at_most)
        if self._at_most is not None and self._at_least > self._at_most:
            raise InvalidParameter(f"at_least is {at_least} and at_most is {at_most}; at_least must not be larger")
        self._keep = check_count("keep", keep)
        self._state = policy.init()
        self._next_id = 0
        self._open: dict[int, Shown] = {}
        # The answers of the last `keep` rounds, oldest first; None where the round is open.
        self._answers: deque[Member | _Answer | None] = deque()
        self._counts = {"hits": 0, "misses": 0, "skipped": 0, "absent": 0, "expired": 0}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<Shortlister {self._policy}, {self._next_id} rounds, threshold {self._state.threshold:.6g}>"

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: copy.copy(value) for name, value in vars(self).items() if name != "_lock"} | {
                "_state": copy.deepcopy(self._state)
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    @property
    def policy(self) -> Policy:
        """The policy that learns."""
        return self._policy

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self._state.threshold

    def propose(self, scores: ArrayLike, ids: Sequence[Member] | None = None) -> Shown:
        """Open a round and return its shortlist.

        Parameters
        ----------
        scores
            The score of each candidate, one-dimensional, finite; larger is better.
        ids
            Your own names for the candidates, strings or integers; their positions otherwise.
        """
        values = check_scores(scores)
        names = None if ids is None else check_ids(ids, values.size)
        with self._lock:
            threshold = self._state.threshold
            order, truncated = self._select(values, threshold)
            positions = order.tolist()
            shown = Shown(
                round_id=self._next_id,
                threshold=threshold,
                members=tuple(positions if names is None else [names[i] for i in positions]),
                scores=tuple(values[order].tolist()),
                truncated=truncated,
            )
            self._next_id += 1
            self._open[shown.round_id] = shown
            self._answers.append(None)
            if self._unanswered == "miss":
                policy, state = self._order_statistic()
                policy.show(state, shown.round_id)
                policy.advance(state, until=state.shown - self._patience)
            if len(self._answers) > self._keep:
                self._close_oldest()
            return shown

    def hit(self, round_id: int, member: Member) -> None:
        """Take the answer "this one": a member of the list that is right."""
        with self._lock:
            given = self._given(round_id)
            member = int(member) if isinstance(member, np.integer) else member
            if given is None:
                shown = self._open[round_id]
                known = isinstance(member, (int, str)) and not isinstance(member, bool)
                if not known or member not in shown.members:
                    raise NotShown(
                        f"member {member!r} was not in the list of round {round_id}; "
                        "if the right one was not shown, report miss(round_id)"
                    )
                score = shown.scores[shown.members.index(member)]
                self._take(round_id, member, "hits", score if score >= shown.threshold else MISS)
            elif given != member or type(given) is not type(member):
                raise _conflict(round_id, given, f"hit {member!r}")

    def miss(self, round_id: int) -> None:
        """Take the answer "not in this list"."""
        self._without_member(round_id, _Answer.MISS, "misses")

    def skip(self, round_id: int) -> None:
        """Say that no answer will come; this is final.

        Silence may well hide a miss, so the round counts as low; with ``unanswered="ignore"`` it does
        not count at all.
        """
        self._without_member(round_id, _Answer.SKIP, "skipped")

    def absent(self, round_id: int) -> None:
        """Take the answer "I looked everywhere: no candidate at all is right".

        The promise is over questions that can be answered, so the round leaves the count, unless it
        has been counted already: then it stays counted as low.
        """
        self._without_member(round_id, _Answer.ABSENT, "absent")

    def summary(self) -> dict[str, Any]:
        """Return what has happened so far, as plain data.

        ``coverage_seen`` is the share of hits among hits and misses; ``counted`` the rounds the
        threshold rests on; ``waiting_for`` says in words what is needed next.
        """
        with self._lock:
            answered = self._counts["hits"] + self._counts["misses"]
            return {
                "policy": self._policy.to_dict(),
                "rounds": self._next_id,
                **self._counts,
                "open": len(self._open),
                "coverage_seen": self._counts["hits"] / answered if answered else None,
                "coverage_target": getattr(self._policy, "coverage", None),
                "threshold": self._state.threshold,
                "counted": getattr(self._state, "rounds", answered),
                "waiting_for": self._waiting_for(),
            }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file; a crash in the middle leaves the old file as it was."""
        with self._lock:
            content = {
                "policy": self._policy.to_dict(),
                "unanswered": self._unanswered,
                "patience": self._patience,
                "at_least": self._at_least,
                "at_most": self._at_most,
                "keep": self._keep,
                "state": self._state.to_dict(),
                "next_id": self._next_id,
                "counts": self._counts,
                "answers": [_answer_to_plain(answer) for answer in self._answers],
                "open": [
                    [shown.round_id, shown.threshold, shown.members, shown.scores, shown.truncated]
                    for shown in self._open.values()
                ],
            }
        savefile.write(path, "shortlister", _VERSION, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Shortlister":
        """Return the shortlister that was saved; it goes on with the same bits."""
        content = savefile.read(path, "shortlister", _VERSION)
        try:
            lister = cls(
                policy=policy_from_dict(content["policy"]),
                **{name: content[name] for name in ("unanswered", "patience", "at_least", "at_most", "keep")},
            )
            lister._state = lister._policy.state_type.from_dict(content["state"])
            lister._next_id = content["next_id"]
            lister._counts = content["counts"]
            lister._answers = deque(_answer_from_plain(answer) for answer in content["answers"])
            lister._open = {
                round_id: Shown(round_id, threshold, tuple(members), tuple(scores), truncated)
                for round_id, threshold, members, scores, truncated in content["open"]
            }
        except (ShortlistError, KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is damaged: {type(error).__name__}: {error}") from None
        return lister

    def _select(self, values: NDArray[np.float64], threshold: float) -> tuple[NDArray[np.intp], bool]:
        """Return the positions to show, best first, and whether `at_most` cut some off."""
        kept = np.flatnonzero(values >= threshold)
        if kept.size < self._at_least:
            return np.argsort(-values, kind="stable")[: self._at_least], False
        order = kept[np.argsort(-values[kept], kind="stable")]
        if self._at_most is not None and order.size > self._at_most:
            return order[: self._at_most], True
        return order, False

    def _given(self, round_id: int) -> Member | _Answer | None:
        """Return the answer that a round has, or None while it is open."""
        if isinstance(round_id, bool) or not isinstance(round_id, (int, np.integer)):
            raise UnknownRound(f"round id is {round_id!r}; it must be the round_id of a list that was shown")
        if not 0 <= round_id < self._next_id:
            raise UnknownRound(f"round {round_id} was never shown; round ids run from 0 to {self._next_id - 1} so far")
        oldest = self._next_id - len(self._answers)
        if round_id < oldest:
            raise RoundClosed(
                f"round {round_id} is closed: only the last {self._keep} rounds are kept "
                f"(now from {oldest} on); give a larger keep= to take later answers"
            )
        return self._answers[round_id - oldest]

    def _without_member(self, round_id: int, answer: _Answer, counter: str) -> None:
        with self._lock:
            given = self._given(round_id)
            if given is None:
                self._take(round_id, answer, counter, MISS)
            elif given is not answer:
                raise _conflict(round_id, given, answer.value)

    def _take(self, round_id: int, answer: Member | _Answer, counter: str, seen: float) -> None:
        """Record an open round's first answer and let the policy learn from it."""
        self._answers[round_id - self._next_id] = answer
        self._open.pop(round_id)
        self._counts[counter] += 1
        if self._unanswered == "ignore":
            if answer not in (_Answer.SKIP, _Answer.ABSENT):
                self._policy.learn(self._state, seen)
            return
        policy, state = self._order_statistic()
        if answer is _Answer.ABSENT:
            policy.withdraw(state, int(round_id))
        else:
            policy.answer(state, int(round_id), seen)

    def _close_oldest(self) -> None:
        """Forget the oldest round; if it is unanswered, it stays so."""
        if self._answers.popleft() is None:
            oldest = self._next_id - len(self._answers) - 1
            self._open.pop(oldest)
            self._counts["expired"] += 1
            if self._unanswered == "miss":
                policy, state = self._order_statistic()
                policy.answer(state, oldest, None)

    def _order_statistic(self) -> tuple[OrderStatistic, OrderStatisticState]:
        assert isinstance(self._policy, OrderStatistic)  # noqa: S101 - for the type checker
        assert isinstance(self._state, OrderStatisticState)  # noqa: S101 - for the type checker
        return self._policy, self._state

    def _waiting_for(self) -> str:
        return _needed(self._state) if isinstance(self._state, OrderStatisticState) else "more answers"


def _needed(state: OrderStatisticState) -> str:
    """Say what an order-statistic policy needs before its threshold can move."""
    waiting = state.shown - state.passed
    behind = f"; {waiting} rounds wait to be counted" if waiting else ""
    if state.limit >= state.low:
        return f"more answers: lists are getting shorter{behind}"
    _, n, k, first, second = state.carry[:5]
    kind, constants = state.constants[0], state.constants[4]
    for more in range(1, _LOOKAHEAD + 1):
        k, first, second = next_limit(kind, n, k, first, second, constants)
        n += 1
        if k >= state.low:
            rounds = "1 more counted round" if more == 1 else f"{more} more counted rounds"
            return f"at least {rounds} before the threshold can move{behind}"
    return f"more than {_LOOKAHEAD} counted rounds: the threshold may not move again{behind}"


def _check_unanswered(unanswered: str | None, policy: Policy) -> str:
    orderly = isinstance(policy, OrderStatistic)
    if unanswered is None:
        return "miss" if orderly else "ignore"
    if unanswered not in ("miss", "ignore"):
        raise InvalidParameter(f'unanswered is {unanswered!r}; it must be "miss" or "ignore"')
    if unanswered == "miss" and not orderly:
        raise InvalidParameter(
            f'unanswered is "miss", which {type(policy).__name__} cannot do: it has no way to correct a '
            'round that was counted as low; use unanswered="ignore", or an order-statistic policy'
        )
    return unanswered


def _conflict(round_id: int, given: Member | _Answer, answer: str) -> ConflictingAnswer:
    before = given.value if isinstance(given, _Answer) else f"hit {given!r}"
    return ConflictingAnswer(f"round {round_id} was answered {before!r} before; it cannot be answered {answer!r} now")


def _answer_to_plain(answer: Member | _Answer | None) -> Any:
    if answer is None:
        return None
    return answer.value if isinstance(answer, _Answer) else [answer]


def _answer_from_plain(plain: Any) -> Member | _Answer | None:
    if plain is None:
        return None
    if isinstance(plain, list):
        member: Member = plain[0]
        return member
    return _Answer(plain)
