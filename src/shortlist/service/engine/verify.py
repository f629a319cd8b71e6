"""Does the log give the state? Every stream is built anew from its first event, and compared.

Looked at are: numbers without gaps; one list and one answer for each round; each list cut where its
thresholds say, and none of them above what the log gave at that time; answers that fit their list;
and every snapshot, bit for bit.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from shortlist.errors import DamagedLog, StoreUnavailable
from shortlist.service.engine.rounds import Round
from shortlist.service.engine.stream import STATE_VERSION, Stream, cut_from_body
from shortlist.service.store import Event, Snapshot, Store, StreamRow

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


def _verify(reader: Any, row: StreamRow, progress: Callable[[str, int, int], None]) -> Finding:
    try:
        stream = Stream(row)
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
    threshold = stream.cutter.leader.threshold
    return Finding(row.name, stream.number, stream.cutter.rounds, threshold, compared, problems)


def _walk(
    reader: Any,
    row: StreamRow,
    stream: Stream,
    snapshots: dict[int, Snapshot],
    progress: Callable[[str, int, int], None],
) -> Iterator[str]:
    """Fold the log into a fresh stream; yield what is wrong, and end at the first event that is."""
    lists: dict[str, Round | None] = {}
    for event in reader.events(row.id):
        if event.number % 1000 == 0:
            progress(row.name, event.number, row.last_number)
        problems = [f"event {event.number}: {problem}" for problem in _check(stream, event, lists)]
        yield from problems
        if problems:
            return
        stream.apply(event)
        if event.number in snapshots and stream.snapshot() != snapshots.pop(event.number):
            yield f"the snapshot after event {event.number} is not what the log gives"


def _check(stream: Stream, event: Event, lists: dict[str, Round | None]) -> Iterator[str]:
    """Yield what is wrong with the next event, given the state before it and the open lists."""
    if event.number != stream.number + 1:
        yield f"follows event {stream.number}"
    elif event.kind == "shown":
        if event.round_id in lists:
            yield f"round {event.round_id} is shown again"
        lists[event.round_id] = Round(event)
        yield from _check_list(stream, event.body)
    elif event.round_id not in stream.open:
        yield f"round {event.round_id} is not open"
    else:
        shown = lists[event.round_id]
        lists[event.round_id] = None  # known, and closed
        assert shown is not None  # noqa: S101 - it is open
        if event.kind == "hit":
            yield from _check_hit(shown.shown.body, event.body)
        truth = {
            "truncated": shown.shown.body["truncated"],
            "complete": shown.complete,
            "believed": shown.absent_is_believed,
        }
        for name in event.body.keys() & truth.keys():
            if event.body[name] != truth[name]:
                yield f"says of its list that {name} is {event.body[name]}"


def _check_list(stream: Stream, body: dict[str, Any]) -> Iterator[str]:
    cut = cut_from_body(body)
    leader = stream.cutter.leader
    if cut.epoch > leader.epoch:
        yield f"has epoch {cut.epoch}, and the log gives {leader.epoch}"
    if cut.epoch == leader.epoch:
        for i, learner in stream.cutter.tracks.items():
            if cut.thresholds[i] > learner.threshold:
                yield f"was cut at {cut.thresholds[i]}, above the {learner.threshold} that the log gives"
    reached = np.logical_or.reduce([cut.comparable[i] >= tau for i, tau in cut.thresholds.items()])
    hidden = set(np.flatnonzero(reached).tolist()) - set(cut.positions.tolist())
    if hidden and not cut.truncated:
        yield f"hides candidate {body['ids'][min(hidden)]!r}, which reaches the threshold"


def _check_hit(body: dict[str, Any], answer: dict[str, Any]) -> Iterator[str]:
    shown = [body["ids"][i] for i in body["positions"]]
    if answer["member"] not in shown:
        yield f"candidate {answer['member']!r} was not shown"
        return
    place = shown.index(answer["member"])
    if answer["beyond"] != (place >= body["reached"]):
        yield f"says of candidate {answer['member']!r} that beyond is {answer['beyond']}"
    position = body["positions"][place]
    made = {i: body["made"].get(i, body["scores"])[position] for i in body["thresholds"]}
    if made != answer["made"]:
        yield f"candidate {answer['member']!r} has another score than in its list"
