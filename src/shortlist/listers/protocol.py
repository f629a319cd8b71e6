"""What adapters need of a lister: a local one, or a client of the service."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from shortlist._validation import Member

__all__ = ["Lister"]


@runtime_checkable
class Lister(Protocol):
    """Shows shortlists and takes their answers.

    `shortlist.Shortlister`, `shortlist.Client` and `shortlist.AsyncClient` are listers; what the last one
    returns must be awaited, so results are not typed here. A `NestedShortlister` is one too. A
    `GroupedShortlister` has the same verbs, but its `propose` needs a group, which an adapter has not: use a lister
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
        """Open a round and return its shortlist."""

    def more(self, round_id: Any, count: int | None = None) -> Any:
        """Show more of a list."""

    def hit(self, round_id: Any, member: Member) -> Any:
        """Take the answer "this one"."""

    def miss(self, round_id: Any) -> Any:
        """Take the answer "not in this list"."""

    def skip(self, round_id: Any) -> Any:
        """Say that no answer will come."""

    def absent(self, round_id: Any) -> Any:
        """Take the answer "no candidate at all is right"."""

    def reveal(self, round_id: Any, right: Member | None) -> Any:
        """Take the right answer, shown or not."""

    def summary(self) -> Any:
        """Return what has happened so far."""
