"""What goes out about rounds: the shapes of answers. Their descriptions are those of the OpenAPI document."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AnswerResult",
    "AnswerResults",
    "AnswerTaken",
    "CandidateView",
    "ErasedCount",
    "ExpiredCount",
    "Out",
    "Problem",
    "RoundPage",
    "RoundResult",
    "RoundResults",
    "RoundShown",
    "RoundView",
    "Threshold",
]

Threshold = Annotated[float | None, Field(description="null is minus infinity: everything is shown.")]


class Out(BaseModel):
    """An answer."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ExpiredCount(Out):
    """The result of closing old rounds."""

    expired: int
    """How many rounds were closed."""


class ErasedCount(Out):
    """The result of erasing texts."""

    erased: int
    """The number of rounds whose texts were erased."""


class Problem(Out):
    """A problem document (RFC 9457)."""

    type: str
    """Which problem: `urn:shortlist:problem:...`, or `about:blank`."""
    title: str
    """The problem in general."""
    status: int
    """The HTTP status."""
    detail: str
    """What was wrong here, and what to do about it."""
    errors: list[dict[str, Any]] | None = None
    """For a body that does not fit: where, and why."""


class RoundShown(Out):
    """A list as it is shown."""

    round_id: str
    """What to answer to."""
    threshold: Threshold
    members: Annotated[list[str | int], Field(description="The candidates to show, best first.")]
    reached: Annotated[int, Field(description="How many of them, from the first, reach the threshold.")]
    truncated: Annotated[bool, Field(description="The guarantee does not cover this list.")]
    added: Annotated[int, Field(description="How many the error budget added; in shadow mode, would have added.")]
    explored: Annotated[bool, Field(description="Everything is shown, in random order, to learn from: keep the order.")]
    comparable: Annotated[list[float], Field(description="What is compared with the threshold, one for each member.")]
    kept: Annotated[int, Field(description="How many of them, from the first, would be shown without shadow mode.")]


class AnswerTaken(Out):
    """An answer as it is stored."""

    round_id: str
    """The round."""
    answer: dict[str, Any]
    """As it was given."""
    threshold: Threshold


class AnswerResult(Out):
    """The result of one answer of a batch."""

    round_id: str
    """The round."""
    status: int
    """The status it would have had alone: 200, 404, 409, 410 or 422."""
    answer: dict[str, Any] | None = None
    """As it was given, if it was taken."""
    problem: Problem | None = None
    """Why not, if it was refused."""


class AnswerResults(Out):
    """The result of each answer, in the order sent."""

    results: list[AnswerResult]
    """One for each answer."""


class RoundResult(Out):
    """The result of one list of a batch."""

    round_id: str | None
    """What to answer to; null if it was refused and had none."""
    status: int
    """The status it would have had alone: 201, 200, 409 or 422."""
    threshold: Threshold = None
    members: Annotated[list[str | int] | None, Field(description="The candidates to show, best first.")] = None
    reached: Annotated[int | None, Field(description="How many of them, from the first, reach the threshold.")] = None
    truncated: Annotated[bool | None, Field(description="The guarantee does not cover this list.")] = None
    added: Annotated[int | None, Field(description="How many the error budget added, or would have.")] = None
    explored: Annotated[bool | None, Field(description="Everything is shown, in random order: keep the order.")] = None
    problem: Problem | None = None
    """Why not, if it was refused."""


class RoundResults(Out):
    """The result of each list, in the order sent."""

    results: list[RoundResult]
    """One for each list."""


class MoreShown(Out):
    """What is shown when more of a list is asked for."""

    round_id: str
    """The round."""
    members: list[str | int]
    """The next candidates, best first: those after the ones that you have."""
    texts: list[str | None]
    """Their texts; null where there is none, or it was erased."""
    left: int
    """How many candidates are still hidden."""
    truncated: bool
    """Whether candidates may still be missing that reach the threshold."""


class CandidateView(Out):
    """A candidate of a round, and whether it was shown."""

    id: str | int
    """Its id."""
    score: float | None
    """As it was sent; null where there are several scorers."""
    scores: dict[str, float | None] | None
    """The score of each scorer, as it was sent: null where it has none. Null where the scorer has no name."""
    comparable: float | None
    """What was compared with the threshold; null if it is not known any more."""
    shown: bool
    """Whether it was shown, in the list or after it."""
    why: Annotated[str, Field(description="Why it was shown or hidden, in words.")]
    text: str | None
    """Its text, if there was one and it was not erased."""


class RoundView(Out):
    """A round as it is in the log."""

    round_id: str
    """Its id."""
    number: int
    """Its position in the order shown; send it as `after`."""
    shown_at: float
    """When, in seconds since 1970."""
    question: str | None
    """What was asked, if it was sent and not erased."""
    image: str | None
    """The address of a picture, if one was sent and not erased."""
    threshold: Threshold
    epoch: int
    """How often learning had started over."""
    truncated: bool
    """The guarantee does not cover this list."""
    reached: int
    """How many of the members, from the first, reach the threshold; in shadow mode, how many would have been shown."""
    added: int
    """How many the error budget added; in shadow mode, would have added."""
    explored: bool
    """Everything was shown, in random order, to learn from: keep the order."""
    first: int | None
    """How many of the members were in the list, where more of it was shown later; null where no more was."""
    members: list[str | int]
    """What was shown so far: the list, best first unless it was explored, followed by what `more` showed."""
    member_count: int
    """How many there are in all, even if only the first were requested (`candidates`)."""
    candidates: list[CandidateView]
    """The candidates, with why each was shown or hidden: all in the order sent, or as many as were asked for."""
    candidate_count: int
    """How many there are in all."""
    answer: dict[str, Any] | None
    """In the form of a feedback body; null while the round is open."""
    rank: int | None
    """The position of the pick in `members`, from 1; of the last one if several were picked; null if nothing was."""
    answered_at: float | None
    """When, in seconds since 1970."""


class RoundPage(Out):
    """Rounds in the order shown."""

    rounds: list[RoundView]
    """The page: as many as were asked for, or fewer where they are large."""
    next: Annotated[
        int | None,
        Field(description="Send this as `after`, or with `newest` as `before`, for the next page; null at the end."),
    ]
