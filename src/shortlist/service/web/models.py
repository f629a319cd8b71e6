"""What comes in, as JSON. Strict: no text for numbers, no true for 1, nothing unknown.

Everything has a largest size. Texts with half a surrogate pair, which cannot be stored, are refused.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = ["Answer", "Answers", "Candidate", "NewRound", "NewStream", "OlderThan", "RoundAnswer", "Threshold"]

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
Number = Annotated[float, Field(allow_inf_nan=False)]
Words = Annotated[str, Field(max_length=20_000)]
Version = Annotated[str, Field(min_length=1, max_length=200)]
Threshold = Annotated[float | None, Field(description="null stands for minus infinity: everything is shown.")]


class _In(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True)


class Anytime(_In):
    """No horizon; the promise holds for ever."""

    kind: Literal["anytime"]
    """Which policy."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The probability that the threshold may ever pass the optimal one."""


class Sps(_In):
    """The paper's Algorithm 1, for a number of rounds that is known beforehand."""

    kind: Literal["sps"]
    """Which policy."""
    horizon: Annotated[int, Field(ge=2, le=10**12), BeforeValidator(_whole)]
    """The number of rounds that is planned for; then the threshold stands still."""


class PlainScore(_In):
    """A score without settings."""

    kind: Literal["raw", "margin", "rank"]
    """Which score."""


class RelativeScore(_In):
    """Softmax of the list's z-scores."""

    kind: Literal["relative"]
    """Which score."""
    temperature: Annotated[float, Field(gt=1e-6, le=1e6)] = 0.4
    """How flat: lower values tell the best from the rest more sharply."""


class AdaptiveScore(_In):
    """The softmax mass of all that is less good (APS, RAPS)."""

    kind: Literal["adaptive"]
    """Which score."""
    temperature: Annotated[float, Field(gt=1e-6, le=1e6)] = 0.4
    """How flat: lower values tell the best from the rest more sharply."""
    penalty: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """What each rank beyond the free ones costs (RAPS); 0 is APS."""
    free: Annotated[int, Field(ge=0, le=10**6), BeforeValidator(_whole)] = 5
    """How many ranks cost nothing."""


class NewStream(_In):
    """A stream to be made; settings are fixed then."""

    name: Name
    coverage: Annotated[float, Field(gt=0, lt=1, description="The share of rounds with the right answer in the list.")]
    policy: Annotated[Anytime | Sps, Field(discriminator="kind")] = Anytime(kind="anytime")
    """How the threshold is learnt."""
    score: (
        Literal["raw", "margin", "relative", "rank", "adaptive", "auto"]
        | Annotated[PlainScore | RelativeScore | AdaptiveScore, Field(discriminator="kind")]
    ) = "raw"
    """How a list's raw scores become those compared with the threshold; `auto` learns which is best."""
    unanswered: Literal["miss", "ignore"] = "miss"
    """What silence means: `miss` is always safe; `ignore` only if silence and delay do not depend on the score."""
    patience: Annotated[int, Field(ge=0, le=10**9), BeforeValidator(_whole)] = 200
    """How many later rounds are shown before an unanswered one counts as low; it is corrected when its answer comes."""
    on_drift: Literal["report", "restart"] | None = None
    """Watch for a world in which lists miss too often: `report` an alarm, or `restart` learning."""
    false_alarm_rounds: Annotated[int, Field(ge=1, le=10**12), BeforeValidator(_whole)] = 1_000_000
    """The promised mean distance between false alarms."""
    at_least: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), BeforeValidator(_whole)] = 0
    """Always show that many: safe."""
    at_most: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), BeforeValidator(_whole)] | None = None
    """Never show more; lists that are cut short by it say `truncated`."""
    shadow: bool = False
    """Show everything, and learn all the same."""
    scorer_version: Version | None = None
    """The model behind the scores; rounds with another are refused."""


class Candidate(_In):
    """Something that may be shown."""

    id: Id
    score: Number
    """The model's score; more is better."""
    text: Words | None = None
    """What to show for it on the page; kept apart from the log, and can be erased."""


class NewRound(_In):
    """A list to be cut."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {"candidates": {"minItems": 1}}},
                {"properties": {"allow_empty": {"const": True}}, "required": ["allow_empty"]},
            ]
        }
    )

    candidates: Annotated[list[Candidate], Field(max_length=MOST_CANDIDATES)]
    """All there are, in any order; ids must differ. At least one, unless `allow_empty` is true."""
    allow_empty: bool = False
    """Open a round for a search that found nothing, too: its question counts like any other."""
    question: Words | None = None
    """What was asked, for the page; kept apart from the log, and can be erased."""
    round_id: RoundId | None = None
    """Yours, so that the same request twice is one round; one is made for you otherwise."""
    truncated_below: Number | None = None
    """The lowest score that your search returned, if it may have left candidates out: they score at most that."""
    scorer_version: Version | None = None
    """The model behind these scores, if you want to be sure that it is the stream's."""


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
    """In any order; each with its round."""


class OlderThan(_In):
    """An age."""

    older_than: Annotated[float, Field(ge=0, le=1e10, description="In seconds.")]
