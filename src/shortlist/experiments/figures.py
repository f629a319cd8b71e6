"""The figures: one style, colour-blind safe, labelled at the lines; SVG and PNG. The only room with matplotlib."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shortlist.experiments import sweeps
from shortlist.experiments.run import Results, law_of
from shortlist.experiments.statistics import mean_and_band

__all__ = ["LABELS", "draw_all"]

Array = NDArray[np.float64]

LABELS: Final = {
    "anytime@2/T": "AnytimeSPS",
    "anytime@0.05": "AnytimeSPS, δ = 0.05",
    "sps": "SPS (paper)",
    "greedy": "Greedy",
    "aci": "ACI",
    "dlr": "DLR",
    "etc": "ETC",
    "conservative-etc": "Con-ETC",
}

# Okabe and Ito's palette, told apart by every kind of colour vision; dashes help in grey.
_LINES: Final[dict[str, dict[str, Any]]] = {
    "anytime@2/T": {"color": "#0072B2", "lw": 2.4},
    "anytime@0.05": {"color": "#3A9BDC", "lw": 1.6, "ls": (0, (5, 1.5))},
    "sps": {"color": "#D55E00", "lw": 2.0},
    "greedy": {"color": "#222222", "lw": 1.5, "ls": (0, (1, 1))},
    "aci": {"color": "#B0578D", "lw": 1.5},
    "dlr": {"color": "#009E73", "lw": 1.5, "ls": (0, (4, 1, 1, 1))},
    "etc": {"color": "#B8860B", "lw": 1.5, "ls": (0, (5, 1.5))},
    "conservative-etc": {"color": "#6B6B9A", "lw": 1.5, "ls": (0, (3, 1, 1, 1))},
}
_GREY: Final = "#666666"

_STYLE: Final = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#999999",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#E8E8E8",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "svg.hashsalt": "shortlist",
    "svg.fonttype": "path",
}

MAIN: Final = ("anytime@2/T", "sps", "dlr", "aci", "greedy")
APPENDIX: Final = ("anytime@2/T", "sps", "etc", "conservative-etc")
LEARNERS: Final = ("anytime@2/T", "anytime@0.05", "sps")


def draw_all(results: Results, folder: Path) -> dict[str, str]:
    """Draw every figure that the results have data for; return names and captions in reading order."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    with mpl.rc_context(_STYLE):
        for name, caption, figure in _figures(results):
            FigureCanvasAgg(figure)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            figure.savefig(folder / f"{name}.png", dpi=150)
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
        if not policies or (suffix and len(policies) < 3):
            continue
        yield (
            f"regret{suffix}",
            f"Cumulative regret, log scale.{extra} {runs}",
            _curves(results, policies, "regret", "cumulative regret", log=True),
        )
        yield (
            f"coverage{suffix}",
            f"Coverage rate so far; the dashed line is the target.{extra} {runs}",
            _curves(results, policies, "coverage", "coverage so far", level=spec.coverage),
        )
        yield (
            f"undercoverage{suffix}",
            f"Rounds so far in which the threshold was past the optimal one.{extra} {runs}",
            _curves(results, policies, "undercoverage_count", "rounds past the optimum"),
        )
    learners = [policy for policy in LEARNERS if policy in spec.policies] or list(spec.policies[:3])
    with_lists = [
        name for name in spec.task_names if results.optimal.get((name, 0), {}).get("set_size") is not None
    ]
    if with_lists:
        yield (
            "list_length",
            f"Mean list length, log scale; the dashed line is the optimal threshold's. {runs}",
            _block_means(results, with_lists, learners, "set_size", "candidates shown", log=True),
        )
    yield (
        "thresholds",
        "Thresholds of all runs (thin) and their mean, from the first cut on; the dashed line is the optimum.",
        _thresholds(results, learners),
    )
    with_revenue = [name for name in spec.task_names if "revenue" in results.optimal.get((name, 0), {})]
    if with_revenue:
        sellers = [p for p in ("anytime@2/T", "sps", "dlr", "aci", "etc") if p in spec.policies]
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


def _panels(count: int, width: float = 4.3, height: float = 3.3) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width * count + 0.4, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _curves(
    results: Results,
    policies: Sequence[str],
    curve: str,
    ylabel: str,
    *,
    log: bool = False,
    level: float | None = None,
) -> Figure:
    """One panel a task, one line a policy, with its band."""
    figure, panels = _panels(len(results.spec.task_names))
    for axes, name in zip(panels, results.spec.task_names, strict=True):
        ends = []
        for policy in policies:
            values = results.stack(name, policy, curve)
            if not values.size:
                continue
            mean, low, high = mean_and_band(values)
            if log:
                floor = 0.1
                mean, low, high = (np.maximum(line, floor) for line in (mean, low, high))
            axes.plot(results.rounds, mean, **_LINES[policy])
            axes.fill_between(results.rounds, low, high, color=_LINES[policy]["color"], alpha=0.18, lw=0)
            ends.append((float(mean[-1]), LABELS[policy], _LINES[policy]["color"]))
        if level is not None:
            axes.axhline(level, color=_GREY, lw=1.2, ls="--")
            lowest = min((end for end, _, _ in ends), default=level)
            axes.set_ylim(min(lowest, level) - 0.05 * (1.02 - min(lowest, level)) - 0.002, 1.004)
        if log:
            axes.set_yscale("log")
            axes.set_ylim(bottom=0.3)
        elif level is None:
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter("{x:,.0f}")
        _finish(axes, results.spec.task(name).title, results.spec.rounds, ylabel if axes is panels[0] else "")
        _label(figure, axes, ends)
    return figure


def _block_means(
    results: Results,
    names: Sequence[str],
    policies: Sequence[str],
    curve: str,
    ylabel: str,
    *,
    log: bool = False,
    blocks: int = 40,
) -> Figure:
    """Means over blocks of rounds, from running sums."""
    figure, panels = _panels(len(names))
    picks = np.unique(np.linspace(0, results.rounds.size - 1, blocks + 1).astype(int))
    picks = picks[np.concatenate([[True], np.diff(results.rounds[picks]) > results.spec.rounds / blocks / 4])]
    rounds = results.rounds[picks]
    for axes, name in zip(panels, names, strict=True):
        ends = []
        for policy in policies:
            sums = results.stack(name, policy, curve)
            if not sums.size:
                continue
            means = np.diff(sums[:, picks], axis=1) / np.diff(rounds)
            mean, low, high = mean_and_band(means)
            axes.plot(rounds[1:], mean, **_LINES[policy])
            axes.fill_between(rounds[1:], low, high, color=_LINES[policy]["color"], alpha=0.18, lw=0)
            ends.append((float(mean[-1]), LABELS[policy], _LINES[policy]["color"]))
        best = (
            np.mean([found[curve][-1] for (task, _), found in results.optimal.items() if task == name])
            / results.spec.rounds
        )
        axes.axhline(best, color=_GREY, lw=1.2, ls="--")
        ends.append((float(best), "optimal", _GREY))
        if log:
            axes.set_yscale("log")
            low_end, high_end = axes.get_ylim()
            axes.set_ylim(low_end * 0.8, high_end * 1.1)
            axes.yaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_minor_formatter("{x:,.0f}" if high_end / low_end < 30 else "")
            axes.tick_params(axis="y", which="minor", labelsize=8)
        _finish(axes, results.spec.task(name).title, results.spec.rounds, ylabel if axes is panels[0] else "")
        _label(figure, axes, ends)
    return figure


def _revenue(results: Results, names: Sequence[str], policies: Sequence[str]) -> Figure:
    """Revenue a round beyond that without a reserve price, so far, paired run by run."""
    figure, panels = _panels(len(names), width=6.0)
    late = results.rounds >= min(50, results.spec.rounds)
    rounds = results.rounds[late]
    for axes, name in zip(panels, names, strict=True):
        plain = np.array(
            [found["no_reserve"][late] for (task, _), found in results.optimal.items() if task == name]
        )
        best = np.array(
            [found["revenue"][late] for (task, _), found in results.optimal.items() if task == name]
        )
        ends = []
        for policy in policies:
            sums = results.stack(name, policy, "revenue")
            if sums.size:
                mean, low, high = mean_and_band((sums[:, late] - plain) / rounds)
                axes.plot(rounds, mean, **_LINES[policy])
                axes.fill_between(rounds, low, high, color=_LINES[policy]["color"], alpha=0.18, lw=0)
                ends.append((float(mean[-1]), LABELS[policy], _LINES[policy]["color"]))
        optimum = ((best - plain) / rounds).mean(axis=0)
        axes.plot(rounds, optimum, color=_GREY, lw=1.2, ls="--")
        ends.append((float(optimum[-1]), "optimal", _GREY))
        shown = [end for end, _, _ in ends] + [0.0]
        room = max(shown) - min(shown) or 1.0
        axes.set_ylim(min(shown) - room, max(shown) + room)
        _finish(axes, results.spec.task(name).title, results.spec.rounds, "extra revenue a round")
        _label(figure, axes, ends)
    return figure


def _thresholds(results: Results, policies: Sequence[str]) -> Figure:
    figure, panels = _panels(len(results.spec.task_names))
    for axes, name in zip(panels, results.spec.task_names, strict=True):
        best = law_of(results.spec.task(name)).optimal_threshold(results.spec.coverage)
        ends = [(best, "optimal", _GREY)]
        lowest = best
        for policy in policies:
            paths = results.stack(name, policy, "threshold")
            if not paths.size:
                continue
            paths = np.where(np.isfinite(paths), paths, np.nan)
            colour = _LINES[policy]["color"]
            axes.plot(results.rounds, paths.T, color=colour, lw=0.6, alpha=0.35)
            known = ~np.isnan(paths).any(axis=0)
            mean = np.where(known, np.mean(np.where(known, paths, 0.0), axis=0), np.nan)
            axes.plot(results.rounds, mean, **_LINES[policy])
            if known.any():
                ends.append((float(mean[-1]), LABELS[policy], colour))
                settled = mean[known & (results.rounds > results.spec.rounds / 8)]
                lowest = min(lowest, *settled.tolist()) if settled.size else lowest
        axes.axhline(best, color=_GREY, lw=1.2, ls="--")
        room = (best - lowest) or abs(best) or 1.0
        axes.set_ylim(lowest - 0.35 * room, best + 0.15 * room)
        _finish(
            axes, results.spec.task(name).title, results.spec.rounds, "threshold" if axes is panels[0] else ""
        )
        _label(figure, axes, ends)
    return figure


def _horizons(results: Results) -> Figure:
    figure, (axes,) = _panels(1, width=5.6)
    ends = []
    for policy in sweeps.SWEPT:
        horizons = sorted({row.rounds for row in results.horizons if row.policy == policy})
        regrets = np.array(
            [
                [row.regret for row in results.horizons if (row.policy, row.rounds) == (policy, horizon)]
                for horizon in horizons
            ]
        ).T
        mean, low, high = mean_and_band(regrets)
        slope = sweeps.fitted_slope(results.horizons, policy)
        axes.plot(horizons, mean, marker="o", ms=4, **_LINES[policy])
        axes.fill_between(horizons, low, high, color=_LINES[policy]["color"], alpha=0.18, lw=0)
        ends.append((float(mean[-1]), f"{LABELS[policy]}\nslope {slope:.2f}", _LINES[policy]["color"]))
    axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="regret after T rounds")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("Regret against the horizon")
    _label(figure, axes, ends, apart=2.3)
    return figure


def _coverages(results: Results) -> Figure:
    figure, panels = _panels(2, width=4.8)
    for axes, column, title in (
        (panels[0], "regret", f"Regret after {results.spec.rounds:,} rounds"),
        (panels[1], "first_cut", "Round of the first cut"),
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
            axes.plot(range(len(coverages)), mean, marker="o", ms=5, **_LINES[policy])
            reached = np.flatnonzero(~np.isnan(mean))
            if reached.size == 0:
                continue
            if reached[-1] < len(coverages) - 1:
                axes.annotate(
                    "never cuts\nat 0.99",
                    (reached[-1], mean[reached[-1]]),
                    (8, -2),
                    textcoords="offset points",
                    color=_LINES[policy]["color"],
                    fontsize=8.5,
                    va="top",
                )
            ends.append((float(mean[reached[-1]]), LABELS[policy], _LINES[policy]["color"]))
        axes.set_xticks(range(len(sweeps.COVERAGES)), [str(c) for c in sweeps.COVERAGES])
        axes.set(xlabel="coverage", title=title)
        axes.set_xlim(-0.2, len(sweeps.COVERAGES) - 0.8)
        if column == "first_cut":
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:,.0f}")
        else:
            axes.set_ylim(bottom=0)
        _label(figure, axes, ends)
    return figure


def _finish(axes: Axes, title: str, rounds: int, ylabel: str) -> None:
    axes.set_title(title)
    axes.set_xlim(0, rounds)
    axes.set_xticks(np.linspace(0, rounds, 5))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.tick_params(axis="x", labelsize=8.5)
    axes.set_xlabel("round")
    axes.set_ylabel(ylabel)


def _label(figure: Figure, axes: Axes, ends: list[tuple[float, str, str]], apart: float = 1.25) -> None:
    """Write each line's name at its end, pushed apart where they would overlap."""
    if not ends:
        return
    figure.draw_without_rendering()
    to_axes = axes.transAxes.inverted()
    height = axes.get_window_extent().height / figure.dpi * 72  # in points
    gap = apart * 9.0 / height
    wanted = sorted(
        (float(to_axes.transform(axes.transData.transform((1.0, y)))[1]), text, colour)
        for y, text, colour in ends
    )
    placed: list[float] = []
    for y, _, _ in wanted:  # from the bottom up
        placed.append(max(min(max(y, 0.0), 1.0), placed[-1] + gap if placed else 0.0))
    limit = 1.0
    for i in reversed(range(len(placed))):  # and back down, where they went past the top
        placed[i] = min(placed[i], limit)
        limit = placed[i] - gap
    for (_, text, colour), y in zip(wanted, placed, strict=True):
        axes.annotate(
            text, (1.0, y), (5, 0), xycoords="axes fraction", textcoords="offset points",
            color=colour, fontsize=9, va="center", ha="left", annotation_clip=False,
        )  # fmt: skip
