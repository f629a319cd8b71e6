"""Print the table of docs/explanation/theory.md: first cut, regret and exact crossing probabilities."""

import numpy as np

import shortlist
from shortlist.metrics import Uniform, regret

GRID = ((0.8, 10_000), (0.9, 1_000), (0.9, 10_000), (0.9, 100_000), (0.95, 10_000), (0.99, 100_000))
RUNS = 20


def first_cut(boundary: shortlist.Boundary, coverage: float, rounds: int) -> str:
    """Return the first round after which the threshold may move."""
    moved = np.flatnonzero(np.asarray(boundary.limits(coverage, rounds)) >= 0)
    return f"{moved[0] + 1:,}" if moved.size else "never"


def mean_regret(policy: shortlist.Policy, coverage: float, rounds: int) -> float:
    """Return the regret on uniform scores."""
    ends = []
    for seed in range(RUNS):
        scores = np.random.default_rng(seed).random(rounds)
        ends.append(float(regret(shortlist.replay(policy, scores), Uniform(), coverage)[-1]))
    return float(np.mean(ends))


def row(coverage: float, rounds: int) -> str:
    """Return a row of the table."""
    sps, same, loose = shortlist.DKW(rounds), shortlist.BetaBinomial(2 / rounds), shortlist.BetaBinomial(0.05)
    cuts = " / ".join(first_cut(boundary, coverage, rounds) for boundary in (sps, same, loose))
    policies = (shortlist.SPS(coverage, rounds), shortlist.AnytimeSPS(coverage, 2 / rounds))
    regrets = " / ".join(f"{mean_regret(policy, coverage, rounds):.1f}" for policy in policies)
    crossings = " / ".join(f"{shortlist.crossing_probability(b, coverage, rounds):.2e}" for b in (sps, same))
    return f"| {coverage} | {rounds:,} | {cuts} | {regrets} | {crossings} |"


def main() -> None:
    """Print all rows."""
    for coverage, rounds in GRID:
        print(row(coverage, rounds))


if __name__ == "__main__":
    main()
