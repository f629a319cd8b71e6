"""The figures of searches, from their events."""

from shortlist.integrations.tools import SearchFigures


def find(key, names, of=10, tokens=10):
    return {"do": "find", "search": key, "round": key, "session": "s", "of": of, "names": names, "cut": False,
            "tokens": tokens, "all_tokens": 100}  # fmt: skip


def call(key, tool, *, failed=False, late=False):
    return {"do": "call", "search": key, "tool": tool, "failed": failed, "late": late}


def answer(key, outcome):
    return {"do": "answer", "search": key, "as": outcome, "right": []}


EVENTS = [
    find("0", ["a"]),
    {"do": "more", "search": "0", "names": ["b", "c"], "tokens": 20, "again": False},
    {"do": "more", "search": "0", "names": ["d"], "tokens": 10, "again": True},
    call("0", "c"),
    call("0", "c", failed=True),
    answer("0", "found later"),
    call("0", "a", late=True),
    find("1", ["a", "b"], tokens=20),
    call("1", "b"),
    answer("1", "hit"),
    find("2", ["a"]),
    answer("2", "silent"),
    find("3", ["a"]),
    answer("3", "unknown"),
    find("4", ["a"]),
    answer("4", "not counted"),
    find("5", ["a"]),
]


def test_the_figures():
    figures = SearchFigures.of(EVENTS)
    assert (figures.searches, figures.tools, figures.shown, figures.added, figures.expanded) == (6, 60, 7, 3, 1)
    assert (figures.tokens_all, figures.tokens) == (600, 100)
    outcomes = figures.hits, figures.found_later, figures.unknown, figures.silent, figures.uncounted, figures.open
    assert outcomes == (1, 1, 1, 1, 1, 1)
    assert (figures.calls, figures.failed, figures.late) == (3, 1, 1)
    assert figures.lines() == [
        "6 searches: 1.2 of 10.0 tools per list, about 17 of 100 tokens of schemas, 83% left out",
        "1 led to calls of tools in the list, 1 of a tool found later (1 asked for more), 1 of a tool that could not "
        "be found",
        "1 led to no call and 1 to none so far; 1 could not be counted",
        "3 calls, 1 failed; 1 came after their search was counted",
        "the list had the tools in between 25% and 50% of searches: those without a call may or may not have missed",
    ]


def test_nothing_yet():
    assert SearchFigures().lines() == ["no agent has searched for tools yet"]
    assert len(SearchFigures.of([find("0", ["a"])]).lines()) == 4  # no answer, no share
