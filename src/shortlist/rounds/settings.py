"""All settings: their defaults, their checks, and which of them exclude each other.

The listers take them as keywords, the service as a stream's settings; both use this module.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Self, TypedDict

from shortlist._validation import check_count
from shortlist.errors import InvalidParameter
from shortlist.policies import POLICIES, OrderStatistic, Policy
from shortlist.rounds.exploring import ExploreShare, check_explore_share
from shortlist.scores import Score, to_score

__all__ = [
    "CONFIGURABLE",
    "DEFAULT_BUDGET",
    "PAIRS",
    "OnDrift",
    "Options",
    "OptionsDict",
    "Pair",
    "Settings",
    "Unanswered",
]

Unanswered = Literal["miss", "ignore"]
OnDrift = Literal["report", "restart"]

#: The settings that may change at any time.
CONFIGURABLE: Final = ("at_least", "at_most", "shadow", "patience", "miss_budget", "explore_share")


class _NotGiven(int):
    """A default that differs from the same number given explicitly: it is dropped if it does not fit other settings."""


#: The default size of the error budget.
DEFAULT_BUDGET: Final = _NotGiven(20)


class OptionsDict(TypedDict, total=False):
    """The settings as keywords, for type checkers."""

    score: str | Score
    miss_budget: int | None
    unanswered: Unanswered | None
    explore_share: ExploreShare | None
    patience: int
    on_drift: OnDrift | None
    at_least: int
    at_most: int | None
    shadow: bool
    keep: int


@dataclass(frozen=True, kw_only=True)
class Options:
    """The settings of a lister or a stream; `shortlist.Shortlister` says what they mean."""

    score: str | Score = "auto"
    miss_budget: int | None = DEFAULT_BUDGET
    unanswered: Unanswered | None = None
    explore_share: ExploreShare | None = None
    patience: int = 200
    on_drift: OnDrift | None = None
    at_least: int = 0
    at_most: int | None = None
    shadow: bool = False
    keep: int = 10_000


@dataclass(frozen=True, kw_only=True)
class Settings(Options):
    """Checked settings, with their policy."""

    policy: Policy

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.policy, Policy):
            raise InvalidParameter(
                f"policy is {self.policy!r}; it must be a policy, for example AnytimeSPS(coverage=0.9)"
            )
        _check_key(self.policy)
        if not (isinstance(self.score, str) and self.score == "auto"):
            put(self, "score", to_score(self.score))
        put(self, "explore_share", check_explore_share(self.explore_share))
        if isinstance(self.miss_budget, _NotGiven) and self.explore_share is not None:
            put(self, "miss_budget", None)
        put(
            self, "miss_budget", None if self.miss_budget is None else check_count("miss_budget", int(self.miss_budget))
        )
        if self.unanswered is None:
            put(self, "unanswered", "miss" if self.explore_share is None else "ignore")
        _check_choice("unanswered", self.unanswered, ("miss", "ignore"))
        put(self, "patience", check_count("patience", self.patience, least=0))
        _check_choice("on_drift", self.on_drift, ("report", "restart", None))
        put(self, "at_least", check_count("at_least", self.at_least, least=0))
        put(self, "at_most", None if self.at_most is None else check_count("at_most", self.at_most))
        if not isinstance(self.shadow, bool):
            raise InvalidParameter(f"shadow is {self.shadow!r}; it must be True or False")
        put(self, "keep", check_count("keep", self.keep))
        for pair in PAIRS:
            if pair.excludes(self):
                raise InvalidParameter(pair.reason.format(self=self))

    @classmethod
    def of(cls, policy: Policy, options: OptionsDict, others: Sequence[str] = ()) -> Self:
        """Return the settings passed to a lister as keywords, apart from its own parameters, `others`."""
        _check_names(options, [*others, *_NAMES])
        return cls(policy=policy, **options)

    @property
    def is_orderly(self) -> bool:
        """Whether the policy is an order-statistic one; only the lab has streams of others."""
        return isinstance(self.policy, OrderStatistic)

    def changed(self, **changes: Any) -> Self:
        """Return the settings with some of them changed, or raise if they cannot change."""
        fixed = [name for name in changes if name in (*_NAMES, *_FIXED) and name not in CONFIGURABLE]
        if fixed:
            raise InvalidParameter(
                f"{fixed[0]} is fixed when a lister is created; {', '.join(CONFIGURABLE)} may change at any time"
            )
        _check_names(changes, CONFIGURABLE)
        if (changes.get("explore_share", self.explore_share) is None) is not (self.explore_share is None):
            raise InvalidParameter(
                f"explore_share is {self.explore_share}, and can change to another share, but not be turned on or off: "
                "other rounds would count; create a new lister or stream"
            )
        return dataclasses.replace(self, **changes)


#: The parameters of a lister besides its settings.
_FIXED: Final = ("policy", "coverage", "delta")
_NAMES: Final = tuple(field.name for field in dataclasses.fields(Options))


def _check_names(options: Iterable[str], names: Sequence[str]) -> None:
    """Refuse a keyword that is not a setting, as Python would."""
    unknown = [name for name in options if name not in names]
    if unknown:
        raise TypeError(f"there is no setting {unknown[0]!r}; there are {', '.join(names)}")


def _check_key(policy: Policy) -> None:
    """Refuse a policy of the user's own that a save file would confuse with one of ours."""
    key = getattr(policy, "key", None)
    name = type(policy).__name__
    if not isinstance(key, str):
        raise InvalidParameter(f'{name} has no key; give the class one, its name in save files: key = "my-policy"')
    if key in POLICIES and type(policy) is not POLICIES[key]:
        raise InvalidParameter(f"{name} has the key {key!r}, which is that of {POLICIES[key].__name__}: choose another")


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if isinstance(value, (str, type(None))) and value in choices:
        return
    *some, last = (f'"{choice}"' if choice is not None else "None" for choice in choices)
    raise InvalidParameter(f"{name} is {value!r}; it must be {', '.join(some)} or {last}")


class Pair(NamedTuple):
    """Two settings that cannot be combined."""

    first: str
    second: str
    excludes: Callable[[Settings], bool]
    #: The message; `self` stands for the settings.
    reason: str


PAIRS: Final = (
    Pair(
        "explore_share",
        "unanswered",
        lambda given: given.explore_share is not None and given.unanswered == "miss",
        'explore_share is {self.explore_share} and unanswered is "miss": only explored rounds count, and silent ones '
        "among them never do; leave unanswered out",
    ),
    Pair(
        "explore_share",
        "miss_budget",
        lambda given: given.explore_share is not None and given.miss_budget is not None,
        "explore_share is {self.explore_share} and miss_budget is {self.miss_budget}, which needs reported misses: "
        "drop one of the two",
    ),
    Pair(
        "explore_share",
        "shadow",
        lambda given: given.explore_share is not None and given.shadow,
        "explore_share is {self.explore_share}, but shadow mode shows everything anyway: drop one of the two",
    ),
    Pair(
        "at_most",
        "unanswered",
        lambda given: given.at_most is not None and given.unanswered == "ignore" and given.explore_share is None,
        'at_most is {self.at_most} and unanswered is "ignore": only what is found on the page would count, and lists '
        'would silently be cut too short; use unanswered="miss", and `more` for the rest of a list',
    ),
    Pair(
        "on_drift",
        "unanswered",
        lambda given: given.on_drift is not None and given.unanswered == "ignore",
        'on_drift is "{self.on_drift}", which needs reported misses, in the order of the rounds: use '
        'unanswered="miss", and no explore_share',
    ),
    Pair(
        "on_drift",
        "patience",
        lambda given: given.on_drift is not None and given.patience == 0,
        'on_drift is "{self.on_drift}" and patience is 0: every round would be counted before it can be answered, '
        "and no miss would ever be seen; set a patience within which nearly all answers arrive",
    ),
    Pair(
        "at_most",
        "shadow",
        lambda given: given.at_most is not None and given.shadow,
        "at_most is {self.at_most}, but shadow mode shows everything: drop one of the two",
    ),
    Pair(
        "at_most",
        "at_least",
        lambda given: given.at_most is not None and given.at_least > given.at_most,
        "at_most is {self.at_most}, but at_least is {self.at_least}: drop one of the two",
    ),
)
"""Which settings exclude each other, and why. When you add a setting, add its rows here first."""


def with_options(kind: type) -> type:
    """Give a class whose constructor takes ``**options`` a signature that lists them, with their defaults."""
    signature = inspect.signature(kind)
    fixed = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in dataclasses.fields(Options)
    ]
    kind.__signature__ = signature.replace(parameters=[*fixed, *options])  # type: ignore[attr-defined]
    return kind
