"""A log, round by round: a file that `shortlist export` wrote, or rounds as the service returns them."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from shortlist._validation import Member, check_ids, plain_members
from shortlist.errors import DamagedFile, InvalidInput, InvalidParameter, MissingFile
from shortlist.rounds.codec import decode
from shortlist.rounds.events import EVENTS, LISTED, Absent, Event, Expanded, Hit, Listed, kind_of

__all__ = ["LoggedRound", "logged_round", "read_log"]

#: The kinds of answers, as in the body of a feedback request.
_ANSWERS: Final = ("hit", "miss", "skip", "absent")
#: The events of a round, by their kinds.
_OF_ROUNDS: Final = (LISTED, "expanded", "hit", "miss", "skip", "absent", "expired", "withdrawn")


class LoggedRound(NamedTuple):
    """A round of a log.

    Attributes
    ----------
    round_id
        Its id.
    candidates
        The ids of all candidates.
    members
        Those of them that were shown, in the order shown, followed by what `more` showed.
    length
        The length of the list before `more`.
    answer
        ``"hit"``, ``"miss"``, ``"skip"``, ``"absent"``, ``"expired"``, ``"withdrawn"``; None while it is open. An
        ``"absent"`` from a user who has not seen everything is a ``"miss"``.
    right
        What was picked: one candidate, or all that were needed. Empty unless the answer is a hit.
    epoch
        The number of restarts before it.
    explored
        Whether it was drawn at random to show everything, in random order.
    shown_at, answered_at
        The times, in seconds; None if unknown.
    """

    round_id: str | int
    candidates: Sequence[Member]
    members: Sequence[Member]
    length: int
    answer: str | None = None
    right: tuple[Member, ...] = ()
    epoch: int = 0
    explored: bool = False
    shown_at: float | None = None
    answered_at: float | None = None

    @property
    def is_silent(self) -> bool:
        """Whether there is no answer."""
        return self.answer in (None, "skip", "expired")


def read_log(log: Any) -> list[LoggedRound]:
    """Return the rounds of a log, in the order shown.

    Parameters
    ----------
    log
        A file of JSON lines, as ``shortlist export STREAM`` writes it. Or the rounds themselves, oldest first, as
        ``client.log()`` yields them: mappings with ``"candidates"`` (ids, or mappings with an ``"id"``) and
        ``"answer"`` (``{"hit": id}``, ``{"miss": True}``, ``{"skip": True}``, ``{"absent": True}`` or None). If not
        everything was shown, ``"members"`` holds what was, and ``"first"`` how many of them were shown before `more`.
        Optional: ``"round_id"`` (by default its position), ``"epoch"``, ``"explored"``, ``"shown_at"``,
        ``"answered_at"``.

    Returns
    -------
    list[LoggedRound]
        The rounds.

    Raises
    ------
    MissingFile, DamagedFile
        If there is no such file, or it is not a log.
    InvalidParameter
        If `log` is neither a file nor rounds, or a round is malformed.
    """
    if isinstance(log, (str, os.PathLike)):
        return _read_events(Path(log))
    if isinstance(log, Mapping) or not isinstance(log, Iterable):
        raise InvalidParameter(
            f"log is a {type(log).__name__}; give the file that `shortlist export` wrote, or a list of rounds"
        )
    return [each if isinstance(each, LoggedRound) else _round(i, each) for i, each in enumerate(log)]


# Files.


def _read_events(path: Path) -> list[LoggedRound]:
    lists: dict[Any, tuple[Listed, float]] = {}
    answers: dict[Any, tuple[Event, float]] = {}
    for at, event in _events(path):
        name = event.round_id  # type: ignore[union-attr]
        if isinstance(event, Listed):
            lists[name] = event, at
        elif name not in lists:
            raise DamagedFile(f"{path}: round {name} is answered, and its list is not in the file; export all of it")
        elif isinstance(event, Expanded):
            lists[name] = lists[name][0].expanded(event), lists[name][1]
        else:
            answers[name] = event, at
    try:
        return [logged_round(listed, at, *answers.get(name, (None, None))) for name, (listed, at) in lists.items()]
    except (LookupError, TypeError) as error:
        raise DamagedFile(f"{path} is damaged: {type(error).__name__}: {error}") from None


def _events(path: Path) -> Iterator[tuple[float, Event]]:
    """Yield the events of rounds in a file, with their times."""
    if not path.is_file():
        raise MissingFile(f"there is no file {path}")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                content = json.loads(line)
                if content["kind"] not in _OF_ROUNDS:
                    continue
                kind = EVENTS[content["kind"]]
                yield float(content["at"]), decode(kind, {k: v for k, v in content.items() if k in kind._fields})
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise DamagedFile(
                    f"{path}, line {number}: this is not an event of a log ({type(error).__name__}: {error}); give the "
                    "file that `shortlist export` wrote, as JSON lines"
                ) from None


def logged_round(listed: Listed, at: float, event: Event | None, answered_at: float | None) -> LoggedRound:
    """Return a round from its list, as it was shown in the end, and the event that answered it, if any."""
    ids: list[Member] = list(range(len(listed.scores))) if listed.ids is None else listed.ids
    first = len(listed.positions) if listed.first is None else listed.first
    answer = None if event is None else "miss" if isinstance(event, Absent) and not event.believed else kind_of(event)
    right = () if not isinstance(event, Hit) else (event.member,) if event.members is None else tuple(event.members)
    return LoggedRound(
        listed.round_id,
        ids,
        listed.members,
        first,
        answer,
        right,
        listed.epoch,
        bool(listed.explored),
        at,
        answered_at,
    )


# Rounds.


def _round(index: int, given: Any) -> LoggedRound:
    """Return a round of a caller's own log, or raise."""
    if not isinstance(given, Mapping) or not {"candidates", "answer"} <= given.keys():
        raise InvalidParameter(
            f'round {index} of the log is {str(given)[:80]}; give mappings with "candidates" and "answer"'
        )
    name = given.get("round_id", index)
    try:
        return _checked(name, given)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidParameter(f"round {name} of the log cannot be read: {type(error).__name__}: {error}") from None


def _checked(name: Any, given: Mapping[str, Any]) -> LoggedRound:
    candidates = [each["id"] if isinstance(each, Mapping) else each for each in given["candidates"]]
    candidates = check_ids(candidates, len(candidates))
    shown = candidates if given.get("members") is None else given["members"]
    members = check_ids(list(shown), len(shown))
    strangers = [member for member in members if member not in candidates]
    if strangers:
        raise InvalidParameter(
            f"round {name} of the log has shown {strangers[0]!r}, which is not one of its candidates"
        )
    everything = 0 < len(members) == len(candidates) and not given.get("truncated")
    answer, right = _answer(name, given["answer"], members, everything=everything)
    first = given.get("first")
    return LoggedRound(
        name,
        candidates,
        members,
        len(members) if first is None else int(first),
        answer,
        right,
        int(given.get("epoch") or 0),
        bool(given.get("explored")),
        None if given.get("shown_at") is None else float(given["shown_at"]),
        None if given.get("answered_at") is None else float(given["answered_at"]),
    )


def _answer(
    name: Any, answer: Any, members: list[Member], *, everything: bool
) -> tuple[str | None, tuple[Member, ...]]:
    if answer is None:
        return None, ()
    kind = next(iter(answer), None) if isinstance(answer, Mapping) and len(answer) == 1 else None
    if kind not in (None, "hit") and answer[kind] is not True:
        kind = None
    if kind in ("expired", "withdrawn"):
        return kind, ()
    if kind not in _ANSWERS:
        raise InvalidParameter(
            f'the answer of round {name} is {answer!r}; it must be {{"hit": id}}, {{"miss": True}}, {{"skip": True}}, '
            '{"absent": True} or None'
        )
    if kind != "hit":
        return "miss" if kind == "absent" and not everything else kind, ()
    picked = plain_members(answer["hit"])
    right = tuple(picked) if isinstance(picked, list) else (picked,)
    strangers = [member for member in right if member not in members]
    if strangers or not right:
        raise InvalidParameter(f"round {name} of the log was answered {answer!r}, which was not shown")
    return "hit", right
