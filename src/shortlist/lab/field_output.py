"""What the field suite writes: ``field.csv``, tables for a page, and two figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from shortlist.lab.drawing import GREY, save, style
from shortlist.lab.field import MISSES, FieldRow
from shortlist.lab.output import write_table
from shortlist.lab.shifts import WORLDS
from shortlist.lab.statistics import half_width

__all__ = ["write_field"]

_COLUMNS: Final = tuple(FieldRow.__dataclass_fields__)
_KINDS: Final = {
    "full": "told everything",
    "beyond": "a miss is beyond",
    "threshold": "at the threshold",
    "dropped": "dropped",
}
_COLOURS: Final = {"full": GREY, "beyond": "#0072B2", "threshold": "#B8860B", "dropped": "#D55E00"}


class _Rows:
    """Rows by task, world, method and feedback."""

    def __init__(self, rows: Sequence[FieldRow]) -> None:
        self.tasks = list(dict.fromkeys(row.task for row in rows))
        self.methods = list(dict.fromkeys(row.method for row in rows))
        self._found: dict[tuple[str, str, str, str], list[FieldRow]] = {}
        for row in rows:
            self._found.setdefault((row.task, row.world, row.method, row.feedback), []).append(row)

    def values(self, task: str, world: str, method: str, kind: str, column: str) -> Any:
        """Return a column over runs; `kind` "own" means the feedback that the method gets from people."""
        for feedback in ("beyond", "semi-bandit") if kind == "own" else (kind,):
            rows = self._found.get((task, world, method, feedback))
            if rows:
                return np.array([getattr(row, column) for row in rows], dtype=float)
        return None


def write_field(rows: Sequence[FieldRow], out: Path, coverage: float) -> None:
    """Write everything into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "field.csv", _COLUMNS, rows)
    found = _Rows(rows)
    (out / "field.md").write_text(_page(found, coverage), encoding="utf-8")
    _draw_misses(found, out, coverage)
    _draw_worlds(found, out, coverage)


def _cell(values: Any, form: str) -> str:
    if values is None or np.isnan(values).all():
        return ""
    half = half_width(values)
    spread = "" if np.isnan(half) else f" ± {form.format(float(half))}"
    return f"{form.format(float(values.mean()))}{spread}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _page(found: _Rows, coverage: float) -> str:
    """Return the tables as Markdown: means over runs with 95 % bands."""
    parts = [f"# The field, in tables\n\nTarget {100 * coverage:g} %; means over runs with 95 % bands.\n"]
    for task in found.tasks:
        parts.append(f"\n### {task.capitalize()}: what a miss means, in a world that stands still\n")
        parts.append(
            'Methods without such a setting have their own way with a miss; it stands under "a miss is beyond".\n'
        )
        rows = [
            [
                method,
                *(
                    _cell(
                        found.values(task, "stationary", method, "own" if kind == "beyond" else kind, "coverage"),
                        "{:.3f}",
                    )
                    for kind in _KINDS
                ),
            ]
            for method in found.methods
        ]
        parts.append(_table(["coverage", *_KINDS.values()], rows))
    for task in found.tasks:
        for world in WORLDS:
            parts.append(f"\n### {task.capitalize()}, {world}\n")
            rows = [
                [
                    method,
                    *(
                        _cell(found.values(task, world, method, "own", column), form)
                        for column, form in (
                            ("coverage", "{:.3f}"),
                            ("local_coverage", "{:.3f}"),
                            ("mean_set_size", "{:.1f}"),
                            ("regret", "{:,.0f}"),
                            ("undercoverage_count", "{:,.0f}"),
                        )
                    ),
                ]
                for method in found.methods
            ]
            head = ["", "coverage", "worst 500 rounds", "list length", "regret", "rounds past the optimum"]
            parts.append(_table(head, rows))
    return "\n".join(parts)


def _draw_misses(found: _Rows, out: Path, coverage: float) -> None:
    """Draw what each treatment of a miss does to coverage, beside full feedback."""
    methods = [
        method
        for method in found.methods
        if found.values(found.tasks[0], "stationary", method, MISSES[0], "coverage") is not None
    ][::-1]
    with style():
        figure = Figure(figsize=(3.1 * len(found.tasks) + 1.6, 3.6), layout="constrained")
        grid = figure.subplots(1, len(found.tasks), sharey=True, squeeze=False)[0]
        for axes, task in zip(grid, found.tasks, strict=True):
            for place, method in enumerate(methods):
                for kind, colour in _COLOURS.items():
                    values = found.values(task, "stationary", method, kind, "coverage")
                    filled = "white" if kind == "full" else colour
                    axes.scatter(values.mean(), place, s=42, facecolor=filled, edgecolor=colour, zorder=3)
            axes.axvline(coverage, color=GREY, lw=1.0, ls="--", zorder=1)
            axes.set_title(task.capitalize())
            axes.set_xlim(-0.04, 1.04)
            axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
            axes.set_yticks(range(len(methods)), methods)
            axes.grid(visible=True, axis="x")
        handles = [
            grid[0].scatter(
                [], [], s=42, facecolor="white" if kind == "full" else colour, edgecolor=colour, label=_KINDS[kind]
            )
            for kind, colour in _COLOURS.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
        grid[len(grid) // 2].set_xlabel("coverage of all rounds")
        save(figure, out, "field-misses")


def _draw_worlds(found: _Rows, out: Path, coverage: float) -> None:
    """Draw how deep coverage falls in the worst stretch of each changing world."""
    worlds = [world for world in WORLDS if world != "stationary"]
    methods = [method for method in found.methods if method != "Greedy"][::-1]
    with style():
        figure = Figure(figsize=(3.1 * len(found.tasks) + 1.6, 4.2), layout="constrained")
        grid = figure.subplots(1, len(found.tasks), sharey=True, squeeze=False)[0]
        colours = dict(zip(worlds, ("#D55E00", "#009E73", "#6B6B9A"), strict=True))
        for axes, task in zip(grid, found.tasks, strict=True):
            for place, method in enumerate(methods):
                for shift, world in enumerate(worlds):
                    values = found.values(task, world, method, "own", "local_coverage")
                    axes.plot(
                        values.mean(),
                        place + 0.22 * (1 - shift),
                        "o",
                        color=colours[world],
                        markersize=5.5 if method.startswith("AnytimeSPS") else 4.5,
                    )
            axes.axvline(coverage, color=GREY, lw=1.0, ls="--", zorder=1)
            axes.set_title(task.capitalize())
            axes.xaxis.set_major_locator(MultipleLocator(0.05))
            axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
            axes.set_yticks(range(len(methods)), methods)
            axes.grid(visible=True, axis="x")
        handles = [grid[0].plot([], [], "o", color=colour, label=world)[0] for world, colour in colours.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
        grid[len(grid) // 2].set_xlabel("coverage of the worst 500 rounds in a row")
        save(figure, out, "field-worlds")
