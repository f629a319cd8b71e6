"""Stopped by a signal, under load."""

import asyncio
import signal
import threading
import time

import httpx

from shortlist.service.engine import verify
from shortlist.service.store import Store
from tests.service.running import process
from tests.service.test_crash import Person, missing, work_until


def test_stopped_under_load_with_a_listener_nothing_acknowledged_is_lost(address):
    """It ends by itself, by the signal and not by force, and the listener hears the end."""
    with process(address) as (child, port):
        url = f"http://127.0.0.1:{port}"
        httpx.post(f"{url}/v1/streams", json={"name": "load", "coverage": 0.9}, timeout=30)
        heard = []

        def listen():
            with httpx.stream("GET", f"{url}/v1/streams/load/live", timeout=60) as answer:
                for line in answer.iter_lines():
                    heard.append(line)  # noqa: PERF402 - one by one: who stops the service waits for the first

        listener = threading.Thread(target=listen)
        listener.start()
        people = [Person(port, f"p{i}") for i in range(16)]
        stopped = []

        def stop():
            while not heard:  # the listener has its first event
                time.sleep(0.01)
            stopped.append(time.monotonic())
            child.send_signal(signal.SIGTERM)

        asyncio.run(work_until(people, 200, stop))
        assert child.wait(60) in (0, -signal.SIGTERM)
        print(f"stopped after {time.monotonic() - stopped[0]:.1f} s")
        listener.join()
    assert [line for line in heard if line.startswith("event:")][-1] == "event: end"
    assert sum(len(person.answered) for person in people) > 50
    assert missing(address, people) == []
    store = Store(address, read_only=True)
    (found,) = verify(store)
    store.close()
    assert found.problems == []
    assert found.snapshots >= 1  # the last one was kept on the way out
