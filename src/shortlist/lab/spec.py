"""What is run: tasks, policies and their settings, as data."""

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from shortlist._validation import check_count, check_probability
from shortlist.errors import InvalidParameter
from shortlist.lab.tasks import TASKS, Task, load_task, task_from_file
from shortlist.policies import (
    ACI,
    DLR,
    SPS,
    AnytimeSPS,
    ConservativeETC,
    ExploreThenCommit,
    Greedy,
    Policy,
)

__all__ = ["POLICIES", "TUNED", "Spec", "make_policy"]

#: The policies of the experiment, in the order of its tables: ours, the paper's, its baselines.
POLICIES: Final = (
    "anytime@2/T",
    "anytime@0.05",
    "sps",
    "greedy",
    "aci",
    "dlr",
    "etc",
    "conservative-etc",
)

#: Policies with a setting, and the grid it is chosen from: by regret, on tuning streams of their own.
#: ACI's are the step sizes of Gibbs and Candès (2022); the others are shares of the rounds.
TUNED: Final[dict[str, tuple[float, ...]]] = {
    "aci": (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128),
    "etc": (0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
    "conservative-etc": (0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
}


def make_policy(name: str, coverage: float, rounds: int, setting: float | None = None) -> Policy:
    """Return the policy of that name, with its chosen setting if it has one.

    >>> make_policy("etc", 0.9, 10_000, 0.1)
    ExploreThenCommit(coverage=0.9, window=True, explore=1000)
    """
    if name in TUNED and setting is None:
        raise InvalidParameter(f"policy {name} needs a setting, for example {TUNED[name][2]}")
    share = max(1, round((setting or 0.0) * rounds))
    match name:
        case "anytime@2/T":
            return AnytimeSPS(coverage, min(2 / rounds, 0.5))
        case "anytime@0.05":
            return AnytimeSPS(coverage, 0.05)
        case "sps":
            return SPS(coverage, rounds)
        case "greedy":
            return Greedy(coverage)
        case "aci":
            return ACI(coverage, setting or 0.0)
        case "dlr":
            return DLR(coverage)
        case "etc":
            return ExploreThenCommit(coverage, share)
        case "conservative-etc":
            return ConservativeETC(coverage, share, rounds)
    raise InvalidParameter(f"policy is {name!r}; it must be one of {', '.join(POLICIES)}")


@dataclass(frozen=True)
class Spec:
    """One experiment. The defaults are the paper's.

    Parameters
    ----------
    tasks
        Names of tasks that ship with the package.
    policies
        Names of policies.
    rounds
        Rounds in a run, the paper's T.
    runs
        Runs to average over.
    coverage
        The share of rounds that must be covered.
    seed
        Same seed, same numbers.
    scores
        A score file of the user's own, run instead of the tasks.
    """

    tasks: tuple[str, ...] = TASKS[:3]
    policies: tuple[str, ...] = POLICIES
    rounds: int = 10_000
    runs: int = 10
    coverage: float = 0.9
    seed: int = 0
    scores: str | None = None
    tuning_runs: int = 10

    def __post_init__(self) -> None:
        check_probability("coverage", self.coverage, 0.9)
        check_count("rounds", self.rounds, least=10)
        check_count("runs", self.runs)
        check_count("seed", self.seed, least=0)
        for kind, chosen, known in (("task", self.tasks, TASKS), ("policy", self.policies, POLICIES)):
            if not chosen:
                raise InvalidParameter(f"no {kind} is named; choose from {', '.join(known)}")
            for name in chosen:
                if name not in known:
                    raise InvalidParameter(f"{kind} is {name!r}; it must be one of {', '.join(known)}")
            if len(set(chosen)) < len(chosen):
                raise InvalidParameter(f"a {kind} is named twice: {', '.join(chosen)}")

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the tasks that are run."""
        return self.tasks if self.scores is None else (self.task("").name,)

    def task(self, name: str) -> Task:
        """Return a task of this experiment."""
        return load_task(name) if self.scores is None else task_from_file(self.scores)

    def generator(self, task: str, kind: str, run: int) -> np.random.Generator:
        """Return the random numbers of one run: a stream of their own, whatever else is run.

        `kind` keeps the streams that settings are chosen on apart from those that are reported.
        """
        entropy = [self.seed, zlib.crc32(task.encode()), zlib.crc32(kind.encode()), run]
        return np.random.default_rng(np.random.SeedSequence(entropy))
