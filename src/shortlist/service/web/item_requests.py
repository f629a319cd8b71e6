"""What comes in about items: what waits for annotators, and who is answering it."""

from typing import Annotated

from pydantic import Field

from shortlist._validation import check_ids, check_number, check_table
from shortlist.service.engine.item_opening import Item
from shortlist.service.web.fields import LONGEST_LEASE, MOST_ROUNDS, Annotator, Body, Id, RoundId
from shortlist.service.web.requests import Listing

__all__ = ["LabelCorrected", "LeaseRenewed", "NewItem", "NewItems", "NextAsked"]

Seconds = Annotated[float, Field(ge=1, le=LONGEST_LEASE)]


class NewItem(Listing):
    """What is to be answered: a list that is cut when somebody opens it."""

    id: RoundId
    """Your own: its round will have the same."""

    def item(self) -> Item:
        """Return it with checked scores.

        Raises
        ------
        InvalidInput
            Scores or ids cannot be used.
        """
        ids, scores, texts = self.columns()
        values, scorers = check_table(scores)
        below = self.truncated_below
        if below is not None and not isinstance(below, dict):
            below = check_number("truncated_below", below, "a finite score, or left out")
        return Item(
            self.id,
            check_ids(ids, len(values)),
            values,
            scorers,
            self.question,
            texts,
            self.image,
            below,
            self.scorer_version,
        )


class NewItems(Body):
    """Items for annotators to answer; each is accepted or refused on its own."""

    items: Annotated[list[NewItem], Field(min_length=1, max_length=MOST_ROUNDS)]
    """In any order: the next one is always drawn at random from those that wait."""


class NextAsked(Body):
    """Something to answer."""

    annotator: Annotator | None = None
    """Who asks. The draw does not depend on it, and it is not stored: who answers is named with the answer."""
    lease: Seconds | None = None
    """For how many seconds it is reserved; null: two minutes. Renew the lease while somebody is working on it."""


class LabelCorrected(Body):
    """What is right after all."""

    label: Id | None
    """One of the candidates of the round; null: none is right."""
    note: Annotated[str, Field(max_length=2_000)] | None = None
    """Why: it is in the training set."""


class LeaseRenewed(Body):
    """A round to be kept for longer."""

    holder: Annotated[str, Field(min_length=1, max_length=100)]
    """As `next` returned it: its bearer holds the round."""
    lease: Seconds | None = None
    """For how many seconds from now; null: two minutes."""
