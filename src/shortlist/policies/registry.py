"""The list of all policies: how each is built from a name, and where it appears.

The command line, the experiments, the benchmarks, the tests and the reference all read `REGISTRY`. To add a policy,
add three lines here: its import, its name in ``__all__``, and its `Entry`.

`naming` says what a policy is called. However it is named, `Entry.build` fills in the parameters that it knows by their
names:

- ``coverage``: the target coverage;
- ``horizon``, ``rounds``: the number of rounds;
- ``top``, ``scale``, ``start``: the highest score, the range of scores and the lowest score, if known.

All other parameters keep their defaults.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shortlist.policies.aci import ACI
from shortlist.policies.anytime import AnytimeSPS
from shortlist.policies.base import Policy
from shortlist.policies.dlr import DLR
from shortlist.policies.dtaci import DtACI
from shortlist.policies.etc import ConservativeETC, ExploreThenCommit
from shortlist.policies.greedy import Greedy
from shortlist.policies.mvp import MVP
from shortlist.policies.oracle import Oracle
from shortlist.policies.order_statistic import OrderStatistic
from shortlist.policies.pid import ConformalPID
from shortlist.policies.product_limit import ProductLimit
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
    "ProductLimit",
    "ScaleFreeOGD",
    "ThresholdTracking",
    "Variant",
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
        The horizon it needs.
    """

    name: str
    label: str
    code: str
    guarantee: str = "none"
    horizon: str = "none"


def share_of(value: float, rounds: int) -> int:
    """Return a number of rounds; below 1 it is a share of all of them.

    >>> share_of(0.01, 10_000), share_of(500, 10_000)
    (100, 500)
    """
    return max(1, round(value * rounds)) if value < 1 else int(value)


@dataclass(frozen=True)
class Entry:
    """One policy of the registry.

    Parameters
    ----------
    policy
        The class.
    setting
        The parameter that a bare number after an @ sets, and that `grid` is for; others are set by name.
    default
        The setting without an @, given the number of rounds; by default the class's own.
    grid
        The values that experiments choose the setting from. If it is a number of rounds, values below 1 are shares.
    scaled
        Parameters in units of the scores: their defaults are multiplied by the range of scores, if known.
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
        """Parameters by name with their defaults, None if there is none; without `coverage` and switches."""
        parameters = inspect.signature(self.policy).parameters.values()
        return {
            parameter.name: None if parameter.default is parameter.empty else parameter.default
            for parameter in parameters
            if parameter.name != "coverage" and parameter.annotation not in (bool, "bool")
        }

    def kind(self, parameter: str) -> str:
        """Return the name of a parameter's type.

        Parameters
        ----------
        parameter
            The name of a parameter.

        Returns
        -------
        str
            For example ``float``.
        """
        annotation = inspect.signature(self.policy).parameters[parameter].annotation
        return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))

    @property
    def whole(self) -> bool:
        """Whether the setting is a whole number: a number of rounds."""
        return self.setting is not None and self.kind(self.setting) == "int"

    @property
    def needed(self) -> list[str]:
        """Parameters that neither a default nor `build` provides."""
        given = {"horizon", "rounds"} | ({self.setting} if self.default is not None else set())
        return [name for name, default in self.parameters.items() if default is None and name not in given]

    @property
    def nameable(self) -> bool:
        """Whether a name, with its setting, is enough to build the policy."""
        return self.needed in ([], [self.setting])

    def from_grid(self, value: float, rounds: int) -> float:
        """Return the setting for a value of the grid.

        Parameters
        ----------
        value
            A value of `grid`.
        rounds
            The number of rounds.

        Returns
        -------
        float
            The value itself; where the setting is a number of rounds and the value is below 1, that share of them.
        """
        return share_of(value, rounds) if self.whole else value

    def build(
        self,
        coverage: float,
        rounds: int,
        settings: Mapping[str, Any] | None = None,
        score_range: tuple[float, float] | None = None,
    ) -> Policy:
        """Return the policy for a number of rounds.

        Parameters
        ----------
        coverage
            The share of rounds in which the right answer should be in the list.
        rounds
            The number of rounds for which it will run.
        settings
            Parameters by name, instead of what is known or the default.
        score_range
            The highest score, and the length of the range of scores below it, if known.

        Returns
        -------
        Policy
            The policy.
        """
        values: dict[str, Any] = {"coverage": coverage, "horizon": rounds, "rounds": rounds}
        if score_range is not None:
            top, scale = score_range
            values |= {"top": top, "scale": scale, "start": top - scale}
            values |= {name: self.parameters[name] * scale for name in self.scaled}
        if self.default is not None:
            values[str(self.setting)] = self.default(rounds)
        values |= settings or {}
        parameters = inspect.signature(self.policy).parameters
        return self.policy(**{name: values[name] for name in parameters if name in values})


#: ACI's grid holds the step sizes of Gibbs and Candès (2022).
_STEPS: Final = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
_SHARES: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)

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
                Variant("anytime@0.01", "AnytimeSPS, δ = 0.01", "`AnytimeSPS(0.9)`", "0.99, at every round"),
            ),
        ),
        Entry(
            ProductLimit,
            setting="window",
            field=True,
            paper=(
                Variant(
                    "product-limit",
                    "ProductLimit",
                    "`ProductLimit(0.9)`, a lister's default",
                    "none by itself; in a lister the error budget's",
                ),
            ),
        ),
        Entry(
            SPS,
            setting="horizon",
            field=True,
            paper=(Variant("sps", "SPS", "`SPS(0.9, horizon=10_000)`, the paper", "1 - 2/T", "10,000"),),
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
        Entry(DLR, setting="start", field=True, paper=(Variant("dlr", "DLR", "`DLR`", "none for single lists"),)),
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
"""The entry of every policy by its key, in the order of the tables."""

POLICIES: Final[dict[str, type[Policy]]] = {key: entry.policy for key, entry in REGISTRY.items()}
"""The class of every policy by its key, which is its name in files and on the command line."""

PAPER: Final[dict[str, Variant]] = {variant.name: variant for entry in REGISTRY.values() for variant in entry.paper}
"""The policies of the paper's experiments by name: ours, the paper's, its baselines."""
