"""Coverage by what callers say about their rounds."""

import numpy as np
import pytest

from shortlist import GroupedShortlister, NestedShortlister, Shortlister
from shortlist.errors import InvalidParameter
from shortlist.rounds.subgroups import OTHERS, Subgroups, check_tags, subgroups_of


def test_rounds_are_counted_by_their_tags():
    lister = Shortlister(0.8, score="raw")
    rng, expected = np.random.default_rng(0), {}
    for t in range(600):
        language = ("de", "en")[t % 3 == 0]
        scores = rng.random(10) * (1 if language == "en" else 0.5)  # the right one has less in German
        shown = lister.propose(scores, tags={"language": language, "customer": t % 2})
        kind = "hits" if 0 in shown.members else "misses"
        lister.reveal(shown.round_id, 0)
        expected.setdefault(language, {"hits": 0, "misses": 0})[kind] += 1
    rows = {(each.tag, each.value): each for each in lister.subgroups()}
    assert [each.tag for each in lister.subgroups()] == ["customer", "customer", "language", "language"]
    for language, counts in expected.items():
        row = rows["language", language]
        assert (row.hits, row.misses) == (counts["hits"], counts["misses"])
        assert row.coverage == row.hits / row.rounds
        assert row.interval[0] < row.coverage < row.interval[1]
    assert rows["language", "de"].coverage < rows["language", "en"].coverage
    assert sum(rows["customer", value].rounds for value in "01") == 600


def test_only_final_answers_count_and_a_file_keeps_them(tmp_path):
    lister = Shortlister(0.8, score="raw", grace=1)
    for answer in (lister.miss, lister.skip, lister.miss):
        answer(lister.propose([0.5, 0.2], tags={"a": "x"}).round_id)
    lister.hit(2, 0)  # it was a miss, and may be corrected
    lister.propose([0.5, 0.2], tags={"a": "x"})
    lister.propose([0.5, 0.2])  # it has none
    lister.save(tmp_path / "lister.json")
    lister = Shortlister.load(tmp_path / "lister.json")
    (row,) = lister.subgroups()
    assert (row.rounds, row.hits, row.misses) == (4, 0, 1)
    lister.miss(3)
    lister.miss(4)
    assert lister.subgroups()[0][2:5] == (4, 1, 2)


def test_groups_are_added_up_and_nested_coverages_are_not():
    grouped, nested = GroupedShortlister(score="raw"), NestedShortlister((0.8, 0.9), score="raw")
    for group in ("a", "b"):
        grouped.hit(grouped.propose([0.5], group=group, tags={"t": 1}).round_id, 0)
        nested.hit(nested.propose([0.5], tags={"t": 1}).round_id, 0)
    assert [each.rounds for each in grouped.subgroups()] == [each.rounds for each in nested.subgroups()] == [2]


def test_tags_decide_nothing():
    plain, tagged = Shortlister(0.8), Shortlister(0.8)
    rng = np.random.default_rng(0)
    for t in range(300):
        scores = rng.random(8)
        for lister, tags in ((plain, None), (tagged, {"t": t % 7})):
            lister.reveal(lister.propose(scores, tags=tags).round_id, int(scores.argmax()) if t % 4 else 0)
    assert dict(plain.summary()) == dict(tagged.summary())


def test_values_beyond_the_first_ones_are_counted_together():
    subgroups = Subgroups()
    for i in range(300):
        subgroups.show(i, {"customer": str(i)})
        subgroups.answer(i, missed=i % 2 == 0)
    rows = subgroups_of([subgroups.state])
    assert len(rows) == 201
    assert (rows[0].value, rows[0].rounds, rows[0].coverage) == (OTHERS, 100, 0.5)
    assert not subgroups.state.open


@pytest.mark.parametrize(
    "tags",
    [
        *("de", {"": "x"}, {"a": ""}, {"a": None}, {"a": 0.5}, {"a": True}, {"a": "x" * 101}, {1: "\ud800"}),
        {str(i): "x" for i in range(11)},
    ],
)
def test_bad_tags_are_refused_and_change_nothing(tags):
    lister = Shortlister()
    with pytest.raises(InvalidParameter, match="tag"):
        lister.propose([0.5], tags=tags)
    assert lister.summary().rounds == 0
    assert check_tags({"a": 1, 2: "b"}) == {"a": "1", "2": "b"}
    assert check_tags({}) is None


def test_what_more_found_was_missed_by_the_list():
    lister = Shortlister(0.8, score="raw", at_most=1)
    for _ in range(5):
        shown = lister.propose([0.5, 0.9], tags={"t": "x"})
        lister.more(shown.round_id)
        lister.hit(shown.round_id, 0)
    (row,), summary = lister.subgroups(), lister.summary()
    assert (row.hits, row.misses) == (summary.hits, summary.misses) == (0, 5)


def test_where_misses_are_not_reported_nothing_is_known():
    lister = Shortlister(score="raw", explore_share=1.0)
    for _ in range(20):
        lister.hit(lister.propose([0.5, 0.9], tags={"t": "x"}).round_id, 0)
    (row,) = lister.subgroups()
    assert (row.rounds, row.coverage, row.interval) == (20, None, None)
    assert lister.summary().coverage_seen is None
    assert 0 < lister.summary().explored < 20


def test_there_are_so_many_tags_and_no_more():
    subgroups = Subgroups()
    for i in range(80):
        subgroups.show(i, {f"tag{i}": "x", "tag0": "y"})
        subgroups.answer(i, missed=False)
    assert len(subgroups.state.counts) == 50
    assert sum(row.rounds for row in subgroups_of([subgroups.state]) if row.tag == "tag0") == 80
