"""Logs of many streams in several files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.lab.replays import replay_files
from shortlist.lab.round_log import LogFiles
from tests.lab.small import quiet

POLICIES = ("anytime", "sps", "etc@50")


def write_logs(folder, streams, rounds, files):
    """Write streams to Parquet files; those whose number is divisible by 7 go on from file to file."""
    rng = np.random.default_rng(0)
    tables = [[] for _ in range(files)]
    for number in range(streams):
        scores = rng.random(rounds) ** (1 + number % 3)
        parts = np.array_split(scores, files) if number % 7 == 0 else [scores]
        for place, part in enumerate(parts):
            where = place if len(parts) > 1 else number % files
            tables[where].append((f"stream-{number:05d}", part))
    for place, parts in enumerate(tables):
        names = pa.array([name for name, part in parts for _ in range(part.size)])
        values = pa.array(np.concatenate([part for _, part in parts]))
        pq.write_table(pa.table({"who": names, "true_score": values}), folder / f"log-{place:03d}.parquet")
    return LogFiles(tuple(sorted(str(path) for path in folder.glob("log-*.parquet"))), by="who")


def replayed(log, submit, **settings):
    return replay_files(log, POLICIES, 0.9, submit, quiet, **settings)[0]
