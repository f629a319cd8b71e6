"""What goes out about items, labels and classes: the shapes of answers."""

from typing import Annotated

from pydantic import Field

from shortlist.service.web.replies import Out, Problem, Threshold

__all__ = ["ClassViews", "Cleared", "CorrectionView", "ItemResults", "LeaseView", "NextRound", "QueueView"]


class ItemResult(Out):
    """The result of one item."""

    id: str | None
    """The item; null for a line that could not be read."""
    status: int
    """201: it waits; 200: it was sent before; 409, 422: it was refused."""
    problem: Problem | None = None
    """Why not, if it was refused."""


class ItemResults(Out):
    """The result of each item, in the order sent."""

    results: list[ItemResult]
    """One for each item."""


class Cleared(Out):
    """The result of removing items."""

    removed: int
    """How many there were."""


class CorrectionView(Out):
    """A label that was corrected."""

    round_id: str
    """The round."""
    label: str | int | None
    """What is right; null: no candidate."""
    note: str | None
    """Why."""
    reviewer: str | None
    """Whose key it was, where keys are on."""
    at: float
    """When, in seconds since 1970."""


class LeaseView(Out):
    """A leased round."""

    round_id: str
    """The round."""
    holder: str
    """What to send to renew the lease, or to give the round back."""
    lease_until: float
    """When the lease ends, in seconds since 1970."""


class NextRound(LeaseView):
    """What is to be answered."""

    question: str | None
    """What was asked, if it was sent."""
    image: str | None
    """The address of a picture, if one was sent."""
    threshold: Threshold
    members: list[str | int]
    """What to show, best first: all that was shown of it so far."""
    texts: list[str | None]
    """The texts of the members, in their order."""
    candidate_count: int
    """How many candidates there are in all; `more` shows the others."""
    first: int | None
    """How many of the members were in the list, where more of it was shown later."""
    truncated: bool
    """The guarantee does not cover this list."""
    explored: bool
    """Everything is shown, in random order, to learn from: keep the order."""


class RefusedItem(Out):
    """An item that could not become a round."""

    id: str
    """The item."""
    why: str
    """What was wrong when it was drawn."""


class QueueView(Out):
    """What waits to be answered, and what annotators need to know."""

    waiting: int
    """Items that nobody has opened yet."""
    open: int
    """Rounds that were opened and have no answer."""
    held: int
    """Those of them that somebody is answering now."""
    answered: int
    """Rounds with an answer, as the service has counted them."""
    refused: int
    """Items that could not become rounds when they were drawn."""
    problems: list[RefusedItem]
    """The last of them."""
    guidelines: str | None
    """What annotators should know."""
    reads: bool
    """Whether the key may also read streams (scope `read`)."""
    annotator: str | None
    """Who asks, where that is known."""
    yours: int | None
    """How many answers are theirs, where `record_annotators` is set."""


class ClassView(Out):
    """How lists did for the items of one class, after the fact."""

    label: str | int
    """What was picked."""
    text: str | None
    """What it is called: the text of the candidate, where it was first picked."""
    labels: int
    """How many items have this label."""
    covered: int
    """In how many of them the list had it."""
    missed: int
    """In how many the list did not have it, and it was picked after more."""
    coverage: float
    """The share of those covered."""
    interval: Annotated[list[float], Field(min_length=2, max_length=2)]
    """Its 95 % Wilson interval."""


class HourView(Out):
    """The answers of an hour."""

    at: float
    """When it began, in seconds since 1970."""
    labels: int
    """Answers with a label."""
    answers: int
    """All answers."""


class AnnotatorView(Out):
    """The answers of one annotator."""

    annotator: str
    """Who."""
    answers: int
    """How many."""


class ClassViews(Out):
    """What a team lead needs: the classes, hardest first, and how fast labels come in."""

    classes: list[ClassView]
    """Most misses first, then lowest coverage."""
    class_count: int
    """How many there are, also where only the first were asked for."""
    unlabeled: int
    """Answers without a label: not in the list, or no candidate is right."""
    several: int
    """Answers with several labels; whether the list had each of them is not known, so they are in no class."""
    hours: list[HourView]
    """The last 168 hours with answers."""
    annotators: list[AnnotatorView]
    """Who answered, where that is recorded; the busiest first."""
