"""The figures of an experiment, as the paper draws them and beyond. How they look is in `drawing`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.lab import sweeps
from shortlist.lab.comparison import label_of_variant
from shortlist.lab.drawing import GREY, Ends, finish, label, label_of, line, line_style, panels, plain, save, style
from shortlist.lab.lists import lists_of
from shortlist.lab.run import Results, law_of
from shortlist.policies import PAPER

__all__ = ["draw_all", "draw_lists", "draw_replay"]

Array = NDArray[np.float64]

MAIN: Final = ("anytime@2/T", "sps", "dlr", "aci", "greedy")
APPENDIX: Final = ("anytime@2/T", "sps", "etc", "conservative-etc")
LEARNERS: Final = ("anytime@2/T", "anytime@0.05", "sps")

#: The bars that stand out: ours, and the paper's.
_BARS: Final = {variant: line_style(variant)["color"] for variant in ("sps", "auto", "auto-all")}
#: The ways of making lists that the headline shows.
_HEADLINE: Final = {
    "sps": "raw similarity (the paper's SPS)",
    "top-k-rrf": "fixed top-k, best k in hindsight",
    "rrf": "reciprocal rank fusion, both scorers",
    "relative": "relative similarity",
    "auto-all": 'score="auto", both scorers',
}


def draw_all(results: Results, folder: Path) -> dict[str, str]:
    """Draw every figure that the results have data for; return names and captions in reading order."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    with style():
        for name, caption, figure in _figures(results):
            save(figure, folder, name)
            drawn[name] = caption
    return drawn


def _figures(results: Results) -> Iterator[tuple[str, str, Figure]]:
    spec = results.spec
    runs = f"Mean and 95 % band over {spec.runs} runs, coverage {spec.coverage}."
    for suffix, chosen, extra in (
        ("", MAIN, ""),
        ("_appendix", APPENDIX, " The paper's appendix."),
    ):
        policies = [policy for policy in chosen if policy in spec.policies]
        policies += [] if suffix else _others(results)
        if not policies or (suffix and len(policies) < 3):
            continue
        yield (
            f"regret{suffix}",
            f"Cumulative regret, log scale.{extra} {runs}",
            _curves(results, policies, "regret", "cumulative regret"),
        )
        yield (
            f"coverage{suffix}",
            f"Coverage rate so far; the dashed line is the target.{extra} {runs}",
            _curves(results, policies, "coverage", "coverage so far"),
        )
        yield (
            f"undercoverage{suffix}",
            f"Rounds so far in which the threshold was past the optimal one.{extra} {runs}",
            _curves(results, policies, "undercoverage_count", "rounds past the optimum"),
        )
    if results.spec.scores is None and "auto-all" in results.list_variants("retrieval"):
        yield (
            "headline",
            f"Retrieval with two scorers: passages shown at the same guarantee, log scale. {runs}",
            _headline(results),
        )
    learners: list[str] = [policy for policy in LEARNERS if policy in spec.policies] + _others(results)
    learners = learners or [*spec.policies[:3]]
    with_lists = [name for name in spec.task_names if results.optimal.get((name, 0), {}).get("set_size") is not None]
    if with_lists:
        yield (
            "list_length",
            f"Mean list length, log scale; the dashed line is the optimal threshold's. {runs}",
            _lists(results, with_lists, learners),
        )
    if results.list_rows:
        yield (
            "lists_compared",
            "Mean list length over the last tenth of the rounds, with the coverage over all rounds. Thresholds have "
            "the guarantee 1 - 2/T; a fixed top-k is the smallest that covers as much as auto does in the same run; "
            f"autocut covers what it happens to cover. {runs}",
            _compared(results),
        )
        yield (
            "shorter_lists",
            "Mean list length round by round, log scale. Auto shows everything in the first rounds, from which it "
            "learns its score. The guarantee is 1 - 2/T for all but the fixed top-k, which is chosen in hindsight. "
            f"{runs}",
            _shorter(results),
        )
    yield (
        "thresholds",
        "Thresholds of all runs (thin) and their mean, from the first cut on; the dashed line is the optimum.",
        _thresholds(results, learners),
    )
    with_revenue = [name for name in spec.task_names if "revenue" in results.optimal.get((name, 0), {})]
    if with_revenue:
        sellers = [p for p in ("anytime@2/T", "sps", "dlr", "aci", "etc") if p in spec.policies] + _others(results)
        yield (
            "revenue",
            "What the reserve price has brought the seller so far, a round, beyond a sale without one; the dashed "
            f"line is the optimal reserve price for this coverage. {runs}",
            _revenue(results, with_revenue, sellers or learners),
        )
    if results.horizons:
        yield (
            "regret_vs_horizon",
            f"Regret against the horizon T at delta = 2/T, uniform scores, coverage 0.9, mean of {sweeps.RUNS} "
            "runs, with the slope fitted from 10,000 rounds on.",
            _horizons(results),
        )
    if results.coverages:
        yield (
            "regret_vs_coverage",
            f"Regret and the round of the first cut against coverage, at {spec.rounds:,} rounds and delta = 2/T, "
            f"uniform scores, mean of {sweeps.RUNS} runs.",
            _coverages(results),
        )


def _others(results: Results) -> list[str]:
    """Return the policies that are not the paper's or its baselines: every figure of policies shows them."""
    return [policy for policy in results.spec.policies if policy not in PAPER]


def _headline(results: Results) -> Figure:
    """Show what is gained, at a glance: lists on retrieval with two scorers, and how long they end."""
    figure, (axes,) = panels(1, width=7.6, height=4.2)
    names = {}
    for variant, words in _HEADLINE.items():
        length = results.list_values("retrieval", variant, "last_tenth").mean()
        names[variant] = f"{length:.1f}  {words}"
    runs = _variants(results, "retrieval", names)
    _draw_sums(figure, axes, results, "retrieval", runs, log=True, names=names, span=(1.0, 60.0))
    share = 100 * results.spec.coverage
    axes.set_title(f"Passages shown, of 51: at least {share:g} % of lists must hold the right one")
    axes.set_yticks([1, 2, 5, 10, 20, 51], ["1", "2", "5", "10", "20", "51"])
    axes.yaxis.set_minor_locator(NullLocator())
    return figure


def _curves(results: Results, policies: Sequence[str], curve: str, ylabel: str) -> Figure:
    """One panel a task, one line a policy, with its band."""
    figure, row = panels(len(results.spec.task_names))
    for axes, name in zip(row, results.spec.task_names, strict=True):
        _draw_curves(figure, axes, results, name, policies, curve)
    row[0].set_ylabel(ylabel)
    return figure


def _draw_curves(figure: Figure, axes: Axes, results: Results, name: str, policies: Sequence[str], curve: str) -> None:
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
        axes.axhline(target, color=GREY, lw=1.2, ls="--")
        lowest = min([target, *(end for end, _, _ in ends)])
        axes.set_ylim(lowest - 0.05 * (1.02 - lowest) - 0.002, 1.004)
    else:
        axes.set_ylim(bottom=0, top=None if any(end for end, _, _ in ends) else 1.0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
    finish(axes, results.spec.task(name).title, results.spec.rounds)
    label(figure, axes, ends)


def _lists(results: Results, names: Sequence[str], policies: Sequence[str]) -> Figure:
    """Mean list lengths, block by block."""
    figure, row = panels(len(names))
    for axes, name in zip(row, names, strict=True):
        _draw_blocks(figure, axes, results, name, policies, log=True)
    row[0].set_ylabel("candidates shown")
    return figure


def _shorter(results: Results) -> Figure:
    """Mean list lengths of ways of making lists, block by block."""
    tasks = list(results.optimal_lists)
    figure, row = panels(len(tasks), width=4.9, height=3.6)
    for axes, task in zip(row, tasks, strict=True):
        several = "auto-all" in results.list_variants(task)
        chosen = [v for v in ("sps", "relative", "rrf", "auto", "auto-all") if v in results.list_variants(task)]
        scorers = lists_of(results.spec.task(task)).scorers
        names = {v: label_of_variant(v, scorers) for v in [*chosen, "top-k-rrf" if several else "top-k"]}
        _draw_sums(figure, axes, results, task, _variants(results, task, names), log=True, names=names)
    row[0].set_ylabel("candidates shown")
    return figure


def _compared(results: Results) -> Figure:
    """Bars: how long lists are at the end, way by way, with their coverage."""
    tasks = list(results.optimal_lists)
    most = max(len(results.list_variants(task)) for task in tasks)
    figure, row = panels(len(tasks), width=4.9, height=0.7 + 0.33 * most)
    for axes, task in zip(row, tasks, strict=True):
        variants = results.list_variants(task)
        lengths = [results.list_values(task, variant, "last_tenth").mean() for variant in variants]
        colors = [_BARS.get(variant, "#B5B5B5") for variant in variants]
        axes.barh(range(len(variants)), lengths, color=colors, height=0.66)
        for place, (variant, length) in enumerate(zip(variants, lengths, strict=True)):
            covered = results.list_values(task, variant, "coverage").mean()
            axes.annotate(
                f"{length:,.1f}  (covers {covered:.3f})", (length, place), (4, 0), textcoords="offset points",
                va="center", fontsize=8.5, color="#333333",
            )  # fmt: skip
        scorers = lists_of(results.spec.task(task)).scorers
        axes.set_yticks(range(len(variants)), [plain(label_of_variant(variant, scorers)) for variant in variants])
        axes.invert_yaxis()
        axes.set_xlim(0, 1.75 * max(lengths))
        axes.grid(visible=False)
        axes.tick_params(axis="y", length=0)
        axes.set_title(plain(results.spec.task(task).title))
        axes.set_xlabel("candidates shown, last tenth of the rounds")
    return figure


def _variants(results: Results, name: str, variants: Iterable[str]) -> dict[str, Array]:
    """Return the running sums of list lengths of several ways of making lists, a row a run."""
    runs = range(results.spec.runs)
    return {variant: np.array([results.list_curves[name, variant, run] for run in runs]) for variant in variants}


def _draw_blocks(
    figure: Figure, axes: Axes, results: Results, name: str, policies: Sequence[str], *, log: bool = False
) -> None:
    """Mean list lengths of policies, against the optimal threshold's."""
    runs = {policy: results.stack(name, policy, "set_size") for policy in policies}
    best = float(results.yardstick(name, "set_size")[:, -1].mean() / results.spec.rounds)
    _draw_sums(figure, axes, results, name, runs, best, log=log)


def _draw_sums(
    figure: Figure,
    axes: Axes,
    results: Results,
    name: str,
    runs: dict[str, Array],
    best: float | None = None,
    *,
    log: bool = False,
    names: Mapping[str, str] | None = None,
    span: tuple[float, float] | None = None,
) -> None:
    """Means over blocks of rounds, from running sums."""
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
        axes.axhline(best, color=GREY, lw=1.2, ls="--")
        ends.append((best, "optimal", GREY))
    if log:
        _log_lengths(axes, span)
    else:
        axes.set_ylim(bottom=0)
    finish(axes, results.spec.task(name).title, results.spec.rounds)
    label(figure, axes, ends)


def _log_lengths(axes: Axes, span: tuple[float, float] | None = None) -> None:
    """Show lengths on a log scale, with numbers to read."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(*(span or (low * 0.8, high * 1.1)))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_locator(LogLocator(subs=(2.0, 3.0, 5.0)))
    axes.yaxis.set_minor_formatter("{x:,g}" if high / low < 100 else "")
    axes.tick_params(axis="y", which="minor", labelsize=8)


def _revenue(results: Results, names: Sequence[str], policies: Sequence[str]) -> Figure:
    """Revenue a round beyond that without a reserve price, so far, paired run by run."""
    figure, row = panels(len(names), width=6.0)
    late = results.rounds >= min(50, results.spec.rounds)
    rounds = results.rounds[late]
    for axes, name in zip(row, names, strict=True):
        plain = results.yardstick(name, "no_reserve")[:, late]
        optimum = ((results.yardstick(name, "revenue")[:, late] - plain) / rounds).mean(axis=0)
        axes.plot(rounds, optimum, color=GREY, lw=1.2, ls="--")
        ends: Ends = [(float(optimum[-1]), "optimal", GREY)]
        for policy in policies:
            sums = results.stack(name, policy, "revenue")
            if sums.size:
                ends.append(line(axes, rounds, (sums[:, late] - plain) / rounds, policy))
        shown = [end for end, _, _ in ends] + [0.0]
        room = max(shown) - min(shown) or 1.0
        axes.set_ylim(min(shown) - room, max(shown) + room)
        finish(axes, results.spec.task(name).title, results.spec.rounds)
        axes.set_ylabel("extra revenue a round")
        label(figure, axes, ends)
    return figure


def _thresholds(results: Results, policies: Sequence[str]) -> Figure:
    figure, row = panels(len(results.spec.task_names))
    for axes, name in zip(row, results.spec.task_names, strict=True):
        best = law_of(results.spec.task(name)).optimal_threshold(results.spec.coverage)
        ends = [(best, "optimal", GREY)]
        lowest = best
        for policy in policies:
            paths = results.stack(name, policy, "threshold")
            if not paths.size:
                continue
            paths = np.where(np.isfinite(paths), paths, np.nan)
            colour = line_style(policy)["color"]
            axes.plot(results.rounds, paths.T, color=colour, lw=0.6, alpha=0.35)
            known = ~np.isnan(paths).any(axis=0)
            mean = np.where(known, np.mean(np.where(known, paths, 0.0), axis=0), np.nan)
            axes.plot(results.rounds, mean, **line_style(policy))
            if known.any():
                ends.append((float(mean[-1]), label_of(policy), colour))
                settled = mean[known & (results.rounds > results.spec.rounds / 8)]
                lowest = min(lowest, *settled.tolist()) if settled.size else lowest
        axes.axhline(best, color=GREY, lw=1.2, ls="--")
        room = (best - lowest) or abs(best) or 1.0
        axes.set_ylim(lowest - 0.35 * room, best + 0.15 * room)
        finish(axes, results.spec.task(name).title, results.spec.rounds)
        label(figure, axes, ends)
    row[0].set_ylabel("threshold")
    return figure


def _horizons(results: Results) -> Figure:
    figure, (axes,) = panels(1, width=5.6)
    ends: Ends = []
    for policy in sweeps.SWEPT:
        horizons = np.array(sorted({row.rounds for row in results.horizons if row.policy == policy}))
        regrets = [
            [row.regret for row in results.horizons if (row.policy, row.rounds) == (policy, horizon)]
            for horizon in horizons
        ]
        end, name, colour = line(axes, horizons, np.array(regrets).T, policy)
        slope = sweeps.fitted_slope(results.horizons, policy)
        ends.append((end, f"{name}\nslope {slope:.2f}", colour))
    axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="regret after T rounds")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("Regret against the horizon")
    label(figure, axes, ends, apart=2.3)
    return figure


def _coverages(results: Results) -> Figure:
    figure, row = panels(2, width=4.8)
    for axes, column, title in (
        (row[0], "regret", f"Regret after {results.spec.rounds:,} rounds"),
        (row[1], "first_cut", "Round of the first cut"),
    ):
        ends = []
        for policy in sweeps.SWEPT:
            coverages = sorted({row.coverage for row in results.coverages if row.policy == policy})
            values = np.array(
                [
                    [getattr(r, column) for r in results.coverages if (r.policy, r.coverage) == (policy, c)]
                    for c in coverages
                ],
                dtype=float,
            ).T
            mean = values.mean(axis=0)
            mean = np.where(mean > 0, mean, np.nan)  # 0: never
            axes.plot(range(len(coverages)), mean, marker="o", ms=5, **line_style(policy))
            reached = np.flatnonzero(~np.isnan(mean))
            if reached.size == 0:
                continue
            if reached[-1] < len(coverages) - 1:
                axes.annotate(
                    "never cuts\nat 0.99",
                    (reached[-1], mean[reached[-1]]),
                    (8, -2),
                    textcoords="offset points",
                    color=line_style(policy)["color"],
                    fontsize=8.5,
                    va="top",
                )
            ends.append((float(mean[reached[-1]]), label_of(policy), line_style(policy)["color"]))
        axes.set_xticks(range(len(sweeps.COVERAGES)), [str(c) for c in sweeps.COVERAGES])
        axes.set(xlabel="coverage", title=title)
        axes.set_xlim(-0.2, len(sweeps.COVERAGES) - 0.8)
        if column == "first_cut":
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:,.0f}")
        else:
            axes.set_ylim(bottom=0)
        label(figure, axes, ends)
    return figure


def draw_lists(folder: Path, streams: Mapping[str, Mapping[str, Array]], scorers: Sequence[str]) -> None:
    """Draw how long lists would have been on a log, way by way, for up to three streams."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = dict(list(streams.items())[:3])
    with style():
        figure, row = panels(len(chosen), width=5.6, height=3.6)
        for axes, (stream, ways) in zip(row, chosen.items(), strict=True):
            ends: Ends = []
            for variant, sizes in ways.items():
                if variant == "autocut":
                    continue  # it covers what it happens to cover
                parts = np.array_split(sizes, min(40, sizes.size))
                means = np.array([[max(part.mean(), 0.1) for part in parts]])  # an empty list has no logarithm
                rounds = np.cumsum([part.size for part in parts])
                ends.append(line(axes, rounds, means, variant, name=plain(label_of_variant(variant, scorers))))
            _log_lengths(axes)
            finish(axes, stream, next(iter(ways.values())).size)
            label(figure, axes, ends)
        row[0].set_ylabel("candidates shown")
        save(figure, folder, "lists")


def draw_replay(
    folder: Path, scores: Mapping[str, Array], paths: Mapping[tuple[str, str], Array], coverage: float
) -> None:
    """Draw what policies would have done on a log: thresholds and coverage, for up to three streams."""
    folder.mkdir(parents=True, exist_ok=True)
    colours = [line_style(policy)["color"] for policy in PAPER]
    names = list(scores)[:3]
    policies = list(dict.fromkeys(policy for _, policy in paths))
    with style():
        figure = Figure(figsize=(4.9 * len(names) + 0.4, 5.6), layout="constrained")
        grid = figure.subplots(2, len(names), squeeze=False)
        for column, name in enumerate(names):
            rounds = np.arange(1, scores[name].size + 1)
            best = metrics.optimal_threshold(scores[name], coverage)
            above: Ends = [(best, "optimal", GREY)] if np.isfinite(best) else []
            below: Ends = []
            for policy, colour in zip(policies, colours * len(policies), strict=False):
                path = paths[name, policy]
                known = np.where(np.isfinite(path), path, np.nan)
                covered = metrics.coverage(path, scores[name])
                grid[0, column].plot(rounds, known, color=colour, lw=1.8)
                grid[1, column].plot(rounds, covered, color=colour, lw=1.8)
                if np.isfinite(path[-1]):
                    above.append((float(path[-1]), policy, colour))
                below.append((float(covered[-1]), policy, colour))
            if np.isfinite(best):
                grid[0, column].axhline(best, color=GREY, lw=1.2, ls="--")
            grid[1, column].axhline(coverage, color=GREY, lw=1.2, ls="--")
            for axes, title, ends in ((grid[0, column], name, above), (grid[1, column], "", below)):
                finish(axes, title, rounds.size)
                label(figure, axes, ends)
        grid[0, 0].set_ylabel("threshold")
        grid[1, 0].set_ylabel("coverage so far")
        save(figure, folder, "replay")
