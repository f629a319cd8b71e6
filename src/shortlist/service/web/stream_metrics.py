"""What Prometheus reads of streams: counters and gauges with the label `stream`, from their figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from shortlist.service.engine.overview import Overviewed

__all__ = ["MOST_STREAMS", "StreamMetrics"]

#: Of more streams than this only those that were made first have series of their own, so that a scrape stays small.
MOST_STREAMS: Final = 1_000

_Family = TypeVar("_Family", CounterMetricFamily, GaugeMetricFamily)

#: What is counted of each stream, by its figure.
_COUNTERS: Final = {
    "rounds": ("rounds", "Lists shown."),
    "hits": ("hits", "Answers that picked a member."),
    "misses": ("misses", "Answers that the right candidate was not in the list."),
    "skipped": ("skipped", "Rounds that will not be answered."),
    "absent": ("absent", "Rounds in which no candidate was right."),
    "expired": ("expired", "Rounds that were closed without an answer."),
    "expanded": ("rounds_expanded", "Rounds in which more of the list was asked for."),
    "found_after_more": ("found_after_more", "Rounds in which the right answer was found only after more was shown."),
}
#: What each stream is at, by its figure.
_GAUGES: Final = {
    "open": ("open_rounds", "Rounds that wait for an answer."),
    "threshold": ("threshold", "The threshold in force; absent while everything is shown."),
    "coverage_target": ("coverage_target", "The coverage that was asked for."),
    "coverage_seen": ("coverage_seen", "The share of hits among hits and misses."),
    "hidden_share": ("hidden_share", "The share of candidates that were not shown."),
    "list_length_median": ("list_length_median", "Median length of the last 200 lists."),
    "list_length_p90": ("list_length_p90", "90th percentile of the length of the last 200 lists."),
    "candidates_median": ("candidates_median", "Median number of candidates of the last 200 lists."),
    "epoch": ("epoch", "How often learning has started over."),
    "fit_picks": ("fit_picks", "Picks that the score has been learned from; absent once it is learned."),
}
#: The same of what can be off, and is absent then.
_PARTS: Final = {
    "drift": {
        "level": (GaugeMetricFamily, "drift_level", "Level of the drift alarm, which goes off at 1."),
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
            "Misses of the error budget that are spent; when almost all are, lists are complete.",
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


class StreamMetrics(Collector):
    """All streams at one moment, and what else is known only when somebody asks.

    Parameters
    ----------
    streams
        How many streams there are.
    seen
        The streams, but no more than `MOST_STREAMS` of them.
    more
        Further gauges, each with its help and its value.
    """

    def __init__(self, streams: int, seen: Overviewed, more: Sequence[tuple[str, str, float]] = ()) -> None:
        self._streams, self._seen, self._more = streams, seen, more

    def describe(self) -> list[Metric]:
        """Return nothing: the names are not known before they are collected."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        seen = self._seen
        for name, help_, value in (
            ("streams", "Streams in the database.", self._streams),
            (
                "streams_not_shown",
                f"Streams without series of their own: all but the first {MOST_STREAMS:,}.",
                max(0, self._streams - MOST_STREAMS),
            ),
            ("streams_unread", "Streams whose figures are still being read, and are not here yet.", len(seen.unread)),
            ("streams_damaged", "Streams whose log could not be read.", len(seen.damaged)),
            *self._more,
        ):
            yield GaugeMetricFamily(f"shortlist_{name}", help_, value=value)
        dropped = sum(stream["charts_dropped"] for stream in seen.summaries)
        yield CounterMetricFamily("shortlist_charts_dropped", "Charts that started again.", value=dropped)
        yield from _families(CounterMetricFamily, _COUNTERS, seen.summaries)
        yield from _families(GaugeMetricFamily, _GAUGES, seen.summaries)
        for part, families in _PARTS.items():
            watched = [
                {"name": stream["name"], **stream[part]} for stream in seen.summaries if stream[part] is not None
            ]
            for name, (family, metric, help_) in families.items():
                yield _fill(family(f"shortlist_{metric}", help_, labels=["stream"]), watched, name)


def _families(
    family: Callable[..., Metric], names: dict[str, tuple[str, str]], streams: Sequence[Mapping[str, Any]]
) -> Iterator[Metric]:
    for name, (metric, help_) in names.items():
        yield _fill(family(f"shortlist_{metric}", help_, labels=["stream"]), streams, name)  # type: ignore[type-var]


def _fill(family: _Family, streams: Sequence[Mapping[str, Any]], name: str) -> _Family:
    """Give each stream's figure to a metric, where it has one."""
    for stream in streams:
        if stream[name] is not None and stream[name] != float("-inf"):
            family.add_metric([stream["name"]], stream[name])
    return family
