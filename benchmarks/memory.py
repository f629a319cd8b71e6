"""Memory: what ten thousand streams take, and one stream over ten million rounds. Prints JSON."""

import gc
import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from shortlist import AnytimeSPS, Shortlister

STREAMS, ROUNDS, LONG = 10_000, 1_000, 10_000_000
CANDIDATES = 10


def resident() -> int:
    """Return the bytes that this process holds in memory."""
    gc.collect()
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    return int(fields["VmRSS"].split()[0]) * 1024


def teach(lister: Shortlister, lists: np.ndarray, right: list[int]) -> None:
    """Show every list and answer it."""
    for values, member in zip(lists, right, strict=True):
        shown = lister.propose(values)
        if member in shown.members:
            lister.hit(shown.round_id, member)
        else:
            lister.miss(shown.round_id)


def many(streams: int) -> float:
    """Return the bytes that a stream takes after its rounds."""
    rng = np.random.default_rng(streams)
    lists = rng.random((ROUNDS, CANDIDATES))
    right = rng.integers(CANDIDATES, size=ROUNDS).tolist()
    teach(Shortlister(score="raw"), lists, right)  # so that what is loaded once is loaded
    before = resident()
    listers = [Shortlister(score="raw") for _ in range(streams)]
    for i, lister in enumerate(listers):
        teach(lister, lists, right)
        if i % 1000 == 999:
            print(f"  {i + 1:,} of {streams:,} streams", file=sys.stderr, flush=True)
    return (resident() - before) / streams


def one() -> tuple[int, int]:
    """Return the bytes by which a process grows over the rounds of one stream, and its state's size as JSON."""
    policy = AnytimeSPS(0.9)
    state = policy.init()
    rng = np.random.default_rng(0)
    for score in rng.random(1000).tolist():
        policy.update(state, score)
    before = resident()
    for _ in range(LONG // 100_000):
        for score in rng.random(100_000).tolist():
            policy.update(state, score)
    return resident() - before, len(json.dumps(state.to_dict()))


def main() -> None:
    """Measure and print."""
    with ProcessPoolExecutor(2) as pool:
        halves = list(pool.map(many, [STREAMS // 2] * 2))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:  # with nothing freed in it
        grown, size = pool.submit(one).result()
    print(json.dumps({"streams": STREAMS, "bytes_a_stream": sum(halves) / 2, "long_growth": grown, "long_state": size}))


if __name__ == "__main__":
    main()
