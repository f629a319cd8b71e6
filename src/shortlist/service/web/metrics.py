"""What Prometheus reads: requests and commits as they happen, streams as they are when it asks."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["Metrics"]

#: Of more streams than this the rest is left out, so that a scrape stays small; `shortlist_streams` counts all.
_MOST_STREAMS: Final = 1_000
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)

_Family = TypeVar("_Family", CounterMetricFamily, GaugeMetricFamily)

#: What is counted of each stream.
_COUNTERS: Final = {
    "rounds": "Lists shown.",
    "hits": "Answers that picked a member.",
    "misses": "Answers that the right one was not in the list.",
    "skipped": "Rounds that will not be answered.",
    "absent": "Rounds in which no candidate was right.",
    "expired": "Rounds that were waited for too long.",
}
#: What each stream is at, by its figure.
_GAUGES: Final = {
    "open": ("open_rounds", "Rounds that wait for an answer."),
    "threshold": ("threshold", "The threshold in force; absent while everything is shown."),
    "coverage_seen": ("coverage_seen", "The share of hits among hits and misses."),
    "hidden_share": ("hidden_share", "The share of candidates that were not shown."),
    "epoch": ("epoch", "How often learning has started over."),
    "fit_picks": ("fit_picks", "Picks that the score has been learned from; absent once it is learned."),
}
#: The same of what can be off, and is absent then.
_PARTS: Final = {
    "drift": {
        "level": (GaugeMetricFamily, "drift_level", "How near the next alarm is; 1 rings it."),
        "alarm_count": (CounterMetricFamily, "drift_alarms", "Alarms so far."),
    },
    "error_budget": {
        "size": (
            GaugeMetricFamily,
            "error_budget_size",
            "Misses beyond 1 - coverage that the error budget holds (miss_budget).",
        ),
        "spent": (
            GaugeMetricFamily,
            "error_budget_spent",
            "Misses of the error budget that are spent; lists are complete when it is almost all.",
        ),
        "burn_rate": (
            GaugeMetricFamily,
            "error_budget_burn_rate",
            "Misses over about the last 100 answered rounds, as a multiple of 1 - coverage; above 1 the error budget "
            "is being spent.",
        ),
        "lengthened": (
            CounterMetricFamily,
            "lists_lengthened",
            "Lists that the error budget made longer; in shadow mode, would have.",
        ),
    },
}


class _Streams(Collector):
    """The streams in memory, at the moment of asking."""

    def __init__(self, summaries: Callable[[int], list[dict[str, Any]]], totals: Callable[[], dict[str, int]]) -> None:
        self._summaries, self._totals = summaries, totals

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        totals = self._totals()
        yield GaugeMetricFamily("shortlist_streams", "Streams in memory.", value=totals["streams"])
        yield GaugeMetricFamily(
            "shortlist_streams_damaged", "Streams whose log could not be read.", value=totals["damaged"]
        )
        yield CounterMetricFamily(
            "shortlist_charts_dropped", "Charts that started again.", value=totals["charts_dropped"]
        )
        streams = self._summaries(_MOST_STREAMS)
        for name, help_ in _COUNTERS.items():
            yield _fill(CounterMetricFamily(f"shortlist_{name}", help_, labels=["stream"]), streams, name)
        for name, (metric, help_) in _GAUGES.items():
            yield _fill(GaugeMetricFamily(f"shortlist_{metric}", help_, labels=["stream"]), streams, name)
        for part, families in _PARTS.items():
            watched = [{"name": stream["name"], **stream[part]} for stream in streams if stream[part] is not None]
            for name, (family, metric, help_) in families.items():
                yield _fill(family(f"shortlist_{metric}", help_, labels=["stream"]), watched, name)


def _fill(family: _Family, streams: list[dict[str, Any]], name: str) -> _Family:
    """Give each stream's figure to a metric, where it has one."""
    for stream in streams:
        if stream[name] is not None and stream[name] != float("-inf"):
            family.add_metric([stream["name"]], stream[name])
    return family


class Metrics:
    """The metrics of one app."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
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
            "Seconds that a commit took, judging and folding included.",
            buckets=_SECONDS,
            registry=self._registry,
        )

    def watch(self, summaries: Callable[[int], list[dict[str, Any]]], totals: Callable[[], dict[str, int]]) -> None:
        """Report streams too, as these functions return them."""
        self._registry.register(_Streams(summaries, totals))

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

    def page(self) -> bytes:
        """Return everything as Prometheus reads it."""
        page: bytes = generate_latest(self._registry)
        return page
