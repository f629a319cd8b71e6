"""The bodies of what changes how far a stream has learned: a warm start, and a restart."""

from typing import Annotated, Final

from pydantic import Field

from shortlist.service.web.fields import MOST_CANDIDATES, MOST_SCORERS, Body, Number, Scorer, Whole

__all__ = ["MOST_LISTS", "NewExamples", "RestartRequest"]

#: The most labeled lists: they are learned from while others wait.
MOST_LISTS: Final = 10_000

_Row = Annotated[list[Number | None], Field(min_length=1, max_length=MOST_SCORERS, fail_fast=True)]
# Their largest sizes follow from `right`, and from the size of a body.
_Plain = Annotated[list[Number], Field(fail_fast=True)]
_Rows = Annotated[list[_Row], Field(fail_fast=True)]
_Place = Annotated[int, Field(ge=-1, lt=MOST_CANDIDATES), Whole()]
_Right = _Place | Annotated[list[_Place], Field(min_length=1, fail_fast=True)]


class NewExamples(Body):
    """Labeled lists to learn from before the first round: everything of each was looked at."""

    lists: Annotated[
        Annotated[list[_Plain], Field(min_length=1, fail_fast=True)]
        | Annotated[list[_Rows], Field(min_length=1, fail_fast=True)],
        Field(union_mode="left_to_right"),
    ]
    """The scores of all candidates of each list: a number for each, or with several scorers a row of them, null where
    one has none. Lists may differ in length, and be empty where a search found nothing."""
    right: Annotated[list[_Right], Field(min_length=1, max_length=MOST_LISTS, fail_fast=True)]
    """The position of the right candidate in each list, from 0; a list of positions where several are needed; -1 where
    it is not among the candidates."""
    scorers: Annotated[list[Scorer], Field(min_length=1, max_length=MOST_SCORERS)] | None = None
    """The names of the scorers, in the order of the rows, as rounds will name them; null where rounds have a plain
    `score`."""


class RestartRequest(Body):
    """How learning starts over."""

    refit: bool = False
    """Learn the score again too, from the last picks and those to come; with score `auto` only."""
    epoch: Annotated[int, Field(ge=0, le=10**9), Whole()] | None = None
    """The epoch to end, as in the stream's `epoch`: then a repeated request changes nothing. Null: the current
    one."""
