"""Items: lists that are cut when somebody opens them, not when they are sent.

**Order.** The next item is drawn at random from those that wait, always. Files are usually sorted, and an order that
depends on the scores breaks the guarantee, for rounds must be draws from one distribution. The draw is a pure function
of the stream's name and of how many rounds it has, and its outcome is in the log (`Listed.drawn`), so `verify` can make
it again.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from shortlist._validation import Array, Member, Scorers
from shortlist.rounds.exploring import coin
from shortlist.service.engine.commands import Propose
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.store import ItemRow

__all__ = ["Item", "drawn_position", "proposed"]

_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY


class Item(NamedTuple):
    """What is to be answered: all of a list but the threshold that it is cut at. The fields are those of a round."""

    item_id: str
    ids: list[Member]
    #: The checked scores, and the names of their scorers.
    values: Array
    scorers: Scorers
    question: str | None = None
    texts: list[str | None] | None = None
    image: str | None = None
    truncated_below: float | Mapping[str, float] | None = None
    scorer_version: str | None = None

    def to_row(self, stream_id: int) -> ItemRow:
        """Return it as it is stored; the same item always gives the same text."""
        plain = {name: value for name, value in self._asdict().items() if value is not None and name != "item_id"}
        plain["values"] = np.ascontiguousarray(self.values, dtype=np.float64)  # NaN becomes null
        return ItemRow(stream_id, self.item_id, orjson.dumps(plain, option=_OPTIONS).decode())

    @classmethod
    def of(cls, row: ItemRow) -> "Item":
        """Return the item that was stored."""
        plain: dict[str, Any] = orjson.loads(row.body)
        plain["values"] = np.array(plain["values"], dtype=np.float64)  # null becomes NaN
        plain["scorers"] = tuple(plain["scorers"])
        return cls(row.item_id, **plain)

    def propose(self, stream: LoggedStream, drawn: list[int] | None = None) -> Propose:
        """Return what shows it."""
        fields = self._asdict()
        return Propose(stream, fields.pop("item_id"), **fields, drawn=drawn)


def proposed(stream: LoggedStream, row: ItemRow, drawn: list[int]) -> Propose:
    """Return what shows an item that was drawn: at a position, of so many."""
    return Item.of(row).propose(stream, drawn)


def drawn_position(seed: str, rounds: int, waiting: int) -> int:
    """Return which of the items that wait is drawn next, after so many rounds.

    >>> drawn_position("images", 7, 1)
    0
    >>> sorted({drawn_position("images", rounds, 3) for rounds in range(50)})
    [0, 1, 2]
    """
    # With `waiting` in it, for an item that cannot be shown is taken out without a round: the next draw is a new one.
    return int(coin(f"{seed}\0items\0{waiting}", rounds) * waiting)
