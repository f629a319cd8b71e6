"""The settings of a stream of the service: those of its rounds, and a few of its own, stored with it."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Final, Self

from shortlist.errors import InvalidParameter
from shortlist.policies import policy_from_dict
from shortlist.policies.registry import REGISTRY
from shortlist.rounds.codec import encode
from shortlist.rounds.settings import CONFIGURABLE, SETTINGS, Settings, default_policy
from shortlist.scores import KINDS, SCORES, Score, score_from_dict

__all__ = ["OWN", "POLICIES", "STREAM_SETTINGS", "StreamSettings"]

#: The kinds of policies that a stream can have.
POLICIES: Final = ("product-limit", "anytime", "sps")
#: The settings of rounds that a stream has: it keeps all rounds.
STREAM_SETTINGS: Final = tuple(name for name in SETTINGS if name != "keep")


@dataclass(frozen=True)
class StreamSettings:
    """The settings of a stream.

    Parameters
    ----------
    rounds
        Those of its rounds; `shortlist.Shortlister` says what they mean.
    scorer_version
        Of the model behind the scores; rounds that name another are refused.
    guidelines
        What annotators read beside each question.
    record_annotators
        Whether the author of each answer is stored: apart from the log, and erased with the texts.
    rerank_all
        Whether callers of rerank get all documents, those that are cut with a relevance of 0.

    Examples
    --------
    >>> [StreamSettings.of(coverage=0.9, delta=delta).to_dict()["policy"] for delta in (None, 0.01)]
    [{'kind': 'product-limit'}, {'kind': 'anytime', 'delta': 0.01}]
    """

    rounds: Settings
    scorer_version: str | None = None
    guidelines: str | None = None
    record_annotators: bool = False
    rerank_all: bool = False

    @classmethod
    def of(
        cls, *, coverage: float, delta: float | None = None, policy: dict[str, Any] | None = None, **values: Any
    ) -> Self:
        """Return the settings that plain data describes: a request, or what `to_dict` returned."""
        if delta is not None and policy is not None:
            raise InvalidParameter("delta belongs to the policy: give either of them, not both")
        if policy is None:
            policy = default_policy(coverage, delta, values).to_dict()
            policy = {name: policy[name] for name in ("kind", "delta") if name in policy}
        own = {name: values.pop(name) for name in ("scorer_version", *OWN) if name in values}
        if "keep" in values:
            raise InvalidParameter("keep is for listers in memory: a stream keeps all rounds")
        if isinstance(values.get("score"), dict):
            values["score"] = _score(values["score"])
        return cls(Settings.of(_policy(coverage, policy), values), **own)

    def changed(self, changes: dict[str, Any]) -> Self:
        """Return the settings with some of them changed, if these may be."""
        own = {name: value for name, value in changes.items() if name in OWN}
        others = {name: value for name, value in changes.items() if name not in OWN}
        return dataclasses.replace(self, rounds=self.rounds.changed(**others), **own)

    def round_changes(self, before: Self) -> dict[str, Any]:
        """Return the settings of the rounds that differ from those before."""
        changes = {name: getattr(self.rounds, name) for name in CONFIGURABLE}
        return {name: value for name, value in changes.items() if value != getattr(before.rounds, name)}

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, defaults included."""
        policy = self.rounds.policy.to_dict()
        rounds = {name: getattr(self.rounds, name) for name in STREAM_SETTINGS}
        return {
            "coverage": policy.pop("coverage"),
            "policy": {name: value for name, value in policy.items() if name != "window"},
            **rounds,
            "score": _plain(self.rounds.score),
            "scorer_version": self.scorer_version,
            **{name: getattr(self, name) for name in OWN},
        }


#: The settings that are the service's own, and may change at any time.
OWN: Final = ("guidelines", "record_annotators", "rerank_all")


def _policy(coverage: float, given: dict[str, Any]) -> Any:
    """Return the policy of a stream."""
    kind = given.get("kind")
    if kind not in POLICIES:
        raise InvalidParameter(f"policy kind is {kind!r}; it must be one of {', '.join(POLICIES)}")
    parameters = list(REGISTRY[kind].parameters)
    unknown = given.keys() - {*parameters, "kind"}
    if unknown:
        raise InvalidParameter(f"policy {kind} has no setting {min(unknown)!r}; it has {', '.join(parameters)}")
    try:
        return policy_from_dict({**given, "coverage": coverage})
    except TypeError:
        raise InvalidParameter(f"policy {kind} needs its {parameters[0]}") from None


def _plain(score: Any) -> Any:
    """Return a score as plain data: by its name, where that is enough."""
    kind = SCORES.get(getattr(score, "key", ""))
    return score.key if kind is not None and score == kind() else encode(score)


def _score(score: dict[str, Any]) -> Score:
    """Return a score that was given with its parameters as an object."""
    if not isinstance(score.get("kind"), str) or score["kind"] not in KINDS:
        raise InvalidParameter(f"score kind is {score.get('kind')!r}; it must be one of {', '.join(KINDS)}")
    try:
        return score_from_dict(score)
    except TypeError:
        raise InvalidParameter(f"score {score['kind']} has no such setting: {score}") from None
