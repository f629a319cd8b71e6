"""What agents were shown and what they called: events of searches, and the figures computed from them.

An event is a dictionary, and a line of the gateway's log. It has the names of tools, never what an agent wrote:

{"do": "find", "search": "7", "round": "7", "session": "", "of": 120, "names": ["files__read"], "cut": false, ...}
{"do": "more", "search": "7", "names": ["git__log"], "tokens": 150, "again": false}
{"do": "call", "search": "7", "tool": "git__log", "failed": false, "reported": false, "counts": true}
{"do": "answer", "search": "7", "as": "found later", "right": ["git__log"]}
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

__all__ = ["Outcome", "SearchFigures", "is_event"]

#: What a search led to: every tool that was called was in its list; one of them was not; no tool was called; it had no
#: round to answer.
Outcome = Literal["hit", "found later", "silent", "not counted"]
#: The fields that each kind of event has, and their types.
_FIELDS: Final[Mapping[Any, Mapping[str, Any]]] = {
    "find": {
        "search": str,
        "round": str | None,
        "session": str,
        "of": int,
        "names": list,
        "named": list,
        "cut": bool,
        "tokens": int,
        "all_tokens": int,
    },
    "more": {"search": str, "names": list, "tokens": int, "again": bool},
    "call": {"search": str, "tool": str, "failed": bool, "reported": bool, "counts": bool},
    "answer": {"search": str, "as": str, "right": list},
}


def is_event(value: Any) -> bool:
    """Return whether a value is an event, whole and as it was written."""
    kind = value.get("do") if isinstance(value, Mapping) else None
    fields = _FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None or not all(isinstance(value.get(name, ...), type_) for name, type_ in fields.items()):
        return False
    lists = [value[name] for name, type_ in fields.items() if type_ is list]
    return all(isinstance(name, str) for names in lists for name in names) and (
        kind != "answer" or value["as"] in get_args(Outcome)
    )


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
        The approximate tokens of the schemas of all tools, and of those that were shown, by `more` too.
    expanded
        Searches in which more was asked for.
    hits, found_later, silent, uncounted
        Searches by what they led to: every tool was in the list; one was found by `more`, by a later search or by its
        name; no call; no round, because the lister was unavailable.
    calls, failed, apart
        Calls, those that failed, and those that say nothing about a list: its search had been counted already, or the
        tool was not among those that it could find.
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
    silent: int = 0
    uncounted: int = 0
    calls: int = 0
    failed: int = 0
    apart: int = 0

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
            self.calls += not event["reported"]
            self.failed += event["failed"]
            self.apart += not event["counts"] and not event["reported"]
        else:
            name = {"hit": "hits", "found later": "found_later", "not counted": "uncounted"}.get(
                event["as"], event["as"]
            )
            setattr(self, name, getattr(self, name) + 1)

    @property
    def open(self) -> int:
        """Searches that may still lead to a call."""
        return self.searches - self.hits - self.found_later - self.silent - self.uncounted

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
        lines = [
            f"{self.searches} searches: {self.shown / self.searches:.1f} of {self.tools / self.searches:.1f} tools per "
            f"list; with what more_tools added, about {self.tokens / self.searches:,.0f} of "
            f"{self.tokens_all / self.searches:,.0f} tokens of schemas per search, {saved:.0%} left out",
            f"{self.hits} led to tools in the list, {self.found_later} to a tool found later; in {self.expanded} more "
            "was asked for",
            f"{self.silent} led to no call, {self.open} to none so far; {self.uncounted} could not be counted",
            f"{self.calls} calls, {self.failed} failed; {self.apart} say nothing about a list",
        ]
        every = self.searches - self.uncounted
        if every:
            lines.append(
                f"the list had the tools in between {self.hits / every:.0%} and {1 - self.found_later / every:.0%} of "
                "searches: those without a call may have missed, or not"
            )
        return lines
