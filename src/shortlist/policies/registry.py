"""Every policy, once: how it is built from a name, and where it appears.

The command line, the experiments, the benchmarks, the tests and the reference all read `REGISTRY`. To add a policy,
write three lines here: its import, its name in ``__all__``, and its `Entry`.

A policy's name is its key, with a setting after an @ where it has one: ``sps``, ``aci@0.008``, ``anytime@2/T``, where T
is the number of rounds. A policy outside the package is named by its file and class: ``my_policy.py:MyPolicy``.
Either way, `Entry.build` fills in the parameters that it knows by their names:

- ``coverage``: the coverage asked for;
- ``horizon``, ``rounds``: the number of rounds;
- ``top``, ``scale``, ``start``: the highest score, the range of scores and the lowest score, where they are known.

All other parameters keep their defaults.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from shortlist.errors import InvalidParameter, ShortlistError
from shortlist.policies.aci import ACI
from shortlist.policies.anytime import AnytimeSPS
from shortlist.policies.base import Policy, State
from shortlist.policies.dlr import DLR
from shortlist.policies.dtaci import DtACI
from shortlist.policies.etc import ConservativeETC, ExploreThenCommit
from shortlist.policies.greedy import Greedy
from shortlist.policies.loading import is_reference, load_policy_class
from shortlist.policies.mvp import MVP
from shortlist.policies.oracle import Oracle
from shortlist.policies.order_statistic import OrderStatistic
from shortlist.policies.pid import ConformalPID
from shortlist.policies.saocp import SAOCP
from shortlist.policies.scale_free import ScaleFreeOGD
from shortlist.policies.sps import SPS
from shortlist.policies.tracking import ThresholdTracking

__all__ = [
    "ACI",
    "DLR",
    "MVP",
    "PAPER",
    "POLICIES",
    "REGISTRY",
    "SAOCP",
    "SPS",
    "AnytimeSPS",
    "ConformalPID",
    "ConservativeETC",
    "DtACI",
    "Entry",
    "ExploreThenCommit",
    "Greedy",
    "Oracle",
    "OrderStatistic",
    "ScaleFreeOGD",
    "ThresholdTracking",
    "Variant",
    "make_policy",
    "order_statistic_kinds",
    "policy_label",
    "policy_name",
]


@dataclass(frozen=True)
class Variant:
    """A policy in the list of the paper's experiments.

    Parameters
    ----------
    name
        The key, with a setting after an @ if it is not the default.
    label
        Its name in figures.
    code
        Its name in the README's table.
    guarantee
        What it guarantees.
    horizon
        The horizon that it needs.
    """

    name: str
    label: str
    code: str
    guarantee: str = "none"
    horizon: str = "none"


@dataclass(frozen=True)
class Entry:
    """One policy of the registry.

    Parameters
    ----------
    policy
        The class.
    setting
        The parameter that a number after an @ sets.
    default
        The setting without an @, given the number of rounds; by default the class's own.
    grid
        The values that experiments choose the setting from. Shares of the rounds, if it is a number of rounds.
    scaled
        Parameters in units of the scores: their defaults are multiplied by the range of scores, where it is known.
    paper
        Its variants in the paper's experiments.
    field
        Whether ``reproduce --suite field`` runs it.
    """

    policy: type[Policy]
    setting: str | None = None
    default: Callable[[int], float] | None = None
    grid: tuple[float, ...] = ()
    scaled: tuple[str, ...] = ()
    paper: tuple[Variant, ...] = ()
    field: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters by name with their defaults, None where there is none; without `coverage` and `window`."""
        parameters = inspect.signature(self.policy).parameters.values()
        return {
            parameter.name: None if parameter.default is parameter.empty else parameter.default
            for parameter in parameters
            if parameter.name not in ("coverage", "window")
        }

    @property
    def whole(self) -> bool:
        """Whether the setting is a whole number: a number of rounds."""
        return self.setting is not None and inspect.signature(self.policy).parameters[self.setting].annotation is int

    @property
    def needed(self) -> list[str]:
        """Parameters that neither a default nor `build` gives."""
        given = {"horizon", "rounds"} | ({self.setting} if self.default is not None else set())
        return [name for name, default in self.parameters.items() if default is None and name not in given]

    @property
    def nameable(self) -> bool:
        """Whether a name, with its setting, gives all that the policy needs."""
        return self.needed in ([], [self.setting])

    def from_grid(self, value: float, rounds: int) -> float:
        """Return the setting that a value of the grid means."""
        return max(1, round(value * rounds)) if self.whole else value

    def build(
        self,
        coverage: float,
        rounds: int,
        setting: float | None = None,
        score_range: tuple[float, float] | None = None,
    ) -> Policy:
        """Return the policy for so many rounds; `score_range` is the highest score, and how far below it scores lie."""
        values: dict[str, Any] = {"coverage": coverage, "horizon": rounds, "rounds": rounds}
        if score_range is not None:
            top, scale = score_range
            values |= {"top": top, "scale": scale, "start": top - scale}
            values |= {name: self.parameters[name] * scale for name in self.scaled}
        if self.default is not None:
            values[str(self.setting)] = self.default(rounds)
        if setting is not None:
            values[str(self.setting)] = int(setting) if self.whole else setting
        parameters = inspect.signature(self.policy).parameters
        return self.policy(**{name: values[name] for name in parameters if name in values})


#: ACI's grid holds the step sizes of Gibbs and Candès (2022).
_STEPS: Final = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
_SHARES: Final = (0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)

REGISTRY: Final[dict[str, Entry]] = {
    entry.policy.key: entry
    for entry in (
        Entry(
            AnytimeSPS,
            setting="delta",
            field=True,
            paper=(
                Variant(
                    "anytime@2/T", "AnytimeSPS, δ = 2/T", "`AnytimeSPS(0.9, delta=2e-4)`", "1 - delta, at every round"
                ),
                Variant(
                    "anytime@0.05", "AnytimeSPS, δ = 0.05", "`AnytimeSPS(0.9)`, the default", "0.95, at every round"
                ),
            ),
        ),
        Entry(
            SPS,
            setting="horizon",
            field=True,
            paper=(Variant("sps", "SPS (paper)", "`SPS(0.9, horizon=10_000)`, the paper", "1 - 2/T", "10,000"),),
        ),
        Entry(
            ConservativeETC,
            setting="explore",
            default=lambda rounds: max(1, rounds * 2 // 5),
            grid=_SHARES,
            field=True,
            paper=(Variant("conservative-etc", "Con-ETC", "`ConservativeETC`", "1 - 2/T²", "10,000"),),
        ),
        Entry(
            ExploreThenCommit,
            setting="explore",
            default=lambda rounds: max(1, rounds // 10),
            grid=_SHARES,
            field=True,
            paper=(Variant("etc", "ETC", "`ExploreThenCommit`", horizon="a share of it"),),
        ),
        Entry(Greedy, field=True, paper=(Variant("greedy", "Greedy", "`Greedy`"),)),
        Entry(
            ACI,
            setting="step",
            default=lambda _rounds: 0.008,
            grid=_STEPS,
            field=True,
            paper=(Variant("aci", "ACI", "`ACI`", "none for single lists"),),
        ),
        Entry(DLR, field=True, paper=(Variant("dlr", "DLR", "`DLR`", "none for single lists"),)),
        Entry(Oracle, setting="threshold"),
        Entry(OrderStatistic),
        Entry(ThresholdTracking, setting="step", scaled=("step",), field=True),
        Entry(ScaleFreeOGD, field=True),
        Entry(ConformalPID, setting="step", field=True),
        Entry(DtACI, setting="interval", field=True),
        Entry(SAOCP, setting="lifetime", field=True),
        Entry(MVP, setting="buckets", field=True),
    )
}
"""Every policy's entry by its key, in the order of tables."""

POLICIES: Final[dict[str, type[Policy]]] = {key: entry.policy for key, entry in REGISTRY.items()}
"""Every policy by its key: its name in files and on the command line."""

PAPER: Final[dict[str, Variant]] = {variant.name: variant for entry in REGISTRY.values() for variant in entry.paper}
"""The policies of the paper's experiments by name: ours, the paper's, its baselines."""


def policy_name(text: str) -> str:
    """Return the name that results show: of a policy in a file, its class.

    Parameters
    ----------
    text
        A name that `make_policy` takes.

    Examples
    --------
    >>> policy_name("aci@0.008"), policy_name("policies/my_policy.py:MyPolicy")
    ('aci@0.008', 'MyPolicy')
    """
    return text.rpartition(":")[2] if is_reference(text) else text


def policy_label(name: str) -> str:
    """Return a policy's label in figures and reports.

    Parameters
    ----------
    name
        A name that results show.

    Examples
    --------
    >>> policy_label("sps"), policy_label("aci@0.008"), policy_label("MyPolicy")
    ('SPS (paper)', 'ACI, step = 0.008', 'MyPolicy')
    """
    if name in PAPER:
        return PAPER[name].label
    key, at, setting = name.partition("@")
    if key not in REGISTRY:
        return policy_name(name)
    entry = REGISTRY[key]
    return f"{entry.policy.__name__}, {entry.setting} = {setting}" if at else entry.policy.__name__


def order_statistic_kinds() -> dict[str, tuple[type[OrderStatistic], dict[str, Any]]]:
    """Return the order-statistic policies with a boundary of their own: key, class and default parameters.

    A parameter without a default is None.

    Examples
    --------
    >>> order_statistic_kinds()["sps"][1], order_statistic_kinds()["anytime"][1]
    ({'horizon': None}, {'delta': 0.05})
    """
    return {
        key: (entry.policy, entry.parameters)
        for key, entry in REGISTRY.items()
        if issubclass(entry.policy, OrderStatistic) and "boundary" not in entry.parameters
    }


def make_policy(text: str, coverage: float, rounds: int, setting: float | None = None) -> Policy:
    """Return the policy that a name such as ``sps``, ``aci@0.008`` or ``my_policy.py:MyPolicy`` stands for.

    Parameters
    ----------
    text
        The key, with a setting after an @ if you like; or the file and the class of a policy of your own.
    coverage
        The share of rounds in which the right answer should be in the list.
    rounds
        The number of rounds it will run for.
    setting
        A value from the policy's grid, instead of the setting in `text`.

    Examples
    --------
    >>> make_policy("etc@500", 0.9, 10_000)
    ExploreThenCommit(coverage=0.9, window=True, explore=500)
    >>> make_policy("etc", 0.9, 10_000, setting=0.1)
    ExploreThenCommit(coverage=0.9, window=True, explore=1000)
    """
    if is_reference(text):
        return _own_policy(text, coverage, rounds)
    key, at, number = text.partition("@")
    if key not in REGISTRY:
        names = ", ".join(key for key, entry in REGISTRY.items() if entry.nameable)
        raise InvalidParameter(
            f"policy is {text!r}; it must be one of {names}, with its setting after an @ if you like: "
            "anytime@0.01 (delta), aci@0.008 (step), etc@500 (rounds); or a class in a file: my_policy.py:MyPolicy"
        )
    entry = REGISTRY[key]
    if setting is not None:
        return entry.build(coverage, rounds, entry.from_grid(setting, rounds))
    value = _setting(text, number, entry, rounds) if at else None
    if entry.needed == [entry.setting] and value is None:
        raise InvalidParameter(f"policy is {text!r}; it needs its {entry.setting}: {key}@0.5")
    if not entry.nameable:
        raise InvalidParameter(
            f"policy is {text!r}; it needs a {entry.needed[0]}, which a name cannot give: use it in Python"
        )
    return entry.build(coverage, rounds, value)


def _setting(text: str, number: str, entry: Entry, rounds: int) -> float:
    """Return the setting after the @ of a name."""
    if entry.setting is None:
        raise InvalidParameter(f"policy is {text!r}; {entry.policy.key} has no setting")
    try:
        value = min(float(number.removesuffix("/T")) / rounds, 0.5) if number.endswith("/T") else float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number")
    if entry.whole and value != int(value):
        raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number of rounds")
    return value


def _own_policy(reference: str, coverage: float, rounds: int) -> Policy:
    """Return a policy of the user's own, from a file."""
    policy_class = load_policy_class(reference)
    try:
        policy = Entry(policy_class).build(coverage, rounds)
        state = policy.init()
    except ShortlistError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidParameter(
            f"policy is {reference!r}, which cannot be built ({reason}); only coverage, horizon and rounds are "
            "given: every other parameter needs a default"
        ) from error
    if not isinstance(state, State):
        raise InvalidParameter(f"policy is {reference!r}; its init() returns {state!r}; it must return a State")
    return policy
