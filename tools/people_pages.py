"""Write what ``make measure NAME=people`` measured: the tables of docs/explanation/people.md, and its two figures."""

import json
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from clicks import CLICKING, grid
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MultipleLocator, NullLocator, PercentFormatter
from tables import replace

ROOT: Final = Path(__file__).parents[1]
#: What was measured, run by run.
FILE: Final = ROOT / "benchmarks" / "people.json"
PAGE: Final = ROOT / "docs" / "explanation" / "people.md"
Figures = dict[str, Any]
Runs = dict[str, list[Any]]

_CLICK_SHARES: Final = {"0.1": "one in ten click", "0.3": "three in ten click", "0.8": "eight in ten click"}
_READING: Final = {"0.0": "everything", "0.5": "rank k with k^-0.5", "1.0": "rank k with 1/k"}
_PAGES: Final = {
    "everyone": "everyone expands",
    "half": "half expand, the others report a miss",
    "nobody": "nobody expands, all report a miss",
    "dropped": "half expand, the rounds of the others are dropped",
    "uncut": "no page limit, misses reported",
}
_CITATIONS: Final = {
    "complete": ("nothing", "`miss`, the default"),
    "ignore": ("one citation in ten", "`ignore`"),
    "miss": ("one citation in ten", "`miss`, the default"),
    "control": ('one citation in ten, and half of the "nothing fits"', "`ignore`"),
}
_NETWORKS: Final = {"1": "one", "3": "three, learned score"}
_KINDS: Final = {
    "as they are": "report a miss",
    "half settle": "half settle for what is shown",
    "leaning": "report a miss; wrong picks are the networks' favorite",
}


def dump(figures: Figures) -> None:
    """Write what was measured, one case per line."""
    parts = []
    for section, cases in figures.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in cases.items())
        parts.append(f' "{section}": {{\n{lines}\n }}')
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def table(head: list[str], rows: list[list[str]], words: int = 1) -> str:
    """Return a table whose first columns are words."""
    lines = [head, [*["---"] * words, *["---:"] * (len(head) - words)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def covered(runs: Runs) -> str:
    """Return mean coverage, and that of the worst run."""
    return f"{100 * np.mean(runs['coverage']):.1f} ({100 * min(runs['coverage']):.1f})"


def length(runs: Runs, name: str = "length") -> str:
    """Return mean list length, and that of the run with the longest lists."""
    return f"{np.mean(runs[name]):.1f} ({max(runs[name]):.1f})"


def past(runs: Runs) -> str:
    """Return how many runs passed the optimum."""
    return f"{sum(runs['passed'])} of {len(runs['passed'])}"


def clicks_table(figures: Figures) -> str:
    """Return the table of users who only click."""
    rows = []
    for way, clicking in CLICKING.items():
        for reading, words in _READING.items():
            if f"{way} {reading} 0.1" not in figures["clicks"]:
                continue
            cells = [figures["clicks"][f"{way} {reading} {share}"] for share in _CLICK_SHARES]
            rows.append([clicking.label, words, *(f"{covered(c)} / {length(c)} / {past(c)}" for c in cells)])
    return table(["what counts", "users look at", *_CLICK_SHARES.values()], rows, 2)


def pages_table(figures: Figures) -> str:
    """Return the table of short pages."""
    rows = []
    for key, words in _PAGES.items():
        runs: Runs = figures["pages"][key]
        cuts = sorted(cut for cut in runs["first_cut"] if cut is not None)
        never = len(runs["first_cut"]) - len(cuts)
        first = f"{np.median(cuts):.0f} ({cuts[-1]})" if not never else f"never in {never} of {len(runs['first_cut'])}"
        rows.append([words, first, covered(runs), past(runs), length(runs, "page"), length(runs)])
    head = ["who does not find it", "rounds before the first cut", "threshold covers, %", "runs past the optimum"]
    return table([*head, "page length", "with what was expanded"], rows)


def citations_table(figures: Figures) -> str:
    """Return the table of citations that get lost."""
    rows = [
        [lost, setting, covered(runs), length(runs), past(runs)]
        for key, (lost, setting) in _CITATIONS.items()
        for runs in (figures["citations"][key],)
    ]
    return table(["lost", "`unanswered`", "coverage, %", "list length", "runs past the optimum"], rows, 2)


def annotators_table(figures: Figures) -> str:
    """Return the table of annotators who err."""
    rows = []
    for case, errors in figures["errors"].items():
        networks, coverage, kind = case.split(" ", 2)
        runs = [figures["annotators"][f"{case} {asked}"] for asked in ("plain", "more")]
        cells = [f"{100 * np.mean(r['coverage']):.2f} ({100 * min(r['coverage']):.2f}) / {past(r)}" for r in runs]
        lengths = [f"{value:.2f}" for value in (errors["length"], *(np.mean(r["length"]) for r in runs))]
        words = [_NETWORKS[networks], f"{100 * float(coverage):.0f} %", _KINDS[kind]]
        rows.append([*words, f"{100 * errors['eps']:.2f}", *cells, " / ".join(lengths)])
    head = ["networks", "target", "annotators whose pick is not shown", "eps, %", "asked for the target"]
    return table([*head, "for eps more", "list length"], rows, 3)


def errors_in_words(figures: Figures) -> str:
    """Return where people's wrong picks are."""
    real = [errors for case, errors in figures["errors"].items() if case.endswith("as they are")]
    low, high = (100 * pick(errors["low"] for errors in real) for pick in (min, max))
    return (
        f"People were wrong in {100 * real[0]['wrong']:.1f} % of their answers. Of the wrong ones, {low:.0f} to "
        f"{high:.0f} %, by network and target, scored at or below the optimal threshold."
    )


def facts(figures: Figures) -> str:
    """Return how the worse scorer was made."""
    scorer = figures["scorer"]
    return (
        f"Here the right passage is on a page of ten in {100 * scorer['recall']:.1f} % of the questions: normal noise "
        f"with a standard deviation of {scorer['noise']} was added to MiniLM's similarities, once for each passage "
        f"(without it, {100 * scorer['clean']:.1f} %)."
    )


def draw_clicks(figures: Figures) -> Figure:
    """Draw coverage against list length, for each way to learn from clicks."""
    colors = {"best-first": "C1", "explored": "C0", "dropped": "C3", "misses": "0.45"}
    names = {
        "explored": "explored, random order",
        "best-first": "explored, best first",
        "dropped": "silence dropped",
        "misses": "silence is a miss",
    }
    markers = dict(zip(_READING, "os^", strict=True))
    figure, axes = plt.subplots(1, 3, figsize=(9.2, 3.7), sharey=True)
    for number, (axis, (share, title)) in enumerate(zip(axes, _CLICK_SHARES.items(), strict=True)):
        axis.axhline(0.9, color="0.4", ls="--", lw=1)
        for way, color in colors.items():
            for reading, marker in markers.items():
                runs = figures["clicks"].get(f"{way} {reading} {share}")
                if runs is not None:
                    at, level = np.mean(runs["length"]), np.mean(runs["coverage"])
                    # Where users look at everything the order is the same to them: a rim is left to see.
                    size = 10.0 if (way, reading) == ("best-first", "0.0") else 6.5
                    spread = [[level - min(runs["coverage"])], [max(runs["coverage"]) - level]]
                    axis.errorbar(at, level, spread, color=color, marker=marker, ms=size, mec="white", mew=0.7, lw=1.2)
        axis.set(xscale="log", xlim=(0.9, 80), ylim=(0.42, 1.03), title=title, xlabel="passages shown, of 51")
        axis.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50]))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter("{x:.0f}")
        if number == 0:
            axis.annotate(
                "target", (0.94, 0.9), (0, -4), textcoords="offset points", va="top", color="0.35", fontsize=9
            )
    axes[0].yaxis.set_major_formatter(PercentFormatter(1.0, 0))
    axes[0].set_ylabel("lists with the right passage")
    ways = [Line2D([], [], color=colors[way], marker="o", ls="", ms=6.5, label=name) for way, name in names.items()]
    looks = {"0.0": "users look at everything", "0.5": r"at rank k with $k^{-1/2}$", "1.0": "at rank k with 1/k"}
    shapes = [Line2D([], [], color="0.35", marker=m, ls="", ms=6.5, label=looks[r]) for r, m in markers.items()]
    shapes.append(Line2D([], [], ls="", label=" "))
    both = [handle for pair in zip(ways, shapes, strict=True) for handle in pair]
    figure.legend(handles=both, loc="outside lower center", ncols=4, fontsize=9, handletextpad=0.2, columnspacing=2)
    return figure


def draw_pages(figures: Figures) -> Figure:
    """Draw what the threshold covers as rounds go by, and how long pages and lists are."""
    colors = {"everyone": "C0", "half": "C2", "nobody": "0.45", "dropped": "C1"}
    names = {
        "everyone": "everyone expands",
        "half": "half expand",
        "nobody": "nobody expands",
        "dropped": "half, others dropped",
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.6), width_ratios=(1.25, 1))
    rounds = 10_000
    for key, color in colors.items():
        curves = np.array(figures["pages"][key]["curve"])
        left.fill_between(grid(rounds), curves.min(axis=0), curves.max(axis=0), color=color, alpha=0.15, lw=0)
        left.plot(grid(rounds), curves.mean(axis=0), color=color)
    left.axhline(0.9, color="0.4", ls="--", lw=1)
    left.annotate("target", (54, 0.9), (0, -4), textcoords="offset points", va="top", color="0.35", fontsize=9)
    left.set(xscale="log", xlim=(50, rounds), xlabel="round", title="Right passages that reach the threshold")
    left.xaxis.set_major_locator(FixedLocator([50, 100, 300, 1_000, 3_000, 10_000]))
    left.xaxis.set_minor_locator(NullLocator())
    left.xaxis.set_major_formatter("{x:,.0f}")
    left.yaxis.set_major_locator(MultipleLocator(0.05))
    left.yaxis.set_major_formatter(PercentFormatter(1.0, 0))
    _bars(right, figures["pages"], colors, names)
    return figure


def _bars(axes: Axes, pages: dict[str, Runs], colors: dict[str, str], names: dict[str, str]) -> None:
    """Draw mean lengths: the page, and what was shown on request."""
    bars = {**colors, "uncut": "0.7"}
    for row, (key, color) in enumerate(bars.items()):
        first, whole = np.mean(pages[key]["page"]), np.mean(pages[key]["length"])
        axes.barh(row, first, color=color, height=0.62)
        axes.barh(row, whole - first, left=first, color=color, alpha=0.4, height=0.62)
        words = f"{first:.1f}" if whole - first < 0.05 else f"{first:.1f} + {whole - first:.1f} on request"
        axes.annotate(words, (whole, row), (4, 0), textcoords="offset points", va="center", fontsize=9, color="0.25")
    axes.set_yticks(range(len(bars)), [*names.values(), "no page limit"])
    axes.tick_params(axis="y", length=0)
    for tick, color in zip(axes.get_yticklabels(), bars.values(), strict=True):
        tick.set_color("0.35" if color == "0.7" else color)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set(title="Passages shown per question", xlim=(0, 19))
    axes.xaxis.set_major_locator(FixedLocator([0, 5, 10, 15]))


#: The figures, by the names of their files.
DRAWN: Final = {"people-clicks": draw_clicks, "people-pages": draw_pages}


def draw(figures: Figures, out: Path) -> None:
    """Draw the figures into a folder."""
    mpl.use("agg")
    for name, make in DRAWN.items():
        with mpl.rc_context(), plt.style.context(str(ROOT / "docs" / "house.mplstyle")):
            figure = make(figures)
            figure.savefig(out / f"{name}.png")
            plt.close(figure)


#: The tables, by their marks on the page.
TABLES: Final = {
    "clicks": clicks_table,
    "pages": pages_table,
    "scorer": facts,
    "citations": citations_table,
    "annotators": annotators_table,
    "errors": errors_in_words,
}


def write_pages(figures: Figures) -> None:
    """Write the tables into the page, and draw the figures."""
    for mark, make in TABLES.items():
        replace(PAGE, mark, make(figures))
    draw(figures, ROOT / "docs" / "figures")
    print(f"{PAGE.relative_to(ROOT)}, and {len(DRAWN)} figures")
