"""The tables of docs/how-to/too-many-tools.md, from what ``make measure NAME=agents`` has measured."""

from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["FILE", "PAGE", "TABLES", "write_page"]

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "benchmarks" / "agents.json"
PAGE: Final = ROOT / "docs" / "how-to" / "too-many-tools.md"


def requests(figures: dict[str, Any]) -> str:
    """Return the table of real requests, beside what a reader does today."""
    data = figures["requests"]
    count, everything = data["tools"], data["tokens_all"]
    rows = [
        "| | tools per request | first 200 | last 500 | right tool shown: all, first 200, last 500 | tokens |",
        "|---|---:|---:|---:|---:|---:|",
        f"| all of them | {count:,} | {count:,} | {count:,} | 100 % | {everything:,} |",
    ]
    for k in ("5", "10"):
        for name, fixed in data["fixed"][k].items():
            rows.append(
                f"| the best {k} by {name} | {k} | {k} | {k} | {fixed['covered']:.1%} | {fixed['tokens']:,.0f} |"
            )
    words = {
        "cap 10, 100% reported": "**shortlist**, every miss is reported",
        "cap 10, 50% reported": "half of the misses are reported",
        "cap 10, 0% reported": "none is",
        "BM25 alone": "every miss, BM25 alone",
        "embeddings alone": "every miss, embeddings alone",
        "with a third scorer, of names": "every miss, a third scorer of names",
        "cap off, 100% reported": "without the cap, every miss is reported",
        "cap off, 50% reported": "half of the misses",
        "cap off, 0% reported": "none",
        "the same without the cap": "every miss, a third scorer of names",
    }
    for name, text in words.items():
        run = data["runs"][name]
        length, covered = run["length"], run["covered"]
        shares = ", ".join(f"{share:.1%}" for share in covered)
        rows.append(
            f"| {text} | {length[0]:.1f} | {length[1]:.1f} | {length[2]:.1f} | {shares} | {run['tokens'][0]:,.0f} |"
        )
    shifted = data["shifted"]
    rows += [
        "",
        f"{data['requests']:,} requests in random order, five runs, coverage 0.9. With requests that were written for "
        f"the benchmark first and those of users after them, half of the misses reported: "
        f"{shifted['length'][0]:.1f} tools at {shifted['covered'][0]:.1%} in the last 200 before the change, "
        f"{shifted['length'][1]:.1f} at {shifted['covered'][1]:.1%} in the first 200 after it, "
        f"{shifted['length'][2]:.1f} at {shifted['covered'][2]:.1%} from then on. What is learned takes at "
        f"most {data['state']['kilobytes']:.0f} kB on disk, {data['state']['kilobytes_last']:.0f} kB in the end, and "
        f"{data['state']['milliseconds_median']:.0f} ms to save (at most {data['state']['milliseconds']:.0f}).",
    ]
    return "\n".join(rows)


def silent(figures: dict[str, Any]) -> str:
    """Return what happens with agents that say nothing, before and after another wording."""
    runs = figures["silent"]
    every = [np.mean([run[name] for run in runs], axis=0) for name in ("lengths", "covered", "best_ten")]
    rows = ["| tasks | tools per list | had the right one | the best ten by words |", "|---|---:|---:|---:|"]
    for i, (length, covered, best) in enumerate(zip(*every, strict=True)):
        rows.append(f"| {50 * i + 1} to {50 * i + 50} | {length:.1f} | {covered:.1%} | {best:.1%} |")
    low, high = np.mean([run["between"] for run in runs], axis=0)
    rows += [
        "",
        f"The longest list has {max(run['most'] for run in runs)} tools. The summary says that between {low:.0%} and "
        f"{high:.0%} of the lists had the tool; in truth {_mean(runs, 'true'):.0%} had it. Of one run it prints:",
        "",
        "```text",
        *runs[0]["lines"],
        "```",
    ]
    return "\n".join(rows)


def subtasks(figures: dict[str, Any]) -> str:
    """Return what is counted in conversations of two subtasks."""
    runs = figures["subtasks"]
    total = {name: sum(run[name] for run in runs) for name in runs[0]}
    return (
        f"In {total['conversations']:,} conversations of two subtasks each there were {total['searches']:,} searches; "
        f"{total['had']:,} lists had the right tool, and {total['hits']:,} searches were counted as hits. "
        f"{total['found_later']:,} were counted as misses because the agent found the tool by a later search."
    )


def scenario(figures: dict[str, Any]) -> str:
    """Return the table of the run with processes."""
    run = figures["processes"]
    rows = ["| while | tools to choose from | slowest `find_tools` |", "|---|---:|---:|"]
    for name, window in run["windows"].items():
        offered = " or ".join(map(str, window["tools"]))
        rows.append(f"| {name} | {offered} | {window['slowest_find_ms']:,} ms |")
    shown, tokens = run["shown"], run["tokens"]
    acknowledged, kept, outcomes = run["acknowledged"], run["on_disk"], run["outcomes"]
    rows += [
        "",
        f"Searches 1 to 50 had {shown[0]:.1f} tools each and about {tokens[0]:,.0f} tokens of schemas, 51 to 100 "
        f"{shown[1]:.1f} and {tokens[1]:,.0f}, the last fifty {shown[-1]:.1f} and {tokens[-1]:,.0f}; all "
        f"that were available take {run['tokens_all']:,.0f} on average. The longest list had {run['most']}. "
        f"{outcomes['hits']} searches led to tools in the list, also those after which the agent searched again and "
        f"called one that it had seen; {outcomes['found_later']} to one found later, "
        f"{outcomes['silent'] + outcomes['open']} to none. Named as unavailable: {', '.join(run['named'])}. "
        f"Acknowledged to the agent: {acknowledged['searches']} searches and {acknowledged['calls']} calls. On disk "
        f"after the kill and the restart: {kept['searches']} and {kept['calls']}.",
    ]
    return "\n".join(rows)


def _mean(runs: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


TABLES: Final = {"requests": requests, "silent": silent, "subtasks": subtasks, "scenario": scenario}


def write_page(figures: dict[str, Any]) -> str:
    """Write the tables into the page, and return them."""
    text = PAGE.read_text(encoding="utf-8")
    tables = []
    for mark, table in TABLES.items():
        written = table(figures)
        tables.append(written)
        start, end = f"<!-- {mark} -->\n", f"<!-- end {mark} -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}{written}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text, encoding="utf-8")
    return "\n\n".join(tables)
