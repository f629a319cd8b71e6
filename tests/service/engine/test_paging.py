"""Parts that have a largest size."""

import asyncio

import pytest

from shortlist.errors import UnknownRound
from shortlist.service.engine.paging import parts_of, settled


def sizes(answers, known):
    return [[name for name, _ in part] for part in parts_of([(name, None) for name in answers], known)]


def test_answers_are_together_as_far_as_their_lists_fit():
    known = dict.fromkeys("abcd", 900_000)
    assert sizes("abcd", known) == [["a", "b"], ["c", "d"]]
    assert sizes("aaab", known) == [["a", "a", "a", "b"]]  # a list is in memory once
    assert sizes("a?b", known) == [["a", "?", "b"]]  # one that does not exist takes nothing
    assert sizes("ab", {"a": 10**7, "b": 1}) == [["a"], ["b"]]
    assert [len(part) for part in sizes(["a"] * 1_100, {})] == [500, 500, 100]
    assert sizes([], {}) == []


def test_what_is_refused_is_returned_and_a_bug_is_raised():
    async def do(outcome):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def both(*outcomes):
        return await settled(map(do, outcomes))

    refused = UnknownRound("never shown")
    assert asyncio.run(both(1, refused, 2)) == [1, refused, 2]
    with pytest.raises(ZeroDivisionError):
        asyncio.run(both(1, ZeroDivisionError()))
