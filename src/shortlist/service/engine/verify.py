"""Is the log as it was written, and does it give the state? Every stream is built again from its first event.

Looked at are: the file itself, where it is SQLite's; that texts can be read; numbers without gaps; one list and one
answer for each round; each list as `decide` cuts it again at its thresholds, and none of these above what the log gave
at that time; each draw of an item as the seed gives it; how much of the error budget was spent when it was cut; each
answer as `admit` takes it again; each restart and each fit as `due` says it; and every snapshot, bit for bit.
Comparable scores may differ by 1e-9, for `exp` is not the same on every machine, and the weights of a fit by 1e-6.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from shortlist.errors import DamagedLog, ShortlistError, StoreUnavailable
from shortlist.rounds.admission import admit, answer_of
from shortlist.rounds.events import Configured, Event, Expanded, Fitted, Hit, Listed, Restarted, WarmStarted
from shortlist.scores import Learned
from shortlist.service.engine.item_opening import drawn_position
from shortlist.service.engine.logged_stream import STATE_VERSION, LoggedStream
from shortlist.service.engine.round_cache import scorers_of, table_of
from shortlist.service.store import LogEntry, Reader, Snapshot, Store, StreamRow

__all__ = ["Finding", "verify"]

#: How many rounds' texts are read at a time.
_PART: Final = 1_000
#: By how much the weights of a fit may differ.
_FIT: Final = 1e-6


class Finding(NamedTuple):
    """What was found about one stream, or about the database itself: that one has no name."""

    stream: str
    events: int
    rounds: int
    threshold: float
    snapshots: int
    problems: list[str]


def verify(store: Store, progress: Callable[[str, int, int], None] | None = None) -> Iterator[Finding]:
    """Yield a finding for each stream; one without problems is sound. First, if it has any, those of the database."""
    with store.reading() as reader:
        broken = reader.integrity()
        if broken:
            yield Finding("", 0, 0, -math.inf, 0, broken)
        try:
            rows = reader.streams()
        except StoreUnavailable:
            if not broken:
                raise
            return  # already reported
        for row in rows:
            yield _verify(reader, row, progress or _silent, broken=bool(broken))


def _silent(name: str, done: int, of: int) -> None:
    """Tell nobody."""


def _verify(
    reader: Reader, row: StreamRow, progress: Callable[[str, int, int], None], *, broken: bool = False
) -> Finding:
    """Return what was found about a stream; in a `broken` database, what cannot be read is part of that."""
    try:
        stream = LoggedStream(row)
    except Exception as error:  # noqa: BLE001 - settings can be damaged in any way
        return Finding(row.name, 0, 0, -math.inf, 0, [f"its settings cannot be read: {type(error).__name__}: {error}"])
    snapshots, kept, problems = dict[int, Snapshot](), 0, list[str]()
    try:
        snapshots = {each.number: each for each in reader.snapshots(row.id) if each.version == STATE_VERSION}
        kept = len(snapshots)
        problems += _walk(reader, row, stream, snapshots, progress)
    except StoreUnavailable as error:
        if not broken:
            raise
        problems.append(str(error))
    except DamagedLog as error:
        problems.append(str(error))
    except Exception as error:  # noqa: BLE001 - a log can be damaged in any way; the next stream is checked all the same
        problems.append(f"event {stream.number + 1} cannot be applied: {type(error).__name__}: {error}")
    compared = kept - len(snapshots)
    if not problems and stream.number != row.last_number:
        problems.append(f"the log ends at event {stream.number}, and the stream has {row.last_number}")
    if not problems:
        problems += [f"there is a snapshot after event {number}, which is not in the log" for number in snapshots]
    problems += _check_texts(reader, row, broken=broken)
    progress(row.name, row.last_number, row.last_number)
    return Finding(row.name, stream.number, stream.stream.tally.rounds, stream.threshold, compared, problems)


def _check_texts(reader: Reader, row: StreamRow, *, broken: bool) -> list[str]:
    """Return the first of the texts kept with the log that cannot be read."""
    try:
        numbers = reader.text_numbers(row.id)
        for start in range(0, len(numbers), _PART):
            reader.texts(row.id, numbers[start : start + _PART])
    except DamagedLog as error:
        return [str(error)]
    except StoreUnavailable as error:
        if not broken:
            raise
        return [str(error)]
    return []


def _walk(
    reader: Reader,
    row: StreamRow,
    stream: LoggedStream,
    snapshots: dict[int, Snapshot],
    progress: Callable[[str, int, int], None],
) -> Iterator[str]:
    """Fold the log into a fresh stream; yield what is wrong, and end at the first event that is."""
    lists: dict[str, Listed | None] = {}
    at, levels, thresholds = math.nan, set[int](), set[float]()
    for entry in reader.events(row.id):
        if entry.number % 1000 == 0:
            progress(row.name, entry.number, row.last_number)
        if entry.at != at:  # a batch is judged against the state before it, and its events have one time
            at, levels, thresholds = entry.at, set(), set()
        if stream.stream.budget is not None:
            levels.add(stream.stream.budget.state.spent)
        thresholds.add(stream.threshold)
        problems = [f"event {entry.number}: {problem}" for problem in _check(stream, entry, lists, levels, thresholds)]
        yield from problems
        if problems:
            return
        stream.apply(entry)
        if entry.number in snapshots and stream.snapshot() != snapshots.pop(entry.number):
            yield f"the snapshot after event {entry.number} is not what the log gives"


def _check(
    stream: LoggedStream,
    entry: LogEntry,
    lists: dict[str, Listed | None],
    levels: set[int],
    thresholds: set[float],
) -> Iterator[str]:
    """Yield what is wrong with the next entry, given the state before it, the open lists, and the level of its batch.

    `levels` are what may have been spent of the error budget when its batch was judged, in its units, and `thresholds`
    those that may have been in force.
    """
    if entry.number != stream.number + 1:
        yield f"follows event {stream.number}"
    elif isinstance(entry.event, Listed):
        if entry.round_id in lists:
            yield f"round {entry.round_id} is shown again"
        lists[entry.round_id] = entry.event
        yield from _check_budget(stream, entry.event, levels)
        if stream.settings.rounds.is_product_limit and entry.event.threshold not in thresholds:
            yield f"was cut at {entry.event.threshold}, and the log gives {sorted(thresholds)}"
        yield from _check_list(stream, entry.event)
    elif not entry.round_id:
        yield from _check_stream(stream, entry.event)
    elif entry.round_id not in stream.open:
        yield f"round {entry.round_id} is not open"
    else:
        yield from _check_round(stream, entry, lists)


def _check_stream(stream: LoggedStream, event: Event) -> Iterator[str]:
    """Yield what is wrong with an event that is about no round."""
    if isinstance(event, Configured):
        try:
            stream.settings.changed(event.changes)
        except (ShortlistError, TypeError) as error:
            yield str(error)
        return
    if isinstance(event, WarmStarted) or _is_from_examples(stream, event):
        if stream.stream.tally.rounds or stream.warm_start is not None:
            yield "learns from labeled examples, which come once, before the first list"
        return
    if isinstance(event, Restarted) and not stream.stream.tracker.state.must_restart:
        yield from _check_restart(stream, event)
        return
    due = stream.stream.due()
    if not _is_due(event, due):
        yield f"is {event}, and the log gives {due}"


def _is_from_examples(stream: LoggedStream, event: Event) -> bool:
    """Return whether it is a fit on labeled examples: these are not in the log, so it cannot be computed again."""
    learning = stream.stream.learning
    before = learning is not None and learning.number == 0 and not stream.stream.tally.rounds
    return before and isinstance(event, Fitted) and event.number == 1


def _check_restart(stream: LoggedStream, event: Restarted) -> Iterator[str]:
    """Yield what is wrong with a restart that somebody asked for."""
    following = stream.stream.tracker.epoch + 1
    if event.epoch != following:
        yield f"starts epoch {event.epoch}, and the log gives {following}"
    if stream.settings.rounds.unanswered == "ignore" or (event.refit and stream.stream.learning is None):
        yield f"is {event}, which the settings do not allow"


def _check_round(stream: LoggedStream, entry: LogEntry, lists: dict[str, Listed | None]) -> Iterator[str]:
    """Yield what is wrong with an event of a round that is open."""
    listed = lists[entry.round_id]
    assert listed is not None  # noqa: S101 - it is open
    if isinstance(entry.event, Expanded):
        lists[entry.round_id] = listed.expanded(entry.event)
        yield from _check_more(stream, listed, entry.event)
        return
    lists[entry.round_id] = None  # known, and closed
    yield from _check_answer(stream, listed, entry.event)


def _is_due(event: Event, due: Event | None) -> bool:
    """Return whether an event is the one that was due; a fit is optimization, and may differ in the last bits."""
    if isinstance(event, Fitted) and isinstance(due, Fitted):
        return event.number == due.number and _same_score(event.score, due.score) and _same_windows(event, due)
    return event == due


def _same_windows(one: Fitted, other: Fitted) -> bool:
    some, others = one.windows or {}, other.windows or {}
    if one.held != other.held:
        return False
    return some.keys() == others.keys() and all(_near(some[name], others[name], _FIT) for name in some)


def _same_score(one: Learned, other: Learned) -> bool:
    exact = all(getattr(one, name) == getattr(other, name) for name in ("scorers", "form", "rounds"))
    weights = ("relative", "absolute", "missing", "influence")
    if not exact or not all(_near(getattr(one, name), getattr(other, name), _FIT) for name in weights):
        return False
    # Mean and spread have a unit: the spread itself.
    scale = zip(one.center, one.spread, other.center, other.spread, strict=True)
    return all(
        math.isclose(spread, width, rel_tol=_FIT) and abs(center - middle) <= _FIT * max(width, abs(middle))
        for center, spread, middle, width in scale
    )


def _check_fit(stream: LoggedStream, listed: Listed) -> Iterator[str]:
    learning = stream.stream.learning
    number = None if learning is None else learning.number
    if (listed.fit is None) is not (number is None) or (listed.fit or 0) > (number or 0):
        yield f"is of fit {listed.fit}, and the log gives {number}"


def _check_budget(stream: LoggedStream, listed: Listed, levels: set[int]) -> Iterator[str]:
    budget, count = stream.stream.budget, len(listed.scores)
    given = {None} if budget is None else {level if budget.more(count, level) else None for level in levels}
    if listed.spent not in given:
        yield f"says that {listed.spent} of the error budget is spent, and the log gives {given}"


def _check_list(stream: LoggedStream, listed: Listed) -> Iterator[str]:
    rounds = stream.stream
    yield from _check_fit(stream, listed)
    if listed.epoch > rounds.tracker.epoch:
        yield f"has epoch {listed.epoch}, and the log gives {rounds.tracker.epoch}"
    if listed.epoch == rounds.tracker.epoch and not rounds.allows(listed):
        yield f"was cut at {listed.threshold}, above the {rounds.threshold} that the log gives"
    scorers = scorers_of(listed)
    if rounds.scorers is not None and len(listed.scores) and scorers != rounds.scorers:
        yield f"is of the scorers {scorers}, and the stream's are {rounds.scorers}"
        return
    again = rounds.decide(
        listed.round_id,
        table_of(listed),
        listed.ids,
        listed.truncated_below,
        scorers=scorers,
        again=listed,
    )
    if listed.drawn is not None:
        position, waiting = listed.drawn
        given = drawn_position(stream.name, rounds.tally.rounds, waiting)
        if position != given:
            yield f"was drawn as item {position} of {waiting}, and the seed gives {given}"
    if not _near([_bound(again.edge)], [_bound(listed.edge)]):
        yield f"says that edge is {listed.edge}, and its scores give {again.edge}"
    for name in ("threshold", "positions", "reached", "truncated", "complete", "added", "asked", "explored", "kept"):
        if getattr(again, name) != getattr(listed, name):
            yield f"says that {name} is {getattr(listed, name)}, and its scores give {getattr(again, name)}"


def _check_more(stream: LoggedStream, listed: Listed, event: Expanded) -> Iterator[str]:
    again = stream.stream.expand(listed, table_of(listed), max(1, len(event.positions)))
    if again is not None and _near([_bound(again.edge)], [_bound(event.edge)]):
        again = again._replace(edge=event.edge)
    if again is None or again._replace(comparable=None) != event:
        yield f"is {event}, and its list gives {again}"


def _check_answer(stream: LoggedStream, listed: Listed, event: Event) -> Iterator[str]:
    try:
        again = admit(stream.stream.completed(listed), answer_of(event))
    except ShortlistError as error:
        yield str(error)
        return
    if isinstance(event, Hit) and isinstance(again, Hit):
        if not _near([again.score], [event.score]):
            yield f"candidate {event.member!r} has another score than in its list"
        now = stream.stream.rescored(again, listed).now
        if (now is None) is not (event.now is None) or not _near([now or 0.0], [event.now or 0.0]):
            yield f"candidate {event.member!r} counts as {event.now}, and its list gives {now}"
        event = event._replace(score=again.score, now=None)
    if again != event:
        yield f"is {event}, and its list gives {again}"


def _bound(edge: float | None) -> float:
    return -math.inf if edge is None else edge


def _near(some: Sequence[float], others: Sequence[float], tolerance: float = 1e-9) -> bool:
    return len(some) == len(others) and all(
        math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) for one, other in zip(some, others, strict=True)
    )
