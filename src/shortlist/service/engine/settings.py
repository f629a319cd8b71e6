"""What a stream is set to: fixed when it is made, stored with it."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from shortlist._validation import check_count
from shortlist.cutter import Cutter
from shortlist.errors import InvalidParameter
from shortlist.learner import OnDrift, Unanswered
from shortlist.policies import SPS, AnytimeSPS, OrderStatistic
from shortlist.scores import SCORES, score_from_dict

__all__ = ["Settings"]

_POLICIES: Final[dict[str, tuple[Callable[..., OrderStatistic], dict[str, Any]]]] = {
    "anytime": (AnytimeSPS, {"delta": 0.05}),
    "sps": (SPS, {"horizon": None}),
}


@dataclass(frozen=True)
class Settings:
    """The settings of a stream; see `shortlist.Shortlister` for what they mean.

    Parameters
    ----------
    policy
        ``{"kind": "anytime", "delta": 0.05}`` or ``{"kind": "sps", "horizon": 10000}``: order-statistic
        policies only, for only they can take answers that come late or never.
    score
        A name, or a score with its parameters: ``{"kind": "relative", "temperature": 0.3}``.
    scorer_version
        Of the model behind the scores; rounds that name another are refused.

    Examples
    --------
    >>> Settings(coverage=0.9).to_dict()["policy"]
    {'kind': 'anytime', 'delta': 0.05}
    """

    coverage: float
    policy: dict[str, Any] = field(default_factory=lambda: {"kind": "anytime"})
    score: str | dict[str, Any] = "raw"
    unanswered: Unanswered = "miss"
    patience: int = 200
    on_drift: OnDrift | None = None
    false_alarm_rounds: int = 1_000_000
    at_least: int = 0
    at_most: int | None = None
    shadow: bool = False
    scorer_version: str | None = None

    def __post_init__(self) -> None:
        kind = self.policy.get("kind")
        if kind not in _POLICIES:
            raise InvalidParameter(f"policy kind is {kind!r}; it must be one of {', '.join(_POLICIES)}")
        defaults = _POLICIES[kind][1]
        unknown = self.policy.keys() - defaults.keys() - {"kind"}
        if unknown:
            raise InvalidParameter(f"policy {kind} has no setting {min(unknown)!r}; it has {', '.join(defaults)}")
        object.__setattr__(self, "policy", {"kind": kind, **defaults, **self.policy})
        self.cutter()  # refuses what is wrong with the rest

    def cutter(self) -> Cutter:
        """Return what cuts the stream's lists, with nothing learnt yet."""
        kind, *values = self.policy.values()
        score: Any = self.score
        if isinstance(score, dict):
            if score.get("kind") not in SCORES:
                raise InvalidParameter(f"score kind is {score.get('kind')!r}; it must be one of {', '.join(SCORES)}")
            try:
                score = score_from_dict(score)
            except TypeError:
                raise InvalidParameter(f"score {score['kind']} has no such setting: {score}") from None
        check_count("patience", self.patience, least=0)
        return Cutter(
            _POLICIES[kind][0](self.coverage, *values),
            score=score,
            unanswered=self.unanswered,
            patience=self.patience,
            on_drift=self.on_drift,
            false_alarm_rounds=self.false_alarm_rounds,
            at_least=self.at_least,
            at_most=self.at_most,
            shadow=self.shadow,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain data."""
        return dataclasses.asdict(self)
