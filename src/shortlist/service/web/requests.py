"""What comes in: parameters of paths and queries, and bodies.

Bodies are strict: no string for a number, no true for 1, nothing unknown. Everything has a largest size.
Texts with half a surrogate pair, which cannot be stored, are refused.
"""

import math
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from fastapi import Path, Query
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import core_schema

from shortlist._validation import Array
from shortlist.errors import InvalidScores
from shortlist.policies import AnytimeSPS
from shortlist.scores import Adaptive, Learned, Relative
from shortlist.scores.learned import MOST_WEIGHT
from shortlist.service.engine import Settings

__all__ = [
    "MOST_ANSWERS",
    "MOST_CANDIDATES",
    "MOST_CHARACTERS",
    "MOST_FIT_ROUNDS",
    "MOST_MISS_BUDGET",
    "MOST_ON_PAGE",
    "MOST_ROUNDS",
    "MOST_SCORERS",
    "MOST_SHADOWING",
    "ROUND_ID",
    "STREAM_NAME",
    "Answer",
    "Answers",
    "BatchedRound",
    "Body",
    "Candidate",
    "Changes",
    "ExploreShare",
    "MoreAsked",
    "NewRound",
    "NewStream",
    "Number",
    "OlderThan",
    "PageLimit",
    "RoundAnswer",
    "RoundPath",
    "Rounds",
    "Scorer",
    "StreamPath",
    "Whole",
]

#: The most candidates in a round.
MOST_CANDIDATES: Final = 10_000
#: The most scorers that a candidate can have numbers of.
MOST_SCORERS: Final = 50
#: The most streams that can shadow one in a round.
MOST_SHADOWING: Final = 10
#: The most picks that a score can be learned from: their lists are kept in memory.
MOST_FIT_ROUNDS: Final = 1_000
#: The most misses that an error budget can hold: far more than any shift could spend before somebody looks.
MOST_MISS_BUDGET: Final = 1_000_000
#: The most characters in a question or a text.
MOST_CHARACTERS: Final = 20_000
#: The most answers in a batch.
MOST_ANSWERS: Final = 1_000
#: The most lists in a batch.
MOST_ROUNDS: Final = 1_000
#: The most rounds or streams on a page.
MOST_ON_PAGE: Final = 1_000
#: What streams and rounds may be called.
STREAM_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
ROUND_ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}$"

StreamPath = Annotated[str, Path(alias="name", pattern=STREAM_NAME, description="The stream.")]
RoundPath = Annotated[str, Path(alias="round_id", pattern=ROUND_ID, description="The round.")]
PageLimit = Annotated[int, Query(ge=1, le=MOST_ON_PAGE, description="The most on a page.")]


class Whole:
    """An integer that may be written 3.0: in JSON that is one number with 3.

    What is no number at all is refused as it is. A function that is called first would have it converted, which for a
    large value takes long.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        numbers = [
            core_schema.int_schema(strict=True),
            core_schema.no_info_after_validator_function(_as_whole, core_schema.float_schema(strict=True)),
        ]
        number = core_schema.union_schema(
            numbers,  # type: ignore[arg-type]
            mode="left_to_right",
            custom_error_type="int_type",
        )
        return core_schema.chain_schema([number, handler(source)])

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        last: Any = schema
        return handler(last["steps"][-1])


def _as_whole(value: float) -> int:
    if not value.is_integer():
        raise ValueError
    return int(value)


class _OneError:
    """One error for all alternatives of a union: each of them would hold a copy of what was sent.

    Parameters
    ----------
    message
        What it says.
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schema: Any = handler(source)
        return {**schema, "custom_error_type": "alternatives", "custom_error_message": self._message}


def _no_name(value: Any) -> None:
    """Refuse a name where only null is taken."""
    if value is not None:
        raise ValueError("shadows can be set only when a stream is made; null ends it")


def _only_schema(schema: dict[str, Any]) -> None:
    """Leave the default out of a field's schema: leaving the field out is not the same as sending null."""
    schema.pop("default", None)


Name = Annotated[str, Field(pattern=STREAM_NAME, description="A stream's name.")]
RoundId = Annotated[
    str, Field(pattern=ROUND_ID, description="A round's id: your own, or one that the service generates.")
]
Id = Annotated[
    Annotated[str, Field(max_length=500)] | Annotated[int, Field(ge=-(2**53) + 1, le=2**53 - 1), Whole()],
    # In this order, so that a string is taken at once.
    Field(
        union_mode="left_to_right",
        description="A candidate's id: a string, or a whole number that every JSON reader keeps (below 2^53).",
    ),
]
Number = Annotated[float, Field(allow_inf_nan=False)]
Numbers = Annotated[list[Number], Field(max_length=MOST_SCORERS, fail_fast=True)]
Weight = Annotated[float, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT)]
Weights = Annotated[list[Weight], Field(max_length=MOST_SCORERS, fail_fast=True)]
Scorer = Annotated[str, Field(min_length=1, max_length=100)]
Scores = Annotated[dict[Scorer, Number | None], Field(min_length=1, max_length=MOST_SCORERS, fail_fast=True)]
Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
Version = Annotated[str, Field(min_length=1, max_length=200)]

#: A candidate's fields: in `map` they need no call of a Python function per candidate.
_ID, _SCORE, _SCORES, _TEXT = map(attrgetter, ("id", "score", "scores", "text"))


class Body(BaseModel):
    """A body: strict."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True)


class Anytime(Body):
    """No horizon; the guarantee holds at every round."""

    kind: Literal["anytime"]
    """Which policy."""
    delta: Annotated[float, Field(gt=0, lt=1)] = AnytimeSPS.delta
    """The probability that the threshold ever passes the optimal one is at most this."""


class Sps(Body):
    """The paper's Algorithm 1, for a number of rounds that is known in advance."""

    kind: Literal["sps"]
    """Which policy."""
    horizon: Annotated[int, Field(ge=2, le=10**12), Whole()]
    """The number of rounds planned for; after them the threshold stays where it is."""


class PlainScore(Body):
    """A score without settings."""

    kind: Literal["raw", "margin", "rank"]
    """Which score."""


class RelativeScore(Body):
    """Softmax of the list's z-scores."""

    kind: Literal["relative"]
    """Which score."""
    temperature: Annotated[float, Field(gt=1e-6, le=1e6)] = Relative.temperature
    """How flat: lower values separate the best from the rest more sharply."""


class AdaptiveScore(Body):
    """The softmax mass of all candidates with lower scores (APS, RAPS)."""

    kind: Literal["adaptive"]
    """Which score."""
    temperature: Annotated[float, Field(gt=1e-6, le=1e6)] = Adaptive.temperature
    """How flat: lower values separate the best from the rest more sharply."""
    penalty: Annotated[float, Field(ge=0, le=1e6)] = Adaptive.penalty
    """What each rank beyond the free ones costs (RAPS); 0 is APS."""
    free: Annotated[int, Field(ge=0, le=10**6), Whole()] = Adaptive.free
    """How many ranks cost nothing."""


class LearnedScore(Body):
    """A score that was learned elsewhere: by `shortlist.scores.learn`, or by another stream (its `learned`).

    The lists of numbers have one for each scorer; a list that is empty or left out has its default for all.
    """

    kind: Literal["learned"]
    """Which score."""
    scorers: Annotated[
        list[Annotated[str, Field(max_length=100)]],
        Field(min_length=1, max_length=MOST_SCORERS, json_schema_extra={"uniqueItems": True}),
    ]
    """The names of the scorers, in the order of the weights; one empty name where candidates have a plain `score`."""
    relative: Weights
    """The weight of each scorer's z-scores within a list."""
    absolute: Weights
    """The weight of each scorer's values over their spread."""
    missing: Weights = []
    """What it weighs that a scorer has no number for a candidate; 0 if left out."""
    center: Numbers = []
    """The mean of each scorer's values in the rounds of the fit; 0 if left out."""
    spread: Annotated[list[Annotated[float, Field(gt=0, allow_inf_nan=False)]], Field(max_length=MOST_SCORERS)] = []
    """Their standard deviation; 1 if left out."""
    form: Literal["softmax", "sum"] = Learned.form
    """`softmax`: the probability of each candidate to be picked; `sum`: the weighted sum of the values."""
    influence: Numbers = []
    """The share of each scorer in the score, for people to read; the same for all if left out."""
    rounds: Annotated[int, Field(ge=0, le=10**12), Whole()] = Learned.rounds
    """How many picks it was learned from."""
    lengths: Annotated[list[Number], Field(max_length=2)] = []
    """How long lists of the two forms would have been in the rounds of the fit."""
    gradient: Number = Learned.gradient
    """The norm of the gradient where the fit stopped."""
    steps: Annotated[int, Field(ge=0, le=10**6), Whole()] = Learned.steps
    """After how many steps it stopped."""


MissBudget = Annotated[int, Field(ge=1, le=MOST_MISS_BUDGET), Whole()]
#: A share of rounds, or the schedule that falls with time.
ExploreShare = Annotated[float, Field(gt=0, le=1)] | Literal["auto"]


class NewStream(Body):
    """A stream to create. Most of its settings are fixed from then on."""

    name: Name
    coverage: Annotated[float, Field(gt=0, lt=1, description="The share of rounds with the right answer in the list.")]
    policy: Annotated[Anytime | Sps, Field(discriminator="kind")] = Anytime(kind="anytime")
    """How the threshold is learned."""
    score: (
        Literal["raw", "margin", "relative", "rank", "adaptive", "auto"]
        | Annotated[PlainScore | RelativeScore | AdaptiveScore | LearnedScore, Field(discriminator="kind")]
    ) = Settings.score
    """How a list's scores become the one per candidate that is compared with the threshold. `auto` learns it from the
    first picks, while everything is shown, and then freezes it; for one scorer or several."""
    fit_rounds: Annotated[int, Field(ge=1, le=MOST_FIT_ROUNDS), Whole()] | None = Settings.fit_rounds
    """How many picks `auto` learns the score from; null: 30 with one scorer, 100 with several."""
    miss_budget: MissBudget | None = Field(
        default_factory=lambda: Settings.miss_budget, json_schema_extra={"default": Settings.miss_budget}
    )
    """The error budget: in any W answered rounds in a row at most (1 - coverage) W + `miss_budget` lists miss that were
    cut, under any distribution shift. As misses spend it, lists get longer, in the end complete; null: off."""
    unanswered: Literal["miss", "ignore"] | None = Settings.unanswered
    """What silence means: `miss`, the default, is always safe; `ignore` only if silence and delay do not depend on the
    score."""
    explore_share: ExploreShare | None = Settings.explore_share
    """For users who click and never report a miss: the share of rounds in which everything is shown, in random order,
    or `auto`, which is min(0.2, 2/sqrt(t)). Only those rounds count. It excludes `unanswered`, `miss_budget`,
    `on_drift` and `shadow`."""
    patience: Annotated[int, Field(ge=0, le=10**9), Whole()] = Settings.patience
    """After how many later rounds an unanswered one counts as below the threshold; a late answer corrects it."""
    grace: Annotated[int, Field(ge=0, le=10**6), Whole()] = Settings.grace
    """Answers may be corrected until so many more have come, and count after that; less than `patience`."""
    on_drift: Literal["report", "restart"] | None = Settings.on_drift
    """Watch for a distribution shift after which lists miss too often: `report` an alarm, or `restart` learning."""
    false_alarm_rounds: Annotated[int, Field(ge=1, le=10**12), Whole()] = Settings.false_alarm_rounds
    """The mean number of rounds between false alarms is at least this."""
    at_least: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), Whole()] = Settings.at_least
    """Always show at least this many: safe."""
    at_most: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), Whole()] | None = Settings.at_most
    """Never show more; lists that it cuts short are marked `truncated`."""
    shadow: bool = Settings.shadow
    """Show everything, and learn the threshold anyway."""
    scorer_version: Version | None = Settings.scorer_version
    """The model behind the scores; rounds that name another are refused."""
    shadows: Name | None = Settings.shadows
    """Another stream, whose rounds it has: people see the lists of that one, and this one learns from their answers
    what its own would have been, as in shadow mode. Its scores come with the rounds of the other (`also`). Until that
    is ended, `at_most` does not apply."""


#: The default of a setting that is left out of a change: it is not read.
_UNCHANGED: Final[Any] = Field(default=None, json_schema_extra=_only_schema)


class Changes(Body):
    """Settings to change; those that are left out stay as they are, and all others are fixed."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    at_least: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), Whole()] = _UNCHANGED
    """Always show at least this many: safe."""
    at_most: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), Whole()] | None = _UNCHANGED
    """Never show more on the first page; null: no limit."""
    shadow: bool = _UNCHANGED
    """Show everything, and learn the threshold anyway."""
    patience: Annotated[int, Field(ge=0, le=10**9), Whole()] = _UNCHANGED
    """After how many later rounds an unanswered one counts as below the threshold."""
    miss_budget: MissBudget | None = _UNCHANGED
    """The error budget; null: off."""
    explore_share: ExploreShare | None = _UNCHANGED
    """The share of rounds to explore; it can change, but not be turned on or off."""
    shadows: Annotated[None, BeforeValidator(_no_name)] = _UNCHANGED
    """null: from the next list on it serves on its own, with what it has learned."""

    def given(self) -> dict[str, Any]:
        """Return the settings that were given."""
        return self.model_dump(include=self.model_fields_set)

    @model_validator(mode="before")
    @classmethod
    def _not_fixed(cls, values: Any) -> Any:
        """Say of a setting that is fixed that it is, rather than that there is no such field."""
        fixed = [name for name in values if name in NewStream.model_fields] if isinstance(values, dict) else []
        for name in fixed:
            if name not in cls.model_fields:
                raise ValueError(
                    f"{name} is fixed when a stream is made; {', '.join(cls.model_fields)} may change at any time"
                )
        return values

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give at least one setting to change")
        return self


class MoreAsked(Body):
    """How much more of a list to show."""

    count: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), Whole()] | None = None
    """How many more; null: all the rest."""
    shown: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), Whole()] | None = None
    """How many candidates you have: then the same request again gives the same answer. Null: all that are shown."""


class Candidate(Body):
    """Something that may be shown."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["score"]}, {"required": ["scores"]}]})

    id: Id
    score: Annotated[Number, Field(json_schema_extra=_only_schema)] = None  # type: ignore[assignment]
    """The model's score; higher is better. With several scorers, or where it has a name, give `scores` instead."""
    scores: Annotated[Scores, Field(json_schema_extra=_only_schema)] = None  # type: ignore[assignment]
    """A score of each scorer, by its name; null, or left out, where a scorer has none for this candidate. All
    candidates of a list have `score`, or all have `scores`; a stream's lists have the scorers of its first."""
    text: Text | None = None
    """What the page shows for it; stored apart from the log, and can be erased."""


#: A tag, or its value.
Tag = Annotated[str, Field(min_length=1, max_length=100)]


class NewRound(Body):
    """A list to cut."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {"candidates": {"minItems": 1}}},
                {"properties": {"allow_empty": {"const": True}}, "required": ["allow_empty"]},
            ]
        }
    )

    candidates: Annotated[list[Candidate], Field(max_length=MOST_CANDIDATES)]
    """All candidates, in any order; ids must differ. At least one, unless `allow_empty` is true."""
    allow_empty: bool = False
    """Open a round for a search that found nothing, too: its question counts like any other."""
    question: Text | None = None
    """What was asked, for the page; stored apart from the log, and can be erased."""
    round_id: RoundId | None = None
    """Your own, so that the same request twice is one round; generated if left out."""
    truncated_below: Number | Annotated[dict[Scorer, Number], Field(max_length=MOST_SCORERS, fail_fast=True)] | None = (
        None
    )
    """The lowest score that your search returned, if it may have left candidates out: they score at most that. With
    several scorers, by name, those whose search may have."""
    scorer_version: Version | None = None
    """The model behind these scores, to make sure that it is the stream's."""
    tags: Annotated[dict[Tag, Tag | int], Field(max_length=10, fail_fast=True)] | None = None
    """What to see coverage by, after the fact, for example `{"language": "de"}`. It decides nothing."""
    also: Annotated[
        dict[
            Name,
            Annotated[
                Annotated[list[Number], Field(max_length=MOST_CANDIDATES, fail_fast=True)]
                | Annotated[list[Scores], Field(max_length=MOST_CANDIDATES, fail_fast=True)],
                Field(union_mode="left_to_right"),
            ],
        ],
        Field(max_length=MOST_SHADOWING, fail_fast=True, json_schema_extra={"additionalProperties": False}),
    ] = {}
    """For streams that shadow this one, by name: their scores of the same candidates, in the same order, each a number
    or, with several scorers, an object such as `scores` of a candidate. One that is not named has no such round."""

    def columns(self) -> tuple[list[str | int], Array | dict[str, list[float]], list[str | None] | None]:
        """Return the candidates' ids, scores (by scorer where these have names) and texts; None if there is no text."""
        candidates = self.candidates
        texts = list(map(_TEXT, candidates))
        return list(map(_ID, candidates)), self._scores(), None if texts.count(None) == len(texts) else texts

    def beside(self) -> dict[str, list[float] | dict[str, list[float]]]:
        """Return the scores for streams that shadow this one."""
        return {name: _by_scorer(rows) for name, rows in self.also.items()}

    def _scores(self) -> Array | dict[str, list[float]]:
        plain, rows = list(map(_SCORE, self.candidates)), list(map(_SCORES, self.candidates))
        count, unscored, unnamed = len(plain), plain.count(None), rows.count(None)
        if unscored == 0 and unnamed == count:
            return np.array(plain, dtype=np.float64)  # converted once: as such they are compared, sorted and stored
        if unscored != count or unnamed != 0:
            raise InvalidScores(
                "give every candidate its score, or every candidate its scores: "
                '{"id": ..., "score": 0.5}, or {"id": ..., "scores": {"bm25": 7.1, "dense": null}}'
            )
        return _by_scorer(rows)  # type: ignore[return-value]


class BatchedRound(NewRound):
    """A list of a batch. One that is empty without `allow_empty` is refused on its own."""

    model_config = ConfigDict(json_schema_extra={})


class Rounds(Body):
    """Lists to cut, all with the thresholds from before the first; each is shown or refused on its own."""

    rounds: Annotated[list[BatchedRound], Field(min_length=1, max_length=MOST_ROUNDS)]
    """In the order shown; one without a `round_id` is given one."""


def _by_scorer(rows: list[Any]) -> list[float] | dict[str, list[float]]:
    """Return scores by the names of their scorers; as they are where these have none."""
    if not rows or not isinstance(rows[0], dict):
        return rows
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [math.nan if (one := row.get(name)) is None else one for row in rows] for name in names}


def _one_of(extra: int) -> ConfigDict:
    """Return the configuration of a body with one answer and this many other fields."""
    return ConfigDict(json_schema_extra={"minProperties": 1 + extra, "maxProperties": 1 + extra})


class Answer(Body):
    """A round's answer: exactly one of `hit`, `miss`, `skip`, `absent`."""

    model_config = _one_of(0)

    hit: Annotated[
        Id | Annotated[list[Id], Field(min_length=1, max_length=MOST_CANDIDATES, fail_fast=True)],
        _OneError(
            "Input should be the id of a candidate (a string of up to 500 characters, or a whole number below 2^53), "
            f"or a list of 1 to {MOST_CANDIDATES:,} of them"
        ),
        Field(description="This one is right; or all of these are needed.", json_schema_extra=_only_schema),
    ] = ""
    miss: Annotated[Literal[True], Field(description="Not in this list.", json_schema_extra=_only_schema)] = True
    skip: Annotated[Literal[True], Field(description="No answer will come.", json_schema_extra=_only_schema)] = True
    absent: Annotated[
        Literal[True], Field(description="Looked everywhere: no candidate is right.", json_schema_extra=_only_schema)
    ] = True

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set - {"round_id"}) != 1:
            raise ValueError('give exactly one of {"hit": id}, {"miss": true}, {"skip": true}, {"absent": true}')
        return self

    def outcome(self) -> tuple[str, str | int | list[str | int] | None]:
        """Return which of the four it is, and the candidate of a hit, or the candidates."""
        (kind,) = self.model_fields_set - {"round_id"}
        return kind, self.hit if kind == "hit" else None


class RoundAnswer(Answer):
    """The answer of a round in a batch."""

    model_config = _one_of(1)

    round_id: RoundId


class Answers(Body):
    """Answers to several rounds; each is taken or refused on its own."""

    answers: Annotated[list[RoundAnswer], Field(min_length=1, max_length=MOST_ANSWERS)]
    """In any order; each with its round."""


class OlderThan(Body):
    """An age."""

    older_than: Annotated[float, Field(ge=0, le=1e10, description="In seconds.")]
