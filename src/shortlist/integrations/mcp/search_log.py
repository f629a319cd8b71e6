"""What agents were shown and what they called: one line of JSON each, and the figures computed from them.

A line has the names of tools, never what an agent wrote: neither its task nor its arguments.

{"do": "find", "round": "7", "of": 60, "first": ["files__read"], "all_tokens": 9200, "tokens": 160, ...}
{"do": "more", "round": "7", "shown": ["git__log", ...], "tokens": 1500}
{"do": "call", "round": "7", "tool": "git__log", "counted": "measured miss"}
"""

import contextlib
import json
import os
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from shortlist.errors import UnwritableFile

__all__ = ["Counted", "Report", "RoundLog", "ToolSearch", "report"]

#: What a call counts as: its tool was in the list; it was not, but its score is known; it was not even
#: among the candidates; the round already had a call; the round is closed; it could not be counted.
Counted = Literal["hit", "measured miss", "miss", "again", "closed", "not counted"]
#: The fields of each kind of line.
_FACTS: Final[Mapping[Any, set[str]]] = {
    "find": {"round", "id", "of", "first", "rest", "explored", "all_tokens", "tokens"},
    "more": {"round", "shown", "tokens"},
    "call": {"round", "tool", "counted"},
}
#: Those that answer a round.
_ANSWERS: Final = ("hit", "measured miss", "miss")


@dataclass
class ToolSearch:
    """A round in the gateway's memory.

    Parameters
    ----------
    round_id
        The lister's id of it; None if it was shown without a lister.
    first
        The tools in its list.
    shown
        The tools that the agent has seen.
    called
        The tool that was called first.
    """

    round_id: Any
    first: frozenset[str]
    shown: set[str] = field(default_factory=set)
    called: str | None = None


class RoundLog:
    """The log of a gateway, and its last rounds.

    Parameters
    ----------
    path
        The file to append to; None to keep rounds in memory only.
    keep
        The number of rounds to keep in memory.
    """

    def __init__(self, path: Path | None = None, keep: int = 1_000) -> None:
        self._keep = keep
        self._rounds: OrderedDict[str, ToolSearch] = OrderedDict()
        self._file: int | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            for line in read_log(path):
                self._remember(line)
            self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            if path.read_bytes()[-1:] not in (b"", b"\n"):
                os.write(self._file, b"\n")  # a line that was cut off stays alone
        except OSError as error:
            raise UnwritableFile(f"{path} cannot be used for the log: {error.strerror}") from None

    def get(self, round_text: str) -> ToolSearch | None:
        """Return one of the last rounds by its name."""
        return self._rounds.get(round_text)

    def add(self, do: str, round_text: str, round_id: Any = None, **facts: Any) -> None:
        """Write a line. A full disk does not stop an agent's work.

        Parameters
        ----------
        do
            What happened: find, more or call.
        round_text, round_id
            The name of the round for agents, and the lister's id.
        facts
            The other fields of the line.
        """
        line = {"do": do, "round": round_text, "id": round_id, "time": round(time.time(), 3), **facts}
        self._remember(line)
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.write(self._file, (json.dumps(line, separators=(",", ":")) + "\n").encode())

    def _remember(self, line: Mapping[str, Any]) -> None:
        name = str(line["round"])
        if line["do"] == "find":
            first, rest = line["first"], line.get("rest", ())
            self._rounds[name] = ToolSearch(line["id"], frozenset(first), {*first, *rest})
            self._rounds.move_to_end(name)
            if len(self._rounds) > self._keep:
                self._rounds.popitem(last=False)
        elif name in self._rounds and line["do"] == "more":
            self._rounds[name].shown.update(line["shown"])
        elif name in self._rounds and line["counted"] in _ANSWERS:
            self._rounds[name].called = line["tool"]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a log; incomplete or altered ones are left out."""
    with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            with contextlib.suppress(ValueError):
                line = json.loads(text)
                if isinstance(line, dict) and line.keys() >= _FACTS.get(line.get("do"), {"do", ""}):
                    yield line


@dataclass
class Report:
    """The figures of a log.

    Attributes
    ----------
    rounds, explored
        The number of requests for tools, and of those in which everything was shown in random order.
    tools, listed, shown
        Available tools, tools in lists, and tools that agents saw: more in shadow mode and after `more_tools`.
    tokens_all, tokens_listed, tokens_shown
        The approximate number of tokens of their schemas.
    expanded
        Rounds in which the agent asked for more.
    hits, misses, absent
        First calls of a tool in the list, of one that was not in it, and of one that was not a candidate.
    cut_hits, cut_misses
        The same for lists that left something out.
    again, uncounted
        Later calls in a round, and calls that could not be counted.
    """

    rounds: int = 0
    explored: int = 0
    tools: int = 0
    listed: int = 0
    shown: int = 0
    tokens_all: int = 0
    tokens_listed: int = 0
    tokens_shown: int = 0
    expanded: int = 0
    hits: int = 0
    misses: int = 0
    absent: int = 0
    cut_hits: int = 0
    cut_misses: int = 0
    again: int = 0
    uncounted: int = 0

    def lines(self) -> list[str]:
        """Return the figures in words."""
        if not self.rounds:
            return ["no agent has looked for tools yet"]
        saved = 1 - self.tokens_listed / self.tokens_all if self.tokens_all else 0.0
        cut = self.cut_hits + self.cut_misses
        covered = f"; of {cut} lists that left tools out, {self.cut_hits} had it" if cut else ""
        return [
            f"{self.rounds} tasks, {self.explored} of them explored (everything shown, in random order)",
            f"{self.listed / self.rounds:.1f} of {self.tools / self.rounds:.1f} tools per list, {saved:.0%} of about "
            f"{self.tokens_all / self.rounds:,.0f} tokens of schemas left out",
            f"{self.hits} first calls of a tool in the list, {self.misses} of one that was not in it{covered}",
            f"{self.expanded} requests for more; {self.again} later calls, not counted; {self.uncounted} calls "
            f"that could not be counted, {self.absent} of a tool that was not a candidate",
        ]


def report(path: Path, last: int | None = None) -> Report:
    """Return the figures of a log.

    Parameters
    ----------
    path
        The file.
    last
        The number of latest rounds to include; by default all.
    """
    lines = list(read_log(path))
    finds = {str(line["round"]): line for line in lines if line["do"] == "find"}
    included = set(list(finds)[-last:] if last else finds)
    figures, expanded = Report(), set()
    for line in lines:
        name = str(line["round"])
        if name not in included:
            figures.uncounted += line["do"] == "call" and not last
            continue
        find = finds[name]
        if line["do"] == "find":
            figures.rounds += 1  # per line: lists that were shown without a lister share one name
            figures.explored += bool(line["explored"])
            figures.tools += line["of"]
            figures.listed += len(line["first"])
            figures.shown += len(line["first"]) + len(line["rest"])
            figures.tokens_all += line["all_tokens"]
            figures.tokens_listed += line["tokens"]
            figures.tokens_shown += line["all_tokens"] if line["rest"] else line["tokens"]
        elif line["do"] == "more":
            expanded.add(name)
            figures.shown += len(line["shown"])
            figures.tokens_shown += line["tokens"]
        else:
            _count(figures, line["counted"], cut=len(find["first"]) < find["of"])
    figures.expanded = len(expanded)
    return figures


def _count(figures: Report, counted: str, *, cut: bool) -> None:
    if counted == "again":
        figures.again += 1
    elif counted == "hit":
        figures.hits += 1
        figures.cut_hits += cut
    elif counted == "measured miss":
        figures.misses += 1
        figures.cut_misses += cut
    elif counted == "miss":
        figures.absent += 1
    else:
        figures.uncounted += 1
