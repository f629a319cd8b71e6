"""What comes in and goes out, as JSON. Strict: no text for numbers, no true for 1, nothing unknown.

Everything has a largest size. Texts with half a surrogate pair, which cannot be stored, are refused.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = [
    "Answer",
    "Answers",
    "Candidate",
    "NewRound",
    "NewStream",
    "Problem",
    "RoundPage",
    "RoundShown",
    "RoundView",
    "StreamPage",
    "StreamView",
]

#: The most candidates in a round, answers in a batch, and rounds or streams on a page.
MOST_CANDIDATES, MOST_ANSWERS, MOST_ON_PAGE = 10_000, 1_000, 1_000


def _whole(value: Any) -> Any:
    """Return 3.0 as 3: in JSON they are one number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _only_schema(schema: dict[str, Any]) -> None:
    """Leave the default out of a field's schema: leaving the field out is not the same as sending null."""
    schema.pop("default", None)


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="A stream's name.")]
RoundId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}$", description="A round's id; yours, or one made for you.")
]
Id = Annotated[
    Annotated[str, Field(max_length=500)]
    | Annotated[int, Field(ge=-(2**53) + 1, le=2**53 - 1), BeforeValidator(_whole)],
    Field(description="A candidate's id: a text, or a whole number that every JSON reader keeps (below 2^53)."),
]
Number = Annotated[float, Field(ge=-1e308, le=1e308, allow_inf_nan=False)]
Words = Annotated[str, Field(max_length=20_000)]
Version = Annotated[str, Field(min_length=1, max_length=200)]
Threshold = Annotated[float | None, Field(description="null stands for minus infinity: everything is shown.")]


class _In(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Anytime(_In):
    """No horizon; the promise holds for ever."""

    kind: Literal["anytime"]
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.05


class Sps(_In):
    """The paper's Algorithm 1, for a number of rounds that is known beforehand."""

    kind: Literal["sps"]
    horizon: Annotated[int, Field(ge=2, le=10**12), BeforeValidator(_whole)]


class PlainScore(_In):
    """A score without settings."""

    kind: Literal["raw", "margin", "rank"]


class RelativeScore(_In):
    """Softmax of the list's z-scores."""

    kind: Literal["relative"]
    temperature: Annotated[float, Field(gt=1e-6, le=1e6)] = 0.4


class AdaptiveScore(_In):
    """The softmax mass of all that is less good (APS, RAPS)."""

    kind: Literal["adaptive"]
    temperature: Annotated[float, Field(gt=1e-6, le=1e6)] = 0.4
    penalty: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    free: Annotated[int, Field(ge=0, le=10**6), BeforeValidator(_whole)] = 5


class NewStream(_In):
    """A stream to be made; settings are fixed then."""

    name: Name
    coverage: Annotated[float, Field(gt=0, lt=1, description="The share of rounds with the right answer in the list.")]
    policy: Annotated[Anytime | Sps, Field(discriminator="kind")] = Anytime(kind="anytime")
    score: (
        Literal["raw", "margin", "relative", "rank", "adaptive", "auto"]
        | Annotated[PlainScore | RelativeScore | AdaptiveScore, Field(discriminator="kind")]
    ) = "raw"
    unanswered: Literal["miss", "ignore"] = "miss"
    patience: Annotated[int, Field(ge=0, le=10**9), BeforeValidator(_whole)] = 200
    on_drift: Literal["report", "restart"] | None = None
    false_alarm_rounds: Annotated[int, Field(ge=1, le=10**12), BeforeValidator(_whole)] = 1_000_000
    at_least: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), BeforeValidator(_whole)] = 0
    at_most: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), BeforeValidator(_whole)] | None = None
    shadow: bool = False
    scorer_version: Version | None = None


class Candidate(_In):
    """Something that may be shown."""

    id: Id
    score: Number
    text: Words | None = None


class NewRound(_In):
    """A list to be cut."""

    candidates: Annotated[list[Candidate], Field(min_length=1, max_length=MOST_CANDIDATES)]
    question: Words | None = None
    round_id: RoundId | None = None
    truncated_below: Number | None = None
    scorer_version: Version | None = None


def _one_of(extra: int) -> ConfigDict:
    """Return the configuration of a body with one answer in it, and so many other fields."""
    return ConfigDict(json_schema_extra={"minProperties": 1 + extra, "maxProperties": 1 + extra})


class Answer(_In):
    """A round's answer: exactly one of `hit`, `miss`, `skip`, `absent`."""

    model_config = _one_of(0)

    hit: Annotated[Id, Field(description="This one is right.", json_schema_extra=_only_schema)] = ""
    miss: Annotated[Literal[True], Field(description="Not in this list.", json_schema_extra=_only_schema)] = True
    skip: Annotated[Literal[True], Field(description="No answer will come.", json_schema_extra=_only_schema)] = True
    absent: Annotated[
        Literal[True], Field(description="Looked everywhere: none at all is right.", json_schema_extra=_only_schema)
    ] = True

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set - {"round_id"}) != 1:
            raise ValueError('give exactly one of {"hit": id}, {"miss": true}, {"skip": true}, {"absent": true}')
        return self

    @property
    def kind(self) -> str:
        """Which of the four it is."""
        (kind,) = self.model_fields_set - {"round_id"}
        return kind

    @property
    def member(self) -> str | int | None:
        """The candidate of a hit."""
        return self.hit if self.kind == "hit" else None


class RoundAnswer(Answer):
    """The answer of a round in a batch."""

    model_config = _one_of(1)

    round_id: RoundId


class Answers(_In):
    """Answers to several rounds; each is taken or refused on its own."""

    answers: Annotated[list[RoundAnswer], Field(min_length=1, max_length=MOST_ANSWERS)]


class OlderThan(_In):
    """An age."""

    older_than: Annotated[float, Field(ge=0, le=1e10, description="In seconds.")]


class Expired(BaseModel):
    """How many rounds were closed."""

    expired: int


class Erased(BaseModel):
    """Of how many rounds the texts were erased."""

    erased: int


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None


class RoundShown(BaseModel):
    """A list as it is shown."""

    round_id: str
    threshold: Threshold
    members: Annotated[list[str | int], Field(description="The candidates to show, best first.")]
    reached: Annotated[int, Field(description="How many of them, from the first, reach the threshold.")]
    truncated: Annotated[bool, Field(description="The promise does not cover this list.")]


class AnswerTaken(BaseModel):
    """An answer as it is stored."""

    round_id: str
    answer: dict[str, Any]
    threshold: Threshold


class AnswerResult(BaseModel):
    """What came of one answer of a batch."""

    round_id: str
    status: int
    answer: dict[str, Any] | None = None
    problem: Problem | None = None


class AnswerResults(BaseModel):
    """What came of each answer, in their order."""

    results: list[AnswerResult]


class CandidateView(BaseModel):
    """A candidate of a round, and what became of it."""

    id: str | int
    score: float
    comparable: Annotated[float, Field(description="What was compared with the threshold.")]
    shown: bool
    why: Annotated[str, Field(description="Why it was shown or hidden, in words.")]
    text: str | None


class RoundView(BaseModel):
    """A round as it is in the log."""

    round_id: str
    number: int
    shown_at: float
    question: str | None
    threshold: Threshold
    epoch: int
    truncated: bool
    members: list[str | int]
    candidates: list[CandidateView]
    answer: dict[str, Any] | None
    answered_at: float | None


class RoundPage(BaseModel):
    """Rounds in the order shown."""

    rounds: list[RoundView]
    next: Annotated[int | None, Field(description="Hand this in as `after` for the next page; null at the end.")]


class StreamView(BaseModel):
    """A stream: its settings, what has happened, and what was learnt."""

    model_config = ConfigDict(extra="allow")

    name: str
    created: float
    settings: dict[str, Any]
    scorer_version: str | None
    events: int
    last_event: float | None
    rounds: int
    hits: int
    misses: int
    skipped: int
    absent: int
    expired: int
    open: int
    coverage_target: float
    coverage_seen: float | None
    coverage_interval: list[float] | None
    threshold: Threshold
    counted: int | None
    waiting_for: str
    rounds_needed: int | None
    epoch: int
    drift: dict[str, Any] | None
    score: str
    score_why: str
    score_thresholds: dict[str, float | None]
    hidden_share: float | None
    list_length_median: float | None
    list_length_p90: float | None
    candidates_median: float | None
    spark: Annotated[list[float | None], Field(description="The threshold over time, in a few points.")]


class SeriesPoints(BaseModel):
    """A stream's history, column by column; a point stands for one or many rounds."""

    round: Annotated[list[int], Field(description="Rounds shown up to here.")]
    at: Annotated[list[float], Field(description="When the last event was.")]
    threshold: list[float | None]
    hits: Annotated[list[int], Field(description="Hits in this point's rounds, not in all before.")]
    misses: list[int]
    list_median: list[float | None]
    list_p90: list[float | None]
    candidates: list[float]
    level: Annotated[list[float | None], Field(description="Of the drift alarm; 1 rings it.")]


class ChosenScores(BaseModel):
    """How often which score was chosen: bins of equal width."""

    of: int | None
    low: float
    width: float
    counts: list[int]


class SeriesView(BaseModel):
    """A stream's history in a few hundred points, however long it is."""

    points: SeriesPoints
    chosen: ChosenScores


class StreamPage(BaseModel):
    """Streams by name."""

    streams: list[StreamView]
    next: Annotated[str | None, Field(description="Hand this in as `after` for the next page; null at the end.")]
