"""A service that ends while a score is fitted, by a signal or a kill: nothing is lost, and it is fitted once.

All picks of a stream but the last are sent at once. The last one makes the fit due, and a moment later the service
ends; the next one has to begin the fit again. On PostgreSQL two other replicas go on, and may commit it themselves.
"""

import contextlib
import random
import signal
import threading
import time

import httpx
import numpy as np
import pytest

from shortlist.rounds.events import Fitted, Hit
from shortlist.service.engine import verify
from shortlist.service.store import Store
from tests.service.running import process

PICKS, CANDIDATES, SCORERS = 100, 150, 8


def fill(http, name):
    """Create a stream with all the lists of its fit, and all the picks but the last; return that one."""
    rng = np.random.default_rng(len(name))
    http.post("/v1/streams", json={"name": name, "coverage": 0.9, "delta": 0.01}).raise_for_status()
    rounds, answers = [], []
    for i in range(PICKS):
        scores = np.round(rng.normal(size=(CANDIDATES, SCORERS)), 3)
        rows = [
            {"id": k, "scores": {f"s{j}": one for j, one in enumerate(row)}} for k, row in enumerate(scores.tolist())
        ]
        rounds.append({"round_id": f"r{i}", "candidates": rows})
        answers.append({"round_id": f"r{i}", "hit": int(np.argmax(scores.sum(axis=1) + rng.gumbel(size=CANDIDATES)))})
    for start in range(0, PICKS, 20):
        reply = http.post(f"/v1/streams/{name}/rounds:batch", json={"rounds": rounds[start : start + 20]})
        assert reply.status_code == 207, reply.text
    reply = http.post(f"/v1/streams/{name}/feedback", json={"answers": answers[:-1]})
    assert reply.status_code == 207, reply.text
    return answers[-1]


def finish(http, name, last):
    """Send the last pick again, which counts once, and wait until the score is fitted."""
    reply = http.put(f"/v1/streams/{name}/rounds/{last['round_id']}/feedback", json={"hit": last["hit"]})
    assert reply.status_code == 200, reply.text
    http.post(f"/v1/streams/{name}/rounds", json={"candidates": [], "allow_empty": True}).raise_for_status()
    while http.get(f"/v1/streams/{name}").raise_for_status().json()["fit_picks"] is not None:
        time.sleep(0.005)


@contextlib.contextmanager
def client(port):
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
        yield http


def end_while_fitting(address, ends, number, others=()):
    """End a service so often in the middle of a fit; return the seconds that it took to end."""
    rng, pending, seconds = random.Random(number), None, []
    for turn in range(ends):
        with process(address) as (child, port), client(port) as http:
            if pending is not None:
                finish(http, *pending)
            name = f"s{turn}"
            last = fill(http, name)
            sending = threading.Thread(target=_send, args=(port, name, last))
            sending.start()
            time.sleep(rng.random() * 0.12)  # not a wait: the moment at which it ends
            began = time.perf_counter()
            child.send_signal(number)
            assert child.wait(60) in (0, -number)
            seconds.append(time.perf_counter() - began)
            sending.join()
            pending = name, last
        for other in others:
            with client(other) as http:
                finish(http, *pending)
    with process(address) as (_, port), client(port) as http:
        finish(http, *pending)
    return seconds


def _send(port, name, last):
    with contextlib.suppress(httpx.TransportError), client(port) as http:
        http.put(f"/v1/streams/{name}/rounds/{last['round_id']}/feedback", json={"hit": last["hit"]})


def check(address, streams):
    """Check that the log is sound, that nothing is lost or doubled, and that each score is fitted once."""
    store = Store(address, read_only=True)
    try:
        found = list(verify(store))
        assert [each.problems for each in found] == [[]] * streams
        with store.reading() as reader:
            for row in reader.streams():
                events = [entry.event for entry in reader.events(row.id)]
                assert sum(isinstance(event, Fitted) for event in events) == 1
                assert sum(isinstance(event, Hit) for event in events) == PICKS
    finally:
        store.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_in_the_middle_of_a_fit(sqlite, number):
    end_while_fitting(sqlite, 2, number)
    check(sqlite, 2)


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_in_the_middle_of_fifty_fits(sqlite, number):
    seconds = end_while_fitting(sqlite, 50, number)
    check(sqlite, 50)
    print(
        f"sqlite, {signal.Signals(number).name}: 50 times, 0 lost, fitted once; ended in {max(seconds):.2f} s at most"
    )


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_one_of_three_replicas_ends_in_the_middle_of_fifty_fits(postgresql, number):
    with process(postgresql) as (_, second), process(postgresql) as (_, third):
        seconds = end_while_fitting(postgresql, 50, number, others=(second, third))
    check(postgresql, 50)
    print(f"three replicas, {signal.Signals(number).name}: 50 times, 0 lost, fitted once; {max(seconds):.2f} s at most")
