"""The search for tools on the requests of the Berkeley Function Calling Leaderboard: 1,729 functions, 1,911 requests.

Part of ``make measure NAME=agents``. Its FOLDER has ``bfcl_tools.json.gz`` (tools, questions, right) and
``bfcl_scores.npz`` (``dense``: cosines of all-MiniLM-L6-v2), which are not in this repository. Some functions are near
duplicates of others, so the share of lists with the right one is a lower bound.
"""

import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import shortlist
from shortlist._bm25 import BM25
from shortlist.integrations.tools import Tool, ToolShortlist
from shortlist.integrations.tools.ranking import Ranking
from shortlist.integrations.tools.searches import DEFAULTS
from shortlist.integrations.tools.tool import words_of

__all__ = ["measure"]

FIRST, LAST, RUNS = 200, 500, 5
#: More than there are tools: lists as long as the threshold says.
NO_CAP: Final = 100_000
Array = NDArray[np.float64]


class _Scored(ToolShortlist):
    """A search with scores that were computed before, of the request that is set."""

    table: dict[str, Array]
    row = 0

    def scores(self, query: str, tools: Sequence[Tool]) -> dict[str, Array]:  # noqa: ARG002
        return {name: table[self.row] for name, table in self.table.items()}


class Requests:
    """Tools, requests, and how well each tool fits each request."""

    def __init__(self, folder: Path) -> None:
        with gzip.open(folder / "bfcl_tools.json.gz") as file:
            content = json.load(file)
        names: dict[str, int] = {}
        self.tools = []
        for each in content["tools"]:
            names[each["name"]] = names.get(each["name"], 0) + 1
            again = names[each["name"]]
            name = each["name"] if again == 1 else f"{each['name']}_{again}"
            self.tools.append(Tool(name, each["description"], each["schema"]))
        self.questions: list[str] = content["questions"]
        self.right = np.array(content["right"])
        self.is_live = np.array([source.startswith("live") for source in content["source"]])
        words = Ranking()
        bm25 = np.stack([words.scores(question, self.tools)["bm25"] for question in self.questions])
        dense = np.load(folder / "bfcl_scores.npz")["dense"].astype(np.float64)
        names_only = BM25([words_of(tool.name) for tool in self.tools])
        by_name = np.stack([names_only.scores(words_of(question)) for question in self.questions])
        self.scores = {"bm25": bm25, "embedding": dense, "name": by_name}
        self.tokens = np.array([tool.tokens for tool in self.tools])

    def fixed(self, k: int) -> dict[str, dict[str, float]]:
        """Return what a fixed top-k of each ranking shows and costs."""
        bm25, dense = self.scores["bm25"], self.scores["embedding"]
        ranks = {"BM25": _ranks(bm25), "embeddings": _ranks(dense)}
        ranks["RRF"] = _ranks(1 / (60 + ranks["BM25"]) + 1 / (60 + ranks["embeddings"]))
        ranks["sum of z-scores"] = _ranks(_z(bm25) + _z(dense))
        rows = {}
        for name, rank in ranks.items():
            shown = rank < k
            rows[name] = {
                "covered": float(shown[np.arange(len(self.right)), self.right].mean()),
                "tokens": float((shown * self.tokens).sum(axis=1).mean()),
            }
        return rows

    def play(
        self,
        order: Iterable[int],
        scorers: Sequence[str],
        *,
        at_most: int,
        reported: float,
        seed: int,
        watch: Callable[[shortlist.Shortlister], None] = lambda _: None,
    ) -> dict[str, Array]:
        """Search for each request as an agent would; a share `reported` of those that miss it find it later."""
        rng = np.random.default_rng(seed)
        lister = shortlist.Shortlister(**{**DEFAULTS, "at_most": at_most})
        search = _Scored(self.tools, lister)
        search.table = {name: self.scores[name] for name in scorers}
        rows = []
        for number, row in enumerate(order):
            search.row, right = row, self.tools[self.right[row]].name
            session = str(number)
            names = search.search(self.questions[row], session=session)
            covered = right in names
            rows.append((len(names), covered, sum(self._tokens_of(names))))
            if covered or rng.random() < reported:
                search.called(right, session=session)
            search.end(session)
            watch(lister)
        length, hits, tokens = np.array(rows, dtype=np.float64).T
        return {"length": length, "covered": hits, "tokens": tokens}

    def _tokens_of(self, names: Iterable[str]) -> Iterable[int]:
        by_name = getattr(self, "_by_name", None)
        if by_name is None:
            by_name = self._by_name = {tool.name: tool.tokens for tool in self.tools}
        return (by_name[name] for name in names)

    def state(self) -> dict[str, float]:
        """Return how large the state gets, and how long saving it takes, where nobody reports a miss."""
        sizes, times = list[int](), list[float]()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "lister.json"

            def watch(lister: shortlist.Shortlister) -> None:
                started = time.perf_counter()
                lister.save(path)
                times.append(time.perf_counter() - started)
                sizes.append(path.stat().st_size)

            order = np.random.default_rng(0).permutation(len(self.questions))
            self.play(order, ("bm25", "embedding"), at_most=10, reported=0.0, seed=0, watch=watch)
        return {
            "kilobytes": max(sizes) / 1_000,
            "kilobytes_last": sizes[-1] / 1_000,
            "milliseconds": 1_000 * max(times),
            "milliseconds_median": 1_000 * float(np.median(times)),
        }


def measure(folder: Path) -> dict[str, Any]:
    """Return all figures."""
    requests = Requests(folder)
    count = len(requests.questions)
    both = ("bm25", "embedding")
    runs: dict[str, Any] = {}
    for name, scorers, at_most, reported in [
        *((f"cap {cap}, {share:.0%} reported", both, most, share)
          for cap, most in (("10", 10), ("off", NO_CAP)) for share in (1.0, 0.5, 0.0)),
        ("BM25 alone", ("bm25",), 10, 1.0),
        ("embeddings alone", ("embedding",), 10, 1.0),
        ("with a third scorer, of names", (*both, "name"), 10, 1.0),
        ("the same without the cap", (*both, "name"), NO_CAP, 1.0),
    ]:  # fmt: skip
        played = [
            requests.play(
                np.random.default_rng(seed).permutation(count), scorers, at_most=at_most, reported=reported, seed=seed
            )
            for seed in range(RUNS)
        ]
        runs[name] = _windows(played)
        print(name, json.dumps(runs[name]), flush=True)
    state = requests.state()
    shifted = []
    for seed in range(RUNS):  # requests written for the benchmark, then those of users
        rng = np.random.default_rng(seed)
        order = np.concatenate([rng.permutation(np.flatnonzero(requests.is_live == live)) for live in (False, True)])
        shifted.append(requests.play(order, both, at_most=10, reported=0.5, seed=seed))
    change = int((~requests.is_live).sum())
    after = {
        name: [float(np.mean([run[name][start:end].mean() for run in shifted]))
               for start, end in ((change - 200, change), (change, change + 200), (change + 200, count))]
        for name in ("length", "covered")
    }  # fmt: skip
    return {
        "tools": len(requests.tools),
        "requests": count,
        "tokens_all": int(requests.tokens.sum()),
        "fixed": {str(k): requests.fixed(k) for k in (5, 10)},
        "runs": runs,
        "state": state,
        "shifted": after,
    }


def _windows(played: list[dict[str, Array]]) -> dict[str, list[float]]:
    """Return the means over all requests, the first 200 and the last 500."""
    parts = (slice(None), slice(FIRST), slice(-LAST, None))
    return {name: [float(np.mean([run[name][part].mean() for run in played])) for part in parts] for name in played[0]}


def _ranks(scores: Array) -> NDArray[np.intp]:
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")


def _z(scores: Array) -> Array:
    spread = scores.std(axis=1, keepdims=True)
    centered: Array = (scores - scores.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return centered
