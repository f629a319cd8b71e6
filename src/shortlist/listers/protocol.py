"""The protocol of a lister, which adapters require: a local one, or a client of the service."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from shortlist._validation import Member

__all__ = ["Lister"]


@runtime_checkable
class Lister(Protocol):
    """Shows shortlists and takes their answers.

    `shortlist.Shortlister`, `shortlist.Client` and `shortlist.AsyncClient` are listers; the results of the last one
    must be awaited, so results are not typed here. A
    `GroupedShortlister` has the same verbs, but its `propose` needs a group, which adapters do not pass: use one lister
    per group there.
    """

    def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
    ) -> Any:
        """Open a round and return its shortlist.

        Parameters
        ----------
        scores
            The score of each candidate; larger is better.
        ids
            Ids of the candidates; by default their positions.
        truncated_below
            The score below which the search left candidates out.
        allow_empty
            Whether to open a round for a search that found nothing.

        Returns
        -------
        Any
            A `shortlist.Shown`, or an awaitable of one.
        """

    def more(self, round_id: Any, count: int | None = None) -> Any:
        """Show more of a list.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        count
            How many more; by default all the rest.

        Returns
        -------
        Any
            A `shortlist.More`, or an awaitable of one.
        """

    def hit(self, round_id: Any, member: Member) -> Any:
        """Take the answer "this one".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        member
            The candidate that was picked.

        Returns
        -------
        Any
            None, or an awaitable of it.
        """

    def miss(self, round_id: Any) -> Any:
        """Take the answer "not in this list".

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Returns
        -------
        Any
            None, or an awaitable of it.
        """

    def skip(self, round_id: Any) -> Any:
        """Record that no answer will come.

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Returns
        -------
        Any
            None, or an awaitable of it.
        """

    def absent(self, round_id: Any) -> Any:
        """Take the answer "no candidate is right".

        Parameters
        ----------
        round_id
            The `round_id` of the list.

        Returns
        -------
        Any
            None, or an awaitable of it.
        """

    def reveal(self, round_id: Any, right: Member | None) -> Any:
        """Take the right answer, shown or not.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        right
            The right candidate; None if no candidate is right.

        Returns
        -------
        Any
            None, or an awaitable of it.
        """

    def summary(self) -> Any:
        """Return a summary of all rounds so far.

        Returns
        -------
        Any
            A summary, or an awaitable of one.
        """
