"""Draw the figures of README and site: ``python docs/figures.py [NAME ...]``, or ``make measure NAME=figures``.

Each figure is a function of its name. Figures of the page come from `screenshots.py`, those of the benchmarks from
``make bench`` and `benchmarks/scale.py`, those of users from ``make measure NAME=people``, those of the field from
``make measure NAME=field``.
"""

import argparse
import contextlib
import dataclasses
from bisect import insort
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import shortlist
from shortlist.boundaries import Quantile
from shortlist.lab.list_baselines import ReciprocalRankFusion, compare, smallest_k
from shortlist.lab.lists import lists_of
from shortlist.lab.scored_lists import score_lists
from shortlist.lab.tasks import AuctionTask, load_task
from shortlist.scores import Raw

DOCS: Final = Path(__file__).parent
STYLE: Final = str(DOCS / "house.mplstyle")
Array = NDArray[np.float64]


@cache
def passages() -> Array:
    """Return 10,570 questions, each with the scores of 51 passages, the right one first."""
    return load_task("retrieval").scores.lists


def questions(rounds: int, seed: int = 0) -> Array:
    """Deal out questions."""
    return passages()[np.random.default_rng(seed).integers(len(passages()), size=rounds)]


def optimum() -> float:
    """Return the threshold that covers 90 % of the questions."""
    return shortlist.metrics.optimal_threshold(passages()[:, 0], coverage=0.9)


def reply(lister: Any, shown: Any) -> None:
    """Answer as a person who looks at the list at once."""
    lister.reveal(shown.round_id, 0)


def smooth(values: Any, width: int) -> tuple[Any, Any]:
    """Return rounds, and the mean of the last `width` values at each."""
    means = np.convolve(values, np.ones(width) / width, mode="valid")
    return np.arange(len(means)) + width, means


def target(axes: Axes, level: float, words: str = "", above: int = 4) -> None:
    """Draw a level to be reached."""
    axes.axhline(level, color="0.4", ls="--", lw=1)
    if words:
        axes.annotate(
            words, (1, level), (-4, above), xycoords=("axes fraction", "data"), textcoords="offset points", ha="right"
        )


def tutorial() -> Figure:
    """Show a first day: lists are short from the first one on, and coverage stays at the target."""
    lister = shortlist.Shortlister(coverage=0.9, score="raw")
    rng = np.random.default_rng(0)
    lengths, covered = [], []
    for _ in range(3000):
        scores = rng.random(50)
        right = int(rng.choice(50, p=scores**20 / (scores**20).sum()))
        shown = lister.propose(scores)
        lengths.append(len(shown.members))
        covered.append(right in shown.members)
        lister.reveal(shown.round_id, right)
    figure, (left, right_axes) = plt.subplots(1, 2)
    left.plot(*smooth(lengths, 50))
    left.set(xlabel="round", title="Candidates shown, of 50", ylim=(0, 20))
    right_axes.plot(*smooth(covered, 300), color="C2")
    target(right_axes, 0.9, "target", above=-13)
    right_axes.set(xlabel="round", title="Right answer in the list, last 300", ylim=(0.8, 1.005))
    return figure


def late() -> Figure:
    """Answers that come 300 rounds late, by patience."""

    def path(patience: int, delay: int = 300, rounds: int = 4000) -> list[float]:
        lister, shown, thresholds = (
            shortlist.Shortlister(coverage=0.9, delta=0.01, score="raw", patience=patience),
            [],
            [],
        )
        for i, scores in enumerate(questions(rounds)):
            shown.append(lister.propose(scores))
            if i >= delay:
                reply(lister, shown[i - delay])
            thresholds.append(lister.threshold)
        return thresholds

    figure, axes = plt.subplots()
    for patience in (500, 200, 0):
        axes.plot(path(patience), label=f"patience {patience}")
    axes.plot(path(0, delay=0), label="answers at once", color="0.6", ls=":")
    target(axes, optimum())
    axes.set(xlabel="round", ylabel="threshold", title="Answers 300 rounds late")
    axes.legend()
    return figure


def silence() -> Figure:
    """Show the level that is reached when some people never answer."""
    figure, axes = plt.subplots()
    for share in (0.0, 0.05, 0.15):
        lister = shortlist.Shortlister(coverage=0.9, delta=0.01, score="raw")
        people, path = np.random.default_rng(1), []
        for scores in questions(6000):
            shown = lister.propose(scores)
            if people.random() < share:
                lister.skip(shown.round_id)
            else:
                reply(lister, shown)
            path.append(shortlist.metrics.miscoverage(lister.threshold, passages()[:, 0]))
        (line,) = axes.plot(path, label=f"{share:.0%} silent")
        axes.axhline(max(0.0, (0.1 - share) / (1 - share)), color=line.get_color(), ls="--", lw=1)
    axes.set(xlabel="round", ylabel="share of right passages below", title="Silence lowers the level that is reached")
    axes.legend(loc="center", bbox_to_anchor=(0.85, 0.68))
    return figure


def drift() -> Figure:
    """Coverage and length when right passages begin to score less: without a budget, with it, restarts, the default."""
    ways: dict[str, dict[str, Any]] = {
        "delta=0.01, miss_budget=None": {"delta": 0.01, "miss_budget": None},
        "delta=0.01": {"delta": 0.01},
        'delta=0.01, on_drift="restart"': {"delta": 0.01, "on_drift": "restart"},
        "the default": {},
    }
    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6.4, 5.4))
    for label, options in ways.items():
        lister = shortlist.Shortlister(coverage=0.9, **options)
        covered, sizes = [], []
        for i, scores in enumerate(questions(9000)):
            shown = lister.propose(scores - 0.1 * (np.arange(51) == 0) if i >= 4000 else scores)
            covered.append(0 in shown.members)
            sizes.append(len(shown.members))
            reply(lister, shown)
        above.plot(*smooth(covered, 500), label=label)
        below.plot(*smooth(sizes, 500))
    target(above, 0.9)
    for axes in (above, below):
        axes.axvline(4000, color="0.4", ls=":", lw=1)
    above.set(ylabel="coverage of the last 500 lists", title="Right passages score less after round 4,000")
    below.set(xlabel="round", ylabel="members of the last 500 lists", ylim=(0, None))
    above.legend(loc="center right", bbox_to_anchor=(1.0, 0.45))
    return figure


def groups() -> Figure:
    """Two groups of questions, each with its own threshold."""
    lister = shortlist.GroupedShortlister(coverage=0.9, score="raw")
    shifts, paths = {"terse": 0.0, "chatty": 0.15}, {"terse": [0.0], "chatty": [0.0]}
    for i, scores in enumerate(questions(8000)):
        group = "terse" if i % 4 else "chatty"
        reply(lister, lister.propose(scores + shifts[group], group=group))
        paths[group].append(lister.threshold(group))
    figure, axes = plt.subplots()
    for group, shift in shifts.items():
        (line,) = axes.plot(paths[group][1:], label=group)
        axes.axhline(optimum() + shift, color=line.get_color(), ls="--", lw=1)
    axes.set(xlabel="round of the group", ylabel="threshold", title="A threshold per group")
    axes.legend(loc="lower right")
    return figure


def shadow() -> Figure:
    """Show what would have been hidden, and missed."""
    lister = shortlist.Shortlister(coverage=0.9, shadow=True)
    hidden, missed = [], []
    for scores in questions(5000):
        reply(lister, lister.propose(scores))
        summary = lister.summary()
        hidden.append(summary["hidden_share"])
        missed.append(summary["would_have_missed"] / summary["rounds"])
    figure, axes = plt.subplots()
    axes.plot(hidden, label="passages that would have been hidden")
    axes.plot(missed, label="right ones among them")
    target(axes, 0.1)
    axes.set(xlabel="round", ylabel="share so far", title="Shadow mode: what would have been")
    axes.legend(loc="center right")
    return figure


def warm_start() -> Figure:
    """List lengths with and without labeled examples."""
    figure, axes = plt.subplots()
    for examples in (0, 50, 300):
        lister, sizes = shortlist.Shortlister(coverage=0.9), []
        if examples:
            lister.warm_start(questions(examples, seed=5), np.zeros(examples, dtype=int))
        for scores in questions(500):
            shown = lister.propose(scores)
            sizes.append(len(shown.members))
            reply(lister, shown)
        axes.plot(*smooth(sizes, 20), label=f"{examples:,} labeled examples")
    axes.set(
        xlabel="round",
        ylabel="passages shown",
        title="A warm start: labeled lists for score and threshold",
        ylim=(0, None),
    )
    axes.legend()
    return figure


def scores() -> Figure:
    """One target, four scores."""
    figure, axes = plt.subplots()
    for setting in ("raw", "rank", "relative", "auto"):
        lister, sizes = shortlist.Shortlister(coverage=0.9, score=setting), []
        for row in questions(4000):
            shown = lister.propose(row)
            sizes.append(len(shown.members))
            reply(lister, shown)
        covered = lister.summary()["coverage_seen"]
        axes.plot(*smooth(sizes, 200), label=f"{setting}: covered {covered:.3f}")
    axes.set(xlabel="round", ylabel="passages shown, of 51", title="One target, four scores", ylim=(0, 20))
    axes.legend()
    return figure


def reserve_price() -> Figure:
    """Show the reserve price, and what it brings, with two bidders and with five."""
    bids: Any = load_task("auctions")
    rounds = 3000
    figure, (left, right) = plt.subplots(1, 2)
    for bidders in (5, 2):
        task = AuctionTask(bids.bids, bids.source, bidders=bidders)
        stream = task.draw(np.random.default_rng(0), rounds)
        reserve = shortlist.replay(shortlist.AnytimeSPS(coverage=0.9), stream.true_scores)
        brought: Any = stream.revenue(reserve)
        without: Any = stream.revenue(np.full(rounds, -np.inf))
        (line,) = left.plot(np.where(np.isfinite(reserve), reserve, np.nan), label=f"{bidders} bidders")
        highest, weights = task.population
        best = shortlist.metrics.Population(highest, weights).optimal_threshold(0.9)
        left.axhline(best, color=line.get_color(), ls="--", lw=1)
        right.plot(np.cumsum(brought - without) / np.cumsum(without).max() * 100, label=f"{bidders} bidders")
    left.set(xlabel="auction", title="Reserve price, dollars", ylim=(0, 230))
    right.set(xlabel="auction", title="Gained so far, % of 3,000 sales")
    left.legend(loc="upper right", ncols=2)
    return figure


def crossing() -> Figure:
    """Show how often each boundary is ever crossed: exact, no simulation."""
    horizon = 10_000
    rounds = np.unique(np.geomspace(20, horizon, 80).astype(int))
    rules = (
        ("no margin: floor(n p0)", Quantile(), "0.5", 0),
        ("AnytimeSPS, 0.01", shortlist.BetaBinomial(0.01), "C0", 0),
        ("Calibrated, 2/T", shortlist.Calibrated(2 / horizon, horizon), "C2", 5),
        ("AnytimeSPS, 2/T", shortlist.BetaBinomial(2 / horizon), "C3", -5),
        ("Binomial + union, 2/T", shortlist.Binomial(2 / horizon, horizon), "C4", 0),
        ("SPS (paper), 2/T", shortlist.DKW(horizon), "C1", 0),
    )
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7.0, 4.6), height_ratios=(3, 1))
    for name, boundary, color, nudge in rules:
        exact = np.array([shortlist.crossing_probability(boundary, 0.9, int(n)) for n in rounds])
        axes, shown = (lower if exact[-1] < 1e-20 else upper), exact > 0
        axes.plot(rounds[shown], exact[shown], color=color)
        axes.annotate(name, (1, exact[-1]), (6, nudge - 3), xycoords=("axes fraction", "data"), color=color,
                      textcoords="offset points")  # fmt: skip
    for level, words, above in ((0.01, "guaranteed: 0.01", 3), (2 / horizon, "guaranteed: 2/T", -11)):
        upper.axhline(level, color="0.4", ls="--", lw=1)
        upper.annotate(words, (22, level), (0, above), textcoords="offset points", color="0.4")
    upper.set(xscale="log", yscale="log", ylim=(1e-8, 3), xlim=(20, horizon))
    lower.set(yscale="log", ylim=(1e-41, 1e-23), xlabel="rounds")
    upper.set_title("Probability that the threshold has passed the optimum so far")
    return figure


def boundaries() -> Figure:
    """How many low scores in a hundred each rule allows."""
    horizon = 10_000
    rounds = np.arange(1, horizon + 1)
    figure, axes = plt.subplots()
    for name, boundary in (
        ("AnytimeSPS, delta 0.01", shortlist.BetaBinomial(0.01)),
        ("AnytimeSPS, delta 2/T", shortlist.BetaBinomial(2 / horizon)),
        ("SPS (paper)", shortlist.DKW(horizon)),
    ):
        limits = np.asarray(boundary.limits(0.9, horizon), dtype=float)
        axes.plot(rounds, 100 * np.where(limits >= 0, limits, np.nan) / rounds, label=name)
    target(axes, 10.0, "optimum")
    axes.set(
        xscale="log", xlim=(50, horizon), ylim=(0, 11), xlabel="rounds", title="Low scores allowed, in a hundred rounds"
    )
    axes.legend(loc="lower right")
    return figure


def dropped() -> Figure:
    """Show what is left of the target when misses are dropped, beside the law t^-p0."""
    rounds, begin, runs = 20_000, 200, 10
    coverage = np.zeros((runs, rounds))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        kept = np.sort(rng.random(begin)).tolist()
        for i in range(rounds):
            threshold = kept[int(0.1 * len(kept))]
            coverage[seed, i] = 1 - threshold
            score = rng.random()
            if score >= threshold:  # a hit is kept; a miss is dropped
                insort(kept, score)
    t = np.arange(rounds) + begin
    figure, axes = plt.subplots()
    axes.fill_between(t, coverage.min(axis=0), coverage.max(axis=0), color="C1", alpha=0.2, lw=0)
    axes.plot(t, coverage.mean(axis=0), color="C1", label="hits kept, misses dropped (10 runs)")
    axes.plot(t, 0.9 * (t / begin) ** -0.1, color="0.2", ls=":", label="0.9 (t / 200)$^{-0.1}$")
    ours = shortlist.replay(shortlist.AnytimeSPS(0.9), np.random.default_rng(0).random(rounds + begin))[begin:]
    axes.plot(t, 1 - np.maximum(ours, 0.0), color="C0", label="AnytimeSPS, misses counted")
    target(axes, 0.9)
    axes.set(xscale="log", xlabel="round", title="Coverage of the next list", ylim=(0.4, 1.02), xlim=(begin, t[-1]))
    axes.legend(loc="lower left")
    return figure


_LISTERS: Final = (tutorial, late, silence, drift, groups, shadow, warm_start, scores)
_THEORY: Final = (reserve_price, crossing, boundaries, dropped)


def headline() -> Figure:
    """List length over rounds, from the first one on: passages of SQuAD, two scorers, ten runs of 2,000 rounds.

    The fixed top-k is the smallest of the best fixed ranking that covers 90 % of the same rounds.
    """
    lists, rounds, block = lists_of(load_task("retrieval")), 2000, 25
    runs = [np.random.default_rng(seed).integers(len(lists.values), size=rounds) for seed in range(10)]
    rankings = [
        score_lists(lists.first, Raw()),
        score_lists(dataclasses.replace(lists, values=lists.values[:, :, 1:], scorers=lists.scorers[1:]), Raw()),
        score_lists(lists, ReciprocalRankFusion()),
        score_lists(lists, sum_of_z_scores),
    ]
    top = float(np.mean([min(smallest_k(ranking, rows, 0.9)[0] for ranking in rankings) for rows in runs]))
    ways = [compare(lists, rows, 0.9, 0.01, variants=("sps", "auto-all", "default")) for rows in runs]
    lines = {
        "sps": ("the paper's rule, by similarity", "0.55"),
        "auto-all": ("with delta=0.01: a guarantee about every list", "C3"),
        "default": ("shortlist", "C0"),
    }
    figure, axes = plt.subplots(figsize=(8.0, 4.2))
    for variant, (words, color) in lines.items():
        sizes = np.mean([way[variant].sizes for way in ways], axis=0)
        axes.plot(np.arange(rounds // block) * block + block / 2, sizes.reshape(-1, block).mean(axis=1), color=color)
        bold = "bold" if variant == "default" else "normal"
        end = (215, 11.0) if variant == "auto-all" else (rounds, sizes[-4 * block :].mean())  # beside the line's fall
        axes.annotate(
            f"{words}\n{sizes.mean():.1f} over all rounds", end, (8, 0), textcoords="offset points", va="center",
            color="0.25" if variant == "sps" else color, weight=bold,
        )  # fmt: skip
        covered = np.mean([way[variant].coverage for way in ways])
        print(f"{words!r}: {sizes.mean():.2f}, first 200 {sizes[:200].mean():.2f}, covers {covered:.3f}")
    print(f"top-k: {top:.2f}")
    axes.axhline(top, color="0.55", ls="--", lw=1)
    axes.annotate(
        f"best fixed top-k, in hindsight\n{top:.1f}", (rounds, top), (8, 0), textcoords="offset points", va="center",
        color="0.25",
    )  # fmt: skip
    axes.set(yscale="log", xlim=(0, rounds), ylim=(1.4, 60), xlabel="answered question")
    axes.set_yticks([2, 5, 10, 20, 51], ["2", "5", "10", "20", "51"])
    axes.minorticks_off()
    figure.suptitle(
        "Passages shown, of 51, with the right one among them 9 times in 10", x=0.01, ha="left", weight="bold", size=12
    )
    return figure


def sum_of_z_scores(values: Array) -> Array:
    """Return what a fixed fusion of scores does: each scorer standardized within the list, and added."""
    total: Array = ((values - values.mean(-2, keepdims=True)) / values.std(-2, keepdims=True)).sum(-1)
    return total


#: Every figure that is drawn here.
FIGURES: Final[dict[str, Callable[[], Figure]]] = {
    figure.__name__: figure for figure in (headline, *_LISTERS, *_THEORY)
}


def draw(name: str, out: Path) -> None:
    """Draw one figure into a folder."""
    with mpl.rc_context(), plt.style.context(STYLE):
        figure = FIGURES[name]()
        figure.savefig(out / f"{name}.png")
        plt.close(figure)


def main() -> None:
    """Draw everything, or what is asked for."""
    names = list(FIGURES)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names, []], help="which; all of them otherwise")
    mpl.use("agg")
    out = DOCS / "figures"
    out.mkdir(exist_ok=True)
    for name in parser.parse_args().names or names:
        draw(name, out)
        print(f"docs/figures/{name}.png")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
