"""Speed of the core, as ratios in one run: machines differ, ratios much less.

Run by ``make bench``. Prints rounds a second and what they are relative to.
"""

import gc
import time
from collections.abc import Callable

import numpy as np

from shortlist import AnytimeSPS, replay


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the best of a few timings."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def streaming(rounds: int = 10_000_000) -> None:
    """Print the cost of a streamed round early and late."""
    policy = AnytimeSPS(coverage=0.9)
    state = policy.init()
    rng = np.random.default_rng(0)
    done, costs = 0, {}
    for until in (10_000, 100_000, 1_000_000, rounds - 100_000, rounds):
        scores = rng.random(until - done).tolist()
        start = time.perf_counter()
        for score in scores:
            policy.update(state, score)
        costs[until] = (time.perf_counter() - start) / (until - done)
        done = until
        ratio = costs[until] / costs[10_000]
        print(f"streaming up to round {until:>10,}: {costs[until] * 1e6:.2f} us, {ratio:.2f} x the first")


def replaying(rounds: int = 1_000_000) -> None:
    """Print the speed of replay with numba, without it, and of sorting the same scores."""
    policy, scores = AnytimeSPS(coverage=0.9), np.random.default_rng(0).random(rounds)
    compiled, plain = replay(policy, scores, compiled=True), replay(policy, scores, compiled=False)
    fast = seconds(lambda: replay(policy, scores, compiled=True))
    slow = seconds(lambda: replay(policy, scores, compiled=False), repeats=1)
    sort = seconds(lambda: np.sort(scores))
    print(f"replay with numba: {rounds / fast:>14,.0f} rounds/s, {fast / sort:.2f} x np.sort")
    print(f"replay without   : {rounds / slow:>14,.0f} rounds/s, {slow / fast:.1f} x the time")
    print(f"the same bits    : {compiled.tobytes() == plain.tobytes()}")


if __name__ == "__main__":
    replaying()
    streaming()
