"""Measure labeling with 1,000 classes: ``make measure NAME=labeling ARGS=FILE``, or ``python tools/labeling.py FILE``.

FILE has the name of each class of ImageNet, a line each in the order of the classes; it is not in this repository. The
scores are those that come with the package (EfficientNet-Lite0). An annotator picks from the list with a key (1 to 9)
or by search; where the list has not the right class, they show the others and search. Search is the answer page's:
typing letters of the name filters the list, which is best first, and Enter picks the first match; letters are typed
until that is the right class. Beside it, choosing from all classes in their order, by search. Lengths, shares and keys
are of the last 1,000 of 2,500 images, over ten orders. Writes benchmarks/labeling.json, and the table of
docs/how-to/labelling.md. A minute.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import shortlist
from shortlist.lab.tasks import load_task

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "benchmarks" / "labeling.json"
PAGE: Final = ROOT / "docs" / "how-to" / "labelling.md"
RUNS, LAST = 10, 1_000


def folded(text: str) -> str:
    """Return a text as the page compares it: without case and accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()


def letters(names: Sequence[str], order: Sequence[int], right: int) -> int:
    """Return how many letters of the right name are typed until it is the first match of a list in this order."""
    target = names[right]
    before = [names[each] for each in order[: list(order).index(right)]]
    for count in range(1, len(target) + 1):
        words = target[:count].split()
        before = [name for name in before if all(word in name for word in words)]
        if not before:
            return count
    return len(target)


def measure(names: Sequence[str], seed: int) -> list[tuple[int, bool, int, int]]:
    """Return, for each of the last images, the list's length, whether it was found after more, and keys both ways."""
    scores = load_task("images").scores
    table, right = scores.lists, scores.true_columns
    classes = list(range(len(names)))
    lister, rows = shortlist.Shortlister(0.9, 0.05), []
    order = np.random.default_rng(seed).permutation(len(table))
    for number, image in enumerate(order):
        shown, label = lister.propose(table[image]), int(right[image])
        members = [int(member) for member in shown.members]
        if label not in members:
            members += [int(member) for member in lister.more(shown.round_id).members]
        lister.hit(shown.round_id, label)
        if number < len(order) - LAST:
            continue
        rank, length = members.index(label), len(shown.members)
        listed = rank < length
        # A key picks the first nine; otherwise "m" or "/", letters, and Enter.
        keys = 1 if listed and rank < 9 else 2 + letters(names, members, label)
        rows.append((length, not listed, keys, 2 + letters(names, classes, label)))
    return rows


def figures(rows: list[tuple[int, bool, int, int]]) -> dict[str, Any]:
    """Return what the rows say."""
    lengths, more, keys, all_keys = map(np.array, zip(*rows, strict=True))
    searched = keys[keys > 1]
    return {
        "list_median": float(np.median(lengths)),
        "list_mean": float(lengths.mean()),
        "after_more": float(more.mean()),
        "keys_median": float(np.median(keys)),
        "keys_mean": float(keys.mean()),
        "searched": float((keys > 1).mean()),
        "searched_median": float(np.median(searched)),
        "searched_p90": float(np.quantile(searched, 0.9)),
        "all_median": float(np.median(all_keys)),
        "all_mean": float(all_keys.mean()),
    }


def table_of(row: dict[str, Any]) -> str:
    """Return the figures as the page has them."""
    return "\n".join(
        [
            "| | shortlist | choosing from all 1,000 |",
            "| --- | ---: | ---: |",
            f"| classes shown, median (mean) | **{row['list_median']:.0f}** ({row['list_mean']:.1f}) | 1,000 |",
            f"| key presses per label, median (mean) | **{row['keys_median']:.0f}** ({row['keys_mean']:.1f}) "
            f"| {row['all_median']:.0f} ({row['all_mean']:.1f}) |",
            f'| found after "show the others" | {row["after_more"]:.1%} | |',
            f"| key presses for labels found by search, median (90th percentile) | {row['searched_median']:.0f} "
            f"({row['searched_p90']:.0f}) | |",
        ]
    )


def write_page(row: dict[str, Any]) -> None:
    """Write the table into the page."""
    marked = f"<!-- keys -->\n{table_of(row)}\n<!-- end keys -->"
    PAGE.write_text(re.sub(r"<!-- keys -->.*?<!-- end keys -->", lambda _: marked, PAGE.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        lines = [folded(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
        rows = [row for seed in range(RUNS) for row in measure(lines, seed)]
        FILE.write_text(json.dumps(figures(rows), indent=1) + "\n")
    measured = json.loads(FILE.read_text())
    print(json.dumps(measured, indent=1))
    if "<!-- keys -->" in PAGE.read_text():
        write_page(measured)
