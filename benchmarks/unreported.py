"""What silence does to coverage, by one protocol for all: what is done with a round that nobody answered.

A search page logs clicks, an annotator picks from what is shown: nobody reports what was not found. The score of the
right answer is known if it was in the list. If it was not, the round is

- *dropped*: nothing is learned from it, the natural mistake;
- *imputed*: it is learned as the worst score that there is, which can only lengthen lists;
- *revealed*: its score is learned after all, which most libraries are made for.

Target 90 %. Real scores: the retrieval task. Every method, ours included, is called in the same way. Writes one row
per method, treatment and run: coverage of all rounds, and of the last thousand.
"""

import csv
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, __file__.rpartition("/")[0])
from peers import OURS, PEERS, Subject

from shortlist.lab.tasks import load_task

ROUNDS, RUNS, LAST = 4_000, 5, 1_000
#: Labeled examples to begin with, the same for all: some of the libraries need them.
KNOWN = 200
SILENCE = ("dropped", "imputed", "revealed")
#: The lowest that a score can be, here.
WORST = 0.0

Array = NDArray[np.float64]


def covered(method: str, examples: Array, stream: Array, silence: str) -> NDArray[np.bool_]:
    """Return which rounds a method covers, given what is done with those that it does not."""
    subject: Subject = OURS[method](examples) if method in OURS else PEERS[method].grown(examples)
    hits = np.zeros(stream.size, dtype=bool)
    for i, score in enumerate(stream.tolist()):
        hits[i] = subject.covers(score)
        if hits[i] or silence == "revealed":
            subject.learn(score)
        elif silence == "imputed":
            subject.learn(WORST)
        else:
            subject.drop()
    return hits


def row(method: str, silence: str, run: int) -> dict[str, object]:
    """Return the coverage of one method in one run."""
    warnings.simplefilter("ignore")  # the libraries' own: too few examples for a quantile, and the like
    scores = load_task("retrieval").draw(np.random.default_rng(run), KNOWN + ROUNDS).true_scores
    hits = covered(method, scores[:KNOWN], scores[KNOWN:], silence)
    coverage, last = float(hits.mean()), float(hits[-LAST:].mean())
    return {"method": method, "silence": silence, "run": run, "coverage": coverage, "last": last}


def rows() -> Iterator[dict[str, object]]:
    """Run all methods on the same streams, on all cores."""
    cases = [(method, silence, run) for method in (*PEERS, *OURS) for silence in SILENCE for run in range(RUNS)]
    with ProcessPoolExecutor() as pool:
        parts = [pool.submit(row, *case) for case in cases]
        for number, (case, part) in enumerate(zip(cases, parts, strict=True), 1):
            yield part.result()
            print(f"  {number} of {len(cases)}: {case}", file=sys.stderr, flush=True)


def main(path: str) -> None:
    """Write the table."""
    results = list(rows())
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(results[0]))
        writer.writeheader()
        writer.writerows(results)


if __name__ == "__main__":
    main(sys.argv[1])
