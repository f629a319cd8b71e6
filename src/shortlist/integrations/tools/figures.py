"""What agents were shown and what they called: events of searches, and the figures computed from them.

An event is a dictionary, and a line of the gateway's log. It has the names of tools, never what an agent wrote:

{"do": "find", "search": "7", "round": "7", "session": "", "of": 120, "names": ["files__read"], "cut": false, ...}
{"do": "more", "search": "7", "names": ["git__log"], "tokens": 150, "again": false}
{"do": "call", "search": "7", "tool": "git__log", "failed": false, "late": false}
{"do": "answer", "search": "7", "as": "found later", "right": ["git__log"]}
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["FIELDS", "Outcome", "SearchFigures"]

#: What a search led to: every tool that was called was in its list; one of them was not; one was not even among the
#: candidates; no tool was called; it had no round to answer.
Outcome = Literal["hit", "found later", "unknown", "silent", "not counted"]
#: The fields that each kind of event has.
FIELDS: Final[Mapping[Any, frozenset[str]]] = {
    "find": frozenset({"search", "round", "session", "of", "names", "cut", "tokens", "all_tokens"}),
    "more": frozenset({"search", "names", "tokens", "again"}),
    "call": frozenset({"search", "tool", "failed", "late"}),
    "answer": frozenset({"search", "as", "right"}),
}


@dataclass
class SearchFigures:
    """What searches showed, and what they led to.

    Attributes
    ----------
    searches
        How many there were.
    tools, shown, added
        Tools that could be found, tools in the lists, and tools that `more` added, in all searches.
    tokens_all, tokens
        The approximate tokens of the schemas of all tools, and of those that were shown.
    expanded
        Searches in which more was asked for.
    hits, found_later, unknown, silent, uncounted
        Searches by what they led to: every tool called was in the list; one was found by `more`, by a later search or
        by its name; one was not a candidate; no call; no round, because the lister was unavailable.
    calls, failed, late
        Calls, those that failed, and those that came after their search had been counted.
    """

    searches: int = 0
    tools: int = 0
    shown: int = 0
    added: int = 0
    tokens_all: int = 0
    tokens: int = 0
    expanded: int = 0
    hits: int = 0
    found_later: int = 0
    unknown: int = 0
    silent: int = 0
    uncounted: int = 0
    calls: int = 0
    failed: int = 0
    late: int = 0

    @classmethod
    def of(cls, events: Iterable[Mapping[str, Any]]) -> "SearchFigures":
        """Return the figures of some events.

        Parameters
        ----------
        events
            The events, in order.

        Returns
        -------
        SearchFigures
            The figures.
        """
        figures = cls()
        for event in events:
            figures.add(event)
        return figures

    def add(self, event: Mapping[str, Any]) -> None:
        """Count an event.

        Parameters
        ----------
        event
            The event.
        """
        kind = event["do"]
        if kind == "find":
            self.searches += 1
            self.tools += event["of"]
            self.shown += len(event["names"])
            self.tokens_all += event["all_tokens"]
            self.tokens += event["tokens"]
        elif kind == "more":
            self.expanded += not event["again"]
            self.added += len(event["names"])
            self.tokens += event["tokens"]
        elif kind == "call":
            self.calls += not event["failed"]  # a call that fails has two events
            self.failed += event["failed"]
            self.late += event["late"] and not event["failed"]
        else:
            name = {"hit": "hits", "found later": "found_later", "not counted": "uncounted"}.get(
                event["as"], event["as"]
            )
            setattr(self, name, getattr(self, name) + 1)

    @property
    def open(self) -> int:
        """Searches that may still lead to a call."""
        return self.searches - self.hits - self.found_later - self.unknown - self.silent - self.uncounted

    def lines(self) -> list[str]:
        """Return the figures in words.

        Returns
        -------
        list[str]
            One line for each of them.
        """
        if not self.searches:
            return ["no agent has searched for tools yet"]
        saved = 1 - self.tokens / self.tokens_all if self.tokens_all else 0.0
        missed = self.found_later + self.unknown
        every = self.hits + missed + self.silent
        lines = [
            f"{self.searches} searches: {self.shown / self.searches:.1f} of {self.tools / self.searches:.1f} tools per "
            f"list, about {self.tokens / self.searches:,.0f} of {self.tokens_all / self.searches:,.0f} tokens of "
            f"schemas, {saved:.0%} left out",
            f"{self.hits} led to calls of tools in the list, {self.found_later} of a tool found later ({self.expanded} "
            f"asked for more), {self.unknown} of a tool that could not be found",
            f"{self.silent} led to no call and {self.open} to none so far; {self.uncounted} could not be counted",
            f"{self.calls} calls, {self.failed} failed; {self.late} came after their search was counted",
        ]
        if every:
            lines.append(
                f"the list had the tools in between {self.hits / every:.0%} and {1 - missed / every:.0%} of searches: "
                "those without a call may or may not have missed"
            )
        return lines
