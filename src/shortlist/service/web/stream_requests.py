"""What comes in about streams: the bodies that make one and change its settings."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from shortlist.policies import AnytimeSPS
from shortlist.scores import Adaptive, Learned, Relative
from shortlist.service.engine import Settings
from shortlist.service.web.fields import (
    MOST_CANDIDATES,
    MOST_MISS_BUDGET,
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

__all__ = ["Changes", "ExploreShare", "NewStream"]


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
    miss_budget: MissBudget | None = Field(
        default_factory=lambda: Settings.miss_budget, json_schema_extra={"default": Settings.miss_budget}
    )
    """The error budget: in any W consecutive answered rounds at most (1 - coverage) W + `miss_budget` cut lists miss,
    under any distribution shift. As misses spend it, lists get longer until they are complete; null: off."""
    unanswered: Literal["miss", "ignore"] | None = Settings.unanswered
    """What silence means: `miss`, the default, is always safe; `ignore` if right answers with low scores are answered
    at least as often as others, and no later."""
    explore_share: ExploreShare | None = Settings.explore_share
    """For users who click and never report a miss: the share of rounds in which everything is shown, in random order,
    or `auto`, which is min(0.2, 2/sqrt(t)); half of the rounds until the first cut. Only those rounds count. It
    excludes `unanswered`, `miss_budget`, `on_drift` and `shadow`."""
    patience: Annotated[int, Field(ge=0, le=10**9), Whole()] = Settings.patience
    """After how many later rounds an unanswered one counts as below the threshold; a late answer corrects it."""
    on_drift: Literal["report", "restart"] | None = Settings.on_drift
    """Watch for a distribution shift after which lists miss too often: `report` an alarm, or `restart` learning."""
    at_least: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), Whole()] = Settings.at_least
    """Always show at least this many: safe."""
    at_most: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), Whole()] | None = Settings.at_most
    """Never show more; lists that it cuts short are marked `truncated`."""
    shadow: bool = Settings.shadow
    """Show everything, and learn the threshold anyway."""
    scorer_version: Version | None = Settings.scorer_version
    """The model behind the scores; rounds that name another are refused."""
    guidelines: Text | None = Settings.guidelines
    """What annotators read beside each question on the answer page."""
    record_annotators: bool = Settings.record_annotators
    """Store who gave each answer, apart from the log; it is erased with the texts."""


#: The default of a setting that is left out of a change: it is not read.
_UNCHANGED: Final[Any] = Field(default=None, json_schema_extra=only_schema)


class Changes(Body):
    """Settings to change; those that are left out stay as they are. All other settings of a stream are fixed."""

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
    guidelines: Text | None = _UNCHANGED
    """What annotators read beside each question; null: nothing."""
    record_annotators: bool = _UNCHANGED
    """Store who gives each answer from now on."""

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
