"""The summary of a stream of the service, which is its reply over HTTP, and what a client returns."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from shortlist.rounds.shown import MinusInfinityIsNull, from_null
from shortlist.rounds.summary import Drift, ErrorBudget, Summary

__all__ = ["StreamSummary"]


@dataclass(frozen=True, eq=False)
class StreamSummary(Summary):
    """A stream of the service: its summary, its settings, and what the pages show."""

    name: str = ""
    """The stream."""
    created: float = 0.0
    """When it was created, in seconds since 1970."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As they are now, with defaults filled in."""
    scorer_version: str | None = None
    """The model behind the scores, once one was named."""
    events: int = 0
    """Events in the log: rounds, answers, closings, restarts, fits, expanded lists and changed settings."""
    last_event: float | None = None
    """When the last event was."""
    learned: Mapping[str, Any] | None = None
    """The score that was learned here, as `score` of a new stream takes it; None if there is none yet."""
    list_length_median: float | None = None
    """Median length of the last 200 lists."""
    list_length_p90: float | None = None
    """90th percentile of the length of the last 200 lists."""
    candidates_median: float | None = None
    """Median number of candidates of the last 200 lists, before they were cut."""
    spark: list[Annotated[float, MinusInfinityIsNull()]] = field(default_factory=list)
    """The threshold over time, in a few points."""
    charts_dropped: int = 0
    """How often its charts had to start again."""
    sentences: Mapping[str, Any] = field(default_factory=dict)
    """What the pages say of the stream."""

    @classmethod
    def from_json(cls, reply: Mapping[str, Any]) -> Self:
        """Return the summary in a reply of the service; what a newer service adds is left out."""
        names = {each.name for each in dataclasses.fields(cls)}
        values = {name: value for name, value in reply.items() if name in names}
        for name, kind in (("drift", Drift), ("error_budget", ErrorBudget)):
            if values.get(name) is not None:
                values[name] = kind(**values[name])
        if values.get("coverage_interval") is not None:
            values["coverage_interval"] = tuple(values["coverage_interval"])
        values["threshold"] = from_null(values.get("threshold"))
        values["spark"] = [from_null(each) for each in values.get("spark", ())]
        return cls(**values)
