"""Compute three figures of the README's table of regret again, from the formulas, with nothing of this package.

``python tools/recompute.py [runs]``. Only numpy is imported: limits come from the formulas in
docs/explanation/theory.md, the threshold is the order statistic that they name, scores are read from the score file
that ships with the package.
"""

import bisect
import math
import sys
from pathlib import Path

import numpy as np

COVERAGE, ROUNDS = 0.9, 10_000
P0 = 0.1
SCORES = Path(__file__).parents[1] / "src" / "shortlist" / "lab" / "tasks" / "data" / "retrieval.npz"


def sps_limits() -> list[int]:
    """Return floor(n p0 - sqrt(n log T)), -1 while that is negative, never falling."""
    limits, k = [], -1
    for n in range(1, ROUNDS + 1):
        k = max(k, math.floor(n / 10 - math.sqrt(n * math.log(ROUNDS))))
        limits.append(k)
    return limits


def anytime_limits(delta: float) -> list[int]:
    """Return the largest k with e(n, j) >= 1/delta for all j <= k: nine tenths Beta(8, 92), one for no low score."""
    a, b = 8.0, 92.0

    def log_e(n: int, k: int) -> float:
        beta = math.lgamma(a + k) + math.lgamma(b + n - k) - math.lgamma(a + b + n)
        return (
            beta - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)) - k * math.log(P0) - (n - k) * math.log(0.9)
        )

    limits, k = [], -1
    for n in range(1, ROUNDS + 1):
        while k + 1 <= n and 0.9 * math.exp(log_e(n, k + 1)) + (0.1 / 0.9**n if k + 1 == 0 else 0.0) >= 1 / delta:
            k += 1
        limits.append(k)
    return limits


def regret(limits: list[int], scores: list[float], population: "np.ndarray") -> tuple[float, bool]:
    """Return the regret of one run, and whether its threshold passed the optimum.

    The threshold is the running maximum of the (k + 1)-th smallest score so far: what is below it never matters again.
    """
    seen: list[float] = []
    tau, total = -math.inf, 0.0
    miss = 0.0
    best = float(population[math.floor(len(population) * P0 + 1e-9)])
    at_best = np.searchsorted(population, best, side="left") / len(population)
    reward_of_best = -0.1 * (P0 - at_best)
    for score, k in zip(scores, limits, strict=True):
        total += reward_of_best - (-0.1 * (P0 - miss) if miss <= P0 else -10 * (miss - P0))
        bisect.insort(seen, score)
        if k >= 0 and seen[k] > tau:
            tau = seen[k]
            miss = float(np.searchsorted(population, tau, side="left")) / len(population)
    return total, tau > best


def main() -> None:
    """Print mean, median and how many runs passed, for three policies."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    population = np.sort(np.load(SCORES)["true_scores"].astype(np.float64))
    rng = np.random.default_rng(20261116)
    rules = {
        "SPS": sps_limits(),
        "AnytimeSPS, delta 2e-4": anytime_limits(2e-4),
        "AnytimeSPS, delta 0.01": anytime_limits(0.01),
    }
    results: dict[str, list[tuple[float, bool]]] = {name: [] for name in rules}
    for number in range(runs):
        scores = population[rng.integers(len(population), size=ROUNDS)].tolist()
        for name, limits in rules.items():
            results[name].append(regret(limits, scores, population))
        if number % 50 == 49:
            print(f"\r{number + 1:,} of {runs:,} runs ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for name, rows in results.items():
        values, passed = np.array([row[0] for row in rows]), sum(row[1] for row in rows)
        error = values.std(ddof=1) / math.sqrt(runs)
        mean, median = f"{values.mean():.2f} +- {error:.2f}", f"{np.median(values):.2f}"
        print(f"{name:24} mean {mean}, median {median}, passed {passed / runs:.2%}")


if __name__ == "__main__":
    main()
