"""What is timed, case by case, by pyperf.

``run.py`` calls this file; by hand::

    python benchmarks/cases.py --case "update anytime 1000000"
    python benchmarks/cases.py --list

A case is built once in its process, then timed in blocks; what a block changes is put back before
the next one, so that n stays what the case says.
"""

import copy
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pyperf

sys.path.insert(0, __file__.rpartition("/")[0])
from frameworks import FRAMEWORKS, WAYS, framework_round
from peers import COVERAGE, OURS, PEERS

from shortlist import ACI, AnytimeSPS, Policy, Shortlister, replay
from shortlist.policies import REGISTRY, make_policy
from shortlist.scores import learn

HORIZON = 10_000_000
#: Settings other than the registry's defaults.
SETTINGS = {"aci": "@0.005", "etc": "@500", "conservative-etc": "@500"}
POLICIES: dict[str, Policy] = {
    key: make_policy(key + SETTINGS.get(key, ""), COVERAGE, HORIZON) for key, entry in REGISTRY.items() if entry.paper
}
SIZES = (1_000, 10_000, 100_000, 1_000_000)
#: The policies whose cost does not grow, and the size that only they reach.
STEADY, STEADY_SIZE = ("anytime", "sps", "dlr", "etc", "conservative-etc"), 10_000_000
BLOCK = 200
CANDIDATES = 50
#: List lengths for which a learned score is timed, and how many lists.
LEARNED_CANDIDATES, LEARNED_BLOCK = (50, 1_000, 10_000), 100
REPLAYED = 10_000_000
LEAST_SECONDS = 0.02  # a value that pyperf gets rests on at least so much

Timed = Callable[[], tuple[float, int]]  # -> seconds, rounds


def scores(count: int, seed: int = 0) -> np.ndarray:
    """Return true scores; their distribution does not matter to what is measured here."""
    return np.random.default_rng(seed).random(count)


def grown(policy: Policy, count: int) -> Any:
    """Return a policy's state after so many rounds."""
    state = policy.init()
    if isinstance(policy, ACI):  # inserting a million scores one by one would take minutes
        state.values[:] = np.sort(scores(count)).tolist()
        state.carry = (state.values[int(count * (1 - COVERAGE))], 1 - COVERAGE)
        return state
    for score in scores(count).tolist():
        policy.update(state, score)
    return state


def update(policy: Policy, count: int) -> Timed:
    """Time the bare policy update, with the reading of the threshold."""
    base, block = grown(policy, count), scores(BLOCK, seed=1).tolist()

    def timed() -> tuple[float, int]:
        state = policy.state_type.from_dict(base.to_dict())
        start = pyperf.perf_counter()
        for score in block:
            state.threshold  # noqa: B018 - reading it is part of a round
            policy.update(state, score)
        return pyperf.perf_counter() - start, len(block)

    return timed


def round_trip(policy: Policy, count: int) -> Timed:
    """Time propose and answer with a list of 50 candidates."""
    base = Shortlister(policy=policy, score="raw")
    base.warm_start(scores(count))
    rng = np.random.default_rng(1)
    lists = [rng.random(CANDIDATES) for _ in range(BLOCK)]
    right = [int(np.argmax(values)) if i % 10 else int(np.argmin(values)) for i, values in enumerate(lists)]

    def timed() -> tuple[float, int]:
        lister = copy.deepcopy(base)
        start = pyperf.perf_counter()
        for values, member in zip(lists, right, strict=True):
            shown = lister.propose(values)
            if values[member] >= shown.threshold:
                lister.hit(shown.round_id, member)
            else:
                lister.miss(shown.round_id)
        return pyperf.perf_counter() - start, len(lists)

    return timed


def picked(lists: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return what is picked of each list: mostly a good one, by the first scorer."""
    first = lists if lists.ndim == 2 else lists[..., 0]
    return np.asarray((4 * first + np.random.default_rng(seed).gumbel(size=first.shape)).argmax(axis=1))


def learned_lister(candidates: int) -> Shortlister:
    """Return a lister that has learned from 1,200 rounds with lists of so many candidates: its window is full."""
    lister = Shortlister(COVERAGE)
    lists = np.random.default_rng(0).normal(size=(1_200, candidates))
    play(lister, list(lists), picked(lists).tolist())
    return lister


def play(lister: Shortlister, lists: list[np.ndarray], right: list[int]) -> None:
    """Show lists and answer them."""
    for values, member in zip(lists, right, strict=True):
        shown = lister.propose(values)
        if member in shown.members:
            lister.hit(shown.round_id, member)
        else:
            lister.miss(shown.round_id)


def learned_round(candidates: int) -> Timed:
    """Time propose and answer with a score that was learned."""
    base = learned_lister(candidates)
    lists = list(np.random.default_rng(1).normal(size=(LEARNED_BLOCK, candidates)))
    right = picked(np.array(lists), seed=1).tolist()

    def timed() -> tuple[float, int]:
        lister = copy.deepcopy(base)
        start = pyperf.perf_counter()
        play(lister, lists, right)
        return pyperf.perf_counter() - start, len(lists)

    return timed


def bare_softmax(candidates: int) -> Timed:
    """Time the limit of a round: the same softmax, cut at the same threshold and sorted, in bare numpy."""
    lister = learned_lister(candidates)
    score, threshold = lister.learned, lister.threshold
    if score is None or score.form != "softmax":
        raise SystemExit("the score that was learned is no softmax")
    relative, absolute, spread = score.relative[0], score.absolute[0], score.spread[0]
    lists = list(np.random.default_rng(1).normal(size=(LEARNED_BLOCK, candidates)))

    def cut(values: np.ndarray) -> np.ndarray:
        centered = values - values.mean()
        linear = (relative / values.std() + absolute / spread) * centered
        mass = np.exp(linear - linear.max())
        mass /= mass.sum()
        kept = np.flatnonzero(mass >= threshold)
        return np.asarray(kept[np.argsort(-mass[kept], kind="stable")])

    if any(tuple(cut(values).tolist()) != lister.preview(values) for values in lists):
        raise SystemExit("the bare softmax and the lister differ")

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        for values in lists:
            cut(values)
        return pyperf.perf_counter() - start, len(lists)

    return timed


def fit_score(rounds: int = 100, candidates: int = 1_000, scorers: int = 5) -> Timed:
    """Time the fit of a score."""
    lists = np.random.default_rng(0).normal(size=(rounds, candidates, scorers))
    right = picked(lists)

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        learn(lists, right)
        return pyperf.perf_counter() - start, 1

    return timed


def heap_push() -> Timed:
    """Time the limit of streaming in Python: one method call that pushes on a heap and pops."""

    class Minimal:
        def __init__(self) -> None:
            self.heap = scores(1000).tolist()
            self.heap.sort()

        def update(self, score: float) -> None:
            heappush(self.heap, score)
            heappop(self.heap)

    minimal, block = Minimal(), scores(BLOCK, seed=1).tolist()

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        for score in block:
            minimal.update(score)
        return pyperf.perf_counter() - start, len(block)

    return timed


def peer_round(name: str, count: int, size: int = 1) -> Timed:
    """Time a library's own round: ask whether it covers, report the score; or `size` rounds known beforehand."""
    subject: Any = OURS[name](scores(count)) if name in OURS else PEERS[name].grown(scores(count))
    rounds = scores(BLOCK if name in (*OURS, "river") else 20, seed=1).tolist()

    def one_by_one() -> tuple[float, int]:
        copied = copy.deepcopy(subject) if count <= 10_000 else subject  # a large n hardly changes
        start = pyperf.perf_counter()
        for score in rounds:
            copied.covers(score)
            copied.learn(score)
        return pyperf.perf_counter() - start, len(rounds)

    def in_a_block() -> tuple[float, int]:
        block = scores(size, seed=1)
        start = pyperf.perf_counter()
        subject.online(block)
        return pyperf.perf_counter() - start, block.size

    return in_a_block if hasattr(subject, "online") else one_by_one


def whole_replay(compiled: bool) -> Timed:
    """Time the replay of a stream, boundary and checks included, machine code ready."""
    policy, stream = AnytimeSPS(COVERAGE), scores(REPLAYED if compiled else 1_000_000)
    replay(policy, stream[:1000], compiled=compiled)

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        replay(policy, stream, compiled=compiled)
        return pyperf.perf_counter() - start, stream.size

    return timed


def reference_replay() -> Timed:  # noqa: C901 - one function is the point
    """Time the limit of replay: the same rule for AnytimeSPS alone, in one numba function."""
    import numba

    stream = scores(REPLAYED)
    a, b, coverage, p0, bar = AnytimeSPS(COVERAGE).boundary.constants(COVERAGE)

    @numba.njit
    def loop(stream: np.ndarray, thresholds: np.ndarray) -> None:
        heap = [0.0]
        heap.pop()
        threshold, ceiling, e, k, low = -math.inf, math.inf, 1.0, -1, 0
        for n, score in enumerate(stream):
            thresholds[n] = threshold
            e *= (b + (n - k - 1)) / ((a + b + n) * coverage)
            if e >= bar:
                k += 1
                e *= (a + k) * coverage / ((b + (n - k)) * p0)
            if score < threshold:
                low += 1
            elif score <= ceiling:
                heappush(heap, score)
                width = math.floor((n + 1) * p0 - k + 5 * math.sqrt((n + 1) * p0 * coverage)) + 64
                if len(heap) > 2 * width:
                    heap.sort()
                    while len(heap) > width:
                        heap.pop()
                    ceiling = heap[-1]
            while low < k and heap:
                heappop(heap)
                low += 1
            if 0 <= k >= low and heap and heap[0] > threshold:
                threshold = heap[0]

    def reference(stream: np.ndarray) -> np.ndarray:
        thresholds = np.empty(stream.size)
        loop(stream, thresholds)
        return thresholds

    if reference(stream[:100_000]).tobytes() != replay(AnytimeSPS(COVERAGE), stream[:100_000]).tobytes():
        raise SystemExit("the reference loop and replay differ")

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        reference(stream)
        return pyperf.perf_counter() - start, stream.size

    return timed


def sort() -> Timed:
    """Time np.sort of the same scores."""
    stream = scores(REPLAYED)

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        np.sort(stream)
        return pyperf.perf_counter() - start, stream.size

    return timed


def state_io(count: int, *, load: bool) -> Timed:
    """Time a state's way to JSON text, or back."""
    policy = POLICIES["anytime"]
    state = grown(policy, count)
    text = json.dumps(state.to_dict())

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        if load:
            policy.state_type.from_dict(json.loads(text))
        else:
            json.dumps(state.to_dict())
        return pyperf.perf_counter() - start, 1

    return timed


def command(*words: str) -> Timed:
    """Time a whole process."""

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        return pyperf.perf_counter() - start, 1

    return timed


def reproduce() -> Timed:
    """Time the paper's whole reproduction, 10 runs of 10,000 rounds on three tasks, figures and report included."""
    folder = tempfile.TemporaryDirectory()
    return command("-m", "shortlist", "reproduce", "--out", folder.name)


def cases() -> Iterator[tuple[str, Callable[[], Timed]]]:
    """Return all cases: a name, and how to build what is timed."""
    for key, policy in POLICIES.items():
        for size in (*SIZES, STEADY_SIZE) if key in STEADY else SIZES:
            yield f"update {key} {size}", partial(update, policy, size)
        for size in SIZES:
            yield f"round {key} {size}", partial(round_trip, policy, size)
    for candidates in LEARNED_CANDIDATES:
        yield f"learned {candidates}", partial(learned_round, candidates)
        yield f"softmax {candidates}", partial(bare_softmax, candidates)
    yield "fit", fit_score
    yield "heap push", heap_push
    for name in (*OURS, *PEERS):
        for size in SIZES if name in ("shortlist, AnytimeSPS", "river") else SIZES[:2]:
            yield f"peer {name} {size}", partial(peer_round, name, size)
    for framework in FRAMEWORKS:
        for way in WAYS:
            yield f"framework {framework} {way}", partial(framework_round, framework, way)
    yield "block crepes 10000", partial(peer_round, "crepes", 10_000, BLOCK)
    yield "replay numba", partial(whole_replay, compiled=True)
    yield "replay plain", partial(whole_replay, compiled=False)
    yield "replay reference", reference_replay
    yield "replay sort", sort
    for size in (1_000, 1_000_000):
        yield f"save {size}", partial(state_io, size, load=False)
        yield f"load {size}", partial(state_io, size, load=True)
    yield "import shortlist", partial(command, "-c", "import shortlist")
    yield "import numpy", partial(command, "-c", "import numpy")
    yield "reproduce", reproduce


def measure(name: str, build: Callable[[], Timed], runner: pyperf.Runner) -> None:
    """Let pyperf time one case, in seconds per round."""
    built: list[Timed] = []

    def time_func(loops: int) -> float:
        if not built:
            built.append(build())
        seconds = rounds = 0.0
        while seconds < LEAST_SECONDS:
            took, done = built[0]()
            seconds, rounds = seconds + took, rounds + done
        return seconds / rounds * loops

    runner.bench_time_func(name, time_func)


def main() -> None:
    """Run the case that ``--case`` names, or list them."""
    if "--list" in sys.argv:
        print("\n".join(name for name, _ in cases()))
        return
    runner = pyperf.Runner(add_cmdline_args=lambda command, args: command.extend(["--case", args.case]))
    runner.argparser.add_argument("--case", required=True)
    args = runner.parse_args()
    timed = dict(cases())
    if args.case not in timed:
        raise SystemExit(f"there is no case {args.case!r}; --list names them")
    measure(args.case, timed[args.case], runner)


if __name__ == "__main__":
    main()
