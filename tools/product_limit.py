"""Short from the first list: lengths and coverage of the default lister on real scores; three minutes.

For each task: mean list length over all rounds, the first 200 and the last 500; coverage, its worst 500 rounds in a
row, and the excess of misses over (1 - coverage) W in any W rounds (the bound is the error budget, 20 at coverage 0.9);
and the smallest fixed top-k of the best fixed ranking that covers 90 % of the same rounds, known only in hindsight.

    make measure NAME=product_limit ARGS='--others FILE'

`--others` adds score files of two scorers: npz with `dense` and `bm25` (lists x candidates) and `right`. `--wrong`
breaks the rule on purpose, as a control.
"""

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shortlist.lab.lister_replay import run_lister
from shortlist.lab.scored_lists import Lists
from shortlist.lab.tasks import load_task
from shortlist.policies import AnytimeSPS, Policy, ProductLimit, product_limit
from shortlist.rounds.settings import Settings

Array = Any
ESTIMATE = product_limit.estimate


class Row(NamedTuple):
    """One run."""

    length: float
    first: float
    last: float
    coverage: float
    worst: float
    excess: float
    lengthened: float
    base: float
    topk: float


@cache
def tasks(others: tuple[Path, ...] = ()) -> dict[str, tuple[Array, Array]]:
    """Return the lists of each task, lists x candidates x scorers, and the position of each right answer."""
    lists: dict[str, tuple[Array, Array]] = {}
    for name in ("retrieval", "images", "tools"):
        scores = load_task(name).scores
        if len(scores.scorers) > 1:
            lists[f"{name}, one scorer"] = scores.tables[:, :, :1], scores.true_columns
        lists[f"{name}, {len(scores.scorers)} scorers"] = scores.tables, scores.true_columns
    for path in others:
        file = np.load(path)
        lists[path.stem] = np.stack([file["dense"], file["bm25"]], 2).astype(float), file["right"].astype(int)
    return lists


def excess(covered: Array, coverage: float) -> float:
    """Return the largest number of misses beyond (1 - coverage) W in any W rounds in a row."""
    walk = np.concatenate([[0.0], np.cumsum(~covered - (1 - coverage))])
    return float((walk - np.minimum.accumulate(walk)).max())


def top_k(values: Array, right: Array, coverage: float) -> float:
    """Return the smallest fixed k of the best fixed ranking: each scorer, rank fusion, and the sum of z-scores."""
    count = values.shape[2]
    ranks = (-values).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    deviation = values.std(1, keepdims=True)
    z = (values - values.mean(1, keepdims=True)) / np.where(deviation > 0, deviation, 1.0)
    rankings = [values[:, :, j] for j in range(count)]
    if count > 1:
        rankings += [(1 / (60 + ranks)).sum(2), z.sum(2)]
    best = math.inf
    for each in rankings:
        rank = (-each).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")[np.arange(len(right)), right]
        best = min(best, float(np.quantile(rank, coverage, method="higher")) + 1)
    return best


def mistaken(
    wrong: str, values: list[float], share: float, now: float = -math.inf, _bound: float = math.inf
) -> tuple[float, bool, float]:
    """Return an estimate that drops misses, takes them as minus infinity, or does not step down."""
    pairs = list(zip(values[::2], values[1::2], strict=True))
    if wrong == "dropped":
        pairs = [(y, censored) for y, censored in pairs if not censored]
    if wrong == "minus-infinity":
        pairs = [(-math.inf if censored else y, censored) for y, censored in pairs]
    threshold, identified, bound = ESTIMATE([number for pair in pairs for number in pair], share, now)
    if not identified and wrong == "lowest":
        threshold = min((y for y, censored in pairs if not censored), default=threshold)
    return threshold, identified, bound


def one(given: tuple[tuple[Path, ...], str, Policy, int, int, int | None, str]) -> Row:
    """Run a lister on one task."""
    others, name, policy, rounds, seed, budget, wrong = given
    product_limit.estimate = partial(mistaken, wrong) if wrong else ESTIMATE
    values, right = tasks(others)[name]
    rows = np.random.default_rng(seed).integers(len(right), size=rounds)
    used, which = np.unique(rows, return_inverse=True)
    settings = Settings(policy=policy, miss_budget=20)
    if budget is None:
        object.__setattr__(settings, "miss_budget", None)  # no lister may: for comparison
    scorers = ("",) if values.shape[2] == 1 else tuple(f"s{j}" for j in range(values.shape[2]))
    run = run_lister(Lists(values[used], right[used], scorers), which, settings)
    lengths, covered = run.lengths.astype(float), run.covered
    coverage = policy.coverage  # type: ignore[attr-defined]
    return Row(
        lengths.mean(),
        lengths[:200].mean(),
        lengths[-500:].mean(),
        covered.mean(),
        np.convolve(covered, np.ones(500) / 500, "valid").min(),
        excess(covered, coverage),
        (run.added > 0).mean(),
        (lengths - run.added).mean(),
        top_k(values[rows], right[rows], coverage),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--others", type=Path, nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--delta", type=float, help="the guarantee about every list instead")
    parser.add_argument("--no-budget", action="store_true", help="for comparison")
    parser.add_argument("--tasks", default="")
    parser.add_argument("--wrong", choices=["dropped", "minus-infinity", "lowest"], default="")
    options = parser.parse_args()
    policy: Policy = ProductLimit(options.coverage)
    if options.delta is not None:
        policy = AnytimeSPS(options.coverage, options.delta)
    others = tuple(options.others)
    names = [name for name in tasks(others) if options.tasks in name]
    print(f"{policy}, {options.runs} runs of {options.rounds} rounds")
    print(
        "mean (worst run) | length | first 200 | last 500 | coverage | worst 500 | excess | lengthened | base | top-k"
    )
    budget = None if options.no_budget else 20
    with ProcessPoolExecutor(2) as pool:
        for name in names:
            jobs = [(others, name, policy, options.rounds, seed, budget, options.wrong) for seed in range(options.runs)]
            rows = np.array(list(pool.map(one, jobs)))
            mean = rows.mean(0)
            bad = np.where(np.isin(np.arange(len(Row._fields)), (3, 4)), rows.min(0), rows.max(0))
            cells = " | ".join(f"{a:.3f} ({b:.3f})" for a, b in zip(mean, bad, strict=True))
            shorter = int((rows[:, 0] < rows[:, -1]).sum())
            print(f"{name} | {cells} | shorter than top-k in {shorter} of {len(rows)}", flush=True)


if __name__ == "__main__":
    main()
