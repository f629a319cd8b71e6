"""Figures for print: PDF at the width of a column and of a page, fonts embedded, with a legend above the panels."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

from shortlist.lab.figure_style import style
from shortlist.lab.figures import Panel, Picture, paper_letter, pictures
from shortlist.lab.run import Results

__all__ = ["COLUMN", "PAGE", "Printed", "print_figures"]

#: The width of a column and of a page with two of them, in inches: ICML's.
COLUMN: Final = 3.25
PAGE: Final = 6.75

#: Type 42 (TrueType) fonts, which conferences ask for; STIX goes with Times.
_STYLE: Final = {
    "pdf.fonttype": 42,
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "normal",
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
}
#: Lines are drawn for screens three times as wide.
_THINNER: Final = 0.6


@dataclass(frozen=True)
class Printed:
    """A figure for print: the whole, if it has several panels, and each panel by the name of its task."""

    picture: Picture
    whole: str | None
    panels: dict[str, str]

    @property
    def files(self) -> list[str]:
        """The names of its files."""
        return [*([] if self.whole is None else [self.whole]), *self.panels.values()]


def print_figures(results: Results, folder: Path) -> list[Printed]:
    """Draw every figure for print: single panels as wide as a column, several side by side as wide as a page."""
    folder.mkdir(parents=True, exist_ok=True)
    printed = []
    with _print_style():
        for picture in pictures(results):
            if not picture.in_print:
                continue
            parts = {}
            for panel in picture.panels:
                parts[panel.name] = f"{picture.name.replace('_', '-')}-{panel.name}.pdf"
                _draw(picture, [panel], folder / parts[panel.name])
            whole = None
            if len(picture.panels) > 1:
                whole = f"{picture.name.replace('_', '-')}.pdf"
                _draw(picture, list(picture.panels), folder / whole)
            printed.append(Printed(picture, whole, parts))
    return printed


@contextmanager
def _print_style() -> Iterator[None]:
    with style(), mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        yield


def _draw(picture: Picture, panels: list[Panel], path: Path) -> None:
    alone = len(panels) == 1
    figure = Figure(figsize=(COLUMN, 2.35) if alone else (PAGE, 2.2), layout="constrained")
    row = list(figure.subplots(1, len(panels), squeeze=False)[0])
    for axes, panel in zip(row, panels, strict=True):
        panel.draw(axes)
        axes.set_title("" if alone else paper_letter(picture, panel) + axes.get_title(loc="left"))
        _refine(axes, few_ticks=len(panels) > 2)
    row[0].set_ylabel(picture.ylabel or row[0].get_ylabel())
    handles, labels = row[0].get_legend_handles_labels()
    names = [text.replace("\n", ", ") for text in labels]
    figure.legend(handles, names, loc="outside upper center", ncols=_columns(names, alone=alone), **_LEGEND)
    FigureCanvasPdf(figure)
    figure.savefig(path, metadata={"CreationDate": None})


_LEGEND: Final = {"handlelength": 1.8, "columnspacing": 1.2, "handletextpad": 0.5, "borderaxespad": 0.0}


def _columns(names: list[str], *, alone: bool) -> int:
    """Return into how many columns the names of lines fit."""
    letters = 62 if alone else 135  # of the legend's size
    spacing = 8  # letters that a line and the space between columns take
    if sum(len(name) + spacing for name in names) <= letters:
        return len(names)
    return max(1, letters // (max(map(len, names)) + spacing))


def _refine(axes: Axes, *, few_ticks: bool) -> None:
    """Make thinner and smaller what was drawn for screens."""
    for drawn in axes.lines:
        drawn.set_linewidth(_THINNER * drawn.get_linewidth())
        drawn.set_markersize(_THINNER * drawn.get_markersize())
    for text in axes.texts:
        text.set_fontsize(7)
    axes.tick_params(axis="both", which="both", labelsize=7)
    if few_ticks and axes.get_xlabel() == "round":
        axes.set_xticks(axes.get_xticks()[::2])
