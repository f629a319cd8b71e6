"""What all adapters share: scores turned, ids made distinct, what was left out, and answers in one line."""

import asyncio
import math
import threading

import pytest

from shortlist import GroupedShortlister, Shortlister
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.integrations._adapter import Adapter, SearchResult
from tests.cutting import cut_at


def offer(adapter, results, ids, **words):
    return adapter.offer(adapter.single(results, ids), **words)


def test_distances_are_turned_and_written_down_as_they_came():
    adapter = Adapter(cut_at(-0.5), higher_is_better=False)
    shown, items = offer(adapter, SearchResult("abc", [0.9, 0.1, 0.5], more=False), ["x", "y", "z"])
    assert items == ["b", "c"]
    assert shown.members == ("y", "z")
    assert [note["score"] for note in adapter.metadata(shown)] == [0.1, 0.5]


def test_what_the_search_may_have_left_out_is_reported():
    adapter = Adapter(cut_at(0.5))
    for scores, more, truncated in (([0.9, 0.5], True, True), ([0.9, 0.4], True, False), ([0.9, 0.5], False, False)):
        shown, _ = offer(adapter, SearchResult("ab", scores, more=more), ["x", "y"])
        assert shown.truncated is truncated


@pytest.mark.parametrize(
    ("ids", "members"),
    [
        (["x", "y"], ("x", "y")),
        ([3, 4], (3, 4)),
        (["x", "x"], (0, 1)),
        ([None, "x"], (0, 1)),
        ([True, 1.5], (0, 1)),
    ],
)
def test_ids_that_are_missing_or_the_same_become_positions(ids, members):
    adapter = Adapter(Shortlister())
    shown, items = offer(adapter, SearchResult(["first", "second"], [0.9, 0.5], more=False), ids)
    assert shown.members == members
    assert items == ["first", "second"]


def test_a_search_that_finds_nothing_is_a_round():
    adapter = Adapter(Shortlister())
    shown, items = offer(adapter, SearchResult([], [], more=True), [])
    assert (items, adapter.last_round_id, adapter.metadata(shown)) == ([], shown.round_id, [])
    assert adapter.lister.summary()["rounds"] == 1


def test_a_threshold_that_is_not_there_is_null():
    adapter = Adapter(Shortlister())
    shown, _ = offer(adapter, SearchResult("a", [0.9], more=False), ["x"])
    assert shown.threshold == -math.inf
    note = {"round_id": shown.round_id, "member": "x", "score": 0.9, "threshold": None, "truncated": False}
    assert adapter.metadata(shown) == [note]


def test_each_thread_has_a_last_round_of_its_own():
    adapter, seen = Adapter(Shortlister()), []

    def ask():
        offer(adapter, SearchResult("a", [0.9], more=False), ["x"])
        seen.append(adapter.last_round_id)

    ask()
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert [each.split("-")[1] for each in seen] == ["0", "1"]
    assert adapter.last_round_id == seen[0]


def test_what_has_no_score_and_what_is_no_lister_is_refused():
    with pytest.raises(InvalidScores, match="result 1 has no score"):
        Adapter(Shortlister()).oriented([0.5, None])
    for wrong in ("docs", None, Shortlister):
        with pytest.raises(InvalidParameter, match="it must be a Shortlister, a Client"):
            Adapter(wrong)
    with pytest.raises(InvalidParameter, match="one lister per group"):
        Adapter(GroupedShortlister())


class Remote:
    """A lister with the verbs of a client, that remembers what it was sent and in which thread."""

    def __init__(self):
        self.local, self.sent, self.threads = Shortlister(), [], []

    def propose(self, scores, ids=None, *, texts=None, question=None, truncated_below=None, allow_empty=False):
        self.sent.append((question, texts))
        self.threads.append(threading.current_thread())
        return self.local.propose(scores, ids, truncated_below=truncated_below, allow_empty=allow_empty)

    def hit(self, round_id, member):
        self.threads.append(threading.current_thread())
        self.local.hit(round_id, member)

    def miss(self, round_id):
        self.local.miss(round_id)

    skip = absent = miss

    def more(self, round_id, count=None):
        return self.local.more(round_id, count)

    def reveal(self, round_id, right):
        self.local.reveal(round_id, right)

    def summary(self):
        return self.local.summary()


def test_only_a_service_is_sent_what_people_read_and_only_a_service_is_waited_for_in_a_thread():
    remote, local = Adapter(Remote()), Adapter(Shortlister())
    words = {"question": "?", "texts": ["A"]}

    async def main():
        for adapter in (remote, local):
            shown, _ = await adapter.offer_async(adapter.single(SearchResult("a", [0.9], more=False), ["x"]), **words)
            await adapter.call_async("hit", shown.round_id, "x")

    asyncio.run(main())
    assert remote.lister.sent == [("?", ["A"])]
    assert threading.main_thread() not in remote.lister.threads
    assert not remote.is_async
    assert remote.lister.summary()["hits"] == local.lister.summary()["hits"] == 1
