"""What comes in about rounds: lists, answers, and how much more to show.

Bodies are strict: no string for a number, no true for 1, nothing unknown. Everything has a largest size.
Texts with half a surrogate pair, which cannot be stored, are refused.
"""

import math
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from shortlist._validation import Array
from shortlist.errors import InvalidScores
from shortlist.service.web.fields import (
    MOST_ANSWERS,
    MOST_CANDIDATES,
    MOST_ROUNDS,
    MOST_SCORERS,
    Annotator,
    Body,
    Id,
    Image,
    Number,
    OneError,
    RoundId,
    Scorer,
    Scores,
    Text,
    Version,
    Whole,
    only_schema,
)

__all__ = [
    "Answers",
    "BatchedRound",
    "Candidate",
    "Listing",
    "MoreAsked",
    "NewAnswer",
    "NewRound",
    "NewRounds",
    "OlderThan",
    "RoundAnswer",
]

#: A candidate's fields: in `map` they need no call of a Python function per candidate.
_ID, _SCORE, _SCORES, _TEXT = map(attrgetter, ("id", "score", "scores", "text"))


class MoreAsked(Body):
    """How much more of a list to show."""

    count: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), Whole()] | None = None
    """How many more; null: all the rest."""
    shown: Annotated[int, Field(ge=0, le=MOST_CANDIDATES), Whole()] | None = None
    """How many candidates you already have; then a repeated request gets the same response. Null: all shown so far."""
    holder: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """As `next` returned it; a key that can only answer needs it for a round that is leased."""


class Candidate(Body):
    """Something that may be shown."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["score"]}, {"required": ["scores"]}]})

    id: Id
    score: Annotated[Number, Field(json_schema_extra=only_schema)] = None  # type: ignore[assignment]
    """The model's score; higher is better. With several scorers, or where it has a name, give `scores` instead."""
    scores: Annotated[Scores, Field(json_schema_extra=only_schema)] = None  # type: ignore[assignment]
    """Its score from each scorer, by name; null, or left out, where a scorer has none for this candidate. Either all
    candidates of a list have `score` or all have `scores`; all lists of a stream have the same scorers."""
    text: Text | None = None
    """What the page shows for it; stored apart from the log, and can be erased."""


class Listing(Body):
    """Candidates, and what goes with them."""

    candidates: Annotated[list[Candidate], Field(min_length=1, max_length=MOST_CANDIDATES)]
    """All candidates, in any order; ids must differ."""
    question: Text | None = None
    """What was asked, for the page; stored apart from the log, and can be erased."""
    image: Image | None = None
    """A picture that the page shows beside the question; stored as the question is."""
    truncated_below: Number | Annotated[dict[Scorer, Number], Field(max_length=MOST_SCORERS, fail_fast=True)] | None = (
        None
    )
    """The lowest score that your search returned, if it may have left candidates out: they score at most that. With
    several scorers, by name, for each whose search may have done so."""
    scorer_version: Version | None = None
    """The model behind these scores, to make sure that it is the stream's."""

    def columns(self) -> tuple[list[str | int], Array | dict[str, list[float]], list[str | None] | None]:
        """Return the candidates' ids, scores (by scorer where these have names) and texts; None if there is no text."""
        candidates = self.candidates
        texts = list(map(_TEXT, candidates))
        return list(map(_ID, candidates)), self._scores(), None if texts.count(None) == len(texts) else texts

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


class NewRound(Listing):
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
    round_id: RoundId | None = None
    """Your own, so that the same request twice is one round; generated if left out."""


class BatchedRound(NewRound):
    """A list of a batch. One that is empty without `allow_empty` is refused on its own."""

    model_config = ConfigDict(json_schema_extra={})


class NewRounds(Body):
    """Lists to cut, all with the thresholds from before the first; each is shown or refused on its own."""

    rounds: Annotated[list[BatchedRound], Field(min_length=1, max_length=MOST_ROUNDS)]
    """In the order shown; one without a `round_id` is given one."""


def _by_scorer(rows: list[Any]) -> list[float] | dict[str, list[float]]:
    """Return scores by the names of their scorers; as they are where these have none."""
    if not rows or not isinstance(rows[0], dict):
        return rows
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [math.nan if (one := row.get(name)) is None else one for row in rows] for name in names}


#: What an answer may have besides the answer.
_ABOUT: Final = frozenset({"round_id", "annotator", "holder"})


class NewAnswer(Body):
    """A round's answer: exactly one of `hit`, `miss`, `skip`, `absent`."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [kind]} for kind in ("hit", "miss", "skip", "absent")]}
    )

    hit: Annotated[
        Id | Annotated[list[Id], Field(min_length=1, max_length=MOST_CANDIDATES, fail_fast=True)],
        OneError(
            "Input should be the id of a candidate (a string of up to 500 characters, or a whole number below 2^53), "
            f"or a list of 1 to {MOST_CANDIDATES:,} of them"
        ),
        Field(description="This one is right; or all of these are needed.", json_schema_extra=only_schema),
    ] = ""
    miss: Annotated[Literal[True], Field(description="Not in this list.", json_schema_extra=only_schema)] = True
    skip: Annotated[Literal[True], Field(description="No answer will come.", json_schema_extra=only_schema)] = True
    absent: Annotated[
        Literal[True], Field(description="All candidates were seen: none is right.", json_schema_extra=only_schema)
    ] = True
    annotator: Annotator | None = None
    """Who gave it; stored if the stream has `record_annotators`. With keys, it is the name of the key, unless this is
    given and the key may also show lists (scope `propose`): then a program answers for several annotators."""
    holder: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """As `next` returned it, for a first answer: refused if another annotator holds the round, or has answered it. A
    key that can only answer needs it for a round that is leased."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set - _ABOUT) != 1:
            raise ValueError('give exactly one of {"hit": id}, {"miss": true}, {"skip": true}, {"absent": true}')
        return self

    def outcome(self) -> tuple[str, str | int | list[str | int] | None]:
        """Return which of the four it is, and the candidate of a hit, or the candidates."""
        (kind,) = self.model_fields_set - _ABOUT
        return kind, self.hit if kind == "hit" else None


class RoundAnswer(NewAnswer):
    """The answer of a round in a batch."""

    round_id: RoundId


class Answers(Body):
    """Answers to several rounds; each is taken or refused on its own."""

    answers: Annotated[list[RoundAnswer], Field(min_length=1, max_length=MOST_ANSWERS)]
    """In any order; each with its round."""


class OlderThan(Body):
    """An age."""

    older_than: Annotated[float, Field(ge=0, le=1e10, description="In seconds.")]
