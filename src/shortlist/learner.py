"""A policy at work: its state, what silence means to it, and the alarm that watches it.

A learner knows rounds by their ids and scores by their values; lists, members and files are the
business of those who hold it (`Shortlister` and its relatives).
"""

import math
from collections.abc import Iterable
from typing import Any, Final, Literal, cast

from shortlist._validation import check_count, miss_rate
from shortlist.drift import DriftDetector, DriftState
from shortlist.errors import InvalidParameter
from shortlist.policies import MISS, OrderStatistic, OrderStatisticState, Policy, policy_from_dict
from shortlist.policies.order_statistic import Joined

__all__ = ["Learner", "OnDrift", "RoundName", "Unanswered"]

Unanswered = Literal["miss", "ignore"]
OnDrift = Literal["report", "restart"]
#: What a round is called: a lister numbers them, a service has ids.
RoundName = int | str

#: How many rounds ahead to look for the next move of the threshold.
_LOOKAHEAD: Final = 10_000
#: How many alarms are kept; older ones are only counted.
_ALARMS: Final = 100


class Learner:
    """One threshold and all that moves it.

    The parameters are those of `shortlist.Shortlister`; `share` is the share of the policy's
    delta that it may spend.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        unanswered: Unanswered | None = None,
        patience: int = 200,
        on_drift: OnDrift | None = None,
        false_alarm_rounds: int = 1_000_000,
        share: float = 1.0,
    ) -> None:
        if not isinstance(policy, Policy):
            raise InvalidParameter(f"policy is {policy!r}; it must be a policy, for example AnytimeSPS(coverage=0.9)")
        self.policy = policy
        self.unanswered = _check_unanswered(unanswered, policy)
        self.patience = check_count("patience", patience, least=0)
        self.on_drift = _check_on_drift(on_drift, self.unanswered, self.patience)
        check_count("false_alarm_rounds", false_alarm_rounds)
        # The share of the policy's delta that is this learner's.
        self.share = share
        self.state = self._fresh(epoch=0)
        # Rounds of the "ignore" mode, each with the threshold it was shown with.
        self._shown: dict[RoundName, float] = {}
        # The ids of this epoch's rounds that have not joined yet, by their index.
        self._ids: dict[int, RoundName] = {}
        self.silent = 0
        # Misses of truncated lists: the right answer may have been among those that were missing.
        self.unseen = 0
        self.detector = DriftDetector(self.coverage, false_alarm_rounds) if on_drift else None
        self.drift = DriftState()
        self.alarms: list[dict[str, Any]] = []
        self.alarm_count = 0
        self._needed: tuple[Any, int | None] = (None, None)

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        threshold: float = self.state.threshold
        return threshold

    @property
    def coverage(self) -> float:
        """The coverage that the policy is asked for; the usual one where it is asked for none."""
        coverage: float = getattr(self.policy, "coverage", 0.9)
        return coverage

    @property
    def epoch(self) -> int:
        """How often the learner has started over."""
        return getattr(self.state, "epoch", 0)

    def show(self, round_id: RoundName, *, threshold: float | None = None, epoch: int | None = None) -> None:
        """Take note of a round that is shown, with the threshold in force or with an earlier one.

        An earlier threshold of this epoch is safe. A round of an earlier epoch is never counted.
        """
        if threshold is None:
            threshold = self.threshold
        if self.unanswered == "ignore":
            self._shown[round_id] = threshold
            return
        policy, state = self._orderly()
        if epoch is None or epoch == state.epoch:
            self._ids[state.shown] = round_id
        policy.show(state, round_id, threshold, state.epoch if epoch is None else epoch)
        self._watch(policy.advance(state, until=state.shown - self.patience))

    def answer(self, round_id: RoundName, score: float | None) -> None:
        """Take a round's answer: the score of what was picked, or None for a miss."""
        if self.unanswered == "ignore":
            threshold = self._shown.pop(round_id)
            self.policy.learn(self.state, score if score is not None and score >= threshold else MISS)
            return
        policy, state = self._orderly()
        self._watch(policy.answer(state, round_id, score))

    def miss(self, round_id: RoundName, *, truncated: bool = False) -> None:
        """Take a miss; of a truncated list it is low, but says nothing of how often the threshold misses.

        Nor does a miss at a threshold of -inf: there the right answer was not among the candidates, and no
        threshold could have kept it.
        """
        if self.unanswered == "ignore":
            self.answer(round_id, None)
        else:
            policy, state = self._orderly()
            epoch, _, threshold = state.open[round_id]
            self.unseen += truncated and epoch == state.epoch
            telling = threshold > MISS and not truncated
            self._watch(policy.answer(state, round_id, None) if telling else policy.silence(state, round_id))

    def silence(self, round_id: RoundName) -> None:
        """Say that a round will never be answered."""
        if self.unanswered == "ignore":
            self._shown.pop(round_id)
            return
        policy, state = self._orderly()
        self.silent += state.open[round_id][0] == state.epoch
        self._watch(policy.silence(state, round_id))

    def withdraw(self, round_id: RoundName) -> None:
        """Take a round out of the count, for no candidate at all was right."""
        if self.unanswered == "ignore":
            self._shown.pop(round_id)
            return
        policy, state = self._orderly()
        self._watch(policy.withdraw(state, round_id))

    def warm_start(self, true_scores: Iterable[float]) -> None:
        """Take labelled examples as rounds in which everything was shown and answered."""
        for score in true_scores:
            self.policy.update(self.state, score)

    def estimate(self) -> float:
        """Return the threshold that is expected in the end: the empirical quantile of what was seen.

        Without any margin for chance, so never to be shown; for comparing scores with each other.
        """
        _, state = self._orderly()
        place = math.floor(state.rounds * miss_rate(self.coverage)) - state.low
        return sorted(state.values)[place] if 0 <= place < len(state.values) else self.threshold

    def rounds_needed(self) -> int | None:
        """Return how many more counted rounds it takes, at least, to move the threshold; None if not in sight."""
        if not isinstance(self.state, OrderStatisticState) or self.too_many_low():
            return None
        state = self.state
        key = (state.epoch, state.rounds, state.limit, state.low)
        if self._needed[0] != key:  # looking ahead costs up to a hundredth of a second
            self._needed = (key, _rounds_needed(self._orderly()[0], state))
        return self._needed[1]

    def waiting_for(self) -> str:
        """Say in words what is needed before the threshold can move."""
        if not isinstance(self.state, OrderStatisticState):
            return "more answers"
        state = self.state
        more = self.rounds_needed()
        if self.too_many_low():
            words = self._why_stuck()
        elif more is None:
            words = self._beyond_sight()
        else:
            again = " again" * (self.threshold > MISS)
            words = f"at least {more} more counted round{'s' * (more != 1)} before the threshold can move{again}"
            if state.pending and state.limit >= 0:
                words += f"; picks in {state.pending:,} unanswered rounds that count as low can make it sooner"
        held = state.shown - state.passed - 1
        if held > 0:
            words += (
                f"; round {self._ids[state.passed]} is unanswered and holds back {held} later "
                f"one{'s' * (held != 1)} until {self.patience} have been shown after it"
            )
        return words

    def figures(self) -> dict[str, Any]:
        """Return threshold, counted rounds, epoch and alarms, as plain data."""
        return {
            "threshold": self.threshold,
            "counted": getattr(self.state, "rounds", None),
            "unanswered_counted": self.silent + getattr(self.state, "pending", 0),
            "epoch": self.epoch,
            "drift": None
            if self.detector is None
            else {
                "level": self.detector.level(self.drift),
                "false_alarm_rounds": self.detector.false_alarm_rounds,
                "alarm_count": self.alarm_count,
                "alarms": [dict(alarm) for alarm in self.alarms],
            },
        }

    def summary(self) -> dict[str, Any]:
        """Return the figures, and what is waited for."""
        return {**self.figures(), "waiting_for": self.waiting_for(), "rounds_needed": self.rounds_needed()}

    def too_many_low(self) -> bool:
        """Return whether more rounds are low than coverage allows, by more than luck explains."""
        if not isinstance(self.state, OrderStatisticState):
            return False
        return self.is_too_many(self.state.low, self.state.rounds)

    def is_too_many(self, low: int, rounds: int, *, errors: float = 4, more: int = 4) -> bool:
        """Return whether so many low rounds are more than coverage allows, by more than luck explains."""
        p0 = float(miss_rate(self.coverage))
        return bool(low > rounds * p0 + errors * (rounds * p0 * (1 - p0)) ** 0.5 + more)

    def _why_stuck(self) -> str:
        """Say why the threshold has stopped: too many misses and silence for the coverage asked for."""
        assert isinstance(self.state, OrderStatisticState)  # noqa: S101 - for the type checker
        state, p0 = self.state, float(miss_rate(self.coverage))
        silent = min(self.silent + state.pending, state.low)
        causes, remedies = [], ["ask for less coverage"]
        if silent:
            causes.append(f"{silent:,} were skipped, expired or are not answered yet")
            remedies.insert(0, "answer more rounds")
        if self.unseen:
            causes.append(f"{min(self.unseen, state.low):,} were not found in a list that was cut short")
            remedies.insert(0, "raise at_most or pass more candidates")
        else:
            remedies.append(
                "if somebody looks through every candidate, report questions without a right answer as absent, always "
                "or never"
            )
        why = f" ({'; '.join(causes)})" if causes else ""
        return (
            f"fewer misses: of {state.rounds:,} counted rounds {state.low:,} ({state.low / state.rounds:.1%}) were "
            f"missed, are unanswered or lie below today's threshold{why}, and "
            f"coverage allows {p0:.1%}; while that is so the threshold cannot move: {', or '.join(remedies)}"
        )

    def _beyond_sight(self) -> str:
        """Say that the next move is far away, or will not come."""
        assert isinstance(self.policy, OrderStatistic)  # noqa: S101 - for the type checker
        horizon = getattr(self.policy.boundary, "horizon", None) or getattr(self.policy, "explore", None)
        if horizon is not None and self.state.rounds >= horizon:
            return f"nothing: the policy planned for {horizon:,} rounds, and the threshold stays where it is"
        return f"more than {_LOOKAHEAD:,} more counted rounds before the threshold can move"

    def _watch(self, joined: list[Joined]) -> None:
        """Show the rounds that have joined to the detector, and start over if it says so."""
        policy, state = self._orderly()
        named = [(self._ids[index], seen) for index, seen in joined]
        while self._ids and next(iter(self._ids)) < state.passed:  # withdrawn rounds have passed too
            self._ids.pop(next(iter(self._ids)))
        if self.detector is None:
            return
        for round_id, seen in named:
            strength = self.detector.update(self.drift, seen == MISS)
            if strength is None:
                continue
            self._ring(round_id, strength)
            if self.on_drift == "restart":
                policy.restart(state, self.share * _share(state.epoch + 1))
                self._ids = {}
                self.silent = self.unseen = 0
                return  # the rest of `joined` belongs to the old world

    def _ring(self, round_id: RoundName, strength: float) -> None:
        state = self.state
        self.alarm_count += 1
        self.alarms.append(
            {
                "round": round_id,
                "strength": strength,
                "epoch": self.epoch,
                "threshold": state.threshold,
                "counted": getattr(state, "rounds", None),
            }
        )
        del self.alarms[:-_ALARMS]

    def _fresh(self, epoch: int) -> Any:
        share = self.share * (_share(epoch) if self.on_drift == "restart" else 1.0)
        if not isinstance(self.policy, OrderStatistic):
            return self.policy.init()
        return self.policy.init(share)

    def _orderly(self) -> tuple[OrderStatistic, OrderStatisticState]:
        # Checked at the border; an isinstance here would cost more than the rule itself.
        return cast("OrderStatistic", self.policy), cast("OrderStatisticState", self.state)

    def to_dict(self) -> dict[str, Any]:
        """Return settings and state as plain data."""
        return {
            "policy": self.policy.to_dict(),
            "unanswered": self.unanswered,
            "patience": self.patience,
            "share": self.share,
            "on_drift": self.on_drift,
            "false_alarm_rounds": None if self.detector is None else self.detector.false_alarm_rounds,
            "state": self.state.to_dict(),
            "shown": [[round_id, threshold] for round_id, threshold in self._shown.items()],
            "ids": [[index, round_id] for index, round_id in self._ids.items()],
            "silent": self.silent,
            "unseen": self.unseen,
            "drift": self.drift.to_dict(),
            "alarms": self.alarms,
            "alarm_count": self.alarm_count,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Learner":
        """Return the learner that `to_dict` described."""
        policy = policy_from_dict(data["policy"])
        learner = cls(
            policy,
            unanswered=data["unanswered"],
            patience=data["patience"],
            on_drift=data["on_drift"],
            false_alarm_rounds=data["false_alarm_rounds"] or 1,
            share=data["share"],
        )
        learner.state = policy.state_type.from_dict(data["state"])
        learner._shown = dict(data["shown"])
        learner._ids = dict(data["ids"])
        learner.silent, learner.unseen = data["silent"], data["unseen"]
        learner.drift = DriftState(**data["drift"])
        learner.alarms = data["alarms"]
        learner.alarm_count = data["alarm_count"]
        return learner


def _share(epoch: int) -> float:
    """Return the share of delta that an epoch may spend, so that all together spend delta."""
    return 1.0 / ((epoch + 1) * (epoch + 2))


def _rounds_needed(policy: OrderStatistic, state: OrderStatisticState) -> int | None:
    """Return how many rounds must at least join before the threshold can move; None if too many."""
    _, n, k, first, second = state.carry[:5]
    advance, constants = policy.boundary.advance, state.constants[3]
    needed = state.low + 1 if state.low == k else state.low  # at low == k the threshold is where k lets it be
    for more in range(1, _LOOKAHEAD + 1):
        k, first, second = advance(n, k, first, second, constants)
        n += 1
        if k >= needed:
            return more
    return None


def _check_unanswered(unanswered: str | None, policy: Policy) -> Unanswered:
    orderly = isinstance(policy, OrderStatistic)
    if unanswered is None:
        return "miss" if orderly else "ignore"
    if unanswered == "ignore":
        return "ignore"
    if unanswered != "miss":
        raise InvalidParameter(f'unanswered is {unanswered!r}; it must be "miss" or "ignore"')
    if not orderly:
        raise InvalidParameter(
            f'unanswered is "miss", which {type(policy).__name__} cannot do: it has no way to correct a '
            'round that was counted as low; use unanswered="ignore", or an order-statistic policy'
        )
    return "miss"


def _check_on_drift(on_drift: str | None, unanswered: Unanswered, patience: int) -> OnDrift | None:
    if on_drift is None:
        return None
    if on_drift not in ("report", "restart"):
        raise InvalidParameter(f'on_drift is {on_drift!r}; it must be "report" or "restart", or None')
    if unanswered == "ignore":
        raise InvalidParameter(
            f'on_drift is {on_drift!r}, which needs unanswered="miss" and an order-statistic policy: the alarm reads '
            "rounds in the order they were shown"
        )
    if patience == 0:
        raise InvalidParameter(
            f"on_drift is {on_drift!r} and patience is 0: every round would be counted before it can be answered, "
            "and no miss would ever be seen; give the patience in which nearly all answers arrive"
        )
    return on_drift  # type: ignore[return-value]
