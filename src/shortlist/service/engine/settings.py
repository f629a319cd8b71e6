"""What a stream of the service is set to: fixed when it is made, stored with it."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final, Self

from shortlist.errors import InvalidParameter
from shortlist.policies import order_statistic_kinds
from shortlist.rounds import settings
from shortlist.rounds.codec import encode
from shortlist.scores import KINDS, Score, score_from_dict

__all__ = ["OWN", "Settings"]

#: The settings that are the service's own, and may change at any time.
OWN: Final = ("guidelines", "record_annotators")
#: The policies that a stream can have: class and default parameters.
_POLICIES: Final = {key: order_statistic_kinds()[key] for key in ("anytime", "sps")}


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Options):
    """The settings of a stream; see `shortlist.Shortlister` for what they mean.

    Parameters
    ----------
    policy
        ``{"kind": "anytime", "delta": 0.01}`` or ``{"kind": "sps", "horizon": 10000}``: order-statistic
        policies only, for only they can take answers that come late or never.
    score
        ``"auto"``, a name, or a score with its parameters: ``{"kind": "relative", "temperature": 0.3}``, or
        ``{"kind": "learned", ...}``, what `shortlist.scores.learn` returned.
    scorer_version
        Of the model behind the scores; rounds that name another are refused.
    guidelines
        What annotators read beside each question.
    record_annotators
        Whether who gave each answer is stored: apart from the log, and erased with the texts.

    Examples
    --------
    >>> Settings(coverage=0.9).to_dict()["policy"]
    {'kind': 'anytime', 'delta': 0.01}
    """

    coverage: float
    score: Any = "auto"
    policy: dict[str, Any] = field(default_factory=lambda: {"kind": "anytime"})
    scorer_version: str | None = None
    guidelines: str | None = None
    record_annotators: bool = False
    #: The settings of the rounds, checked.
    rounds: settings.Settings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        kind = self.policy.get("kind")
        if not isinstance(kind, str) or kind not in _POLICIES:
            raise InvalidParameter(f"policy kind is {kind!r}; it must be one of {', '.join(_POLICIES)}")
        make, defaults = _POLICIES[kind]
        unknown = self.policy.keys() - defaults.keys() - {"kind"}
        if unknown:
            raise InvalidParameter(f"policy {kind} has no setting {min(unknown)!r}; it has {', '.join(defaults)}")
        put(self, "policy", {"kind": kind, **defaults, **self.policy})
        if self.keep != settings.Options.keep:
            raise InvalidParameter(f"keep is {self.keep}, which is for listers in memory: a stream keeps all rounds")
        _, *values = self.policy.values()
        options = {each.name: getattr(self, each.name) for each in dataclasses.fields(settings.Options)}
        if isinstance(self.score, dict):
            options["score"] = _score(self.score)
            put(self, "score", encode(options["score"]))
        own = settings.Settings(policy=make(self.coverage, *values), **options)
        put(self, "rounds", own)
        for name in ("unanswered", "miss_budget", "explore_share"):  # what was not given depends on the others
            put(self, name, getattr(self.rounds, name))

    def changed(self, changes: dict[str, Any]) -> Self:
        """Return the settings with some of them changed, if these may be."""
        self.rounds.changed(**{name: value for name, value in changes.items() if name not in OWN})
        return dataclasses.replace(self, **changes)

    def round_changes(self, before: Self) -> dict[str, Any]:
        """Return the settings of the rounds that differ from those before."""
        changes = {name: getattr(self.rounds, name) for name in settings.CONFIGURABLE}
        return {name: value for name, value in changes.items() if value != getattr(before.rounds, name)}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that a stream may be given, as plain data."""
        names = [each.name for each in dataclasses.fields(self) if each.init and each.name != "keep"]
        return {name: getattr(self, name) for name in names}


def _score(score: dict[str, Any]) -> Score:
    """Return a score that was given with its parameters as an object."""
    if not isinstance(score.get("kind"), str) or score["kind"] not in KINDS:
        raise InvalidParameter(f"score kind is {score.get('kind')!r}; it must be one of {', '.join(KINDS)}")
    try:
        return score_from_dict(score)
    except TypeError:
        raise InvalidParameter(f"score {score['kind']} has no such setting: {score}") from None
