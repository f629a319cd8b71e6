"""Labeled examples: lists whose right candidate is known, for a stream to learn from before its first round."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from shortlist._validation import Array, Scorers, check_lists, check_scorers
from shortlist.errors import ConflictingStream, InvalidScores
from shortlist.rounds.events import Event, WarmStarted
from shortlist.rounds.stream import Stream
from shortlist.service.engine.logged_stream import LoggedStream

__all__ = ["Examples", "WarmStart", "check_warm_start", "labeled", "warm_start_events"]


class Examples(NamedTuple):
    """Labeled lists, checked."""

    tables: list[Array]
    #: The positions of what is right in each, all of it needed; none where it is not among them.
    right: list[tuple[int, ...]]
    scorers: Scorers

    @property
    def digest(self) -> str:
        """A digest of all of it."""
        digest = hashlib.sha256(json.dumps([self.scorers, self.right]).encode())
        for table in self.tables:
            digest.update(repr(table.shape).encode())
            digest.update(table.tobytes())
        return digest.hexdigest()


@dataclass(slots=True)
class WarmStart:
    """Labeled examples to be learned from, before the first list."""

    stream: LoggedStream
    #: The events that the stream derives from them; the last is `WarmStarted`, with the digest of the examples.
    events: list[Event]
    #: It is about no round.
    round_id: str = ""

    @property
    def digest(self) -> str | None:
        """The digest of the examples: the same ones again change nothing."""
        last = self.events[-1]
        return last.digest if isinstance(last, WarmStarted) else None


def check_warm_start(stream: LoggedStream, *, started: bool = False, again: bool) -> None:
    """Refuse labeled examples that come after the first list (or with it: `started`), or after others (`again`)."""
    if started or stream.stream.tally.rounds:
        raise ConflictingStream(
            f"stream {stream.name} has already shown a list, and a warm start comes before that: create a new "
            "stream for it"
        )
    if again:
        raise ConflictingStream(
            f"stream {stream.name} has learned from other examples before: send all of them at once, to a new stream"
        )


def labeled(
    lists: Sequence[Any], right: Sequence[Any], scorers: Sequence[str] | None = None, expected: Scorers | None = None
) -> Examples:
    """Return labeled lists, checked.

    Parameters
    ----------
    lists
        For each list a number for each candidate, or a row of numbers, one for each scorer, None where it has none.
    right
        The position of the right candidate in each, several where all are needed; -1 where it is not among them.
    scorers
        The names of the scorers, in the order of the rows.
    expected
        The names that the stream has already.
    """
    names = None if scorers is None else check_scorers(list(scorers))
    if names is None:
        width = next((len(row) for one in lists for row in one if isinstance(row, (list, tuple))), 1)
        if width > 1 and expected is None:
            raise InvalidScores(
                f"lists have rows of {width} numbers, and scorers is missing: name the {width} scorers, in the order "
                "of the rows, as the rounds will name them"
            )
        names = expected if width > 1 else None
    columns = [each if names is None or not each else _columns(i, each, names) for i, each in enumerate(lists)]
    return Examples(*check_lists(columns, list(right), expected))


def _columns(number: int, rows: Sequence[Any], names: Scorers) -> dict[str, list[float]]:
    """Return one list by the names of its scorers."""
    table = [row if isinstance(row, (list, tuple)) else [row] for row in rows]
    for row in table:
        if len(row) != len(names):
            raise InvalidScores(
                f"list {number} has a row of {len(row)} numbers, and there are {len(names)} scorers: one for each, "
                "null where it has none"
            )
    by_scorer = zip(*table, strict=True) if table else [()] * len(names)
    return {
        name: [math.nan if one is None else one for one in column]
        for name, column in zip(names, by_scorer, strict=True)
    }


def warm_start_events(rounds: Stream, examples: Examples) -> list[Event]:
    """Return the events that a stream derives from the examples; nothing changes."""
    *fit, last = rounds.warm_started(examples.tables, examples.right, examples.scorers)
    assert isinstance(last, WarmStarted)  # noqa: S101 - it is the last
    return [*fit, last._replace(digest=examples.digest)]
