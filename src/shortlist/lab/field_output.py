"""What the field suite writes: ``field.csv``, tables for a page, and two figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shortlist.lab.field import MISSES, NAMES, OURS, SHIPPED, TOP_K, WINDOWS, FieldRow
from shortlist.lab.figure_style import GRAY, save, style
from shortlist.lab.output import write_table
from shortlist.lab.shifted_streams import SHIFTS
from shortlist.lab.statistics import half_width
from shortlist.rounds.settings import default_budget

__all__ = ["write_field"]

#: A method, and the scores that it was given.
Key = tuple[str, str]

_COLUMNS: Final = tuple(FieldRow.__dataclass_fields__)
_KINDS: Final = {
    "full": "every score revealed",
    "beyond": "a miss is below every score",
    "threshold": "a miss is at the threshold",
    "dropped": "a miss is dropped",
}
_COLORS: Final = {"full": GRAY, "beyond": "#0072B2", "threshold": "#B8860B", "dropped": "#D55E00"}
_OURS, _OTHERS = "#0072B2", "#7A7A7A"
_MEASURES: Final = (
    ("coverage", "coverage", "{:.3f}"),
    *((f"worst_{window}", f"worst {window:,} rounds", "{:.3f}") for window in WINDOWS),
    ("mean_set_size", "list length", "{:.2f}"),
    ("regret", "regret", "{:,.0f}"),
    ("undercoverage_count", "rounds past the optimum", "{:,.0f}"),
)


class _Rows:
    """Rows by task, shift, method, score and feedback."""

    def __init__(self, rows: Sequence[FieldRow]) -> None:
        self.tasks = list(dict.fromkeys(row.task for row in rows))
        self._rows: dict[tuple[str, str, Key, str], list[FieldRow]] = {}
        for row in rows:
            self._rows.setdefault((row.task, row.shift, (row.method, row.score), row.feedback), []).append(row)

    def keys(self, task: str) -> list[Key]:
        """Return a task's methods: ours, then those on the learned score, then those on raw ones."""
        keys = dict.fromkeys(key for of, _, key, _ in self._rows if of == task)
        return sorted(keys, key=lambda key: (key[0] not in (*OURS, TOP_K), key[1] == "raw", NAMES.index(key[0])))

    def values(self, task: str, shift: str, key: Key, kind: str, column: str) -> Any:
        """Return a column over runs; `kind` "own" means the feedback that the method gets from users."""
        for feedback in ("beyond", "semi-bandit", "none") if kind == "own" else (kind,):
            rows = self._rows.get((task, shift, key, feedback))
            if rows:
                return np.array([getattr(row, column) for row in rows], dtype=float)
        return None

    def shifted(self, task: str, key: Key, column: str) -> Any:
        """Return a column over all shifts and runs: a row for each shift."""
        return np.array([self.values(task, shift, key, "own", column) for shift in SHIFTS if shift != "stationary"])


def write_field(rows: Sequence[FieldRow], out: Path, coverage: float) -> None:
    """Write everything into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "field.csv", _COLUMNS, rows)
    sorted_rows = _Rows(rows)
    (out / "field.md").write_text(_page(sorted_rows, coverage), encoding="utf-8")
    _draw_misses(sorted_rows, out, coverage)
    _draw_shifts(sorted_rows, out, coverage)


def _cell(values: Any, form: str) -> str:
    if values is None or np.isnan(values).all():
        return ""
    half = half_width(values)
    spread = "" if np.isnan(half) else f" ± {form.format(float(half))}"
    return f"{form.format(float(values.mean()))}{spread}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    lines = [head, [*["---"] * words, *["---:"] * (len(head) - words)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _page(rows: _Rows, coverage: float) -> str:
    """Return the tables as Markdown: means over runs with 95 % bands."""
    parts = [f"# The field, in tables\n\nTarget {100 * coverage:g} %; means over runs with 95 % bands.\n"]
    for task in rows.tasks:
        parts += [f"\n### {task.capitalize()}: all shifts\n", _shifts_table(rows, task)]
    for task in rows.tasks:
        parts.append(f"\n### {task.capitalize()}: how a miss is treated, stationary\n")
        parts.append(
            f'Methods without such a setting treat a miss in their own way; they are under "{_KINDS["beyond"]}".\n'
        )
        parts.append(_misses_table(rows, task))
    for task in rows.tasks:
        for shift in SHIFTS:
            parts += [f"\n### {task.capitalize()}, {shift}\n", _shift_table(rows, task, shift)]
    return "\n".join(parts)


def _shifts_table(rows: _Rows, task: str) -> str:
    """Return what each method did over all shifts: means, and the worst single run."""
    lines = []
    for key in rows.keys(task):
        worst, lengths = rows.shifted(task, key, "worst_500"), rows.shifted(task, key, "mean_set_size")
        means = [f"{worst.mean():.3f}", f"{worst.min():.3f}", f"{lengths.mean():.2f}"]
        lines.append([*key, *means, *(f"{length:.2f}" for length in lengths.mean(axis=1))])
    shifts = [f"length: {shift}" for shift in SHIFTS if shift != "stationary"]
    return _table(["", "score", "worst 500 rounds", "in the worst run", "list length", *shifts], lines, words=2)


def _misses_table(rows: _Rows, task: str) -> str:
    lines = []
    for key in rows.keys(task):
        method, score = key
        if score == "raw" and method not in (*OURS, TOP_K):
            kinds = ["own" if kind == "beyond" else kind for kind in _KINDS]
            cells = [rows.values(task, "stationary", key, kind, "coverage") for kind in kinds]
            lines.append([method, *(_cell(values, "{:.3f}") for values in cells)])
    return _table(["coverage", *_KINDS.values()], lines)


def _shift_table(rows: _Rows, task: str, shift: str) -> str:
    lines = [
        [*key, *(_cell(rows.values(task, shift, key, "own", column), form) for column, _, form in _MEASURES)]
        for key in rows.keys(task)
    ]
    return _table(["", "score", *(words for _, words, _ in _MEASURES)], lines, words=2)


def _panels(tasks: Sequence[str], height: float, width: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width * len(tasks) + 1.8, height), layout="constrained")
    return figure, list(figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0])


def _draw_misses(rows: _Rows, out: Path, coverage: float) -> None:
    """Draw the coverage of each treatment of a miss, compared with full feedback."""
    methods = [
        key
        for key in rows.keys(rows.tasks[0])
        if rows.values(rows.tasks[0], "stationary", key, MISSES[0], "coverage") is not None
    ][::-1]
    with style():
        figure, grid = _panels(rows.tasks, 3.4, 2.6)
        for axes, task in zip(grid, rows.tasks, strict=True):
            for height, key in enumerate(methods):
                for kind, color in _COLORS.items():
                    values = rows.values(task, "stationary", key, kind, "coverage")
                    filled = "white" if kind == "full" else color
                    axes.scatter(values.mean(), height, s=42, facecolor=filled, edgecolor=color, zorder=3)
            axes.axvline(coverage, color=GRAY, lw=1.0, ls="--", zorder=1)
            axes.set_title(task.capitalize())
            axes.set_xlim(-0.06, 1.06)
            axes.set_xticks([0.0, 0.5, coverage], ["0 %", "50 %", f"{coverage:.0%}".replace("%", " %")])
            axes.set_yticks(range(len(methods)), [method for method, _ in methods])
            axes.grid(visible=True, axis="x")
        handles = [
            grid[0].scatter(
                [], [], s=42, facecolor="white" if kind == "full" else color, edgecolor=color, label=_KINDS[kind]
            )
            for kind, color in _COLORS.items()
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)
        figure.supxlabel("coverage of all rounds", fontsize=10, color="#333333")
        save(figure, out, "field-misses")


#: What the figure of shifts has: ours, what is common today, the paper's rule, and those that follow.
_DRAWN: Final[tuple[Key, ...]] = (
    *((method, "learned") for method in OURS),
    (TOP_K, "raw"),
    ("AnytimeSPS", "raw"),
    ("SPS", "raw"),
    *((method, "learned") for method in ("ScaleFreeOGD", "ThresholdTracking", "ConformalPID", "DtACI", "SAOCP", "MVP")),
)
#: The left end of the figure's axis, and where the lengths of lists stand at its right.
_LOWEST: Final = 0.4
_LENGTHS: Final = 1.13


def _draw_shifts(rows: _Rows, out: Path, coverage: float) -> None:
    """Draw how far coverage falls in 500 consecutive rounds under all shifts, with list lengths."""
    bound = 1 - ((1 - coverage) * 500 + default_budget(coverage)) / 500
    keys = _DRAWN[::-1]
    with style():
        figure, grid = _panels(rows.tasks, 0.32 * len(keys) + 1.2, 2.9)
        for axes, task in zip(grid, rows.tasks, strict=True):
            there = set(rows.keys(task))
            for height, (method, score) in enumerate(keys):
                key = (method, score) if (method, score) in there else (method, "raw")
                if key in there:
                    _draw_method(axes, rows, task, key, height)
            axes.axvline(coverage, color=GRAY, lw=1.0, ls="--", zorder=1)
            axes.axvline(bound, color=_OURS, lw=1.0, zorder=1)
            axes.set_title(task.capitalize())
            axes.set_xlim(_LOWEST, _LENGTHS + 0.01)
            axes.set_xticks([0.5, 0.6, 0.7, 0.8, coverage], ["50 %", "60", "70", "80", f"{100 * coverage:g}"])
            axes.set_yticks(range(len(keys)), [_label(*key) for key in keys])
            words = "bidders left" if task == "auctions" else "list length"
            axes.text(_LENGTHS, len(keys) - 0.4, words, ha="right", va="bottom", fontsize=8.5, color="#555555")
            axes.set_ylim(-0.7, len(keys) - 0.4)
            axes.grid(visible=True, axis="x")
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0, pad=8)
            axes.hlines(range(len(keys)), _LOWEST, 1.0, color="#E8E8E8", lw=0.8, zorder=0)
        for tick, (method, _) in zip(grid[0].get_yticklabels(), keys, strict=True):
            if method in OURS:
                tick.set_color(_OURS)
        words = (
            "coverage of the worst 500 rounds in a row: mean over shifts and runs (dot), worst run (bar), "
            f"guaranteed by the error budget (blue line, {100 * bound:.0f} %)"
        )
        figure.supxlabel(words, fontsize=10, color="#333333")
        save(figure, out, "field-shifts")


def _label(method: str, score: str) -> str:
    """Return a method's name in the figure of shifts."""
    return f"{method}, raw score" if score == "raw" and method != TOP_K else method


def _draw_method(axes: Axes, rows: _Rows, task: str, key: Key, height: int) -> None:
    worst = rows.shifted(task, key, "worst_500")
    color = _OURS if key[0] in OURS else _OTHERS
    mean, low = float(worst.mean()), float(worst.min())
    axes.plot([max(low, _LOWEST), max(mean, _LOWEST)], [height, height], color=color, lw=2.0, alpha=0.45, zorder=2)
    if low < _LOWEST:
        axes.plot(_LOWEST, height, "<", color=color, markersize=5, clip_on=False, zorder=3)
    if mean >= _LOWEST:
        axes.plot(mean, height, "o", color=color, markersize=6 if key[0] == SHIPPED else 5, zorder=3)
    length = rows.shifted(task, key, "mean_set_size").mean()
    axes.text(_LENGTHS, height, f"{length:.1f}", ha="right", va="center", fontsize=8.5, color=color)
