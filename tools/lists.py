"""Measure how long lists are, beside what a reader does today: ``make measure NAME=lists``.

30 paired runs of 10,000 rounds at coverage 0.9 and delta 2/T. "Last" are the last 1,000 rounds. The fixed top-k is the
smallest that covers as much as auto does in the same rounds of the same run, which nobody knows beforehand.
"""

import sys
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shortlist import AnytimeSPS, replay
from shortlist.lab import list_baselines
from shortlist.lab.list_baselines import ReciprocalRankFusion, Way, cut, smallest_k
from shortlist.lab.lister_replay import learn
from shortlist.lab.lists import FIXED, lists_of
from shortlist.lab.scored_lists import Lists, score_lists
from shortlist.lab.spec import Spec
from shortlist.scores import Raw, name_of

ROUNDS, COVERAGE, LAST = 10_000, 0.9, 1_000
TASKS: Final = ("retrieval", "images", "tools")
#: Runs with useless scorers beside the good ones.
DISTURBED_RUNS: Final = 20
POLICY: Final = AnytimeSPS(COVERAGE, 2 / ROUNDS)
Array = NDArray[np.float64]
Rows = list[NDArray[np.intp]]


@dataclass(frozen=True)
class Measured:
    """Of each run: list length in the last rounds and in all, coverage in both, rounds past the optimum."""

    last: Array
    all: Array
    coverage_last: Array
    coverage: Array
    past: Array


def measured(ways: list[Way]) -> Measured:
    """Return the figures of one way of making lists in all runs."""
    ends = [way.last(LAST) for way in ways]
    return Measured(
        np.array([way.sizes.mean() for way in ends]),
        np.array([way.sizes.mean() for way in ways]),
        np.array([way.coverage for way in ends]),
        np.array([way.coverage for way in ways]),
        np.array([way.past for way in ways]),
    )


def rounds_of(name: str, runs: int) -> Rows:
    """Return the rounds of each run, as rows of the task's lists: the same as ``shortlist reproduce`` has."""
    spec = Spec(rounds=ROUNDS, coverage=COVERAGE)
    streams = [spec.task(name).draw(spec.generator(name, "run", run), ROUNDS) for run in range(runs)]
    return [stream.candidates[1] for stream in streams if stream.candidates is not None]


def auto(lists: Lists, runs: Rows) -> Measured:
    """Return the figures of the learned score."""
    return measured([list_baselines.auto(lists, rows, POLICY, COVERAGE) for rows in runs])


def fixed(lists: Lists, score: Any, runs: Rows) -> Measured:
    """Return the figures of a fixed score."""
    scored = score_lists(lists, score)
    return measured([cut(scored, rows, replay(POLICY, scored.true[rows]), COVERAGE) for rows in runs])


def top_k(lists: Lists, score: Any, runs: Rows, ours: Measured) -> tuple[Array, Array]:
    """Return the fixed lengths that cover as much as ours in the last rounds, and in all."""
    scored = score_lists(lists, score)
    last = [smallest_k(scored, rows[-LAST:], c)[0] for rows, c in zip(runs, ours.coverage_last, strict=True)]
    everything = [smallest_k(scored, rows, c)[0] for rows, c in zip(runs, ours.coverage, strict=True)]
    return np.array(last, dtype=float), np.array(everything, dtype=float)


def top_k_learned(lists: Lists, runs: Rows, ours: Measured) -> tuple[Array, Array]:
    """Return the same for a top-k by the score that each run learns: what its threshold adds."""
    pairs = []
    for rows, last, over_all in zip(runs, ours.coverage_last, ours.coverage, strict=True):
        scored = score_lists(lists, learn(lists, rows, POLICY))
        pairs.append((smallest_k(scored, rows[-LAST:], last)[0], smallest_k(scored, rows, over_all)[0]))
    lengths = np.array(pairs, dtype=float)
    return lengths[:, 0], lengths[:, 1]


def disturbed(lists: Lists) -> dict[str, Lists]:
    """Return two good scorers with useless ones beside them."""
    rng = np.random.default_rng(22)
    shape = lists.values.shape[:2]
    extra = {
        "noise": rng.normal(size=shape),
        "constant": np.ones(shape),
        "half missing": np.where(rng.random(shape) < 0.5, np.nan, rng.normal(size=shape)),
        "half of dense": np.where(rng.random(shape) < 0.5, np.nan, lists.values[:, :, 0]),
    }
    worlds = {name: {name: column} for name, column in extra.items()}
    worlds["noise, constant and half missing"] = {name: extra[name] for name in ("noise", "constant", "half missing")}
    return {
        name: Lists(
            np.concatenate([lists.values, *(column[:, :, None] for column in added.values())], axis=2),
            lists.right,
            (*lists.scorers, *added),
        )
        for name, added in worlds.items()
    }


def line(what: str, bar: str, value: str, holds: bool | None = None) -> None:
    """Print one row of the table."""
    verdict = "" if holds is None else ("yes" if holds else "NO")
    print(f"| {what} | {bar} | {value} | {verdict} |", flush=True)


def above(what: str, value: float, most: float, form: str = ".3f") -> None:
    """Print a figure that must not be above its bar."""
    line(what, f"at most {most:g}", format(value, form), value <= most)


def beside_top_k(what: str, ours: Measured, lengths: tuple[Array, Array]) -> None:
    """Print list lengths beside those of a fixed top-k at the same coverage."""
    for words, own, fixed_length, covered in (
        ("last", ours.last, lengths[0], ours.coverage_last),
        ("all rounds", ours.all, lengths[1], ours.coverage),
    ):
        value = f"{own.mean():.2f} beside {fixed_length.mean():.2f}: {own.mean() / fixed_length.mean():.2f}"
        line(f"{what}, {words} (coverage {covered.mean():.3f})", "the ratio", value)


def safe(what: str, ours: Measured) -> None:
    """Print coverage and rounds past the optimum."""
    line(f"{what}: least coverage of a run", "at least 0.9", f"{ours.coverage.min():.4f}", ours.coverage.min() >= 0.9)
    line(f"{what}: rounds past its own optimum, all runs", "0", f"{ours.past.sum():.0f}", not ours.past.any())


def one_scorer(name: str, lists: Lists, runs: Rows) -> Measured:
    """Print the learned score beside every fixed one, with one scorer."""
    ours = auto(lists, runs)
    others = {name_of(score): fixed(lists, score, runs) for score in FIXED}
    best = min(others, key=lambda score: others[score].last.mean())
    rival = others[best]
    ratios = ours.last / rival.last
    error = ratios.std(ddof=1) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
    value = ours.last.mean() / rival.last.mean()
    line(
        f"{name}, one scorer, last: {ours.last.mean():.2f} beside {rival.last.mean():.2f} of {best}, the best fixed",
        "at most 1.05",
        f"{value:.3f} (paired: {ratios.mean():.3f} ± {error:.3f}, worst {ratios.max():.3f})",
        value <= 1.05,
    )
    words = f"{name}, one scorer, all rounds: {ours.all.mean():.2f} beside {rival.all.mean():.2f} of {best}"
    above(words, ours.all.mean() / rival.all.mean(), 1.35)
    for score, other in others.items():
        print(f"  {name} {score}: last {other.last.mean():.2f}, all {other.all.mean():.2f}", file=sys.stderr)
    return ours


def main() -> None:
    """Print all figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    print("| figure | bar | measured | holds |\n|---|---|---|---|")
    for name in TASKS:
        runs, lists = rounds_of(name, count), lists_of(Spec().task(name))
        one = one_scorer(name, lists.first, runs)
        beside_top_k(f"{name}, one scorer, beside top-k", one, top_k(lists.first, Raw(), runs, one))
        safe(f"{name}, one scorer", one)
        if len(lists.scorers) == 1:
            continue
        every, rrf = auto(lists, runs), fixed(lists, ReciprocalRankFusion(), runs)
        ratio = every.last.mean() / rrf.last.mean()
        words = f"{name}, {len(lists.scorers)} scorers"
        if name == "retrieval":
            above(f"{words}, last: mean", every.last.mean(), 2.0)
            above(f"{words}, last: worst run", every.last.max(), 2.4)
            above(f"{words}, all rounds: mean", every.all.mean(), 3.7)
            above(f"{words}, last: beside RRF's {rrf.last.mean():.2f}", ratio, 0.5)
        else:
            value = f"{every.last.mean():.2f} (worst run {every.last.max():.2f}), {every.all.mean():.2f}"
            line(f"{words}, last and all rounds", "", value)
            line(f"{words}, last: beside RRF's {rrf.last.mean():.2f}", "", f"{ratio:.3f}")
        beside_top_k(f"{words}, beside top-k of RRF", every, top_k(lists, ReciprocalRankFusion(), runs, every))
        beside_top_k(f"{words}, beside top-k of the learned score", every, top_k_learned(lists, runs, every))
        beside_top_k(f"{words}, beside top-k of the first scorer", every, top_k(lists.first, Raw(), runs, every))
        safe(words, every)
        if name == "retrieval":
            some = runs[:DISTURBED_RUNS]
            for what, beside in disturbed(lists).items():
                ratios = auto(beside, some).last / every.last[: len(some)]
                above(f"{words} and {what}: mean", float(ratios.mean()), 1.05)
                above(f"{words} and {what}: worst of {len(some)} runs", float(ratios.max()), 1.15)


if __name__ == "__main__":
    main()
