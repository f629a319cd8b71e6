"""Does the log give the state? Every stream is built again from its first event, and compared.

Looked at are: numbers without gaps; one list and one answer for each round; each list as `decide` cuts it
again at its thresholds, and none of these above what the log gave at that time; each answer as `admit` takes
it again; each restart as `due` says it; and every snapshot, bit for bit. Comparable scores may differ by
1e-9, for `exp` is not the same on every machine.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.errors import DamagedLog, ShortlistError, StoreUnavailable
from shortlist.rounds.admission import admit, answer_of
from shortlist.rounds.events import Event, Hit, Listed
from shortlist.service.engine.stream import STATE_VERSION, LoggedStream
from shortlist.service.store import Entry, Reader, Snapshot, Store, StreamRow

__all__ = ["Finding", "verify"]


class Finding(NamedTuple):
    """What was found about one stream."""

    stream: str
    events: int
    rounds: int
    threshold: float
    snapshots: int
    problems: list[str]


def verify(store: Store, progress: Callable[[str, int, int], None] | None = None) -> Iterator[Finding]:
    """Yield a finding for each stream; one without problems is sound."""
    with store.reading() as reader:
        for row in reader.streams():
            yield _verify(reader, row, progress or _silent)


def _silent(name: str, done: int, of: int) -> None:
    """Tell nobody."""


def _verify(reader: Reader, row: StreamRow, progress: Callable[[str, int, int], None]) -> Finding:
    try:
        stream = LoggedStream(row)
    except Exception as error:  # noqa: BLE001 - settings can be damaged in any way
        return Finding(row.name, 0, 0, -math.inf, 0, [f"its settings cannot be read: {type(error).__name__}: {error}"])
    snapshots = {
        snapshot.number: snapshot for snapshot in reader.snapshots(row.id) if snapshot.version == STATE_VERSION
    }
    kept, problems = len(snapshots), list[str]()
    try:
        problems += _walk(reader, row, stream, snapshots, progress)
    except StoreUnavailable:
        raise
    except DamagedLog as error:
        problems.append(str(error))
    except Exception as error:  # noqa: BLE001 - a log can be damaged in any way; the next stream is checked all the same
        problems.append(f"event {stream.number + 1} cannot be applied: {type(error).__name__}: {error}")
    compared = kept - len(snapshots)
    if not problems and stream.number != row.last_number:
        problems.append(f"the log ends at event {stream.number}, and the stream has {row.last_number}")
    if not problems:
        problems += [f"there is a snapshot after event {number}, which is not in the log" for number in snapshots]
    progress(row.name, row.last_number, row.last_number)
    return Finding(row.name, stream.number, stream.rounds.tally.rounds, stream.threshold, compared, problems)


def _walk(
    reader: Reader,
    row: StreamRow,
    stream: LoggedStream,
    snapshots: dict[int, Snapshot],
    progress: Callable[[str, int, int], None],
) -> Iterator[str]:
    """Fold the log into a fresh stream; yield what is wrong, and end at the first event that is."""
    lists: dict[str, Listed | None] = {}
    for entry in reader.events(row.id):
        if entry.number % 1000 == 0:
            progress(row.name, entry.number, row.last_number)
        problems = [f"event {entry.number}: {problem}" for problem in _check(stream, entry, lists)]
        yield from problems
        if problems:
            return
        stream.apply(entry)
        if entry.number in snapshots and stream.snapshot() != snapshots.pop(entry.number):
            yield f"the snapshot after event {entry.number} is not what the log gives"


def _check(stream: LoggedStream, entry: Entry, lists: dict[str, Listed | None]) -> Iterator[str]:
    """Yield what is wrong with the next entry, given the state before it and the open lists."""
    if entry.number != stream.number + 1:
        yield f"follows event {stream.number}"
    elif isinstance(entry.event, Listed):
        if entry.round_id in lists:
            yield f"round {entry.round_id} is shown again"
        lists[entry.round_id] = entry.event
        yield from _check_list(stream, entry.event)
    elif not entry.round_id:
        if entry.event != stream.rounds.due():
            yield f"is {entry.event}, and the log gives {stream.rounds.due()}"
    elif entry.round_id not in stream.open:
        yield f"round {entry.round_id} is not open"
    else:
        listed = lists[entry.round_id]
        lists[entry.round_id] = None  # known, and closed
        assert listed is not None  # noqa: S101 - it is open
        yield from _check_answer(listed, entry.event)


def _check_list(stream: LoggedStream, listed: Listed) -> Iterator[str]:
    rounds = stream.rounds
    if listed.epoch > rounds.tracker.epoch:
        yield f"has epoch {listed.epoch}, and the log gives {rounds.tracker.epoch}"
    if listed.epoch == rounds.tracker.epoch and not rounds.allows(listed):
        yield f"was cut at {listed.threshold}, above the {rounds.threshold} that the log gives"
    values = np.asarray(listed.scores, dtype=np.float64)
    again = rounds.decide(listed.round_id, values, listed.ids, listed.truncated_below, again=listed)
    for name in ("threshold", "positions", "reached", "truncated", "complete"):
        if getattr(again, name) != getattr(listed, name):
            yield f"says that {name} is {getattr(listed, name)}, and its scores give {getattr(again, name)}"
    pairs = [] if rounds.is_raw and listed.comparable is None else [(again.comparable or (), listed.comparable or ())]
    if again.race is not None:  # all scores that are compared, for any of them may lead later
        pairs += [(again.race[i][1], scores) for i, (_, scores) in (listed.race or {}).items()]
    if not all(_near(one, other) for one, other in pairs):
        yield "has other comparable scores than its scores give"


def _check_answer(listed: Listed, event: Event) -> Iterator[str]:
    try:
        again = admit(listed, answer_of(event))
    except ShortlistError as error:
        yield str(error)
        return
    if isinstance(event, Hit) and isinstance(again, Hit):
        if not _near([again.score], [event.score]):
            yield f"candidate {event.member!r} has another score than in its list"
        event = event._replace(score=again.score)
    if again != event:
        yield f"is {event}, and its list gives {again}"


def _near(some: Sequence[float], others: Sequence[float]) -> bool:
    return len(some) == len(others) and all(map(_close_to, some, others))


def _close_to(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
