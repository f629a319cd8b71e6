"""What a summary holds, of a lister and of a stream of the service (`shortlist.rounds.stream_summary`).

Nothing is computed here, so that a client needs no statistics; `shortlist.rounds.progress` fills these in. The
descriptions of the fields are those of the service's OpenAPI document, too.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from shortlist._result_tables import Record
from shortlist.rounds.shown import MinusInfinityIsNull

__all__ = ["Counts", "Drift", "ErrorBudget", "GroupedSummary", "Summary"]


@dataclass(frozen=True, eq=False)
class Counts(Record):
    """Counts of rounds and answers."""

    rounds: int = 0
    """Lists shown."""
    hits: int = 0
    """Rounds answered with a candidate of the list."""
    misses: int = 0
    """Rounds answered "not in this list", and those in which the right answer was found only after `more`."""
    skipped: int = 0
    """Rounds of which it was recorded that no answer will come."""
    absent: int = 0
    """Rounds in which no candidate was right."""
    expired: int = 0
    """Rounds that were closed without an answer."""
    withdrawn: int = 0
    """Lists that were taken back because nobody saw them."""
    open: int = 0
    """Rounds without an answer."""
    coverage_seen: float | None = None
    """The share of hits among hits and misses; unanswered rounds are left out. None where misses are not reported: with
    `explore_share`, or if there are picks and silence but never a miss."""


@dataclass(frozen=True, eq=False)
class Drift(Record):
    """The state of the drift detector."""

    level: float
    """How close the next alarm is; it is raised at 1."""
    false_alarm_rounds: int
    """The guaranteed mean number of rounds between false alarms."""
    alarm_count: int
    """The number of alarms so far."""
    alarms: list[dict[str, Any]]
    """The last 100 alarms: round, strength (the level at which it was raised), epoch, threshold, counted rounds."""


@dataclass(frozen=True, eq=False)
class ErrorBudget(Record):
    """The state of the error budget (`miss_budget`)."""

    size: int
    """The number of misses beyond 1 - coverage that it allows: `miss_budget`."""
    spent: float
    """How many of them are spent; above `size` - coverage, lists are complete until it recovers."""
    burn_rate: float
    """The recent miss rate, over about 100 answered rounds, as a multiple of 1 - coverage: above 1 the budget is being
    spent, below 1 it recovers."""
    lengthened: int
    """The number of lists it has lengthened so far; in shadow mode, would have."""
    added: float | None
    """The mean number of candidates added to these lists; None if there are none."""
    lengthening: bool
    """Whether it would lengthen the next list."""


@dataclass(frozen=True, eq=False)
class GroupedSummary(Counts):
    """A summary of all groups together; ``summary(group)`` has the details of one."""

    coverage_target: float = 0.0
    """The target coverage."""
    delta: float | None = None
    """The probability that any group's threshold may ever pass its optimal one; None without a guarantee about that."""
    groups: int = 0
    """The number of groups."""


@dataclass(frozen=True, eq=False)
class Summary(Counts):
    """All rounds so far, what is needed next, and the score in use."""

    threshold: Annotated[float, MinusInfinityIsNull()] = field(default_factory=lambda: -math.inf)
    """The threshold in force for the next list."""
    counted: int | None = None
    """The number of rounds in the sample, from which the threshold is learned."""
    unanswered_counted: int = 0
    """How many of them have no answer, or a miss of a truncated list."""
    epoch: int = 0
    """The number of restarts."""
    drift: Drift | None = None
    """The state of the drift detector; None if there is none."""
    error_budget: ErrorBudget | None = None
    """The state of the error budget; None if there is none."""
    hidden_share: float | None = None
    """The share of candidates that were not shown; in shadow mode, that would not have been."""
    truncated_share: float | None = None
    """The share of lists that may lack a candidate above the threshold: cut by `at_most`, or by the search."""
    candidate_recall: float | None = None
    """The share of complete lists, among answered ones, with the right answer. Lists in which no candidate stands out
    are complete more often, so without `delta` it understates how often the search finds the right answer."""
    would_have_missed: int | None = None
    """In shadow mode, how many right answers would not have been shown."""
    expanded: int = 0
    """Rounds in which the user asked for more of the list."""
    found_after_more: int = 0
    """How many of them had the right answer there; the list had missed it."""
    explored: int = 0
    """Rounds in which everything was shown, in random order (`explore_share`)."""
    policy: Mapping[str, Any] = field(default_factory=dict)
    """The policy and its parameters."""
    guarantee: str = ""
    """Which guarantee is in force, in words."""
    not_identified: int | None = None
    """How often the product limit could not be estimated as far down as the target, and the threshold stepped down;
    None with `delta`."""
    length: float | None = None
    """The mean length of about the last 100 lists: what the target takes now."""
    half_coverage: float | None = None
    """The share of about the last 100 answered cut lists with the right answer in their better half: about the coverage
    at which lists would be half as long. None with `delta`."""
    coverage_target: float | None = None
    """The target coverage."""
    coverage_interval: tuple[float, float] | None = None
    """95 % Wilson interval of `coverage_seen`: `[low, high]`."""
    waiting_for: str = ""
    """What is needed before the threshold can move, in words."""
    rounds_needed: int | None = None
    """The number of further counted rounds before the threshold can move, if no late answer arrives; None if that is
    not foreseeable."""
    shadow: bool = False
    """Whether everything is shown."""
    score: str = "raw"
    """The score in use."""
    score_why: str = "as set"
    """How the score was learned, in words."""
    scorers: Mapping[str, float] = field(default_factory=dict)
    """The share of each scorer in a learned score: how much it moves candidates within a list."""
    fit_rounds: int | None = None
    """How many picks the score is learned from; None if it is not learned here."""
    fit_picks: int | None = None
    """While the score is being learned, and everything is shown: how many picks there are; None otherwise."""
    refit_gain: float | None = None
    """The share by which a fresh fit would shorten the lists of the latest picks; None if unknown."""
