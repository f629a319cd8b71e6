"""What Prometheus reads: requests and commits as they happen, streams as they are when it asks.

With several workers, each counts into files of a folder that they share (`share_counts`), and the one that is asked
answers with the sum.
"""

import asyncio
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)

from shortlist.service.engine import Engine
from shortlist.service.keys import KeyFile
from shortlist.service.web.stream_metrics import MOST_STREAMS, StreamMetrics

__all__ = ["Metrics", "share_counts"]

#: How often files of counts that are being created are tried, and the seconds in between.
_TRIES: Final = 40
_PAUSE: Final = 0.05
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_FIT_SECONDS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
#: Where the library looks for the folder that processes share.
_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"

disable_created_metrics()  # type: ignore[no-untyped-call] # a second series for each, of when it was first counted


class Metrics:
    """The metrics of one app.

    Parameters
    ----------
    keys
        The keys that are accepted, if there are any: how old they are is reported.
    retains
        Whether rounds are closed, or texts erased, by age: when that was last done is reported.
    """

    def __init__(self, keys: KeyFile | None = None, *, retains: bool = False) -> None:
        self._registry = CollectorRegistry()
        self._keys = keys
        self._requests = Counter(
            "shortlist_requests", "Requests answered.", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "shortlist_request_seconds",
            "Seconds from the first byte to the answer.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        #: The two series of each kind of request: looking them up by their labels costs more than counting.
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._batch = Histogram(
            "shortlist_commit_requests", "Requests that shared a commit.", buckets=_SIZES, registry=self._registry
        )
        self._commit = Histogram(
            "shortlist_commit_seconds",
            "Seconds that a commit took, including checking its requests and updating the state.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._happened = {
            "commit failed": self._counter("commit_failures", "Commits that failed; their requests were answered 503."),
            "snapshot failed": self._counter("snapshot_failures", "Snapshots that could not be kept."),
            "retention failed": self._counter(
                "retention_failures", "Streams in which retention failed; it is tried again in an hour."
            ),
        }
        self._fit = Histogram(
            "shortlist_fit_seconds",
            "Seconds that the fit of a learned score took; no request waits for it.",
            buckets=_FIT_SECONDS,
            registry=self._registry,
        )
        self._fits = self._gauge("fits_waiting", "Fits of learned scores that are being computed.", "livesum")
        self._queue = self._gauge("write_queue_length", "Requests that wait for the next commit.", "livesum")
        #: How many live streams are open.
        self.listeners = self._gauge("listeners", "Live event streams that are open.", "livesum")
        self._snapshot = self._gauge(
            "last_snapshot_timestamp_seconds", "When a snapshot was last kept; 0 if none was since the start.", "max"
        )
        about = "When retention last succeeded in all streams; 0 if it has not since the start."
        self._retention = self._gauge("last_retention_timestamp_seconds", about, "max") if retains else None
        self._unread = (
            None if keys is None else self._counter("keys_read_failures", "Failed attempts to read the keys.")
        )
        self._counted = 0

    def _counter(self, name: str, help_: str) -> Counter:
        return Counter(f"shortlist_{name}", help_, registry=self._registry)

    def _gauge(self, name: str, help_: str, mode: Any) -> Gauge:
        """Return a gauge; `mode` says how those of several workers are combined."""
        return Gauge(f"shortlist_{name}", help_, registry=self._registry, multiprocess_mode=mode)

    def request(self, scope: Any, status: int, seconds: float) -> None:
        """Count an answered request under its route, never under its path: that would have no end."""
        route = getattr(scope.get("route"), "path", "none")
        labels = (route, scope["method"] if route != "none" else "any", status)
        children = self._children.get(labels)
        if children is None:
            children = self._requests.labels(*labels), self._seconds.labels(route)
            self._children[labels] = children
        children[0].inc()
        children[1].observe(seconds)

    def commit(self, requests: int, events: int, seconds: float) -> None:
        """Count a commit."""
        if events:
            self._batch.observe(requests)
            self._commit.observe(seconds)

    def fit(self, seconds: float) -> None:
        """Count a fit of a learned score."""
        self._fit.observe(seconds)

    def notice(self, what: str) -> None:
        """Count what else has happened, as the engine calls it."""
        if what == "snapshot kept":
            self._snapshot.set(time.time())
        else:
            self._happened[what].inc()

    def retained(self, failures: int) -> None:
        """Count that retention was done, in all streams but so many."""
        if failures:
            self._happened["retention failed"].inc(failures)
        elif self._retention is not None:
            self._retention.set(time.time())

    async def page(self, engine: Engine) -> bytes:
        """Return everything as Prometheus reads it; most of the work is done in a thread."""
        self._queue.set(engine.waiting)
        self._fits.set(engine.fits_waiting)
        more = []
        if self._keys is not None and self._unread is not None:
            help_ = "Seconds since the keys in use were last checked against their file."
            more.append(("keys_age_seconds", help_, self._keys.age))
            self._unread.inc(self._keys.failures - self._counted)
            self._counted = self._keys.failures
        streams = StreamMetrics(*await engine.overview(MOST_STREAMS), more)
        return await asyncio.to_thread(self._write, streams)

    def _write(self, streams: StreamMetrics) -> bytes:
        registry = CollectorRegistry()
        registry.register(streams)
        counts = generate_latest(self._registry) if _FOLDER not in os.environ else _shared_counts()
        return bytes(counts + generate_latest(registry))


@contextmanager
def share_counts() -> Iterator[None]:
    """Let processes that are started meanwhile count together."""
    with TemporaryDirectory(prefix="shortlist-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[_FOLDER]


def _shared_counts() -> bytes:
    """Return the counts of all workers. A file that a worker is just creating cannot be read yet: it is tried again."""
    _forget_ended(Path(os.environ[_FOLDER]))
    counts = CollectorRegistry()
    multiprocess.MultiProcessCollector(counts)  # type: ignore[no-untyped-call]
    for _ in range(_TRIES):
        try:
            return generate_latest(counts)
        except (struct.error, RuntimeError, ValueError, OSError):
            time.sleep(_PAUSE)
    return generate_latest(counts)


def _forget_ended(folder: Path) -> None:
    """Remove the gauges of workers that have ended; their counters stay."""
    for process_id in {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            multiprocess.mark_process_dead(process_id)  # type: ignore[no-untyped-call]
