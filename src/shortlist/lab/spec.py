"""What is run: tasks, policies and their settings, as data."""

import dataclasses
import math
import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from shortlist._validation import check_count, check_number, check_probability
from shortlist.errors import InvalidParameter
from shortlist.lab.tasks import TASKS, AuctionTask, Task, load_task, task_from_file
from shortlist.policies import PAPER, REGISTRY, Entry, Policy, make_policy, policy_entry, policy_name
from shortlist.policies.naming import given_settings

__all__ = ["PAPER_TASKS", "POLICIES", "Spec"]

#: The paper's tasks, in the order of its panels (a), (b), (c).
PAPER_TASKS: Final = TASKS[:3]

#: The policies of the paper's experiments, in the order of its tables: ours, the paper's, its baselines.
POLICIES: Final = tuple(PAPER)


@dataclass(frozen=True)
class Spec:
    """One experiment. The defaults are the paper's.

    Parameters
    ----------
    tasks
        Names of tasks that ship with the package.
    policies
        Names of policies, as `shortlist.policies.make_policy` takes them. One in a file, such as
        ``my_policy.py:MyPolicy``, is named by its class from then on; `sources` has its file.
    rounds
        Rounds in a run, the paper's T.
    runs
        Runs to average over.
    coverage
        The share of rounds that must be covered.
    seed
        Same seed, same numbers.
    scores
        A user's own score file, run instead of the tasks.
    lambda1
        The weight of over-coverage in the paper's regret.
    lambda2
        The weight of under-coverage.
    bidders
        Bidders in each auction; the paper does not say how many.
    item
        Auctions of one item: cartier, palm or xbox. By default all bids are pooled.
    aci_steps
        The grid that ACI's step is chosen from, by regret on separate streams.
    etc_shares
        The grid of shares of the rounds that the exploration of both ETCs is chosen from, likewise.
    sources
        Pairs of class and file, for a user's own policies.
    """

    tasks: tuple[str, ...] = PAPER_TASKS
    policies: tuple[str, ...] = POLICIES
    rounds: int = 10_000
    runs: int = 10
    coverage: float = 0.9
    seed: int = 0
    scores: str | None = None
    tuning_runs: int = 10
    lambda1: float = 0.1
    lambda2: float = 10.0
    bidders: int = 5
    item: str | None = None
    aci_steps: tuple[float, ...] = REGISTRY["aci"].grid
    etc_shares: tuple[float, ...] = REGISTRY["etc"].grid
    sources: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_probability("coverage", self.coverage, 0.9)
        check_count("rounds", self.rounds, least=10)
        check_count("runs", self.runs)
        check_count("seed", self.seed, least=0)
        check_number("lambda1", self.lambda1, "a number above 0", above=0.0)
        check_number("lambda2", self.lambda2, "a number above 0", above=0.0)
        check_count("bidders", self.bidders, least=2)
        _check_grid("aci_steps", self.aci_steps, "numbers above 0", math.inf)
        _check_grid("etc_shares", self.etc_shares, "shares of the rounds, above 0 and below 1", 1.0)
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
        if self.item is not None:
            load_task("auctions", self.item)  # refuses an item that there is not
        for name in self.policies:
            self.policy(name)  # refuses a name that nobody knows before anything is run
        self._check_that_all_is_used()

    def _check_that_all_is_used(self) -> None:
        """Refuse settings of what is not run."""
        fields = type(self).__dataclass_fields__
        tasks = [self.task(name) for name in self.task_names] if self.bidders != fields["bidders"].default else []
        pooled = self.scores is None and "auctions" in self.tasks
        keys = {name.partition("@")[0] for name in self.policies}
        for name, used, needs in (
            ("bidders", not tasks or any(isinstance(task, AuctionTask) for task in tasks), "the task auctions"),
            ("item", pooled, "the task auctions"),
            ("aci_steps", "aci" in keys, "the policy aci"),
            ("etc_shares", {"etc", "conservative-etc"} & keys, "the policies etc or conservative-etc"),
        ):
            if getattr(self, name) != fields[name].default and not used:
                raise InvalidParameter(f"{name} is given, for {needs}, which is not run: add it, or drop {name}")

    def policy(
        self, name: str, setting: float | None = None, *, coverage: float | None = None, rounds: int | None = None
    ) -> Policy:
        """Return a policy of this experiment, with a setting from its grid; by default at its coverage and rounds."""
        return make_policy(self._text(name), coverage or self.coverage, rounds or self.rounds, setting)

    def entry(self, name: str) -> Entry:
        """Return the entry of a policy of this experiment."""
        return policy_entry(self._text(name))

    def _text(self, name: str) -> str:
        return dict(self.sources).get(name, name)

    @property
    def grids(self) -> dict[str, tuple[float, ...]]:
        """The policies whose setting is chosen by regret on separate streams, with their grids."""
        chosen = {"aci": self.aci_steps, "etc": self.etc_shares, "conservative-etc": self.etc_shares}
        grids = {name: chosen.get(name.partition("@")[0], self.entry(name).grid) for name in self.policies}
        return {
            name: grid
            for name, grid in grids.items()
            if grid and self.entry(name).setting not in given_settings(self._text(name))
        }

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the tasks that are run."""
        return self.tasks if self.scores is None else (self.task("").name,)

    @property
    def list_task_names(self) -> tuple[str, ...]:
        """The names of the tasks that list lengths are compared on: those that are run, and tools with the paper's."""
        return (*self.task_names, "tools") if self.scores is None and self.tasks == PAPER_TASKS else self.task_names

    def task(self, name: str) -> Task:
        """Return a task of this experiment."""
        item = self.item if name == "auctions" else None
        task = load_task(name, item) if self.scores is None else task_from_file(self.scores)
        return dataclasses.replace(task, bidders=self.bidders) if isinstance(task, AuctionTask) else task

    def generator(self, task: str, kind: str, run: int) -> np.random.Generator:
        """Return the random generator of one run, independent of what else is run.

        `kind` separates the streams that settings are chosen on from those that are reported.
        """
        entropy = [self.seed, zlib.crc32(task.encode()), zlib.crc32(kind.encode()), run]
        return np.random.default_rng(np.random.SeedSequence(entropy))


def _check_grid(name: str, grid: tuple[float, ...], rule: str, below: float) -> None:
    """Refuse a grid that nothing can be chosen from."""
    for value in grid:
        check_number(f"a value of {name}", value, "a number above 0", above=0.0)
    if not grid or len(set(grid)) < len(grid) or max(grid) >= below:
        listed = ", ".join(f"{value:g}" for value in grid) or "empty"
        raise InvalidParameter(f"{name} is {listed}; it must hold different {rule}")
