"""What comes in about streams: the bodies that make one and change its settings."""

import dataclasses
import functools
import operator
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import ConfigDict, Field, create_model, model_validator

from shortlist.policies import AnytimeSPS
from shortlist.rounds.settings import CONFIGURABLE, SETTINGS
from shortlist.scores import Adaptive, Learned, Relative
from shortlist.service.engine.stream_settings import OWN, STREAM_SETTINGS
from shortlist.service.web.fields import (
    MOST_SCORERS,
    Body,
    Name,
    Number,
    Numbers,
    Text,
    Version,
    Weights,
    Whole,
    only_schema,
)

__all__ = ["Changes", "NewStream"]


class Anytime(Body):
    """No horizon; the guarantee holds at every round."""

    kind: Literal["anytime"]
    """Which policy."""
    delta: Annotated[float, Field(gt=0, lt=1)] = AnytimeSPS.delta
    """The probability that the threshold ever passes the optimal one is at most this."""


class ProductLimitPolicy(Body):
    """Short lists from the first one on; the error budget is the guarantee."""

    kind: Literal["product-limit"]
    """Which policy."""


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

    Each list of numbers has one entry per scorer; if it is empty or left out, its default applies to all scorers.
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
    """The weight of a missing score, for each scorer; 0 if left out."""
    center: Numbers = []
    """The mean of each scorer's values in the rounds of the fit; 0 if left out."""
    spread: Annotated[list[Annotated[float, Field(gt=0, allow_inf_nan=False)]], Field(max_length=MOST_SCORERS)] = []
    """Their standard deviation; 1 if left out."""
    form: Literal["softmax", "sum"] = Learned.form
    """`softmax`: the probability that each candidate is picked; `sum`: the weighted sum of the values."""
    influence: Numbers = []
    """The share of each scorer in the score, for display; equal shares if left out."""
    rounds: Annotated[int, Field(ge=0, le=10**12), Whole()] = Learned.rounds
    """How many picks it was learned from."""
    lengths: Annotated[list[Number], Field(max_length=2)] = []
    """How long lists of the two forms would have been in the rounds of the fit."""
    gradient: Number = Learned.gradient
    """The norm of the gradient where the fit stopped."""
    steps: Annotated[int, Field(ge=0, le=10**6), Whole()] = Learned.steps
    """After how many steps it stopped."""


#: The types of settings in a body, where they are more than a number in a range or one of a few words.
_TYPES: Final[dict[str, Any]] = {
    "score": Literal["raw", "margin", "relative", "rank", "adaptive", "auto"]
    | Annotated[PlainScore | RelativeScore | AdaptiveScore | LearnedScore, Field(discriminator="kind")],
    "explore_share": Annotated[float, Field(gt=0, le=1)] | Literal["auto"] | None,
}


def _type(field: dataclasses.Field[Any]) -> Any:
    """Return the type of a setting in a body, with its limits and its description."""
    kind = _TYPES.get(field.name, field.type)
    least, most = field.metadata["least"], field.metadata["most"]
    if least is not None:
        number = Annotated[int, Field(ge=least, le=most), Whole()]
        others = [each for each in get_args(kind) if each is not int]
        kind = functools.reduce(operator.or_, others, number)
    text = field.metadata["text"].replace("``", "`").replace('`"', "`").replace('"`', "`").replace("None", "null")
    return Annotated[kind, Field(description=text)]


class _OwnSettings(Body):
    """The settings that are the service's own."""

    guidelines: Text | None = None
    """What annotators read beside each question on the answer page; null: nothing."""
    record_annotators: bool = False
    """Store who gave each answer, apart from the log; it is erased with the texts."""
    rerank_all: bool = False
    """For callers of `rerank` that expect a score for each document: return all of them, those that are cut with 0."""


class _Created(_OwnSettings):
    name: Name
    coverage: Annotated[float, Field(gt=0, lt=1, description="The share of rounds with the right answer in the list.")]
    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The probability that the threshold ever passes the optimal one is at most this: a guarantee about every list, for
    which the first lists are complete. If left out, lists are short from the first one on."""
    policy: Annotated[ProductLimitPolicy | Anytime | Sps, Field(discriminator="kind")] | None = None
    """How the threshold is learned, instead of `delta`; `product-limit` if both are left out, and `anytime` with
    `explore_share`."""
    scorer_version: Version | None = None
    """The model behind the scores; rounds that name another are refused."""


NewStream: Any = create_model(
    "NewStream",
    __base__=_Created,
    __doc__="A stream to create. Most of its settings are fixed from then on.",
    **{name: (_type(SETTINGS[name]), SETTINGS[name].default) for name in STREAM_SETTINGS},  # type: ignore[call-overload]
)


class _Changed(Body):
    """Settings to change; those that are left out stay as they are. All other settings of a stream are fixed."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

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
                    f"{name} is fixed when a stream is created; {', '.join(cls.model_fields)} may change at any time"
                )
        return values

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give at least one setting to change")
        return self


Changes: Any = create_model(
    "Changes",
    __base__=_Changed,
    __doc__=_Changed.__doc__,
    # The default of a setting that is left out of a change is not read.
    **{  # type: ignore[call-overload]
        name: (
            Annotated[field.annotation, *field.metadata, Field(description=field.description)],
            Field(default=None, json_schema_extra=only_schema),
        )
        for name, field in NewStream.model_fields.items()
        if name in (*CONFIGURABLE, *OWN)
    },
)
