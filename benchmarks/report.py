"""From what was measured to ``results.md`` and its figures. By hand: ``python benchmarks/report.py``."""

import csv
import json
import os
import platform
import statistics
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

sys.path.insert(0, __file__.rpartition("/")[0])
from peers import COVERAGE, PEERS

from shortlist.policies import REGISTRY

HERE = Path(__file__).parent
FIGURES = HERE.parent / "docs" / "figures"
STYLE = HERE.parent / "docs" / "house.mplstyle"
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LEARNED_CANDIDATES = (50, 1_000, 10_000)
POLICY_NAMES = {key: entry.policy.__name__ for key, entry in REGISTRY.items() if entry.paper}
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8A8A8A"


class Measured:
    """The times of all cases, and ratios between them."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.times: dict[str, list[float]] = found["times"]
        self.memory: dict[str, float] = found["memory"]
        self.date: str = found["date"]
        self.passes: int = found["passes"]

    def seconds(self, case: str) -> float:
        """Return a case's median over the passes."""
        return statistics.median(self.times[case])

    def ratio(self, case: str, base: str) -> tuple[float, float, float]:
        """Return the median of the ratios within a pass, the lowest and the highest."""
        ratios = [a / b for a, b in zip(self.times[case], self.times[base], strict=True)]
        return statistics.median(ratios), min(ratios), max(ratios)


def size_name(size: int) -> str:
    """Return 10^k."""
    return f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[len(str(size)) - 1]}"


def spread(ratio: tuple[float, float, float]) -> str:
    """Return a ratio with its range."""
    digits = 0 if ratio[0] >= 100 else 1 if ratio[0] >= 10 else 2
    return f"{ratio[0]:.{digits}f} ({ratio[1]:.{digits}f} to {ratio[2]:.{digits}f})"


def duration(seconds: float) -> str:
    """Return a time with a fitting unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; all columns but the first are figures."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def headlines(found: Measured) -> str:
    """Return the figures that the README and the issues of speed are about."""
    update = "update anytime"
    river = found.ratio("peer shortlist 1000000", "peer river 1000000")
    rows = [
        ["A round of AnytimeSPS at 10⁶ rounds, relative to river's `predict_one` + `learn_one`", spread(river)],
        ["The same at 10⁷ rounds, relative to 10³", spread(found.ratio(f"{update} 10000000", f"{update} 1000"))],
        ["Relative to one method call with a heap push and pop", spread(found.ratio(f"{update} 1000000", "heap push"))],
        [
            "Replay of 10⁷ rounds, relative to a minimal numba loop",
            spread(found.ratio("replay numba", "replay reference")),
        ],
        [
            "Replay of 10⁷ rounds, relative to `np.sort` of the same scores",
            spread(found.ratio("replay numba", "replay sort")),
        ],
        ["`import shortlist`, relative to `import numpy`", spread(found.ratio("import shortlist", "import numpy"))],
    ]
    return table(["", f"ratio (range over {found.passes} passes)"], rows)


def peers(found: Measured) -> str:
    """Return the table of libraries."""
    rows = []
    for name, peer in PEERS.items():
        case = f"peer {name} 10000"
        rows.append(
            [
                f"{name} {version(peer.package)}, {peer.call}",
                "yes" if peer.exact else "no",
                duration(found.seconds(case)),
                spread(found.ratio(case, "peer shortlist 10000")),
                peer.lacks,
            ]
        )
    case = "block crepes 10000"
    rows.append(
        [
            "the same, 200 rounds in one call",
            "yes",
            duration(found.seconds(case)),
            spread(found.ratio(case, "peer shortlist 10000")),
            "for answers that are all known beforehand: not an update, but its best case",
        ]
    )
    rows.insert(3, rows.pop())
    rows.append(["**shortlist**, `AnytimeSPS`", "yes", duration(found.seconds("peer shortlist 10000")), "1", ""])
    return table(["a round at n = 10⁴", "exact", "time", "times ours", "what it does instead, or lacks"], rows)


def streaming(found: Measured, kind: str) -> str:
    """Return the table of policies at all sizes."""
    rows = []
    for key, name in POLICY_NAMES.items():
        cases = [f"{kind} {key} {size}" for size in SIZES]
        cells = [duration(found.seconds(case)) if case in found.times else "" for case in cases]
        rows.append([name, *cells])
    return table(["rounds so far", *map(size_name, SIZES)], rows)


def learned(found: Measured) -> str:
    """Return the table of rounds with a learned score beside the bare softmax."""
    rows = []
    for candidates in LEARNED_CANDIDATES:
        case, base = f"learned {candidates}", f"softmax {candidates}"
        if case not in found.times:
            continue
        times = [duration(found.seconds(each)) for each in (case, base)]
        rows.append([f"{candidates:,} candidates", *times, spread(found.ratio(case, base))])
    return table(["", "`propose` and answer", "softmax, cut and sort in numpy", "ratio"], rows)


def other(found: Measured) -> str:
    """Return everything else that takes time or memory."""
    memory = found.memory
    rows = [
        ["replay with numba", f"{1 / found.seconds('replay numba'):,.0f} rounds/s"],
        ["replay without", f"{1 / found.seconds('replay plain'):,.0f} rounds/s"],
        [
            "the fit of a score: 100 rounds, 1,000 candidates, 5 scorers",
            duration(found.seconds("fit")) if "fit" in found.times else "",
        ],
        ["save a state after 10³ rounds, 10⁶ rounds", both(found, "save")],
        ["load it", both(found, "load")],
        ["`shortlist reproduce`, 10 runs of 10,000 rounds, three tasks", duration(found.seconds("reproduce"))],
        [
            f"memory a stream: {memory['streams']:,} `Shortlister`s, 1,000 rounds each",
            kilobytes(memory["bytes_a_stream"]),
        ],
        ["growth of the process over 10⁷ rounds of one stream", kilobytes(max(memory["long_growth"], 0))],
        ["its state after them, as JSON", kilobytes(memory["long_state"])],
    ]
    return table(["", ""], rows)


def both(found: Measured, verb: str) -> str:
    """Return the times of a small and of a large state."""
    return f"{duration(found.seconds(f'{verb} 1000'))}, {duration(found.seconds(f'{verb} 1000000'))}"


def kilobytes(count: float) -> str:
    """Return bytes as kB."""
    return f"{count / 1000:,.1f} kB"


def unreported() -> dict[str, dict[bool, tuple[float, float]]]:
    """Return, by method and by whether it was told everything, mean coverage of all and of the last rounds."""
    with (HERE / "unreported.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, dict[bool, tuple[float, float]]] = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        for told in (False, True):
            mine = [row for row in rows if row["method"] == method and row["told"] == str(told)]
            means = [statistics.mean(float(row[column]) for row in mine) for column in ("coverage", "last")]
            found.setdefault(method, {})[told] = (means[0], means[1])
    return found


def coverage_table() -> str:
    """Return the table of what is covered when misses are not reported."""
    rows = [
        [
            f"**{method}**" if method == "shortlist" else method,
            *(f"{share:.1%}" for share in (*kinds[False], kinds[True][0])),
        ]
        for method, kinds in unreported().items()
    ]
    return table(["told of hits only", "all rounds", "last 1,000", "control: told everything"], rows)


def draw_coverage() -> None:
    """Draw what is covered when misses are not reported."""
    found = unreported()
    methods = sorted(found, key=lambda method: found[method][False][1])
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(7.4, 3.9))
        for place, method in enumerate(methods):
            told, last = found[method][True][0], found[method][False][1]
            colour = BLUE if method == "shortlist" else ORANGE
            axes.plot([last, told], [place, place], color="#D8D8D8", zorder=1)
            axes.scatter(told, place, facecolor="white", edgecolor=GREY, s=34, zorder=2)
            axes.scatter(last, place, color=colour, s=44, zorder=3)
            shift, side = ((9, -3), "left") if method == "shortlist" else ((0, 7), "center")
            axes.annotate(f"{last:.0%}", (last, place), shift, textcoords="offset points", ha=side, fontsize=8.5)
        axes.axvline(COVERAGE, color="#333333", linewidth=1, linestyle=(0, (4, 3)))
        top = (COVERAGE, len(methods) - 0.45)
        axes.annotate("target", top, (-5, 0), textcoords="offset points", fontsize=8.5, ha="right")
        axes.set_yticks(range(len(methods)), methods)
        axes.set_ylim(-0.7, len(methods) - 0.1)
        axes.set_xlim(-0.04, 1.04)
        axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.set_xlabel("share of the last 1,000 rounds covered   (○ told everything, all rounds)")
        axes.set_title("Nobody reports a miss: what is left of 90 %")
        figure.savefig(FIGURES / "bench-unreported.png")
        plt.close(figure)


def draw_speed(found: Measured) -> None:
    """Draw the cost of a round against the rounds so far."""
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(7.4, 3.9))
        for name in PEERS:
            sizes = [size for size in SIZES if f"peer {name} {size}" in found.times]
            times = [found.seconds(f"peer {name} {size}") * 1e6 for size in sizes]
            colour = GREY if name != "river" else ORANGE
            axes.plot(sizes, times, "o-", color=colour, markersize=3.5, linewidth=1.3)
        sizes = [size for size in SIZES if f"update anytime {size}" in found.times]
        axes.plot(
            sizes, [found.seconds(f"update anytime {size}") * 1e6 for size in sizes], "o-", color=BLUE, markersize=5
        )
        label_ends(axes, found)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(800, 1.6e7)
        axes.set_ylim(bottom=0.4)
        axes.set_xlabel("rounds so far")
        axes.set_ylabel("µs a round")
        axes.set_title("What a round costs")
        figure.savefig(FIGURES / "bench-speed.png")
        plt.close(figure)


def label_ends(axes: Any, found: Measured) -> None:
    """Name each line at its right end, apart from its neighbours."""
    ends = []
    for name in PEERS:
        size = max(size for size in SIZES if f"peer {name} {size}" in found.times)
        ends.append((found.seconds(f"peer {name} {size}") * 1e6, size, name, ORANGE if name == "river" else "#555555"))
    size = max(size for size in SIZES if f"update anytime {size}" in found.times)
    ends.append((found.seconds(f"update anytime {size}") * 1e6, size, "shortlist, AnytimeSPS", BLUE))
    lowest = 0.0
    for height, size, name, colour in sorted(ends):
        place = max(height, lowest * 1.55)
        lowest = place if size == 10_000 else lowest
        ahead = size < 10_000_000
        axes.annotate(
            name,
            (size, height),
            (size * 1.35, place) if ahead else (size, height * 0.62),
            textcoords="data",
            fontsize=8.5,
            color=colour,
            va="center",
            ha="left" if ahead else "right",
        )


def quote(found: Measured) -> None:
    """Put the figures that the README quotes into it, between its two marks."""
    coverage = unreported()
    rows = [
        [
            f"{name} {version(peer.package)}, {peer.call}"
            if peer.package != "online-conformal"
            else f"{name} {version(peer.package)}",
            f"{coverage[name][False][1]:.1%}",
            f"{coverage[name][True][0]:.1%}",
            duration(found.seconds(f"peer {name} 10000")),
        ]
        for name, peer in PEERS.items()
    ]
    ours = coverage["shortlist"]
    seconds = found.seconds("peer shortlist 10000")
    rows.append(["**shortlist**, `AnytimeSPS`", f"**{ours[False][1]:.1%}**", f"{ours[True][0]:.1%}", duration(seconds)])
    head = ["target 90 %", "covered when misses are not reported", "when told everything", "a round at n = 10⁴"]
    quoted = (
        f"{table(head, rows)}\nMeasured on {found.date} by `make bench`; the last 1,000 of 4,000 rounds on real scores, five runs. "
        f"A `Shortlister` takes {kilobytes(found.memory['bytes_a_stream'])} after 1,000 rounds. What each library does, how it was asked, "
        "and everything else that was measured: [benchmarks/results.md](benchmarks/results.md).\n"
    )
    path = HERE.parent / "README.md"
    before, mark, rest = path.read_text(encoding="utf-8").partition("<!-- measured -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    path.write_text(f"{before}{mark}{quoted}{end}{after}", encoding="utf-8")


def machine() -> str:
    """Return what it ran on."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pyperf"))
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}, {packages}"


def write_report() -> None:
    """Write ``results.md`` and draw the figures."""
    found = Measured(json.loads((HERE / "results.json").read_text(encoding="utf-8")))
    FIGURES.mkdir(exist_ok=True)
    draw_coverage()
    draw_speed(found)
    text = f"""# Benchmarks

Measured on {found.date} by `make bench` on a shared machine: {machine()}.
Times are medians over {found.passes} interleaved passes; ratios are taken within a pass, and shown with their range.
Coverage 0.9, scores uniform unless it says otherwise.

## In short

{headlines(found)}
## Other libraries

Each on its own natural update, asked for its limit and told the right answer, in the same run as ours. They solve another
problem: all of them are told the right answer in every round, most of them work with forecasts and intervals, and several offer
much that is not here (models, regression, time series). None takes "not in here" for an answer, or promises a threshold that
never passes the optimal one. *Exact* means that the limit is a quantile of what was reported, not an approximation of it.

{peers(found)}
![What a round costs](../docs/figures/bench-speed.png)

## When misses are not reported

Real scores (the retrieval task), target 90 %, 200 labelled examples to begin with, then 4,000 rounds, five runs. Each library hears
of the right answer when it was in the list, and of nothing when it was not. In the last column it hears everything.
`shortlist` hears of the hits only, like all others; its control is told "not in here", and never the score.

{coverage_table()}
![What is left of the target](../docs/figures/bench-unreported.png)

## A round, by policy and rounds so far

The bare policy: read the threshold, take the answer.

{streaming(found, "update")}
`propose` and `hit` or `miss` on a `Shortlister`, lists of 50 candidates:

{streaming(found, "round")}
With a score that was learned (`score="auto"`), after its fit, beside the same softmax in bare numpy, which learns nothing:

{learned(found)}
## The rest

{other(found)}"""
    (HERE / "results.md").write_text(text, encoding="utf-8")
    quote(found)


if __name__ == "__main__":
    write_report()
