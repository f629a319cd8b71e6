"""What is run: tasks, policies and their settings, as data."""

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from shortlist._validation import check_count, check_probability
from shortlist.errors import InvalidParameter
from shortlist.lab.tasks import TASKS, Task, load_task, task_from_file
from shortlist.policies import PAPER, REGISTRY, Policy, make_policy, policy_name

__all__ = ["POLICIES", "TUNED", "Spec"]

#: The policies of the paper's experiments, in the order of its tables: ours, the paper's, its baselines.
POLICIES: Final = tuple(PAPER)

#: Policies with a setting, and the grid it is chosen from: by regret, on tuning streams of their own.
TUNED: Final[dict[str, tuple[float, ...]]] = {key: entry.grid for key, entry in REGISTRY.items() if entry.grid}


@dataclass(frozen=True)
class Spec:
    """One experiment. The defaults are the paper's.

    Parameters
    ----------
    tasks
        Names of tasks that ship with the package.
    policies
        Names of policies, as `shortlist.policies.make_policy` takes them. One in a file, such as
        ``my_policy.py:MyPolicy``, is called by its class from then on, and `sources` holds where it is.
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
    sources
        Pairs of a policy's class and its file, for policies of the user's own.
    """

    tasks: tuple[str, ...] = TASKS[:3]
    policies: tuple[str, ...] = POLICIES
    rounds: int = 10_000
    runs: int = 10
    coverage: float = 0.9
    seed: int = 0
    scores: str | None = None
    tuning_runs: int = 10
    sources: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_probability("coverage", self.coverage, 0.9)
        check_count("rounds", self.rounds, least=10)
        check_count("runs", self.runs)
        check_count("seed", self.seed, least=0)
        for name in self.tasks:
            if name not in TASKS:
                raise InvalidParameter(f"task is {name!r}; it must be one of {', '.join(TASKS)}")
        for kind, chosen, choices in (("task", self.tasks, TASKS), ("policy", self.policies, POLICIES)):
            if not chosen:
                raise InvalidParameter(f"no {kind} is named; choose from {', '.join(choices)}")
        names = tuple(policy_name(text) for text in self.policies)
        files = {name: text for name, text in zip(names, self.policies, strict=True) if name != text}
        object.__setattr__(self, "policies", names)
        object.__setattr__(self, "sources", tuple((dict(self.sources) | files).items()))
        for kind, chosen in (("task", self.tasks), ("policy", self.policies)):
            if len(set(chosen)) < len(chosen):
                raise InvalidParameter(f"a {kind} is named twice: {', '.join(chosen)}")
        for name in self.policies:
            self.policy(name)  # refuses a name that nobody knows before anything is run

    def policy(self, name: str, setting: float | None = None) -> Policy:
        """Return a policy of this experiment, with a setting from its grid."""
        return make_policy(dict(self.sources).get(name, name), self.coverage, self.rounds, setting)

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the tasks that are run."""
        return self.tasks if self.scores is None else (self.task("").name,)

    @property
    def list_task_names(self) -> tuple[str, ...]:
        """The names of the tasks that list lengths are compared on: those that are run, and tools with the paper's."""
        return (*self.task_names, "tools") if self.scores is None and self.tasks == TASKS[:3] else self.task_names

    def task(self, name: str) -> Task:
        """Return a task of this experiment."""
        return load_task(name) if self.scores is None else task_from_file(self.scores)

    def generator(self, task: str, kind: str, run: int) -> np.random.Generator:
        """Return the random numbers of one run: a stream of their own, whatever else is run.

        `kind` keeps the streams that settings are chosen on apart from those that are reported.
        """
        entropy = [self.seed, zlib.crc32(task.encode()), zlib.crc32(kind.encode()), run]
        return np.random.default_rng(np.random.SeedSequence(entropy))
