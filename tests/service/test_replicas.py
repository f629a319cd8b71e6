"""Several services on one PostgreSQL database: killed in turn, the database stopped, nothing is lost or doubled.

Patient clients are spread over the replicas. Whatever breaks, they ask again, somewhere else, with the
same round id, until they have an answer. In the end the log is read.
"""

import asyncio
import contextlib
import json
import signal
import statistics
import threading
import time

import httpx
import pytest

from shortlist.rounds.codec import encode
from shortlist.rounds.events import Fitted, Hit, Miss, Restarted, kind_of
from shortlist.rounds.repeated_fits import SCHEDULE
from shortlist.rounds.shown import to_null
from shortlist.service.engine.memory import load
from shortlist.service.store import Store
from tests.service.conftest import start_postgresql
from tests.service.running import free_port, process
from tests.service.test_budget import worst_excess
from tests.service.test_crash import CANDIDATES, Person, missing, sound


@pytest.fixture
def own_postgresql(tmp_path):
    """A PostgreSQL server that may be stopped, and the address of its database."""
    server = start_postgresql(tmp_path)
    yield server
    server.cleanup()


class Trial:
    """What the clients go through: the distribution shifts once, and in the end it is over."""

    shifted = over = False
    #: What went wrong with the trouble itself: then nobody waits for an answer any more.
    problem = None


class Patient(Person):
    """Asks again until there is an answer."""

    def __init__(self, ports, number, trial):
        super().__init__(ports[number % len(ports)], f"p{number}")
        self.ports, self.trial = ports, trial
        self.reader = self.writer = None
        self.retries, self.waits = 0, []

    async def ask(self, method, path, body):
        start = time.perf_counter()
        for turn in range(10_000):
            assert self.trial.problem is None
            try:
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
                status, answer = await asyncio.wait_for(self.send(method, path, body), 30)
                if status < 500:
                    self.waits.append(time.perf_counter() - start)
                    return status, answer
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                if self.writer is not None:
                    self.writer.close()
                self.writer = None
                self.port = self.ports[(self.ports.index(self.port) + 1) % len(self.ports)]
            self.retries += 1
            await asyncio.sleep(min(0.01 * 2 ** min(turn, 9), 0.5))
        raise AssertionError(f"no answer to {method} {path}")

    def right(self, scores):
        if not self.trial.shifted:
            return super().right(scores)
        return self.rng.choices(CANDIDATES, [1 - score for score in scores])[0]

    async def work(self):
        """Show and answer until it is over; what is begun is finished."""
        count = 0
        while not self.trial.over:
            await self.play(count)
            count += 1
        if self.writer is not None:
            self.writer.close()


class Replica:
    """A service on a port of its own that can be killed and started again."""

    def __init__(self, address):
        self.address, self.port = address, free_port()
        self.start()

    def start(self):
        self.stack = contextlib.ExitStack()
        self.child, _ = self.stack.enter_context(process(self.address, port=self.port))

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        self.stack.close()

    def summary(self):
        return httpx.get(f"http://127.0.0.1:{self.port}/v1/streams/load", timeout=30).json()


def chaos(server, *, clients, kills, kill_every, stopped_for, delta):
    """Run clients on three replicas while these are killed in turn; then stop the database for a while.

    Half-way the distribution shifts; with a delta learning starts over while replicas come and go.
    """
    address = server.get_uri()
    replicas = [Replica(address) for _ in range(3)]
    ports = [replica.port for replica in replicas]
    body = {"name": "load", "coverage": 0.9, "delta": delta, "on_drift": "restart" if delta else None}
    httpx.post(f"http://127.0.0.1:{ports[0]}/v1/streams", json=body, timeout=30).raise_for_status()
    trial = Trial()
    people = [Patient(ports, number, trial) for number in range(clients)]

    def trouble():
        try:
            for number in range(kills):
                time.sleep(kill_every)
                trial.shifted = number >= kills // 2
                replicas[number % 3].kill()
                replicas[number % 3].start()
            time.sleep(kill_every)
            server.stop()
            time.sleep(stopped_for)
            server.start()
            time.sleep(kill_every)
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread of the test
            trial.problem = error
        finally:
            trial.over = True

    async def all_work():
        await asyncio.gather(*(person.work() for person in people))

    troubled = threading.Thread(target=trouble)
    troubled.start()
    asyncio.run(all_work())
    troubled.join()
    if trial.problem is not None:
        raise trial.problem
    summaries = [replica.summary() for replica in replicas]
    for replica in replicas:
        replica.kill()
    return address, people, summaries


def spent(events):
    """Return the most misses of lists that were cut beyond 0.1 W, over any W answered rounds in a row."""
    return worst_excess([not getattr(event, "everything", True) for event in events if isinstance(event, (Hit, Miss))])


def check(server, **settings):
    address, people, summaries = chaos(server, **settings)
    assert missing(address, people) == []
    found = sound(address)  # each list was cut at a threshold that the log gives at that point, or at a lower one
    assert found.problems == []
    acknowledged = sum(len(person.shown) + len(person.answered) for person in people)
    store = Store(address, read_only=True)
    with store.reading() as reader:
        stream, _ = load(reader, reader.stream("load"))
        events = [entry.event for entry in reader.events(stream.id)]
    store.close()
    own = [kind_of(event) for event in events if isinstance(event, (Fitted, Restarted))]
    assert found.events == acknowledged + len(own)  # nothing is there twice, and nothing that nobody knows of
    tracker = stream.stream.tracker
    fits = sum(picks <= stream.stream.tally.hits for picks in SCHEDULE) if settings["delta"] is None else 1
    assert own.count("fitted") <= fits
    assert own == ["fitted"] * max(1, own.count("fitted")) + ["restarted"] * tracker.epoch
    assert [(one["threshold"], one["epoch"]) for one in summaries] == [(to_null(tracker.threshold), tracker.epoch)] * 3
    assert [one["learned"] for one in summaries] == [
        json.loads(json.dumps(encode(stream.stream.learning.state.score)))
    ] * 3
    excess, bound = spent(events), 20 + 0.9 * (len(people) - 1)  # each has one list out at a time
    assert excess <= bound
    assert [one["error_budget"] for one in summaries] == [stream.summary()["error_budget"]] * 3
    retries = sum(person.retries for person in people)
    waits = sorted(wait for person in people for wait in person.waits)
    print(
        f"{settings['kills']} kills, database stopped for {settings['stopped_for']} s: {acknowledged:,} acknowledged, "
        f"none lost or doubled; {retries:,} retries; median wait {statistics.median(waits) * 1e3:.0f} ms, longest "
        f"{waits[-1]:.1f} s; all replicas at {tracker.threshold!r} in epoch {tracker.epoch}; misses "
        f"{float(excess):.1f} beyond 0.1 W in any W answered rounds, and {bound:.1f} are allowed"
    )
    assert retries > 0
    return tracker.epoch


def test_replicas_are_killed_and_the_database_is_stopped(own_postgresql):
    check(own_postgresql, clients=12, kills=3, kill_every=2.5, stopped_for=1, delta=None)


@pytest.mark.soak
@pytest.mark.parametrize("delta", [None, 0.01])
def test_three_replicas_for_two_minutes(own_postgresql, delta):
    """64 clients, a kill every ten seconds for two minutes, then the database stopped for five seconds."""
    epochs = check(own_postgresql, clients=64, kills=12, kill_every=10, stopped_for=5, delta=delta)
    assert (epochs > 0) == (delta is not None)
