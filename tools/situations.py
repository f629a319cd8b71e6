"""What the default does in situations that are not ideal: lengths and coverage on SQuAD, two scorers; three minutes.

Each situation changes what users are asked, or how they answer. Everything goes through a `Shortlister` and its public
methods; only the simulation knows the right answer.

    make measure NAME=situations
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from shortlist import Shortlister
from shortlist.lab.tasks import load_task

Array = Any
ROUNDS: Final = 4000
WINDOW: Final = 2000


@dataclass
class Round:
    """One question: its scores by scorer, all right answers, and how its user answers."""

    values: Array
    right: list[int]
    silent: bool = False
    late: int = 0
    wrong: bool = False
    settles: bool = False
    mute: bool = False


@cache
def squad() -> tuple[Array, Array]:
    """Return lists x candidates x scorers, and the position of each right answer."""
    scores = load_task("retrieval").scores
    return scores.tables, scores.true_columns


def ask(rng: np.random.Generator) -> Round:
    """Return a question of SQuAD."""
    values, right = squad()
    row = int(rng.integers(len(right)))
    return Round(values[row], [int(right[row])])


def recall(share: float) -> Callable[[np.random.Generator, int], Round]:
    """Return questions of which a share has its right answer among the candidates."""

    def question(rng: np.random.Generator, _t: int) -> Round:
        one = ask(rng)
        if rng.random() >= share:
            keep = np.delete(np.arange(len(one.values)), one.right[0])
            return Round(one.values[keep], [])
        return one

    return question


def noise(rng: np.random.Generator, _t: int) -> Round:
    """Return scores that say nothing."""
    return Round(rng.normal(size=(51, 2)), [int(rng.integers(51))])


def single(rng: np.random.Generator, _t: int) -> Round:
    """Return a question with one candidate."""
    one = ask(rng)
    return Round(one.values[one.right], [0])


def half_single(rng: np.random.Generator, t: int) -> Round:
    """Return a question; half of the time it has one candidate."""
    return single(rng, t) if t % 2 else ask(rng)


def ties(rng: np.random.Generator, _t: int) -> Round:
    """Return scores that are rounded to three levels."""
    one = ask(rng)
    spread = one.values.max(0) - one.values.min(0)
    one.values = np.round(2 * (one.values - one.values.min(0)) / np.where(spread > 0, spread, 1.0))
    return one


def easy_streak(rng: np.random.Generator, t: int) -> Round:
    """Return a question; in the first half the right answer is far ahead."""
    one = ask(rng)
    if t < ROUNDS // 2:
        one.values = one.values.copy()
        one.values[one.right[0]] = one.values.max(0) * 1.2
    return one


def users(**answers: Any) -> Callable[[np.random.Generator, int], Round]:
    """Return questions whose users behave in a certain way, with a probability."""

    def question(rng: np.random.Generator, _t: int) -> Round:
        one = ask(rng)
        for name, share in answers.items():
            if name == "late":
                one.late = share
            elif rng.random() < share:
                setattr(one, name, True)
        return one

    return question


def several(rng: np.random.Generator, _t: int) -> Round:
    """Return a question with three right answers; a user picks the first of those that are shown."""
    one = ask(rng)
    one.right += [int(i) for i in rng.choice(51, 2, replace=False)]
    return one


SITUATIONS: Final[dict[str, tuple[Callable[[np.random.Generator, int], Round], dict[str, Any]]]] = {
    "as usual": (lambda rng, _t: ask(rng), {}),
    "the right one is among the candidates in 92 %": (recall(0.92), {}),
    "the right one is among the candidates in 85 %": (recall(0.85), {}),
    "scores that say nothing": (noise, {}),
    "one candidate per list": (single, {}),
    "one candidate in half of the lists": (half_single, {}),
    "three levels of scores, ties everywhere": (ties, {}),
    "2,000 easy rounds, then as usual": (easy_streak, {}),
    "5 % silent": (users(silent=0.05), {}),
    '5 % silent, `unanswered="ignore"`': (users(silent=0.05), {"unanswered": "ignore"}),
    "15 % silent": (users(silent=0.15), {}),
    '15 % silent, `unanswered="ignore"`': (users(silent=0.15), {"unanswered": "ignore"}),
    "misses come 100 rounds late": (users(late=100), {}),
    "misses come 200 rounds late": (users(late=200), {}),
    "half of the misses are not reported": (users(mute=0.5), {}),
    'half of the misses are not reported, `unanswered="ignore"`': (users(mute=0.5), {"unanswered": "ignore"}),
    "no miss is reported, `explore_share=0.2`": (users(mute=1.0), {"explore_share": 0.2}),
    "three right answers, one is picked": (several, {}),
    "5 % of the picks are wrong": (users(wrong=0.05), {}),
    "half settle for another one if it is missing": (users(settles=0.5), {}),
}


def report(
    lister: Shortlister, round_id: str, one: Round, members: list[int], pick: int | None, rng: np.random.Generator
) -> bool:
    """Answer a round as its user does; return whether that is done, or the miss comes later."""
    if one.silent or (one.mute and pick is None):
        lister.skip(round_id)
    elif one.wrong and members:
        lister.hit(round_id, members[int(rng.integers(len(members)))])
    elif pick is not None:
        lister.hit(round_id, pick)
    elif one.settles and members:
        lister.hit(round_id, members[0])
    elif one.late:
        return False
    else:
        lister.miss(round_id)
    return True


def play(given: tuple[str, int]) -> tuple[float, ...]:
    """Return length; coverage of rounds with an answer, of cut or longer lists; worst 2,000; complete; recall."""
    name, seed = given
    question, settings = SITUATIONS[name]
    rng, lister = np.random.default_rng(seed), Shortlister(0.9, **settings)
    late: dict[int, list[str]] = {}
    lengths, covered, hard, complete = [], [], [], 0
    for t in range(ROUNDS):
        one = question(rng, t)
        shown = lister.propose({"dense": one.values[:, 0], "bm25": one.values[:, 1]}, ids=range(len(one.values)))
        members = [int(i) for i in shown.members]
        lengths.append(len(members))
        complete += shown.complete
        pick = next((i for i in members if i in one.right), None)
        if one.right:
            covered.append(pick is not None)
            if len(one.values) > 1:
                hard.append(pick is not None)
        if not report(lister, shown.round_id, one, members, pick, rng):
            late.setdefault(t + one.late, []).append(shown.round_id)
        for round_id in late.pop(t, []):
            lister.miss(round_id)
    sums = np.concatenate([[0], np.cumsum(covered)])
    window = min(WINDOW, len(covered))
    worst = (sums[window:] - sums[:-window]).min() / window
    summary = lister.summary()
    return (
        float(np.mean(lengths)),
        float(np.mean(covered)),
        float(worst),
        complete / ROUNDS,
        summary.candidate_recall or np.nan,
        float(np.mean(hard)) if hard else np.nan,
        np.nan if summary.coverage_seen is None else summary.coverage_seen,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{options.runs} runs of {ROUNDS:,} rounds")
    print(
        "| situation | shown, of 51 | covered | `coverage_seen` | worst 2,000 rounds of any run | complete lists | "
        "of these with a hit |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    with ProcessPoolExecutor(2) as pool:
        for name in SITUATIONS:
            if options.only not in name:
                continue
            rows = np.array(list(pool.map(play, [(name, seed) for seed in range(options.runs)])))
            length, covered, _, complete, recalled, hard, seen = rows.mean(0)
            words = f" (lists of several candidates: {hard:.1%} covered)" if "half of the lists" in name else ""
            reported = "-" if np.isnan(seen) else f"{seen:.1%}"
            cells = [f"{length:.1f}", f"{covered:.1%}", reported, f"{rows[:, 2].min():.1%}", f"{complete:.1%}"]
            cells.append("-" if np.isnan(recalled) else f"{recalled:.1%}")
            print(f"| {name}{words} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
