"""What happens to coverage when misses are simply not reported: the natural mistake.

Nobody reports what was not found: a search page logs clicks, an annotator picks from what is shown.
So each library gets the score of the right answer if it was in the list, and nothing if it
was not, as its users would do without a second thought. Target 90 %. Real scores: the retrieval task.
As a control, the same library with every answer revealed, which is what it was designed for.

Writes one row per method, run and kind of feedback: coverage of all rounds, and of the last
thousand.
"""

import csv
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, __file__.rpartition("/")[0])
from peers import COVERAGE, PEERS

from shortlist import Shortlister
from shortlist.lab.tasks import load_task

ROUNDS, RUNS, LAST = 4_000, 5, 1_000
#: Labeled examples to begin with, the same for all: some of the libraries need them.
KNOWN = 200
OURS = "shortlist"

Array = NDArray[np.float64]


def peer(name: str, examples: Array, stream: Array, *, revealed: bool) -> NDArray[np.bool_]:
    """Return which rounds a library covers if it hears of hits only, or of everything."""
    subject = PEERS[name].grown(examples)
    hits = np.zeros(stream.size, dtype=bool)
    for i, score in enumerate(stream.tolist()):
        hits[i] = score >= subject.limit()
        if hits[i] or revealed:
            subject.learn(score)
    return hits


def ours(examples: Array, stream: Array, *, revealed: bool) -> NDArray[np.bool_]:
    """Return which rounds a Shortlister covers if it hears of hits only, or of misses too: never of their score."""
    lister = Shortlister(COVERAGE, score="raw")
    lister.warm_start(examples)
    hits = np.zeros(stream.size, dtype=bool)
    for i, score in enumerate(stream.tolist()):
        shown = lister.propose([score])
        hits[i] = bool(shown.members)
        if hits[i]:
            lister.hit(shown.round_id, 0)
        elif revealed:
            lister.miss(shown.round_id)
    return hits


def rows() -> Iterator[dict[str, object]]:
    """Run all methods on the same streams."""
    task = load_task("retrieval")
    warnings.simplefilter("ignore")  # the libraries' own: too few examples for a quantile, and the like
    for run in range(RUNS):
        scores = task.draw(np.random.default_rng(run), KNOWN + ROUNDS).true_scores
        examples, stream = scores[:KNOWN], scores[KNOWN:]
        for method in (*PEERS, OURS):
            for revealed in (False, True):
                covered = ours if method == OURS else partial(peer, method)
                hits = covered(examples, stream, revealed=revealed)
                coverage, last = float(hits.mean()), float(hits[-LAST:].mean())
                print(
                    f"  run {run + 1} of {RUNS}, {method}, revealed {revealed}: {coverage:.3f}",
                    file=sys.stderr,
                    flush=True,
                )
                yield {"method": method, "revealed": revealed, "run": run, "coverage": coverage, "last": last}


def main(path: str) -> None:
    """Write the table."""
    results = list(rows())
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(results[0]))
        writer.writeheader()
        writer.writerows(results)


if __name__ == "__main__":
    main(sys.argv[1])
