"""What all adapters share: scores turned, ids made distinct, what was left out, and answers in one line."""

import asyncio
import math
import pickle
import threading

import pytest

from shortlist import GroupedShortlister, Shortlister
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.integrations._adapter import Adapter, SearchResult, ShownList
from tests.cutting import cut_at


def offer(adapter, results, ids, **words):
    return adapter.offer(adapter.single(results, ids), **words)


def test_distances_are_turned_and_written_down_as_they_came():
    adapter = Adapter(cut_at(-0.5), higher_is_better=False)
    shown, items = offer(adapter, SearchResult("abc", [0.9, 0.1, 0.5], more=False), ["x", "y", "z"])
    assert items == ["b", "c"]
    assert shown.members == ("y", "z")
    notes = [note["shortlist"] for note in adapter.metadata(shown)]
    assert [note["scores"] for note in notes] == [{"score": 0.1}, {"score": 0.5}]
    assert [note["score"] for note in notes] == [-0.1, -0.5]  # what is compared


def test_scores_in_the_wrong_direction_are_refused_with_the_remedy():
    """Of a search that returns the best first two are enough; of others, only many say so."""
    rising = [0.1 * i for i in range(8)]
    for first, least in ((True, 2), (False, 8)):
        for scores, higher, message in (
            (rising, True, "rise from 0.0 for the first result .* these are distances: set higher_is_better=False"),
            (rising[::-1], False, "fall from .* smaller is better here; leave higher_is_better out"),
        ):
            adapter = Adapter(Shortlister(), higher_is_better=higher)
            some = scores[: least - 1]
            offer(adapter, SearchResult(some, some, more=False, best_first=first), range(len(some)))
            with pytest.raises(InvalidScores, match=message):
                offer(adapter, SearchResult(scores, scores, more=False, best_first=first), range(8))
            assert adapter.lister.summary().rounds == 1
    adapter = Adapter(Shortlister())
    for scores in ([0.5] * 8, [0.0] * 7 + [1.0], [0.1, 0.3, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8]):  # as a corpus is ordered
        offer(adapter, SearchResult(scores, scores, more=False), range(8))
    offer(adapter, SearchResult("ab", [0.87654321, 0.87654322], more=False, best_first=True), range(2))  # rounding
    offer(adapter, SearchResult("ab", [0.9, 0.1], more=False, best_first=True), range(2))
    offer(adapter, SearchResult("ab", [0.1, 0.9], more=False, best_first=True), range(2))  # its direction is known
    with pytest.raises(
        InvalidScores, match=r"of the search 'faiss' rise.*or higher_is_better={'faiss': False} for this"
    ):
        Adapter(Shortlister()).merged({"faiss": SearchResult("ab", [0.1, 0.9], False, True)}, lambda item: (item, item))


def test_a_lister_is_saved_after_every_change(tmp_path):
    adapter = Adapter(Shortlister(), autosave=tmp_path / "lister.json")
    shown, _ = offer(adapter, SearchResult("ab", [0.9, 0.5], more=False), ["x", "y"])
    again = Shortlister.load(tmp_path / "lister.json")
    again.hit(shown.round_id, "x")  # what was shown before a crash can be answered after it
    with pytest.raises(InvalidParameter, match="a service stores everything by itself; leave autosave out"):
        Adapter(Remote(), autosave="x")


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
    assert (items, adapter.metadata(shown)) == ([], [])
    empty = ShownList(items, shown)
    assert (empty, empty.round_id, pickle.loads(pickle.dumps(empty)).round_id) == ([], shown.round_id, shown.round_id)
    assert adapter.lister.summary()["rounds"] == 1


def test_a_threshold_that_is_not_there_is_null():
    adapter = Adapter(Shortlister())
    shown, _ = offer(adapter, SearchResult("a", [0.9], more=False), ["x"])
    assert shown.threshold == -math.inf
    note = {"round_id": shown.round_id, "member": "x", "score": 1.0, "scores": {"score": 0.9}}
    assert adapter.metadata(shown) == [{"shortlist": {**note, "threshold": None, "truncated": False, "kept": True}}]


def test_in_shadow_mode_it_says_what_would_be_shown():
    lister = Shortlister(0.8, score="raw", shadow=True)
    adapter = Adapter(lister)
    for _ in range(30):
        shown, _ = offer(adapter, SearchResult("ab", [0.9, 0.1], more=False), ["x", "y"])
        lister.hit(shown.round_id, "x")
    shown, _ = offer(adapter, SearchResult("ab", [0.9, 0.1], more=False), ["x", "y"])
    assert [note["shortlist"]["kept"] for note in adapter.metadata(shown)] == [True, False]


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
