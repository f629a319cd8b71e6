"""Compute the tables of regret in README.md and docs/explanation/theory.md again, and write them there.

``make measure NAME=tables``, some minutes on two cores. Regret has a heavy tail: a run that passes the optimum,
which happens with
probability delta at most, costs hundreds of times more than one that does not. Ten runs seldom have one, so a mean over
ten says little; these are means and medians over thousands, with the exact probability beside them.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

import shortlist
from shortlist.lab.run import law_of, run
from shortlist.lab.spec import Spec
from shortlist.metrics import Uniform, regret, undercoverage_count
from shortlist.policies import PAPER, make_policy

ROOT: Final = Path(__file__).parents[1]
#: What was computed, for the tests.
FILE: Final = ROOT / "benchmarks" / "tables.json"
RUNS: Final = 10_000
COVERAGE, ROUNDS = 0.9, 10_000
#: Coverages and horizons of the theory's table, and how many runs each.
GRID: Final = (
    (0.8, 10_000),
    (0.9, 1_000),
    (0.9, 10_000),
    (0.9, 100_000),
    (0.95, 10_000),
    (0.98, 10_000),
    (0.99, 10_000),
    (0.99, 100_000),
    (0.999, 100_000),
)
GRID_RUNS: Final = 2_000
_CHUNK: Final = 100


def measure(settings: dict[str, float], first: int, count: int) -> dict[str, list[list[float]]]:
    """Return regret, rounds past the optimum and list length of each policy in some runs of retrieval."""
    spec = Spec(tasks=("retrieval",), coverage=COVERAGE, rounds=ROUNDS)
    task = spec.task("retrieval")
    law = law_of(task)
    measured: dict[str, list[list[float]]] = {policy: [] for policy in PAPER}
    for number in range(first, first + count):
        stream = task.draw(spec.generator("retrieval", "run", number), ROUNDS)
        for policy in PAPER:
            rule = make_policy(policy, COVERAGE, ROUNDS, settings.get(policy))
            thresholds = shortlist.replay(rule, stream.true_scores)
            sizes = stream.set_sizes(thresholds)
            measured[policy].append(
                [
                    float(regret(thresholds, law, COVERAGE)[-1]),
                    float(undercoverage_count(thresholds, law, COVERAGE)[-1]),
                    float("nan") if sizes is None else float(np.mean(sizes)),
                ]
            )
    return measured


def uniform_regret(coverage: float, rounds: int, first: int, count: int) -> list[list[float]]:
    """Return the regret of SPS and of AnytimeSPS with the same guarantee, in some runs on uniform scores."""
    policies = (shortlist.SPS(coverage, rounds), shortlist.AnytimeSPS(coverage, 2 / rounds))
    regrets = []
    for number in range(first, first + count):
        scores = np.random.default_rng([7, number]).random(rounds)
        regrets.append([float(regret(shortlist.replay(p, scores), Uniform(), coverage)[-1]) for p in policies])
    return regrets


def exact(policy: str, settings: dict[str, float]) -> float | None:
    """Return the exact probability that a policy ever passes the optimum, if it has a boundary (without ties)."""
    rule = make_policy(policy, COVERAGE, ROUNDS, settings.get(policy))
    boundary = getattr(rule, "boundary", None)
    return None if boundary is None else shortlist.crossing_probability(boundary, COVERAGE, ROUNDS)


def first_cut(boundary: shortlist.Boundary, coverage: float, rounds: int) -> str:
    """Return the first round after which the threshold may move."""
    moved = np.flatnonzero(np.asarray(boundary.limits(coverage, rounds)) >= 0)
    return f"{moved[0] + 1:,}" if moved.size else "never"


def in_parts(what: str, runs: int, work: Callable[..., Any], *arguments: Any) -> Iterable[Any]:
    """Yield the results of parts of the runs, in order, from all cores; say how far it is."""
    with ProcessPoolExecutor() as pool:
        parts = [pool.submit(work, *arguments, first, _CHUNK) for first in range(0, runs, _CHUNK)]
        for number, part in enumerate(parts, 1):
            yield part.result()
            print(f"\r{what}: {number * _CHUNK:,} of {runs:,} runs ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def compute() -> dict[str, Any]:
    """Return all figures of the tables."""
    tuned = run(Spec(tasks=("retrieval",), runs=1), with_sweeps=False, with_lists=False).settings
    settings = {policy: setting for (_, policy), setting in tuned.items()}
    columns: dict[str, list[list[float]]] = {policy: [] for policy in PAPER}
    for part in in_parts("policies", RUNS, measure, settings):
        for policy, rows in part.items():
            columns[policy] += rows
    policies = {}
    for policy, rows in columns.items():
        regrets, past, lengths = np.array(rows).T
        policies[policy] = {
            "regret": float(regrets.mean()),
            "regret_error": float(regrets.std(ddof=1) / math.sqrt(RUNS)),
            "regret_median": float(np.median(regrets)),
            "passed": float(np.mean(past > 0)),
            "exact": exact(policy, settings),
            "rounds_past": float(past.mean()),
            "length": float(lengths.mean()),
        }
    grid = []
    for coverage, rounds in GRID:
        parts = in_parts(f"coverage {coverage}, {rounds:,} rounds", GRID_RUNS, uniform_regret, coverage, rounds)
        sps, anytime = np.concatenate([np.array(part) for part in parts]).T
        boundaries = (shortlist.DKW(rounds), shortlist.BetaBinomial(2 / rounds), shortlist.BetaBinomial(0.01))
        grid.append(
            {
                "coverage": coverage,
                "rounds": rounds,
                "first_cuts": [first_cut(boundary, coverage, rounds) for boundary in boundaries],
                "means": [float(sps.mean()), float(anytime.mean())],
                "medians": [float(np.median(sps)), float(np.median(anytime))],
                "exact": [shortlist.crossing_probability(boundary, coverage, rounds) for boundary in boundaries[:2]],
            }
        )
    return {"runs": RUNS, "grid_runs": GRID_RUNS, "settings": settings, "policies": policies, "grid": grid}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _probability(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if value >= 5e-4 else f"{value:.1e}".replace("e-0", "e-")


def readme_table(figures: dict[str, Any]) -> str:
    """Return the README's table of policies, those with the least regret first."""
    lines = [
        "| policy | guarantee | horizon | regret: mean | median | passes the optimum, at most | rounds past it "
        "| list length |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for policy, row in sorted(figures["policies"].items(), key=lambda item: item[1]["regret"]):
        variant = PAPER[policy]
        error = row["regret_error"]
        mean = _number(row["regret"]) + (f" ± {_number(error)}" if error >= 0.05 else "")
        cells = [mean, _number(row["regret_median"]), _probability(row["exact"]), _number(row["rounds_past"])]
        lines.append(
            f"| {variant.code} | {variant.guarantee} | {variant.horizon} | {' | '.join(cells)} | {row['length']:.1f} |"
        )
    return "\n".join(lines)


def theory_table(figures: dict[str, Any]) -> str:
    """Return the theory's table of coverages and horizons."""
    lines = [
        "| $c$ | $T$ | first cut: SPS / anytime 2/T / 0.01 | mean regret: SPS / anytime 2/T | ratio | medians "
        "| exact crossing: SPS / anytime |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in figures["grid"]:
        sps, anytime = row["means"]
        lines.append(
            f"| {row['coverage']} | {row['rounds']:,} | {' / '.join(row['first_cuts'])} | {sps:.1f} / {anytime:.1f} "
            f"| {anytime / sps:.2f} | {row['medians'][0]:.1f} / {row['medians'][1]:.1f} "
            f"| {row['exact'][0]:.2e} / {row['exact'][1]:.2e} |"
        )
    return "\n".join(lines)


def replace(page: Path, mark: str, table: str) -> None:
    """Write a table between its two marks on a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end {mark} -->")
    if not end:
        sys.exit(f"{page} has no place for the table of {mark}")
    page.write_text(f"{before}{begin}{table}\n{end}{after}", encoding="utf-8")


def main() -> None:
    """Compute, and write pages and figures; with ``--pages``, the pages alone from what was computed before."""
    if "--pages" not in sys.argv:
        FILE.write_text(json.dumps(compute(), indent=1) + "\n", encoding="utf-8")
    figures = json.loads(FILE.read_text(encoding="utf-8"))
    replace(ROOT / "README.md", "policies", readme_table(figures))
    replace(ROOT / "docs" / "explanation" / "theory.md", "regret", theory_table(figures))


if __name__ == "__main__":
    main()
