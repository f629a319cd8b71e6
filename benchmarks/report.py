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
from frameworks import FRAMEWORKS, PASSAGES, TOP_K, WAYS
from peers import COVERAGE, OURS, PEERS

from shortlist.policies import REGISTRY

HERE = Path(__file__).parent
FIGURES = HERE.parent / "docs" / "figures"
STYLE = HERE.parent / "docs" / "house.mplstyle"
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LEARNED_CANDIDATES = (50, 1_000, 10_000)
POLICY_NAMES = {key: entry.policy.__name__ for key, entry in REGISTRY.items() if entry.paper}
PACKAGES = {"langchain": "langchain-core", "llama_index": "llama-index-core", "haystack": "haystack-ai"}
#: Ours, as a bare policy and as users hold it.
POLICY, LISTER = OURS
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#8A8A8A"


class Measured:
    """The times of all cases, and ratios between them."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.times: dict[str, list[float]] = results["times"]
        self.memory: dict[str, float] = results["memory"]
        self.date: str = results["date"]
        #: When the other libraries were measured, if in a run of their own.
        self.peer_date: str = results.get("peer_date", self.date)
        self.passes: int = results["passes"]
        #: Cases whose names begin so were measured in a run of their own (`run.py --only`), on the same day.
        self.apart: list[str] = results.get("apart", [])

    def seconds(self, case: str) -> float:
        """Return a case's median over the passes."""
        return statistics.median(self.times[case])

    def ratio(self, case: str, base: str) -> tuple[float, float, float]:
        """Return the median of the ratios within a pass, the lowest and the highest."""
        # Cases of a run of their own may have fewer passes.
        ratios = [a / b for a, b in zip(self.times[case], self.times[base], strict=False)]
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


def headlines(measured: Measured) -> str:
    """Return the figures that the README and the issues of speed are about."""
    update = "update anytime"
    river = measured.ratio(f"peer {POLICY} 1000000", "peer river 1000000")
    rows = [
        ["A round of AnytimeSPS at 10⁶ rounds, relative to river's `predict_one` + `learn_one`", spread(river)],
        ["The same at 10⁷ rounds, relative to 10³", spread(measured.ratio(f"{update} 10000000", f"{update} 1000"))],
        [
            "Relative to one method call with a heap push and pop",
            spread(measured.ratio(f"{update} 1000000", "heap push")),
        ],
        [
            "Replay of 10⁷ rounds, relative to a minimal numba loop",
            spread(measured.ratio("replay numba", "replay reference")),
        ],
        [
            "Replay of 10⁷ rounds, relative to `np.sort` of the same scores",
            spread(measured.ratio("replay numba", "replay sort")),
        ],
        ["`import shortlist`, relative to `import numpy`", spread(measured.ratio("import shortlist", "import numpy"))],
    ]
    return table(["", f"ratio (range over {measured.passes} passes)"], rows)


def peers(measured: Measured) -> str:
    """Return the table of libraries."""
    rows = []
    for name, peer in PEERS.items():
        case = f"peer {name} 10000"
        rows.append(
            [
                f"{name} {version(peer.package)}, {peer.call}",
                "yes" if peer.exact else "no",
                duration(measured.seconds(case)),
                spread(measured.ratio(case, f"peer {POLICY} 10000")),
                peer.lacks,
            ]
        )
    case = "block crepes 10000"
    rows.append(
        [
            "the same, 200 rounds in one call",
            "yes",
            duration(measured.seconds(case)),
            spread(measured.ratio(case, f"peer {POLICY} 10000")),
            "for answers that are all known beforehand: not an update, but its best case",
        ]
    )
    rows.insert(3, rows.pop())
    rows.append(["**shortlist**, `AnytimeSPS`", "yes", duration(measured.seconds(f"peer {POLICY} 10000")), "1", ""])
    case = f"peer {LISTER} 10000"
    words = "propose and answer, one candidate: round ids, late answers, the error budget"
    ratio = spread(measured.ratio(case, f"peer {POLICY} 10000"))
    rows.append(["**shortlist**, `Shortlister(delta=0.01)`", "yes", duration(measured.seconds(case)), ratio, words])
    return table(["per round at n = 10⁴", "exact", "time", "times ours", "what it does instead, or lacks"], rows)


def streaming(measured: Measured, kind: str) -> str:
    """Return the table of policies at all sizes."""
    rows = []
    for key, name in POLICY_NAMES.items():
        cases = [f"{kind} {key} {size}" for size in SIZES]
        cells = [duration(measured.seconds(case)) if case in measured.times else "" for case in cases]
        rows.append([name, *cells])
    return table(["rounds so far", *map(size_name, SIZES)], rows)


def learned(measured: Measured) -> str:
    """Return the table of rounds with a learned score beside the bare softmax."""
    rows = []
    for candidates in LEARNED_CANDIDATES:
        case, base = f"learned {candidates}", f"softmax {candidates}"
        if case not in measured.times:
            continue
        times = [duration(measured.seconds(each)) for each in (case, base)]
        rows.append([f"{candidates:,} candidates", *times, spread(measured.ratio(case, base))])
    return table(["", "`propose` and answer", "softmax, cut and sort in numpy", "ratio"], rows)


def frameworks(measured: Measured) -> str:
    """Return the table of rounds through frameworks."""
    rows = []
    for key, name in FRAMEWORKS.items():
        top_k, rrf, auto = (f"framework {key} {way}" for way in WAYS)
        if auto not in measured.times:
            continue
        times = [duration(measured.seconds(case)) for case in (top_k, rrf, auto)]
        rows.append([f"{name} {version(PACKAGES[key])}", *times, spread(measured.ratio(auto, rrf))])
    head = [f"top-{TOP_K} of the vector store", "its own RRF of both", "shortlist over both, answer included"]
    return table(["per question", *head, "relative to RRF"], rows)


def other(measured: Measured) -> str:
    """Return everything else that takes time or memory."""
    memory = measured.memory
    rows = [
        ["replay with numba", f"{1 / measured.seconds('replay numba'):,.0f} rounds/s"],
        ["replay without", f"{1 / measured.seconds('replay plain'):,.0f} rounds/s"],
        [
            "the fit of a score: 100 rounds, 1,000 candidates, 5 scorers",
            duration(measured.seconds("fit")) if "fit" in measured.times else "",
        ],
        ["save a state after 10³ rounds, 10⁶ rounds", both(measured, "save")],
        ["load it", both(measured, "load")],
        ["`shortlist reproduce`, 10 runs of 10,000 rounds, three tasks", duration(measured.seconds("reproduce"))],
        [
            f"memory a stream: {memory['streams']:,} `Shortlister`s, 1,000 rounds each",
            kilobytes(memory["bytes_a_stream"]),
        ],
        ["growth of the process over 10⁷ rounds of one stream", kilobytes(max(memory["long_growth"], 0))],
        ["its state after them, as JSON", kilobytes(memory["long_state"])],
    ]
    return table(["", ""], rows)


def both(measured: Measured, verb: str) -> str:
    """Return the times of a small and of a large state."""
    return f"{duration(measured.seconds(f'{verb} 1000'))}, {duration(measured.seconds(f'{verb} 1000000'))}"


def kilobytes(count: float) -> str:
    """Return bytes as kB."""
    return f"{count / 1000:,.1f} kB"


SILENCE = {"dropped": "silence dropped", "imputed": "silence imputed as worst", "revealed": "every answer revealed"}


def unreported() -> dict[str, dict[str, float]]:
    """Return, by method and by what is done with silence, mean coverage of the last rounds."""
    with (HERE / "unreported.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    coverages: dict[str, dict[str, float]] = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        for silence in SILENCE:
            mine = [float(row["last"]) for row in rows if (row["method"], row["silence"]) == (method, silence)]
            coverages.setdefault(method, {})[silence] = statistics.mean(mine)
    return coverages


def shares(method: str) -> list[str]:
    """Return what a method covers, by what is done with silence."""
    return [f"{share:.1%}" for share in unreported()[method].values()]


def coverage_table() -> str:
    """Return the table of what is covered, by what is done with silence."""
    rows = [[f"**{method}**" if method in OURS else method, *shares(method)] for method in unreported()]
    return table(["covered in the last 1,000 rounds", *SILENCE.values()], rows)


def draw_coverage() -> None:
    """Draw what is covered, by what is done with silence."""
    coverages = unreported()
    methods = sorted(coverages, key=lambda method: (method in OURS, coverages[method]["dropped"]))
    marks = {"dropped": ("o", ORANGE), "imputed": ("D", BLUE), "revealed": ("o", "white")}
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(7.4, 4.6))
        for row, method in enumerate(methods):
            values = coverages[method]
            axes.plot([min(values.values()), max(values.values())], [row, row], color="#D8D8D8", zorder=1)
            for silence, (mark, color) in marks.items():
                edge = GRAY if color == "white" else color
                label = SILENCE[silence] if row == 0 else None
                axes.scatter(
                    values[silence], row, marker=mark, facecolor=color, edgecolor=edge, s=38, zorder=3, label=label
                )
            text = (values["dropped"], row)
            axes.annotate(f"{text[0]:.0%}", text, (0, 7), textcoords="offset points", ha="center", fontsize=8.5)
        axes.axvline(COVERAGE, color="#333333", linewidth=1, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(methods)), methods)
        for name in axes.get_yticklabels():
            name.set_fontweight("bold" if name.get_text() in OURS else "normal")
        axes.set_ylim(-0.7, len(methods) - 0.1)
        axes.set_xlim(-0.04, 1.04)
        axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.legend(loc="upper left", fontsize=8.5)
        axes.set_xlabel("share of the last 1,000 rounds covered (dashed: the target)")
        axes.set_title("Nobody reports a miss: what is left of 90 %")
        figure.savefig(FIGURES / "bench-unreported.png")
        plt.close(figure)


def draw_speed(measured: Measured) -> None:
    """Draw the cost of a round against the rounds so far."""
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(7.4, 3.9))
        for name in PEERS:
            sizes = [size for size in SIZES if f"peer {name} {size}" in measured.times]
            times = [measured.seconds(f"peer {name} {size}") * 1e6 for size in sizes]
            color = GRAY if name != "river" else ORANGE
            axes.plot(sizes, times, "o-", color=color, markersize=3.5, linewidth=1.3)
        sizes = [size for size in SIZES if f"update anytime {size}" in measured.times]
        axes.plot(
            sizes, [measured.seconds(f"update anytime {size}") * 1e6 for size in sizes], "o-", color=BLUE, markersize=5
        )
        label_ends(axes, measured)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(800, 1.6e7)
        axes.set_ylim(0.4, 1e4)
        axes.set_xlabel("rounds so far")
        axes.set_ylabel("µs per round")
        axes.set_title("What a round costs")
        figure.savefig(FIGURES / "bench-speed.png")
        plt.close(figure)


def label_ends(axes: Any, measured: Measured) -> None:
    """Name each line at its right end, apart from its neighbors."""
    ends = []
    for name in PEERS:
        size = max(size for size in SIZES if f"peer {name} {size}" in measured.times)
        ends.append(
            (measured.seconds(f"peer {name} {size}") * 1e6, size, name, ORANGE if name == "river" else "#555555")
        )
    size = max(size for size in SIZES if f"update anytime {size}" in measured.times)
    ends.append((measured.seconds(f"update anytime {size}") * 1e6, size, "shortlist, AnytimeSPS", BLUE))
    lowest = 0.0
    for height, size, name, color in sorted(ends):
        level = max(height, lowest * 1.55)
        lowest = level if size == 10_000 else lowest
        ahead = size < 10_000_000
        axes.annotate(
            name,
            (size, height),
            (size * 1.35, level) if ahead else (size, height * 0.62),
            textcoords="data",
            fontsize=8.5,
            color=color,
            va="center",
            ha="left" if ahead else "right",
        )


def quote(measured: Measured) -> None:
    """Put the figures that the README quotes into it, between its two marks."""
    rows = []
    for name, peer in PEERS.items():
        called = f"{name} {version(peer.package)}" + (f", {peer.call}" if peer.package != "online-conformal" else "")
        rows.append([called, *shares(name), duration(measured.seconds(f"peer {name} 10000"))])
    for name in OURS:
        words = f"**shortlist**, `{name.partition(', ')[2]}`"
        rows.append([words, *shares(name), duration(measured.seconds(f"peer {name} 10000"))])
    quoted = (
        f"{table(['target 90 %', *SILENCE.values(), 'per round at n = 10⁴'], rows)}\n"
        f"Measured on {measured.peer_date} by `make bench`: the share of the last 1,000 of 4,000 rounds covered, real scores, five runs, every method called in the same way; "
        "the time is of the object in the row. "
        f"A `Shortlister` takes {kilobytes(measured.memory['bytes_a_stream'])} after 1,000 rounds. What each library does, how it was called, "
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
    measured = Measured(json.loads((HERE / "results.json").read_text(encoding="utf-8")))
    FIGURES.mkdir(exist_ok=True)
    draw_coverage()
    draw_speed(measured)
    text = f"""# Benchmarks

Measured on {measured.date} by `make bench` on a shared machine: {machine()}.
Times are medians over {measured.passes} interleaved passes; ratios are taken within a pass, and shown with their range.
Coverage 0.9, scores uniform unless it says otherwise.

## In short

{headlines(measured)}
## Other libraries

Each with its own natural update (read its limit, reveal the right answer), in the same run as ours. They solve a different
problem: the right answer is revealed to all of them in every round, most of them work with forecasts and intervals, and several offer
much that is not here (models, regression, time series). None accepts "not in here" as an answer, or guarantees a threshold that
never passes the optimal one.{f" Measured on {measured.peer_date} in a run of its own, in two passes." if "peer" in measured.apart else ""} *Exact* means that the limit is a quantile of what was reported, not an approximation of it.

{peers(measured)}
![What a round costs](../docs/figures/bench-speed.png)

## When misses are not reported

Real scores (the retrieval task), target 90 %, 200 labeled examples to start with, then 4,000 rounds, five runs. Every method gets
the right answer if it was in the list. If it was not, the round is dropped, or learned as the worst score there is, or its score is revealed after all.
What keeps coverage is what is done with silence, not the library: a quantile that counts silence as the worst score keeps its target too. `AnytimeSPS` adds the guarantee for every list, and is farther above
the target for it; a `Shortlister` imputes by itself, so that nobody has to think of it.

{coverage_table()}
![What is left of the target](../docs/figures/bench-unreported.png)

## A round, by policy and rounds so far

The bare policy: read the threshold, take the answer.

{streaming(measured, "update")}
`propose` and `hit` or `miss` on a `Shortlister`, lists of 50 candidates:

{streaming(measured, "round")}
With a learned score (`score="auto"`), after its fit, compared with the same softmax in plain numpy, which learns nothing:

{learned(measured)}
## In a framework

BM25 and a vector store of each framework together, {PASSAGES:,} passages in memory, 50 results of each search, vectors computed beforehand (with a model, the embedding
of the question comes on top, in all columns).{" Measured in a run of its own." if "framework" in measured.apart else ""} What it does to list lengths is on the [page on hybrid search](../docs/how-to/hybrid-search.md).

{frameworks(measured)}
## The rest

{other(measured)}"""
    (HERE / "results.md").write_text(text, encoding="utf-8")
    quote(measured)


if __name__ == "__main__":
    write_report()
