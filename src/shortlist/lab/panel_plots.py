"""What is drawn in one panel of a figure. Each function draws into axes, and returns where its lines end."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from shortlist.lab import sweeps
from shortlist.lab.figure_style import GRAY, Ends, finish, label_of, level, line, line_style, log_lengths, plain
from shortlist.lab.list_baselines import label_of_variant
from shortlist.lab.lists import lists_of
from shortlist.lab.run import Results, law_of
from shortlist.lab.spec import Spec
from shortlist.lab.statistics import mean_and_band

__all__ = [
    "draw_compared",
    "draw_coverages",
    "draw_curves",
    "draw_growth",
    "draw_headline",
    "draw_horizons",
    "draw_lengths",
    "draw_revenue",
    "draw_shorter",
    "draw_thresholds",
    "panel_title",
]

Array = NDArray[np.float64]

#: The paper's data sets, and what stands for its models.
_DATA_SETS: Final = {
    "images": "ImageNet (EfficientNet-Lite0)",
    "retrieval": "SQuAD (MiniLM)",
    "auctions": "Auction (eBay, pooled)",
}
#: Below the target by more than this, a policy hides the others, which differ by hundredths.
_HIDES: Final = 0.1

#: The bars that stand out: ours, and the paper's.
_BARS: Final = {variant: line_style(variant)["color"] for variant in ("sps", "auto", "auto-all", "default")}
#: The ways of making lists that the headline shows.
_HEADLINE: Final = {
    "sps": "raw similarity (the paper's SPS)",
    "top-k-rrf": "fixed top-k, best k in hindsight",
    "rrf": "reciprocal rank fusion, both scorers",
    "relative": "relative similarity",
    "default": "shortlist, both scorers",
}


def draw_curves(axes: Axes, results: Results, name: str, policies: Sequence[str], curve: str) -> Ends:
    """One line per policy, with its band."""
    ends: Ends = []
    for policy in policies:
        runs = results.stack(name, policy, curve)
        if runs.size:
            ends.append(line(axes, results.rounds, runs, policy, floor=0.1 if curve == "regret" else -np.inf))
    if curve == "regret":
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.3)
    elif curve == "coverage":
        target = results.spec.coverage
        level(axes, target, "target")
        lowest = min([target, *(end for end, _, _ in ends)])
        axes.set_ylim(lowest - 0.05 * (1.02 - lowest) - 0.002, 1.004)
        if lowest < target - _HIDES:
            _magnify(axes, results, name, policies)
    elif curve == "revenue_regret":
        lowest = min(float(np.min(drawn.get_ydata())) for drawn in axes.lines)
        axes.set_yscale("log" if lowest > 0 else "linear")
        axes.yaxis.set_major_formatter("{x:,.0f}")
    else:
        axes.set_ylim(bottom=0, top=None if any(end for end, _, _ in ends) else 1.0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
    finish(axes, panel_title(results.spec, name), results.spec.rounds)
    return ends


def draw_growth(axes: Axes, results: Results, name: str, policies: Sequence[str]) -> Ends:
    """Cumulative regret on two log scales, where a straight line of slope 1 is linear growth."""
    late = results.rounds >= max(10, results.spec.rounds // 100)
    rounds = results.rounds[late]
    ends: Ends = []
    for policy in policies:
        runs = results.stack(name, policy, "regret")
        if runs.size:
            ends.append(line(axes, rounds, runs[:, late], policy, floor=0.1))
    highest = max((end for end, _, _ in ends), default=1.0)
    axes.plot(rounds, highest * 2 * rounds / rounds[-1], color=GRAY, lw=1.0, ls=(0, (1, 2)), label="linear growth")
    ends.append((2 * highest, "linear growth", GRAY))
    axes.set(xscale="log", yscale="log", xlabel="round", xlim=(rounds[0], rounds[-1]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(plain(panel_title(results.spec, name)))
    return ends


def _magnify(axes: Axes, results: Results, name: str, policies: Sequence[str]) -> None:
    """Draw an inset around the target, where policies that stay near it lie on one line otherwise."""
    target = results.spec.coverage
    inset = axes.inset_axes((0.36, 0.24, 0.6, 0.42))
    span = 0.0
    for policy in policies:
        runs = results.stack(name, policy, "coverage")
        if runs.size and abs(runs[:, -1].mean() - target) < _HIDES:
            line(inset, results.rounds, runs, policy)
            span = max(span, abs(float(runs[:, -1].mean()) - target))
    if not span:
        inset.remove()
        return
    level(inset, target, "target")
    inset.set_xlim(0, results.spec.rounds)
    inset.set_ylim(target - max(0.3 * span, 0.008), target + 1.3 * span)
    inset.set_xticks([])
    inset.tick_params(labelsize=7)
    inset.set_facecolor("white")
    for spine in inset.spines.values():
        spine.set_visible(True)
        spine.set_color("#BBBBBB")
    inset.set_title(f"near {target:g}", fontsize=7.5, fontweight="normal", color=GRAY, pad=2)


def panel_title(spec: Spec, name: str) -> str:
    """Return the title of a task's panel: the paper's data set and, in brackets, what stands for it here.

    >>> panel_title(Spec(), "images"), panel_title(Spec(tasks=("uniform",)), "uniform")
    ('ImageNet (EfficientNet-Lite0)', 'Uniform scores')
    """
    if spec.scores is not None or name not in _DATA_SETS:
        return spec.task(name).title
    return f"Auction ({spec.task(name).title})" if name == "auctions" and spec.item else _DATA_SETS[name]


def draw_headline(axes: Axes, results: Results) -> Ends:
    """List lengths on retrieval with two scorers, with the length over all rounds at the end of each line."""
    names = {}
    for variant, words in _HEADLINE.items():
        length = results.list_values("retrieval", variant, "mean_set_size").mean()
        names[variant] = f"{length:.1f}  {words}"
    runs = _variants(results, "retrieval", names)
    ends = _draw_sums(axes, results, "retrieval", runs, names=names, span=(1.0, 60.0))
    share = 100 * results.spec.coverage
    axes.set_title(f"Passages shown, of 51, and the mean over all rounds; target {share:g} %")
    axes.set_yticks([1, 2, 5, 10, 20, 51], ["1", "2", "5", "10", "20", "51"])
    axes.yaxis.set_minor_locator(NullLocator())
    return ends


def draw_lengths(axes: Axes, results: Results, name: str, policies: Sequence[str]) -> Ends:
    """Mean list lengths of policies, block by block, against the optimal threshold's."""
    runs = {policy: results.stack(name, policy, "set_size") for policy in policies}
    best = float(results.yardstick(name, "set_size")[:, -1].mean() / results.spec.rounds)
    return _draw_sums(axes, results, name, runs, best)


def draw_shorter(axes: Axes, results: Results, task: str) -> Ends:
    """Mean list lengths of variants, block by block."""
    several = "auto-all" in results.list_variants(task)
    chosen = [v for v in ("sps", "relative", "rrf", "auto", "auto-all", "default") if v in results.list_variants(task)]
    scorers = lists_of(results.spec.task(task)).scorers
    names = {v: label_of_variant(v, scorers) for v in [*chosen, "top-k-rrf" if several else "top-k"]}
    return _draw_sums(axes, results, task, _variants(results, task, names), names=names)


def draw_compared(axes: Axes, results: Results, task: str) -> Ends:
    """Bars: the list length of each variant, with its coverage."""
    variants = results.list_variants(task)
    lengths = [results.list_values(task, variant, "mean_set_size").mean() for variant in variants]
    colors = [_BARS.get(variant, "#B5B5B5") for variant in variants]
    axes.barh(range(len(variants)), lengths, color=colors, height=0.66)
    for height, (variant, length) in enumerate(zip(variants, lengths, strict=True)):
        covered = results.list_values(task, variant, "coverage").mean()
        axes.annotate(
            f"{length:,.1f}  (covers {covered:.3f})", (length, height), (4, 0), textcoords="offset points",
            va="center", fontsize=8.5, color="#333333",
        )  # fmt: skip
    scorers = lists_of(results.spec.task(task)).scorers
    axes.set_yticks(range(len(variants)), [plain(label_of_variant(variant, scorers)) for variant in variants])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.75 * max(lengths))
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(plain(results.spec.task(task).title))
    axes.set_xlabel("candidates shown, mean over all rounds")
    return []


def _variants(results: Results, name: str, variants: Iterable[str]) -> dict[str, Array]:
    """Return the running sums of list lengths of several ways of making lists, a row a run."""
    runs = range(results.spec.runs)
    return {variant: np.array([results.list_curves[name, variant, run] for run in runs]) for variant in variants}


def _draw_sums(
    axes: Axes,
    results: Results,
    name: str,
    runs: dict[str, Array],
    best: float | None = None,
    *,
    names: Mapping[str, str] | None = None,
    span: tuple[float, float] | None = None,
) -> Ends:
    """Means over blocks of rounds, from running sums, on a log scale."""
    blocks = 40
    picks = np.unique(np.linspace(0, results.rounds.size - 1, blocks + 1).astype(int))
    picks = picks[np.concatenate([[True], np.diff(results.rounds[picks]) > results.spec.rounds / blocks / 4])]
    rounds = results.rounds[picks]
    ends: Ends = []
    for policy, sums in runs.items():
        if sums.size:
            means = np.diff(sums[:, picks], axis=1) / np.diff(rounds)
            ends.append(line(axes, rounds[1:], means, policy, name=(names or {}).get(policy)))
    if best is not None:
        ends.append(level(axes, best, "optimal"))
    log_lengths(axes, span)
    finish(axes, panel_title(results.spec, name), results.spec.rounds)
    return ends


def draw_revenue(axes: Axes, results: Results, name: str, policies: Sequence[str]) -> Ends:
    """Revenue per round so far, in excess of that without a reserve price, paired run by run."""
    late = results.rounds >= min(50, results.spec.rounds)
    rounds = results.rounds[late]
    without = results.yardstick(name, "no_reserve")[:, late]
    optimum = ((results.yardstick(name, "revenue")[:, late] - without) / rounds).mean(axis=0)
    axes.plot(rounds, optimum, color=GRAY, lw=1.2, ls="--", label="optimal")
    ends: Ends = [(float(optimum[-1]), "optimal", GRAY)]
    for policy in policies:
        sums = results.stack(name, policy, "revenue")
        if sums.size:
            ends.append(line(axes, rounds, (sums[:, late] - without) / rounds, policy))
    shown = [end for end, _, _ in ends] + [0.0]
    room = max(shown) - min(shown) or 1.0
    axes.set_ylim(min(shown) - room, max(shown) + room)
    finish(axes, panel_title(results.spec, name), results.spec.rounds)
    return ends


def draw_thresholds(axes: Axes, results: Results, name: str, policies: Sequence[str]) -> Ends:
    """Thresholds of all runs, thin, and their means."""
    best = law_of(results.spec.task(name)).optimal_threshold(results.spec.coverage)
    ends: Ends = []
    lowest = best
    for policy in policies:
        paths = results.stack(name, policy, "threshold")
        if not paths.size:
            continue
        paths = np.where(np.isfinite(paths), paths, np.nan)
        color = line_style(policy)["color"]
        axes.plot(results.rounds, paths.T, color=color, lw=0.6, alpha=0.35)
        complete = ~np.isnan(paths).any(axis=0)
        mean = np.where(complete, np.mean(np.where(complete, paths, 0.0), axis=0), np.nan)
        axes.plot(results.rounds, mean, label=label_of(policy), **line_style(policy))
        if complete.any():
            ends.append((float(mean[-1]), label_of(policy), color))
            settled = mean[complete & (results.rounds > results.spec.rounds / 8)]
            lowest = min(lowest, *settled.tolist()) if settled.size else lowest
    ends.append(level(axes, best, "optimal"))
    room = (best - lowest) or abs(best) or 1.0
    axes.set_ylim(lowest - 0.35 * room, best + 0.15 * room)
    finish(axes, panel_title(results.spec, name), results.spec.rounds)
    return ends


def draw_horizons(axes: Axes, results: Results) -> Ends:
    """Regret against the horizon, with the fitted slopes."""
    ends: Ends = []
    for policy in sweeps.swept(results.spec):
        horizons = np.array(sorted({row.rounds for row in results.horizons if row.policy == policy}))
        regrets = [
            [row.regret for row in results.horizons if (row.policy, row.rounds) == (policy, horizon)]
            for horizon in horizons
        ]
        slope = sweeps.fitted_slope(results.horizons, policy)
        name = f"{label_of(policy)}\nslope {slope:.2f}"
        ends.append(line(axes, horizons, np.array(regrets).T, policy, name=name))
    axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="regret after T rounds")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("Regret against the horizon")
    return ends


def draw_coverages(axes: Axes, results: Results, column: str, title: str) -> Ends:
    """Regret, or the round of the first cut, against coverage."""
    ends: Ends = []
    for policy in sweeps.swept(results.spec):
        coverages = sorted({row.coverage for row in results.coverages if row.policy == policy})
        values = np.array(
            [
                [getattr(r, column) for r in results.coverages if (r.policy, r.coverage) == (policy, c)]
                for c in coverages
            ],
            dtype=float,
        ).T
        mean, low, high = (np.where(v > 0, v, np.nan) for v in mean_and_band(values))  # 0: never
        axes.plot(range(len(coverages)), mean, marker="o", ms=5, label=label_of(policy), **line_style(policy))
        axes.fill_between(range(len(coverages)), low, high, color=line_style(policy)["color"], alpha=0.18, lw=0)
        reached = np.flatnonzero(~np.isnan(mean))
        if reached.size == 0:
            continue
        if reached[-1] < len(coverages) - 1:
            words = f"never cuts\nat {coverages[reached[-1] + 1]}"
            axes.annotate(
                words, (reached[-1], mean[reached[-1]]), (8, -2), textcoords="offset points",
                color=line_style(policy)["color"], fontsize=8.5, va="top",
            )  # fmt: skip
        ends.append((float(mean[reached[-1]]), label_of(policy), line_style(policy)["color"]))
    axes.set_xticks(range(len(sweeps.COVERAGES)), [str(c) for c in sweeps.COVERAGES])
    axes.set(xlabel="coverage", title=title)
    axes.set_xlim(-0.2, len(sweeps.COVERAGES) - 0.8)
    if column == "first_cut" and ends:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,.0f}")
    else:
        axes.set_ylim(bottom=0)
    return ends
