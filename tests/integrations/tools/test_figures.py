"""The figures of searches, from their events."""

import pytest

from shortlist.integrations.tools import SearchFigures
from shortlist.integrations.tools.figures import is_event


def find(key, names, of=10, tokens=10):
    return {"do": "find", "search": key, "round": key, "session": "s", "of": of, "names": names, "named": [],
            "cut": False, "tokens": tokens, "all_tokens": 100}  # fmt: skip


def call(key, tool, *, failed=False, reported=False, counts=True):
    return {"do": "call", "search": key, "tool": tool, "failed": failed, "reported": reported, "counts": counts}


def answer(key, outcome):
    return {"do": "answer", "search": key, "as": outcome, "right": []}


EVENTS = [
    find("0", ["a"]),
    {"do": "more", "search": "0", "names": ["b", "c"], "tokens": 20, "again": False},
    {"do": "more", "search": "0", "names": ["d"], "tokens": 10, "again": True},
    call("0", "c"),
    call("0", "c", failed=True, reported=True),
    answer("0", "found later"),
    call("0", "a", counts=False),
    find("1", ["a", "b"], tokens=20),
    call("1", "b"),
    answer("1", "hit"),
    find("2", ["a"]),
    answer("2", "silent"),
    find("4", ["a"]),
    answer("4", "not counted"),
    find("5", ["a"]),
]


def test_the_figures():
    assert all(map(is_event, EVENTS))
    figures = SearchFigures.of(EVENTS)
    assert (figures.searches, figures.tools, figures.shown, figures.added, figures.expanded) == (5, 50, 6, 3, 1)
    assert (figures.tokens_all, figures.tokens) == (500, 90)
    outcomes = figures.hits, figures.found_later, figures.silent, figures.uncounted, figures.open
    assert outcomes == (1, 1, 1, 1, 1)
    assert (figures.calls, figures.failed, figures.apart) == (3, 1, 1)
    assert figures.lines() == [
        "5 searches: 1.2 of 10.0 tools per list; with what more_tools added, about 18 of 100 tokens of schemas per "
        "search, 82% left out",
        "1 led to tools in the list, 1 to a tool found later; in 1 more was asked for",
        "1 led to no call, 1 to none so far; 1 could not be counted",
        "3 calls, 1 failed; 1 say nothing about a list",
        "the list had the tools in between 25% and 75% of searches: those without a call may have missed, or not",
    ]


def test_nothing_yet():
    assert SearchFigures().lines() == ["no agent has searched for tools yet"]
    assert SearchFigures.of([find("0", ["a"]), answer("0", "not counted")]).lines()[-1].startswith("0 calls")


@pytest.mark.parametrize(
    "event",
    [
        3,
        {},
        {"do": []},
        {"do": "find", "search": "0"},
        find("0", ["a"]) | {"of": "x"},
        find("0", [3]),
        answer("0", "zzz"),
        answer("0", "hit") | {"right": None},
        call("0", None),
    ],
)
def test_what_is_no_event(event):
    assert not is_event(event)
