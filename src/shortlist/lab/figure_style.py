"""How figures look: one style, safe for color-blind readers, with labels at the lines."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from shortlist.lab.statistics import mean_and_band
from shortlist.policies import REGISTRY, policy_label

__all__ = [
    "GRAY",
    "Ends",
    "finish",
    "label",
    "label_of",
    "level",
    "line",
    "line_style",
    "log_lengths",
    "panels",
    "plain",
    "save",
    "spread",
    "style",
]

Array = NDArray[np.float64]

#: Where each line ends, its name and its color.
Ends = list[tuple[float, str, str]]

# Okabe and Ito's palette, distinct for every kind of color vision; dashes help in gray.
_BLUE: Final = "#0072B2"
_LINES: Final[dict[str, dict[str, Any]]] = {
    "product-limit": {"color": "#E69F00", "lw": 1.8},
    "anytime@2/T": {"color": _BLUE, "lw": 2.4},
    "anytime": {"color": _BLUE, "lw": 2.4},
    "anytime@0.01": {"color": "#3A9BDC", "lw": 1.6, "ls": (0, (5, 1.5))},
    "sps": {"color": "#D55E00", "lw": 2.0},
    "greedy": {"color": "#222222", "lw": 1.5, "ls": (0, (1, 1))},
    "aci": {"color": "#B0578D", "lw": 1.5},
    "dlr": {"color": "#009E73", "lw": 1.5, "ls": (0, (4, 1, 1, 1))},
    "etc": {"color": "#B8860B", "lw": 1.5, "ls": (0, (5, 1.5))},
    "conservative-etc": {"color": "#6B6B9A", "lw": 1.5, "ls": (0, (3, 1, 1, 1))},
    # Ways of making lists, in one figure with "sps".
    "raw": {"color": "#B8860B", "lw": 1.6, "ls": (0, (5, 1.5))},
    "relative": {"color": "#009E73", "lw": 1.8},
    "rrf": {"color": "#B0578D", "lw": 1.8},
    "auto": {"color": "#3A9BDC", "lw": 1.8, "ls": (0, (5, 1.5))},
    "auto-all": {"color": _BLUE, "lw": 2.8},
    "default": {"color": "#D55E00", "lw": 1.4},
    "top-k": {"color": "#444444", "lw": 1.5, "ls": (0, (1, 1))},
    "top-k-rrf": {"color": "#444444", "lw": 1.5, "ls": (0, (3, 1, 1, 1))},
    "autocut": {"color": "#6B6B9A", "lw": 1.5, "ls": (0, (1, 1))},
}
#: For policies without a line of their own: distinct from those above.
_OTHERS: Final = ("#7A3E1D", "#C2185B", "#00796B", "#5E35B1", "#558B2F")
_DASHES: Final = ((0, ()), (0, (5, 1.5)), (0, (1, 1)), (0, (3, 1, 1, 1)))
GRAY: Final = "#666666"

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
    "xtick.labelsize": 8.5,
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


def label_of(policy: str) -> str:
    """Return the label of a policy."""
    return policy_label(policy)


def line_style(policy: str) -> dict[str, Any]:
    """Return the color, width and dashes of a policy's line; one without its own gets one by its position or name.

    >>> line_style("sps")["color"], line_style("MyPolicy") == line_style("MyPolicy")
    ('#D55E00', True)
    """
    if policy in _LINES:
        return _LINES[policy]
    others = [key for key in REGISTRY if key not in _LINES]
    number = others.index(policy) if policy in others else zlib.crc32(policy.encode())
    dashes = _DASHES[number // len(_OTHERS) % len(_DASHES)]
    return {"color": _OTHERS[number % len(_OTHERS)], "lw": 1.8, "ls": dashes}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style."""
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        yield


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as SVG and PNG."""
    FigureCanvasAgg(figure)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.set_layout_engine(None)  # its layout is done, and takes as long as drawing it
    figure.savefig(folder / f"{name}.png", dpi=150)


def panels(count: int, width: float = 4.3, height: float = 3.3) -> tuple[Figure, list[Axes]]:
    """Return a figure with that many panels side by side."""
    figure = Figure(figsize=(width * count + 0.4, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def line(
    axes: Axes, x: NDArray[Any], runs: Array, policy: str, floor: float = -np.inf, name: str | None = None
) -> tuple[float, str, str]:
    """Draw the mean of a policy's runs and its 95 % band; return where the line ends, its name and its color."""
    mean, low, high = (np.maximum(values, floor) for values in mean_and_band(runs))
    chosen = line_style(policy)
    text = label_of(policy) if name is None else name
    axes.plot(x, mean, label=text, **chosen)
    axes.fill_between(x, low, high, color=chosen["color"], alpha=0.18, lw=0)
    return float(mean[-1]), text, chosen["color"]


def level(axes: Axes, height: float, name: str) -> tuple[float, str, str]:
    """Draw a dashed line across a panel; return where it is, its name and its color."""
    axes.axhline(height, color=GRAY, lw=1.2, ls="--", label=name)
    return height, name, GRAY


def log_lengths(axes: Axes, span: tuple[float, float] | None = None) -> None:
    """Show lengths on a log scale, with plain numbers as ticks."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(*(span or (low * 0.8, high * 1.1)))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_locator(LogLocator(subs=(2.0, 3.0, 5.0)))
    axes.yaxis.set_minor_formatter("{x:,g}" if high / low < 100 else "")
    axes.tick_params(axis="y", which="minor", labelsize=8)


def plain(text: str) -> str:
    """Return a text whose dollar signs do not start a formula."""
    return text.replace("$", r"\$")


def finish(axes: Axes, title: str, rounds: int) -> None:
    """Title a panel over rounds, and number its axis."""
    axes.set_title(plain(title))
    axes.set_xlim(0, rounds)
    axes.set_xticks(np.linspace(0, rounds, 5))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("round")


def label(figure: Figure, axes: Axes, ends: Ends, apart: float = 1.25) -> None:
    """Write each line's name at its end; names that would overlap are pushed apart, with leaders to the ends."""
    if not ends:
        return
    low, high = axes.get_ylim()
    scale = np.log if axes.get_yscale() == "log" else float
    rows = axes.get_gridspec().nrows  # type: ignore[union-attr]
    gap = apart * 9.0 / (figure.get_size_inches()[1] * 72 * 0.75 / rows)  # of the panel's height
    lines = sorted(
        (float((scale(max(y, low)) - scale(low)) / (scale(high) - scale(low))), text, color) for y, text, color in ends
    )
    lines = [(min(max(y, 0.0), 1.0), text, color) for y, text, color in lines]
    heights = spread([y for y, _, _ in lines], gap)
    moved = any(abs(height - y) > gap / 4 for (y, _, _), height in zip(lines, heights, strict=True))
    leader = {"arrowstyle": "-", "lw": 0.7, "shrinkA": 1.5, "shrinkB": 0.5, "relpos": (0, 0.5)}
    for (y, text, color), height in zip(lines, heights, strict=True):
        axes.annotate(
            text, (1.0, y), (1.05 if moved else 1.012, height),  # in one column, so that no leader crosses a name
            xycoords="axes fraction", textcoords="axes fraction", color=color, fontsize=9, va="center", ha="left",
            annotation_clip=False, arrowprops=leader | {"color": color} if moved else None,
        )  # fmt: skip


def spread(heights: list[float], gap: float) -> list[float]:
    """Return ascending heights moved as little as possible, so that neighbors are `gap` apart, within 0 and 1.

    Neighbors that are too close become a block around their middle, and blocks that meet become one.

    >>> [round(height, 3) for height in spread([0.5, 0.5, 0.52, 0.9], 0.1)]
    [0.407, 0.507, 0.607, 0.9]
    """
    blocks: list[list[float]] = []  # middle of the block, how many are in it
    for height in heights:
        blocks.append([height, 1.0])
        while len(blocks) > 1 and blocks[-1][0] - blocks[-2][0] < gap * (blocks[-1][1] + blocks[-2][1]) / 2:
            middle, count = blocks.pop()
            before, more = blocks[-1]
            total = count + more
            blocks[-1] = [_within((middle * count + before * more) / total, gap * (total - 1)), total]
    return [middle + gap * (i - (count - 1) / 2) for middle, count in blocks for i in range(int(count))]


def _within(middle: float, width: float) -> float:
    """Return the middle of a block moved so that the block lies within 0 and 1."""
    return min(max(middle, width / 2), max(1 - width / 2, width / 2))
