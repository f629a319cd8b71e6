"""The figures of a log: what policies would have done on it, and how long lists would have been."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.lab.figure_style import (
    GRAY,
    Ends,
    finish,
    label,
    label_of,
    line,
    line_style,
    log_lengths,
    panels,
    plain,
    save,
    style,
)
from shortlist.lab.list_baselines import label_of_variant

__all__ = ["draw_lists", "draw_replay"]

Array = NDArray[np.float64]


def draw_lists(folder: Path, streams: Mapping[str, Mapping[str, Array]], scorers: Sequence[str]) -> None:
    """Draw how long lists would have been on a log, variant by variant, for up to three streams."""
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
            log_lengths(axes)
            finish(axes, stream, next(iter(ways.values())).size)
            label(figure, axes, ends)
        row[0].set_ylabel("candidates shown")
        save(figure, folder, "lists")


def draw_replay(
    folder: Path, scores: Mapping[str, Array], paths: Mapping[tuple[str, str], Array], coverage: float
) -> None:
    """Draw what policies would have done on a log: thresholds and coverage, for up to three streams."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(scores)[:3]
    policies = list(dict.fromkeys(policy for _, policy in paths))
    with style():
        figure = Figure(figsize=(4.9 * len(names) + 0.4, 5.6), layout="constrained")
        grid = figure.subplots(2, len(names), squeeze=False)
        for column, name in enumerate(names):
            rounds = np.arange(1, scores[name].size + 1)
            best = metrics.optimal_threshold(scores[name], coverage)
            above: Ends = [(best, "optimal", GRAY)] if np.isfinite(best) else []
            below: Ends = []
            for policy in policies:
                path = paths[name, policy]
                finite = np.where(np.isfinite(path), path, np.nan)
                covered = metrics.coverage(path, scores[name])
                chosen, name_of_it = line_style(policy), label_of(policy)
                grid[0, column].plot(rounds, finite, **chosen)
                grid[1, column].plot(rounds, covered, **chosen)
                if np.isfinite(path[-1]):
                    above.append((float(path[-1]), name_of_it, chosen["color"]))
                below.append((float(covered[-1]), name_of_it, chosen["color"]))
            if np.isfinite(best):
                grid[0, column].axhline(best, color=GRAY, lw=1.2, ls="--")
            grid[1, column].axhline(coverage, color=GRAY, lw=1.2, ls="--")
            for axes, title, ends in ((grid[0, column], name, above), (grid[1, column], "", below)):
                finish(axes, title, rounds.size)
                label(figure, axes, ends)
        grid[0, 0].set_ylabel("threshold")
        grid[1, 0].set_ylabel("coverage so far")
        save(figure, folder, "replay")
