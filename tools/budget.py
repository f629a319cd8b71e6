"""Choose the constants of the error budget: ``make measure NAME=budget``, or ``python tools/budget.py [runs]``.

Lists with the budget beside the same lists without it, coverage 0.9, delta 0.05, the score as shipped. Stationary: 30
paired runs of 10,000 and of 40,000 rounds; "last" are the last 1,000. Shifts: six runs of 10,000 rounds of each. The
constants are chosen on images, retrieval and auctions; tools is reported. The table of sizes goes into
docs/explanation/field.md.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from tables import replace

from shortlist import AnytimeSPS
from shortlist.lab.default_lister import shipped
from shortlist.lab.field import shifting_task, worst_window
from shortlist.lab.lister_replay import run_lister
from shortlist.lab.lists import lists_of
from shortlist.lab.scored_lists import Array, Lists, Rows, Scored, lengths_at, score_lists
from shortlist.lab.shifted_streams import SHIFTS
from shortlist.lab.spec import Spec
from shortlist.rounds.settings import Settings, default_budget

PAGE: Final = Path(__file__).parents[1] / "docs" / "explanation" / "field.md"
COVERAGE, LAST, WINDOW = 0.9, 1_000, 500
HORIZONS: Final = (10_000, 40_000)
POLICY: Final = AnytimeSPS(COVERAGE, 0.05)
TASKS: Final = ("images", "retrieval", "auctions", "tools")
SIZES: Final = (5, 10, 15, 20, 30, 40)
SOFT: Final = (0.25, 0.4, 0.5, 0.6, 2 / 3, 0.75, 0.9)
GROWTHS: Final = ("m^u", "m^(u^2)", "m^sqrt(u)", "u m", "b (m/b)^u")
#: As shipped: where lists start to grow, as a share of H - 1, and how.
SHIPPED_SOFT: Final = 0.6
SHIFT_RUNS: Final = 6

Sizes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bases:
    """The base lists of a run, the candidates that reach the threshold: under `AnytimeSPS` no budget moves it."""

    #: The length of each list; how many candidates come before the right answer, all if it is absent; the candidates.
    lengths: Sizes
    places: Sizes
    counts: Sizes


def bases_of(scored: Scored, rows: Rows, thresholds: Array) -> Bases:
    """Return the base lists of some rounds, sorted by score, then by raw score if there is one scorer."""
    lists, right = scored.lists, scored.lists.right[:, None]
    earlier = np.arange(scored.scores.shape[1]) < right
    if len(lists.scorers) == 1:
        raw = np.where(lists.there, lists.values[:, :, 0], -np.inf)
        own = np.take_along_axis(raw, np.maximum(right, 0), axis=1)
        earlier = (raw > own) | ((raw == own) & earlier)
    true = scored.true[:, None]
    before = ((scored.scores > true) | ((scored.scores == true) & earlier)).sum(axis=1, dtype=np.int64)
    places = np.where(lists.right < 0, lists.counts, before)
    return Bases(lengths_at(scored, rows, thresholds), places[rows], lists.counts[rows])


class Rule(NamedTuple):
    """A budget: its size, where lists start to grow, and how they do (a number of `GROWTHS`)."""

    size: int = default_budget(0.9)
    soft: float = SHIPPED_SOFT
    growth: int = 0


class Longer(NamedTuple):
    """By which share lists are longer than without the budget, over all rounds and over the last."""

    all: float
    last: float


@numba.njit(cache=True)
def walk(base: Any, before: Any, count: Any, rule: Any, lengthened: Any) -> Any:
    """Return lengths, and whether the right answer was shown: `shortlist.rounds.budget` with other rules."""
    size, soft, growth = rule
    spent, full = 0, 10 * (size - 1) + 1
    start = math.floor(round(soft * (size - 1) * 10, 6))
    lengths, covered = np.empty(base.size, np.int64), np.empty(base.size, np.bool_)
    for i in range(base.size):
        m, b, more = count[i], max(base[i], 1), 0
        if spent > full:
            more = m
        elif spent > start and lengthened:
            u = (spent - start) / (full - start)
            if growth == 0:
                more = math.ceil(m**u)
            elif growth == 1:
                more = math.ceil(m ** (u * u))
            elif growth == 2:
                more = math.ceil(m ** math.sqrt(u))
            elif growth == 3:
                more = math.ceil(m * u)
            else:
                more = max(1, math.ceil(b * (m / b) ** u) - base[i])
        lengths[i] = min(m, base[i] + more)
        covered[i] = before[i] < lengths[i]
        spent = spent + 9 if not covered[i] and lengths[i] < m else max(0, spent - 1)
    return lengths, covered


def spend(bases: Bases, rule: Rule, *, lengthened: bool = True) -> tuple[Sizes, NDArray[np.bool_]]:
    """Return lengths, and whether the right answer was shown."""
    shown: tuple[Sizes, NDArray[np.bool_]] = walk(
        bases.lengths, bases.places, bases.counts, (rule.size, float(rule.soft), rule.growth), lengthened
    )
    return shown


def stationary(task: str, rounds: int, runs: int, *, every: bool) -> list[Bases]:
    """Return the base lists of stationary runs, by the first scorer or by every one."""
    spec = Spec(rounds=rounds, coverage=COVERAGE)
    lists: Lists = lists_of(spec.task(task)) if every else lists_of(spec.task(task)).first
    bases = []
    for run in range(runs):
        stream = spec.task(task).draw(spec.generator(task, "budget", run), rounds)
        assert stream.candidates is not None  # noqa: S101 - tasks with lists
        rows = stream.candidates[1]
        lister = run_lister(lists, rows, Settings(policy=POLICY))
        assert lister.score is not None  # noqa: S101 - it is learned
        bases.append(bases_of(score_lists(lists, lister.score), rows, lister.thresholds))
    return bases


def longer(runs: Iterable[Bases], rule: Rule) -> Longer:
    """Return by how much a budget lengthens stationary lists."""
    pairs = [(spend(bases, rule)[0], bases.lengths) for bases in runs]
    over_all = sum(a.mean() for a, _ in pairs) / sum(b.mean() for _, b in pairs)
    last = sum(a[-LAST:].mean() for a, _ in pairs) / sum(b[-LAST:].mean() for _, b in pairs)
    return Longer(float(over_all) - 1, float(last) - 1)


def shifted() -> Iterator[tuple[str, str, bool, Bases]]:
    """Yield the base lists of runs under shifts: the task, the shift, whether an alarm restarts, the lists."""
    spec = Spec(coverage=COVERAGE)
    for task in TASKS:
        for shift in SHIFTS[1:]:
            shifting = shifting_task(task, shift)
            for run in range(SHIFT_RUNS):
                stream = shifting.draw(spec.generator(task, f"budget {shift}", run), spec.rounds)
                for alarm in (False, True):
                    lister = shipped(shifting, stream, POLICY, on_drift="restart" if alarm else None)
                    yield task, shift, alarm, bases_of(lister.scored, lister.rows, lister.run.thresholds)
            print(f"\r{task}, {shift}: drawn   ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


class Shifted:
    """Runs under shifts, and what a rule does on them."""

    def __init__(self) -> None:
        self.runs = list(shifted())

    def end(self, task: str, alarm: bool) -> float:
        """Return the mean length in the last rounds after an abrupt shift."""
        runs = [bases for name, shift, setting, bases in self.runs if (name, shift, setting) == (task, "abrupt", alarm)]
        shown = [spend(bases, Rule(), lengthened=task != "auctions")[0] for bases in runs]
        return float(np.mean([lengths[-LAST:].mean() for lengths in shown]))

    def of(self, task: str, rule: Rule, alarm: bool = False) -> tuple[float, float, float]:
        """Return the mean length (geometric over shifts), the mean worst window, and that of the worst run."""
        lengths: dict[str, list[float]] = {}
        worst = []
        for name, shift, setting, bases in self.runs:
            if name == task and setting == alarm:
                shown, covered = spend(bases, rule, lengthened=task != "auctions")
                lengths.setdefault(shift, []).append(float(shown.mean()))
                worst.append(worst_window(covered, WINDOW))
        mean = math.exp(float(np.mean([math.log(np.mean(each)) for each in lengths.values()])))
        return mean, float(np.mean(worst)), min(worst)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_words(measured: tuple[float, float, float]) -> str:
    """Return length, mean worst window, worst window of the worst run."""
    return f"{measured[0]:.2f} / {measured[1]:.3f} / {measured[2]:.3f}"


def percent(value: Longer) -> str:
    """Return by how much lists are longer."""
    return f"{100 * value.all:+.1f} / {100 * value.last:+.1f} %"


def main() -> None:
    """Print all tables, and write that of sizes into the page."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    cases = {
        (task, every, rounds): stationary(task, rounds, runs, every=every)
        for rounds in HORIZONS
        for task, every in (
            ("images", False),
            ("retrieval", False),
            ("tools", False),
            ("retrieval", True),
            ("tools", True),
        )
    }
    print(f"\nStationary, as shipped, {runs} paired runs: lists longer by (all rounds / last {LAST:,})\n")
    bars = []
    for (task, every, rounds), bases in cases.items():
        value = longer(bases, Rule())
        holds = value.all <= 0.04 and value.last <= 0.08
        bars.append([f"{task}{', two scorers' * every}", f"{rounds:,}", percent(value), "yes" if holds else "NO"])
    print(table(["task", "rounds", "longer", "at most 4 / 8 %"], bars), flush=True)

    under_shifts = Shifted()
    single = [key for key in cases if not key[1]]
    head = ["", *(f"{task}, {rounds:,}" for task, _, rounds in single), *(f"shifts, {task}" for task in TASKS)]

    def line(name: str, rule: Rule) -> list[str]:
        return [
            name,
            *(percent(longer(cases[key], rule)) for key in single),
            *(in_words(under_shifts.of(task, rule)) for task in TASKS),
        ]

    print("\nWhere lists start to grow, h / (H - 1)\n")
    print(table(head, [line(f"{soft:.2f}", Rule(soft=soft)) for soft in SOFT]))
    print("\nHow they grow\n")
    print(table(head, [line(name, Rule(growth=number)) for number, name in enumerate(GROWTHS)]))
    print("\nAlarm and restart beside it\n")
    cases_of = (("none", False), ("restart", True))
    alarms = [[name, *(in_words(under_shifts.of(task, Rule(), alarm)) for task in TASKS)] for name, alarm in cases_of]
    print(table(["on_drift", *TASKS], alarms))
    print(f"\nThe last {LAST:,} rounds after an abrupt shift\n")
    ends = [[name, *(f"{under_shifts.end(task, alarm):.2f}" for task in TASKS)] for name, alarm in cases_of]
    print(table(["on_drift", *TASKS], ends))
    sizes = sizes_table(cases, under_shifts)
    print(f"\nHow large\n\n{sizes}")
    replace(PAGE, "budget", sizes)


def sizes_table(cases: dict[tuple[str, bool, int], list[Bases]], under_shifts: Shifted) -> str:
    """Return the page's table: what each size of the budget guarantees, and costs."""
    rows = []
    for size in SIZES:
        rule, guaranteed = Rule(size=size), 1 - ((1 - COVERAGE) * WINDOW + size) / WINDOW
        cost = [longer(cases[task, False, rounds], rule) for rounds in HORIZONS for task in ("images", "retrieval")]
        under = [under_shifts.of(task, rule) for task in ("images", "retrieval", "tools")]
        rows.append(
            [
                f"**{size}**" if size == default_budget(0.9) else str(size),
                f"{100 * guaranteed:.0f} %",
                f"{100 * min(worst for _, _, worst in under):.1f} %",
                *(f"{100 * value.last:+.0f} %" for value in cost),
                *(f"{length:.1f}" for length, _, _ in under),
            ]
        )
    head = ["`miss_budget`", "any 500 rounds cover at least", "worst run", "images, 10,000", "retrieval, 10,000"]
    head += ["images, 40,000", "retrieval, 40,000", "images, shifts", "retrieval, shifts", "tools, shifts"]
    return table(head, rows)


if __name__ == "__main__":
    main()
