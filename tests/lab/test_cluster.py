"""The same numbers wherever it runs: in one process, in several, on a Dask cluster, with a worker lost."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import distributed
import pytest

from shortlist.lab.executors import workplace
from shortlist.lab.replays import replay_files
from shortlist.lab.run import run
from shortlist.lab.spec import Spec
from tests.lab.logfiles import POLICIES, replayed, write_logs
from tests.lab.small import quiet

OWN = """
import dataclasses

from shortlist import DLR


@dataclasses.dataclass(frozen=True)
class Own(DLR):
    exponent: float = 0.5
"""


@contextlib.contextmanager
def cluster(folder, workers=2):
    """A scheduler and workers, each a process that can be killed; yields the address and the workers."""
    file = folder / "scheduler.json"
    here = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    started = [
        subprocess.Popen([*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **here)
    ]
    try:
        deadline = time.monotonic() + 60
        while not file.exists() or not file.read_text().rstrip().endswith("}"):
            time.sleep(0.05)
            assert started[0].poll() is None
            assert time.monotonic() < deadline
        for _ in range(workers):
            words = ["worker", "--scheduler-file", file, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
            started.append(subprocess.Popen([*dask, *words], **here))
        address = json.loads(file.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def test_a_cluster_gives_the_bits_of_one_process_though_a_worker_is_lost(tmp_path):
    log = write_logs(tmp_path, streams=60, rounds=2_000, files=6)
    with workplace(1) as submit:
        here = replayed(log, submit, rounds_at_once=4_000)
    with workplace(2) as submit:
        assert replayed(log, submit, rounds_at_once=4_000) == here
    (tmp_path / "own.py").write_text(OWN)
    policies = ("anytime@0.01", "aci", f"{tmp_path}/own.py:Own")
    spec = Spec(tasks=("uniform",), policies=policies, rounds=500, runs=4, coverage=0.9, seed=3)
    expected = run(spec, with_sweeps=False)
    with cluster(tmp_path) as (address, workers):
        killed = []

        def kill_one(_what, done, of):
            if of > 10 and done >= of // 4 and not killed:
                killed.append(workers[0].pid)
                workers[0].send_signal(signal.SIGKILL)

        with workplace(scheduler=address) as submit:
            there, _ = replay_files(log, POLICIES, 0.9, submit, kill_one, rounds_at_once=4_000)
        assert killed
        assert workers[0].wait() == -signal.SIGKILL
        assert there == here
        again = run(spec, scheduler=address, with_sweeps=False)  # on the worker that is left
    assert [(row.policy, row.run, row.regret, row.coverage) for row in again.rows] == [
        (row.policy, row.run, row.regret, row.coverage) for row in expected.rows
    ]
    assert all(
        again.curves[key]["threshold"].tobytes() == expected.curves[key]["threshold"].tobytes()
        for key in expected.curves
    )


@pytest.mark.soak
def test_two_thousand_streams_on_a_cluster(tmp_path):
    """2,000 streams of 50,000 rounds, two workers, one of them killed in the middle: the bits of one process."""
    streams, rounds = int(os.environ.get("SHORTLIST_SOAK_STREAMS", "2000")), 50_000
    log = write_logs(tmp_path, streams, rounds, files=20)
    start = time.perf_counter()
    with workplace(1) as submit:
        here = replay_files(log, ("anytime",), 0.9, submit, quiet)[0]
    alone = time.perf_counter() - start
    told = []
    with cluster(tmp_path) as (address, workers):

        def kill_one(what, done, of):
            told.append((what, done, of))
            if "replaying" in what and done == of // 2:
                threading.Thread(target=workers[1].kill).start()

        start = time.perf_counter()
        with workplace(scheduler=address) as submit:
            there = replay_files(log, ("anytime",), 0.9, submit, kill_one)[0]
        together = time.perf_counter() - start
        assert workers[1].wait() == -signal.SIGKILL
    assert there == here
    assert len(there) == streams
    print(f"{streams} streams x {rounds} rounds: one process {alone:.0f} s, two workers, one killed, {together:.0f} s")
    print(f"progress was told {len(told)} times, the last: {told[-1]}")
