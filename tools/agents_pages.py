"""The tables of docs/how-to/too-many-tools.md, from what ``make measure NAME=agents`` has measured."""

from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["FILE", "PAGE", "TABLES", "write_page"]

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "benchmarks" / "agents.json"
PAGE: Final = ROOT / "docs" / "how-to" / "too-many-tools.md"


def lengths(figures: dict[str, Any]) -> str:
    """Return the table of list lengths beside what a reader does today."""
    top = figures["top"]
    tools = figures["processes"]["tools"]
    smallest = sorted({run["smallest_k"] for run in top})
    covered = _mean(top, "coverage_top")
    rows = [
        "| tools shown per task | first 500 | tasks 4,001 to 5,000 | cut lists that had the right tool | tokens of "
        "schemas left out, first 500 / last 1,000 |",
        "|---|---:|---:|---:|---:|",
        f"| all of them, as today | {tools} | {tools} | - | 0 % |",
        f"| the best 10 by BM25 | 10 | 10 | {covered:.1%} | {1 - 10 / tools:.0%} |",
    ]
    for name, words in (("default", "shortlist"), ("at_most", 'shortlist, `"at_most": 10`')):
        runs = figures["long"][name]
        rows.append(
            f"| {words} | {_mean(runs, 'first'):.1f} | {_mean(runs, 'last'):.1f} | {_mean(runs, 'coverage_cut'):.1%} | "
            f"{_mean(runs, 'saved_first'):.0%} / {_mean(runs, 'saved_last'):.0%} |"
        )
    every = " or ".join(map(str, smallest))
    rows += [
        "",
        f"Mean of {len(top)} runs of 5,000 tasks. Explored lists, which show everything, are included; without "
        f"them the last 1,000 lists have {_mean(figures['long']['default'], 'last_cut'):.1f} tools, and "
        f"{_mean(figures['long']['at_most'], 'last_cut'):.1f} with `at_most`. The smallest fixed top-k that has the "
        f"right tool in nine of ten tasks is {every}, which is known only in hindsight.",
    ]
    return "\n".join(rows)


def scenario(figures: dict[str, Any]) -> str:
    """Return the table of the run with processes."""
    run = figures["processes"]
    windows = run["windows"]
    rows = ["| while | tools to choose from | slowest `find_tools` |", "|---|---:|---:|"]
    for name, window in windows.items():
        offered = " or ".join(map(str, window["tools"]))
        rows.append(f"| {name} | {offered} | {window['slowest_find_ms']:,} ms |")
    acknowledged, kept = run["acknowledged"], run["on_disk"]
    rows += [
        "",
        f"In {run['tasks']} tasks, {run['hits']} first calls were of a tool in the list and {run['misses']} of one "
        f"that was not in it; {run['again']} later calls were logged and not counted. {run['tools_shown']:.1f} of "
        f"{run['tools']} tools were shown per task, {run['tools_shown_last_200']:.1f} in the last 200 "
        f"({run['explored_last_200']} of them explored): {run['tokens_saved']:.0%} and "
        f"{run['tokens_saved_last_200']:.0%} of about {run['tokens_all']:,.0f} tokens of schemas were left out. "
        f"Acknowledged to the agent: {acknowledged['rounds']} lists and {acknowledged['answers']} first calls. On "
        f"disk after the kill and the restart: {kept['rounds']} and {kept['answers']}.",
    ]
    return "\n".join(rows)


def shadow(figures: dict[str, Any]) -> str:
    """Return what the command says after 500 tasks in shadow mode."""
    return "\n".join(["```text", *figures["shadow"], "```"])


def _mean(runs: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


TABLES: Final = {"shadow": shadow, "lengths": lengths, "scenario": scenario}


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
