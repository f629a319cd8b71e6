"""A log through any policy, stream by stream, from many files."""

import numpy as np

from shortlist.lab.executors import workplace
from shortlist.lab.replays import replay_stream
from tests.lab.logfiles import POLICIES, replayed, write_logs


def test_streams_are_put_together_from_many_files(tmp_path):
    log = write_logs(tmp_path, streams=30, rounds=400, files=4)
    with workplace(1) as submit:
        rows = replayed(log, submit, rounds_at_once=3_000)
        assert rows == replayed(log, submit)
    rng = np.random.default_rng(0)
    for number in range(30):  # the same streams, made again and replayed by hand
        scores = rng.random(400) ** (1 + number % 3)
        assert rows[3 * number : 3 * number + 3] == replay_stream(f"stream-{number:05d}", scores, POLICIES, 0.9)[0]
    assert len(rows) == 90
