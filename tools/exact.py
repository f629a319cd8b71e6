"""Compute the exact regret of boundaries, simulate it, and find the best boundary; write docs/explanation/theory.md.

``make measure NAME=exact``, ten minutes on two cores. The mean regret of a boundary is the mean, over a uniform u,
of what the
first crossing of the walk of scores at or below u costs (`shortlist.boundaries.exact_regret`). Under a uniform u
that walk is Polya's urn, a Markov chain on (n, N_n), so the best boundary with a given crossing probability solves an
optimal-stopping problem on it, backwards, with a price per unit of crossing probability.
"""

import json
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tables import replace

import shortlist
from shortlist._validation import miss_rate
from shortlist.boundaries import expected_regret
from shortlist.boundaries.crossing import crossing
from shortlist.boundaries.exact_regret import regret_of_limits
from shortlist.metrics import Uniform, regret

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "benchmarks" / "exact.json"
COVERAGES: Final = (0.8, 0.9, 0.95)
#: Horizons, and how many runs are simulated of each.
RUNS: Final = {1_000: 10_000, 10_000: 10_000, 100_000: 10_000}
#: Horizons for which the best boundary is sought.
SEARCHED: Final = (1_000, 10_000)
LAMBDA1, LAMBDA2 = 0.1, 10.0
_CHUNK: Final = 100
Limits = NDArray[np.int64]


class Stopping(NamedTuple):
    """The least regret plus price times crossing probability, and the limits where it pays to stop."""

    value: float
    limits: Limits


def rules(rounds: int) -> dict[str, shortlist.Boundary]:
    """Return the boundaries of the table, by name."""
    return {
        "SPS": shortlist.DKW(rounds),
        "beta-binomial, 2/T": shortlist.BetaBinomial(2 / rounds, first_cut=0.0),
        "beta-binomial, 0.05": shortlist.BetaBinomial(0.05, first_cut=0.0),
        "Calibrated, 2/T": shortlist.Calibrated(2 / rounds, rounds),
        "Calibrated, 0.05": shortlist.Calibrated(0.05, rounds),
    }


def stop_best(coverage: float, rounds: int, price: float) -> Stopping:
    """Minimize regret plus `price` times the crossing probability over all stopping rules of the walk, backwards.

    In state (n, j) stopping costs (T - n) (lambda2 S - lambda1 (1 - S)) with S = P(u > p0 | N_n = j), and the price
    times the likelihood ratio of p0 against the uniform u; going on costs the mean of the two next states. States ten
    standard deviations above the mean go on: from there no rule that is worth anything stops.
    """
    p0 = float(miss_rate(coverage))
    log_factorial = np.array([math.lgamma(n + 1.0) for n in range(rounds + 1)])
    numbers = np.arange(rounds + 2)

    def top(n: int) -> int:
        return min(n, math.ceil(n * p0 + 10.0 * math.sqrt(n * p0 * (1.0 - p0)) + 40))

    limits = np.full(rounds - 1, -1, dtype=np.int64)
    value = np.zeros(top(rounds) + 1)
    for n in range(rounds - 1, 0, -1):
        j = numbers[: top(n) + 1]
        later = np.zeros(j.size + 1)
        later[: value.size] = value[: later.size]
        go_on = ((j + 1) * later[1:] + (n + 1 - j) * later[:-1]) / (n + 2)
        log_choose = log_factorial[n] - log_factorial[j] - log_factorial[n - j]
        at = np.exp(log_choose + j * math.log(p0) + (n - j) * math.log1p(-p0))  # P(Bin(n, p0) = j)
        past = np.cumsum(at) - p0 * at  # P(Bin(n + 1, p0) <= j)
        stop = (rounds - n) * (LAMBDA2 * past - LAMBDA1 * (1.0 - past)) + price * (n + 1) * at
        pays = np.flatnonzero(stop < go_on)
        limits[n - 1] = pays[-1] if pays.size else -1
        value = np.minimum(stop, go_on)
    return Stopping(LAMBDA1 * p0 * rounds + float(value[:2].mean()), limits)


def best(coverage: float, rounds: int, delta: float) -> dict[str, float]:
    """Return what no boundary with a crossing probability of at most delta can be below, and one that comes near it.

    For every price, the least of regret + price (crossing - delta) over all stopping rules is such a bound (weak
    duality): the highest over the prices is returned. Where stopping pays up to k_n, the running maximum of k_n is
    the boundary; the price is bisected until that boundary spends delta.
    """

    def spent(stopping: Stopping) -> float:
        return crossing(np.maximum.accumulate(stopping.limits), coverage)

    price, stopping = 0.0, stop_best(coverage, rounds, 0.0)
    bound = stopping.value
    if spent(stopping) > delta:
        low, high = math.log(1e-2), math.log(1e3 * rounds)
        for _ in range(24):
            middle = (low + high) / 2.0
            tried = stop_best(coverage, rounds, math.exp(middle))
            bound = max(bound, tried.value - math.exp(middle) * delta)
            if spent(tried) > delta:
                low = middle
            else:
                high, price, stopping = middle, math.exp(middle), tried
    limits = np.maximum.accumulate(stopping.limits)
    return {
        "coverage": coverage,
        "rounds": rounds,
        "delta": delta,
        "price": price,
        "bound": bound,
        "reached": regret_of_limits(limits, coverage, rounds),
        "spent": spent(stopping),
        "calibrated": expected_regret(shortlist.Calibrated(delta, rounds), coverage, rounds),
    }


def simulate(coverage: float, rounds: int, first: int, count: int) -> list[list[float]]:
    """Return the regret of each rule in some runs on uniform scores."""
    policies = [shortlist.OrderStatistic(coverage, boundary) for boundary in rules(rounds).values()]
    rows = []
    for number in range(first, first + count):
        scores = np.random.default_rng([28, number]).random(rounds)
        rows.append([float(regret(shortlist.replay(policy, scores), Uniform(), coverage)[-1]) for policy in policies])
    return rows


def compute() -> dict[str, Any]:
    """Return all figures."""
    grid, searched = [], []
    with ProcessPoolExecutor() as pool:
        for rounds, runs in RUNS.items():
            for coverage in COVERAGES:
                parts = [pool.submit(simulate, coverage, rounds, at, _CHUNK) for at in range(0, runs, _CHUNK)]
                exact = list(pool.map(expected_regret, rules(rounds).values(), [coverage] * 5, [rounds] * 5))
                sample = np.concatenate([np.array(part.result()) for part in parts])
                errors = sample.std(axis=0, ddof=1) / math.sqrt(runs)
                rows = zip(rules(rounds), exact, sample.mean(axis=0).tolist(), errors.tolist(), strict=True)
                grid += [
                    {"coverage": coverage, "rounds": rounds, "rule": name, "exact": at, "mean": mean, "error": error}
                    for name, at, mean, error in rows
                ]
                print(f"coverage {coverage}, {rounds:,} rounds", file=sys.stderr)
        cells = [(c, rounds, delta) for rounds in SEARCHED for c in COVERAGES for delta in (2 / rounds, 0.005, 0.05)]
        searched = list(pool.map(best, *zip(*cells, strict=True)))
    return {"runs": {str(rounds): runs for rounds, runs in RUNS.items()}, "grid": grid, "best": searched}


def _number(value: float) -> str:
    return f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def exact_table(figures: dict[str, Any]) -> str:
    """Return the table of exact and simulated regret."""
    names = list(rules(1_000))
    lines = [f"| $T$ | $c$ | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    cells = {(row["rounds"], row["coverage"], row["rule"]): row for row in figures["grid"]}
    for rounds, coverage in sorted({key[:2] for key in cells}):
        rows = [cells[rounds, coverage, name] for name in names]
        shown = [f"**{_number(row['exact'])}** ({_number(row['mean'])} ± {row['error']:.2f})" for row in rows]
        lines.append(f"| {rounds:,} | {coverage} | {' | '.join(shown)} |")
    return "\n".join(lines)


def best_table(figures: dict[str, Any]) -> str:
    """Return the table of the best boundaries."""
    lines = [
        "| $T$ | $c$ | delta | lower bound | best boundary "
        "| its crossing probability | `Calibrated` | above the bound |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in figures["best"]:
        delta = "2/T" if row["delta"] == 2 / row["rounds"] else f"{row['delta']:g}"
        lines.append(
            f"| {row['rounds']:,} | {row['coverage']} | {delta} | {row['bound']:.3f} | {row['reached']:.3f} "
            f"| {row['spent']:.2g} | {row['calibrated']:.3f} | {row['calibrated'] / row['bound'] - 1:.1%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Compute, and write the page; with ``--pages``, the page alone from what was computed before."""
    if "--pages" not in sys.argv:
        FILE.write_text(json.dumps(compute(), indent=1) + "\n", encoding="utf-8")
    figures = json.loads(FILE.read_text(encoding="utf-8"))
    page = ROOT / "docs" / "explanation" / "theory.md"
    replace(page, "exact", exact_table(figures))
    replace(page, "best", best_table(figures))


if __name__ == "__main__":
    main()
