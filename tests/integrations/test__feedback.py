"""From something that was shown to its answer."""

import asyncio

import pytest

from shortlist import InvalidInput, Shortlister
from shortlist.errors import UnknownRound
from shortlist.integrations._adapter import Adapter, SearchResult
from shortlist.integrations._feedback import FeedbackMixin
from tests.cutting import cut_at
from tests.integrations.test__adapter import offer


class Notes(FeedbackMixin):
    """An adapter whose items are their own metadata."""

    def __init__(self, lister):
        self._adapter = Adapter(lister)

    def ask(self, scores):
        shown, _ = offer(self._adapter, SearchResult(scores, scores, more=False), range(len(scores)))
        return self._adapter.metadata(shown)

    @staticmethod
    def _metadata_of(item):
        return item


def test_from_something_that_was_shown_to_its_answer():
    notes = Notes(Shortlister())
    first, second, third, fourth, fifth, sixth = (notes.ask([0.5, 0.9]) for _ in range(6))
    notes.hit(first[1])
    notes.miss(second[0]["shortlist"]["round_id"])
    notes.skip(third[0])  # a result, a list of them, or its round
    notes.absent(fourth)

    async def main():
        await notes.ahit(fifth[0])
        await notes.amiss(sixth[0])

    asyncio.run(main())
    summary = notes.summary()
    assert [summary[name] for name in ("hits", "misses", "skipped", "absent", "open")] == [2, 2, 1, 1, 0]
    with pytest.raises(InvalidInput, match="this dict was not shown by a Notes: its metadata has no 'shortlist'"):
        notes.hit({})
    with pytest.raises(InvalidInput, match="this dict was not shown by a Notes"):
        notes.miss({"round_id": "x", "page_content": "a long text"})


def test_more_of_a_list_with_its_items_and_their_scores():
    adapter = Adapter(cut_at(-0.5), higher_is_better=False)
    shown, _ = offer(adapter, SearchResult("abcd", [0.9, 0.1, 0.7, 0.6], more=False), ["w", "x", "y", "z"])
    assert shown.members == ("x",)
    first, items = adapter.more(shown.round_id, 1)
    assert (first.members, items) == (("z",), ["d"])
    assert [note["shortlist"]["scores"] for note in adapter.metadata(first)] == [{"score": 0.6}]
    rest, items = asyncio.run(adapter.more_async(shown.round_id, None))
    assert (rest.members, items) == (("y", "w"), ["c", "a"])
    adapter.lister.hit(shown.round_id, "w")
    assert adapter.lister.summary().found_after_more == 1


def test_more_of_a_complete_list_is_nothing_and_of_an_old_one_its_ids():
    adapter = Adapter(cut_at(0.5))
    whole, _ = offer(adapter, SearchResult("a", [0.9], more=False), ["x"])
    assert adapter.more(whole.round_id, None)[1] == []
    with pytest.raises(UnknownRound):
        adapter.more(77, None)
    cut = [offer(adapter, SearchResult("ab", [0.9, 0.1], more=False), ["x", "y"])[0] for _ in range(1_001)]
    with pytest.raises(InvalidInput, match=r"not one of the last 1,000 lists .* the ids are \['y'\]"):
        adapter.more(cut[0].round_id, None)
    assert adapter.more(cut[1].round_id, None)[1] == ["b"]


class Item(dict):
    """Something with metadata."""


class Shower(FeedbackMixin):
    """An adapter of items that are their own metadata."""

    def __init__(self, lister):
        self._adapter = Adapter(lister)

    @staticmethod
    def _metadata_of(item):
        return item


def test_several_items_that_are_all_needed():
    lister = Shortlister(score="raw")
    shower, shown = Shower(lister), lister.propose([0.5, 0.9], ids=["x", "y"])
    items = [Item(shortlist={"round_id": shown.round_id, "member": name}) for name in "xy"]
    shower.hit(items)
    assert lister.summary().hits == 1
    with pytest.raises(InvalidInput, match="not from one list"):
        shower.hit([*items, Item(shortlist={"round_id": 7, "member": "x"})])
    with pytest.raises(InvalidInput, match="not from one list"):
        shower.hit([])


def test_what_has_to_be_awaited_is_said_and_nothing_is_lost():
    class Waiting(Shortlister):
        async def propose(self, *arguments, **named):
            return super().propose(*arguments, **named)

    shower = Shower(Waiting(score="raw"))
    for verb in ("miss", "skip", "absent", "more"):
        with pytest.raises(InvalidInput, match=f"{verb} has to be awaited with an AsyncClient: use a{verb}"):
            getattr(shower, verb)(0)
