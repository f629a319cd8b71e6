"""All settings, in one place: their defaults, limits and descriptions, and which of them exclude each other.

The keywords of the listers, the bodies of the service and the reference are made from the fields of `Settings`.
"""

import dataclasses
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Self, get_args

from shortlist import policies
from shortlist._validation import check_count, miss_rate
from shortlist.errors import InvalidParameter
from shortlist.policies import AnytimeSPS, Policy, ProductLimit
from shortlist.policies.ordered import Ordered
from shortlist.rounds.exploring import ExploreShare, check_explore_share
from shortlist.scores import Score, to_score

__all__ = [
    "CONFIGURABLE",
    "PAIRS",
    "SETTINGS",
    "OnDrift",
    "Pair",
    "Settings",
    "Unanswered",
    "default_budget",
    "default_policy",
]

Unanswered = Literal["miss", "ignore"]
OnDrift = Literal["report", "restart"]

#: The most candidates that the service takes in a round: no setting that counts them needs to be larger.
_MOST_CANDIDATES: Final = 10_000
#: With the product limit a round is waited for while at least so many later ones are shown, if `patience` allows.
_LEAST_WAIT: Final = 20


def default_budget(coverage: float) -> int:
    """Return the size of the error budget that ``"auto"`` stands for: natural fluctuations of misses scale so.

    >>> [default_budget(coverage) for coverage in (0.8, 0.9, 0.95, 0.99, 0.9999)]
    [27, 20, 15, 7, 1]
    """
    p0 = float(miss_rate(coverage))
    return max(1, round(200 / 3 * math.sqrt(p0 * (1 - p0))))


def _setting(
    default: Any, text: str, *, least: int | None = None, most: int | None = None, changes: bool = False
) -> Any:
    """Return the field of a setting: its default, description, limits, and whether it may change at any time."""
    about = {"text": " ".join(text.split()), "least": least, "most": most, "changes": changes}
    return dataclasses.field(default=default, metadata=about)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a lister or a stream, checked."""

    policy: Policy
    score: str | Score = _setting(
        "auto",
        """How a list's scores become the one score per candidate that is compared with the threshold. ``"auto"``, the
        default: learned from the picks, for one scorer or several: fitted again at 15, 30, 60, 120 and 250 picks. With
        `delta` it is learned from the first picks, 30 with one scorer and 100 with several, while everything is shown,
        and then frozen, after at most ten times as many rounds. Or a fixed one: ``"raw"``, ``"margin"``,
        ``"relative"``, ``"rank"``, ``"adaptive"``; or one with parameters, such as one learned before.""",
    )
    miss_budget: int | Literal["auto"] | None = _setting(
        "auto",
        """An error budget against distribution shift: in any W consecutive answered rounds at most (1 - coverage) W +
        `miss_budget` cut lists miss, for any sequence of rounds. As misses use it up, lists get longer until they are
        complete; under a stationary distribution this is rare. ``"auto"``, the default, is 27, 20, 15 or 7 at a
        coverage of 0.8, 0.9, 0.95 or 0.99, and off with `explore_share`. None turns it off, which needs `delta`:
        without it this budget is the guarantee.""",
        least=1,
        most=1_000_000,
        changes=True,
    )
    unanswered: Unanswered | None = _setting(
        None,
        """What silence means. ``"miss"``, the default: an unanswered round counts as missed until its
        answer arrives; always safe. ``"ignore"``: a round counts when it is answered; safe only if right answers with
        low scores are answered at least as often as those with high scores, and no later.""",
    )
    explore_share: ExploreShare | None = _setting(
        None,
        """For users who click what they find but never report a miss: the share of rounds, chosen at random, in which
        everything is shown, in random order; only those count, and only if clicked. Until the first cut the other
        lists are the best 10. A number such as 0.05, or ``"auto"``, which is 0.2 until the first cut, then
        min(0.2, 2 / sqrt(t)). Misses are not reported, so it implies `delta` (0.01 if not given), and excludes
        `unanswered`, `miss_budget`, `on_drift` and `shadow`. It can be turned on later where there is no `delta`, which
        begins a new epoch and keeps a learned score, unless it is of too few picks; it cannot be turned off.""",
        changes=True,
    )
    patience: int = _setting(
        200,
        """The number of later rounds shown before an unanswered one counts as below the threshold. It is corrected when
        its answer arrives, but `on_drift` does not see a miss that arrives later than that. Any value is safe; choose
        the number of rounds within which nearly all answers arrive. 200, the default, is a few minutes of a busy search
        box. Without `delta` this is the most: there a round is given up after twice as many later rounds as the slowest
        pick so far took, 20 at least.""",
        least=0,
        most=10**9,
        changes=True,
    )
    on_drift: OnDrift | None = _setting(
        None,
        """With `delta` only: watch for a distribution shift after which lists miss more often than allowed:
        ``"report"`` alarms in the summary, or ``"restart"`` learning. All epochs, the first included, share delta, so
        learning starts a little later. Only misses that are reported within `patience` rounds are seen; skipped rounds
        are not. False alarms are at least a million rounds apart on average.""",
    )
    at_least: int = _setting(
        0, "Always show at least this many candidates: safe.", least=0, most=_MOST_CANDIDATES, changes=True
    )
    at_most: int | None = _setting(
        None,
        """Never show more on the first page; lists that it cuts short are `truncated`: the guarantee does not cover
        them, and a miss of such a list counts as silence. `more` shows the rest, and a pick from it has a known
        score.""",
        least=1,
        most=_MOST_CANDIDATES,
        changes=True,
    )
    shadow: bool = _setting(
        False,
        """Show everything, but learn as usual; the summary says what would have been hidden, and missed, at the
        threshold: `at_most` has no effect meanwhile. For a trial before lists are cut.""",
        changes=True,
    )
    keep: int = _setting(
        10_000,
        """The number of later rounds for which a round is kept. Older ones are closed, and can no longer be answered.
        A stream of the service keeps all.""",
        least=1,
    )

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
        self._fill_defaults()
        _check_choice("unanswered", self.unanswered, ("miss", "ignore"))
        _check_choice("on_drift", self.on_drift, ("report", "restart", None))
        for name, field in SETTINGS.items():
            least, value = field.metadata["least"], getattr(self, name)
            if least is not None and not (value is None and type(None) in get_args(field.type)):
                put(self, name, check_count(name, value, least=least))
        if self.at_most is not None and self.at_least > self.at_most:
            raise InvalidParameter(f"at_most is {self.at_most}, but at_least is {self.at_least}: drop one of the two")
        if not isinstance(self.shadow, bool):
            raise InvalidParameter(f"shadow is {self.shadow!r}; it must be True or False")
        for pair in PAIRS:
            if pair.excludes(self):
                raise InvalidParameter(pair.reason.format(self=self))

    def _fill_defaults(self) -> None:
        """Set what depends on other settings, if it was not given."""
        reported = self.explore_share is None
        if isinstance(self.miss_budget, str) and self.miss_budget == "auto":
            size = default_budget(getattr(self.policy, "coverage", 0.9)) if reported else None
            object.__setattr__(self, "miss_budget", size)
        if self.unanswered is None:
            object.__setattr__(self, "unanswered", "miss" if reported else "ignore")

    @classmethod
    def of(cls, policy: Policy, options: Mapping[str, Any], others: Sequence[str] = ()) -> Self:
        """Return the settings passed to a lister as keywords, apart from its own parameters, `others`."""
        _check_names(options, [*others, *SETTINGS])
        return cls(policy=policy, **options)

    @property
    def is_orderly(self) -> bool:
        """Whether rounds of the policy enter in the order shown; only the lab has streams of others."""
        return isinstance(self.policy, Ordered)

    @property
    def is_product_limit(self) -> bool:
        """Whether lists are short from the first one on, and the error budget is the guarantee."""
        return isinstance(self.policy, ProductLimit)

    @property
    def exploring_policy(self) -> AnytimeSPS:
        """The policy once exploration is turned on: misses are not reported then."""
        return AnytimeSPS(getattr(self.policy, "coverage", 0.9))

    def waits(self, slowest: int | None) -> int:
        """Return for how many later rounds an unanswered one holds back others: `patience` at the most.

        With the product limit a round that enters unanswered is corrected if it turns out to be a hit, and if it is a
        miss there is nothing to correct. So it is waited for while it may still be a hit: for twice as long as the
        slowest hit so far took, which was `slowest` later rounds; None if there was none.
        """
        if slowest is None or not self.is_product_limit:
            return self.patience
        return min(self.patience, max(_LEAST_WAIT, 2 * slowest))

    def changed(self, **changes: Any) -> Self:
        """Return the settings with some of them changed, or raise if they cannot change."""
        fixed = [name for name in changes if name in (*SETTINGS, *_FIXED) and name not in CONFIGURABLE]
        if fixed:
            raise InvalidParameter(
                f"{fixed[0]} is fixed when a lister is created; {', '.join(CONFIGURABLE)} may change at any time"
            )
        _check_names(changes, CONFIGURABLE)
        share = changes.get("explore_share", self.explore_share)
        if share is None and self.explore_share is not None:
            raise InvalidParameter(
                f"explore_share is {self.explore_share}, and can change to another share, but not be turned off: "
                "other rounds would count; create a new lister or stream"
            )
        if share is not None and self.explore_share is None:
            return self._exploring(changes)
        return dataclasses.replace(self, **changes)

    def _exploring(self, changes: dict[str, Any]) -> Self:
        """Return the settings with `explore_share` turned on: misses are not reported, so the rule is another."""
        if not isinstance(self.policy, ProductLimit):
            raise InvalidParameter(
                f"explore_share can be turned on only where there is no delta, and the policy is {self.policy}: other "
                "rounds would count; create a new lister or stream"
            )
        meant: dict[str, Any] = {"unanswered": "ignore", "miss_budget": None, **changes}
        return dataclasses.replace(self, policy=self.exploring_policy, **meant)


def default_policy(coverage: float | None, delta: float | None, settings: Mapping[str, Any]) -> Policy:
    """Return the policy that a target means: with `delta`, or where misses are not reported, an order statistic."""
    target = 0.9 if coverage is None else coverage
    if delta is None and settings.get("explore_share") is None:
        return ProductLimit(target)
    return AnytimeSPS(target) if delta is None else AnytimeSPS(target, delta)


#: The parameters of a lister besides its settings.
_FIXED: Final = ("policy", "coverage", "delta")
SETTINGS: Final = {field.name: field for field in dataclasses.fields(Settings) if field.metadata}
"""The fields of the settings, by name."""
CONFIGURABLE: Final = tuple(name for name, field in SETTINGS.items() if field.metadata["changes"])
"""The settings that may change at any time."""


def _check_names(options: Iterable[str], names: Sequence[str]) -> None:
    """Refuse a keyword that is not a setting, as Python would."""
    unknown = [name for name in options if name not in names]
    if unknown:
        raise TypeError(f"there is no setting {unknown[0]!r}; there are {', '.join(names)}")


def _check_key(policy: Policy) -> None:
    """Refuse a policy of the user's own that a save file would confuse with one of ours."""
    if type(policy).__module__.startswith("shortlist.policies."):
        return
    key = getattr(policy, "key", None)
    name = type(policy).__name__
    if not isinstance(key, str):
        raise InvalidParameter(f'{name} has no key; give the class one, its name in save files: key = "my-policy"')
    if key in policies.POLICIES:
        raise InvalidParameter(
            f"{name} has the key {key!r}, which is that of {policies.POLICIES[key].__name__}: choose another"
        )


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
        "policy",
        "miss_budget",
        lambda given: isinstance(given.policy, ProductLimit) and given.miss_budget is None,
        "the policy is {self.policy}, whose guarantee is the error budget, and miss_budget is None, as it always is "
        "with explore_share: leave miss_budget out; or ask for the guarantee about every list, which needs no budget: "
        "delta=0.01, and no policy",
    ),
    Pair(
        "policy",
        "on_drift",
        lambda given: isinstance(given.policy, ProductLimit) and given.on_drift is not None,
        'the policy is {self.policy}, which follows a shift by itself, and on_drift is "{self.on_drift}": leave '
        "on_drift out, or ask for the guarantee about every list: delta=0.01",
    ),
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
)
"""Which settings exclude each other, and why. When you add a setting, add its rows here first."""


def with_settings(kind: type) -> type:
    """Complete a class whose constructor takes ``**settings``: its signature, and its docstring at ``{settings}``."""
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    _, *own = signature.parameters.values()
    fixed = [one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for name, field in SETTINGS.items()
    ]
    kind.__signature__ = inspect.Signature([*fixed, *options])  # type: ignore[attr-defined]
    texts = (
        f"{name}\n{textwrap.indent(textwrap.fill(field.metadata['text'], 112), '    ')}"
        for name, field in SETTINGS.items()
    )
    kind.__doc__ = (kind.__doc__ or "").replace("    {settings}", textwrap.indent("\n".join(texts), "    "))
    return kind
