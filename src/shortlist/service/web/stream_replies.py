"""What goes out about streams: the shapes of answers. Their descriptions are those of the OpenAPI document."""

from typing import Annotated, Any

from pydantic import Field

from shortlist.service.web.replies import Out, Threshold

__all__ = [
    "ChosenScores",
    "DamagedStream",
    "ErrorBudget",
    "SeriesPoints",
    "SeriesView",
    "StreamPage",
    "StreamView",
    "UnreadStream",
]


class ErrorBudget(Out):
    """What is left of a stream's budget of misses (`miss_budget`)."""

    size: int
    """How many misses beyond 1 - coverage it holds: `miss_budget`."""
    spent: float
    """How many of them are spent. Above `size` - coverage, lists are complete until some are left again."""
    burn_rate: float
    """How often lists missed lately, over about 100 answered rounds, as a multiple of 1 - coverage: above 1 the budget
    is being spent, below 1 it recovers."""
    lengthening: bool
    """Whether enough is spent for the next list to be made longer, if it leaves candidates out."""
    lengthened: int
    """How many lists were made longer so far; in shadow mode, would have been."""
    added: float | None
    """By how many candidates, on average over these lists; null if there is none."""


class StreamView(Out):
    """A stream: its settings, what has happened, and what was learned."""

    name: str
    """The stream."""
    created: float
    """When, in seconds since 1970."""
    settings: dict[str, Any]
    """As they are now, with defaults filled in."""
    scorer_version: str | None
    """The model behind the scores, once one was named."""
    events: int
    """Events in the log: rounds, answers, closings, restarts, fits, expanded lists and changed settings."""
    last_event: float | None
    """When the last event was."""
    rounds: int
    """Lists shown."""
    hits: int
    """Answered with a candidate."""
    misses: int
    """Answered: not in this list."""
    skipped: int
    """Skipped: no answer will come."""
    absent: int
    """Answered: no candidate is right."""
    expired: int
    """Closed without an answer."""
    withdrawn: int
    """Taken back, because nobody saw them."""
    open: int
    """Waiting for an answer."""
    coverage_target: float
    """The coverage that the stream was created with: its target."""
    coverage_seen: float | None
    """Hits among hits and misses."""
    coverage_interval: list[float] | None
    """95 % Wilson interval of `coverage_seen`: `[low, high]`."""
    threshold: Threshold
    counted: int | None
    """Rounds that the threshold has learned from."""
    waiting_for: str
    """What the next move of the threshold waits for, in words."""
    rounds_needed: int | None
    """How many more rounds must count until the threshold can move, without late answers; null if unforeseeable."""
    unanswered_counted: int
    """Counted rounds whose answer never came, has not come yet, or was a miss of a truncated list."""
    epoch: int
    """How often learning has started over."""
    drift: dict[str, Any] | None
    """The alarm: its level, how often it went off, and when; null if drift is not watched."""
    error_budget: ErrorBudget | None
    """How much of the budget of misses is spent, how fast, and what it did; null if it is off."""
    score: str
    """The score in use, by name."""
    score_why: str
    """What was learned about it, in words."""
    scorers: dict[str, float]
    """Where the score is learned: the share of each scorer in it, by how far it moves candidates within a list."""
    learned: dict[str, Any] | None
    """The score that was learned here, as `score` of a new stream takes it; null where there is none yet."""
    refit_gain: float | None
    """The share by which a fresh fit would shorten the lists of the last picks; null where it is not known."""
    """What a target with half the misses (0.95 for 0.9) would have covered; null where misses are not reported."""
    fit_rounds: int | None
    """How many picks the score is learned from; null where it is not learned here."""
    fit_picks: int | None
    """While the score is being learned, and everything is shown: how many picks there are; null otherwise."""
    hidden_share: float | None
    """Share of all candidates so far that were not shown; in shadow mode, that would not have been."""
    truncated_share: float | None
    """Share of lists that may lack a candidate which reaches the threshold: cut by `at_most`, or by the search."""
    candidate_recall: float | None
    """Share of answered rounds whose right answer was among the candidates, where everything was shown."""
    shadow: bool
    """Whether everything is shown while the threshold is learned."""
    would_have_missed: int | None
    """In shadow mode, how many right answers would have been hidden; null otherwise."""
    expanded: int
    """Rounds in which more of the list was asked for."""
    found_after_more: int
    """Those in which the right answer was among the candidates then shown: the list missed it."""
    explored: int
    """Rounds in which everything was shown, in random order."""
    list_length_median: float | None
    """Median length of the last 200 lists."""
    list_length_p90: float | None
    """90th percentile of the length of the last 200 lists."""
    candidates_median: float | None
    """Median number of candidates of the last 200 lists, before they were cut."""
    spark: Annotated[list[float | None], Field(description="The threshold over time, in a few points.")]
    charts_dropped: Annotated[int, Field(description="How often its charts had to start again.")]


class SeriesPoints(Out):
    """A stream's history, column by column; a point stands for one or many rounds."""

    round: Annotated[list[int], Field(description="Rounds shown up to here.")]
    at: Annotated[list[float], Field(description="When the last event was.")]
    threshold: list[float | None]
    """After the last round of the point."""
    hits: Annotated[list[int], Field(description="Hits in this point's rounds, not in all before.")]
    misses: list[int]
    """Misses in this point's rounds."""
    list_median: list[float | None]
    """Median list length."""
    list_p90: list[float | None]
    """90th percentile of list length."""
    candidates: list[float]
    """Mean number of candidates."""
    level: Annotated[list[float | None], Field(description="Level of the drift alarm, which goes off at 1.")]


class ChosenScores(Out):
    """Histogram of the scores of picks, in bins of equal width."""

    of: int | None
    """The fit of the score that these picks belong to; picks made during a fit are left out. 0 if it is not learned."""
    low: float
    """Where the first bin begins."""
    width: float
    """Of a bin."""
    counts: list[int]
    """Hits in each bin."""


class SeriesView(Out):
    """A stream's history in a few hundred points, however long it is."""

    points: SeriesPoints
    """The history."""
    chosen: ChosenScores
    """The scores of what was picked."""


class DamagedStream(Out):
    """A stream whose log cannot be read."""

    name: str
    """The stream."""
    created: float
    """When, in seconds since 1970."""
    why: str
    """Where its log is damaged, and what to do."""


class UnreadStream(Out):
    """A stream that is still being read from its log."""

    name: str
    """The stream."""
    created: float
    """When, in seconds since 1970."""


class StreamPage(Out):
    """Streams by name."""

    streams: list[StreamView]
    """The page."""
    damaged: list[DamagedStream]
    """Streams of this page whose log cannot be read. They can be deleted; other streams are not affected."""
    unread: list[UnreadStream]
    """Streams of this page whose log is still being read: ask again in a while."""
    next: Annotated[str | None, Field(description="Send this as `after` for the next page; null at the end.")]
