"""Reading the log: what was written comes back, in its order, and what cannot be read is named."""

import math

import pytest

from shortlist.errors import DamagedLog
from shortlist.rounds.events import (
    LISTED,
    Absent,
    Configured,
    Expanded,
    Expired,
    Fitted,
    Hit,
    Listed,
    Miss,
    Restarted,
    Skip,
)
from shortlist.scores import Learned
from shortlist.service.store import LogEntry, Text
from tests.service.store.entries import hit, listed
from tests.service.tampering import alter, alter_body


def test_texts_of_any_kind_come_back(store, row):
    """Zero characters too, which PostgreSQL does not take in a text."""
    question, texts = "why\x00?  \U0001f600", ["\x00", None, "<b>"]
    store.append(
        [listed(row, 1, ids=["\x00"])], [Text(row.id, 1, question, texts, "https://pictures.example.org/1.png")]
    )
    with store.reading() as reader:
        assert reader.texts(row.id, [1])[1] == Text(row.id, 1, question, texts, "https://pictures.example.org/1.png")
        assert next(reader.events(row.id)).event.ids == ["\x00"]


def test_every_event_comes_back_as_it_was(store, row):
    scores = [0.1 + 0.2, 5e-324, -1.7976931348623157e308]
    table = [[0.1 + 0.2, None], [5e-324, 7.0], [None, -1.0]]
    events = [
        Listed("r0", ["1", 1, "x"], scores, [2, 0], -math.inf, 0, 2, complete=True),
        Hit("r0", 1, 0.1 + 0.2, missed=True),
        Listed("r1", ["x"], [0.5], [], 0.7, 2, 0, True, truncated_below=0.5, scorer_version="v1"),
        Miss("r1", truncated=True),
        Listed("r2", ["1", 1, "x"], scores, [0], -math.inf, 0, 1, has_text=True, fit=0),
        Hit("r2", "1", 0.25, position=0),
        Listed("r3", [], [], [], 0.7, 0, 0),
        Absent("r3", believed=False),
        Listed("r4", ["x"], [0.5], [0], 0.1, 0, 1),
        Skip("r4"),
        Listed("r5", ["x"], [0.5], [0], 0.1, 0, 1),
        Expired("r5"),
        Listed("r6", [1, 2, 3], table, [1], 0.1, 0, 1, scorers=["dense", "bm25"], truncated_below=[None, 0.5]),
        Fitted(1, Learned(("dense", "bm25"), (1.0, 0.1 + 0.2), (0.5, 5e-324), rounds=100, steps=5)),
        Restarted(2),
        Configured({"at_most": 5, "miss_budget": None, "explore_share": "auto"}),
        Listed("r7", [1, 2, 3], [0.3, 0.2, 0.1], [0], 0.25, 0, 1, asked=2, explored=False),
        Expanded("r7", [1], 1, truncated=True),
        Expanded("r7", [2], 1, again=True),
        Hit("r7", 3, 0.1, missed=True, after_more=True),
    ]
    entries = [LogEntry(row.id, number, number / 3, event) for number, event in enumerate(events, 1)]
    store.append(entries)
    with store.reading() as reader:
        assert list(reader.events(row.id)) == entries
        (fitted,) = [entry.event.score for entry in reader.events(row.id, kinds=["fitted"])]
        assert (fitted.rounds, fitted.steps) == (100, 5)  # which make no difference to the score
        assert reader.rounds(row.id, ["r3", "r0", "nothing"]) == [*entries[:2], *entries[6:8]]
        assert reader.rounds(row.id, ["r7"]) == entries[-4:]


def test_pages_go_either_way_and_have_gaps_where_a_kind_is_asked_for(store, row):
    store.append([make(row, 2 * i + n, f"r{i}") for i in range(5) for n, make in ((1, listed), (2, hit))])
    with store.reading() as reader:

        def numbers(*where, **more):
            return [entry.number for entry in reader.page(row.id, *where, **more)]

        assert numbers(0, 3) == [1, 2, 3]
        assert numbers(3, 100) == [4, 5, 6, 7, 8, 9, 10]
        assert numbers(3, 2, kinds=[LISTED]) == [5, 7]
        assert reader.numbers(row.id, 0, 2, kinds=[LISTED], newest=True) == [9, 7]
        assert reader.numbers(row.id, 1, 9, kinds=[LISTED], before=7, newest=True) == [5, 3]
        assert reader.count_shown(row.id, 1, 7) == 2  # 3 and 5: the ends are not counted
        assert reader.count_shown(row.id, 1, 2) == 0


def test_more_rounds_than_fit_into_one_query(store, row):
    store.append([listed(row, i + 1, f"r{i}") for i in range(450)])
    with store.reading() as reader:
        found = reader.rounds(row.id, [f"r{i}" for i in reversed(range(450))])
    assert [entry.number for entry in found] == list(range(1, 451))


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("UPDATE events SET kind = 'nonsense' WHERE number = 2", "KeyError: 'nonsense'"),
        ("UPDATE events SET body = '{' WHERE number = 2", "JSONDecodeError"),
        ("UPDATE events SET body = '{}' WHERE number = 2", "TypeError"),
        ("UPDATE events SET body = '[]' WHERE number = 2", "TypeError"),
        ("UPDATE events SET body = '{\"other\": 1}' WHERE number = 2", "KeyError"),
        ("UPDATE events SET body = '[1, 2]' WHERE number = 2", "TypeError"),
    ],
)
def test_an_event_that_cannot_be_read_is_named(address, store, row, sql, reason):
    store.append([listed(row, 1), hit(row, 2), listed(row, 3, "other")])
    alter(address, sql)
    with store.reading() as reader:
        with pytest.raises(DamagedLog, match=f"event 2 cannot be read: {reason}"):
            list(reader.events(row.id))
        assert [entry.number for entry in reader.rounds(row.id, ["other"])] == [3]  # the rest can be


@pytest.mark.parametrize(
    "fields",
    [
        {"scores": None},
        {"scores": [0.5]},
        {"ids": None},
        {"ids": ["x"]},
        {"positions": [0, 2]},
        {"positions": [-1]},
        {"positions": ["0"]},
        {"comparable": [0.5]},
        {"scores": [0.5, None]},
        {"scores": [0.5, [0.5]]},
        {"scores": [0.5, True]},
        {"scorers": ["dense", "bm25"]},
        {"scorers": ["dense", "bm25"], "scores": [[0.5, 0.1], [0.5]]},
        {"scorers": ["dense", "bm25"], "scores": [[0.5, 0.1], [None, None]]},
        {"scorers": ["dense", "bm25"], "scores": [[0.5, 0.1], [0.5, "0.1"]]},
    ],
    ids=str,
)
def test_a_list_whose_fields_do_not_fit_together_cannot_be_read(address, store, row, fields):
    """It is noticed here, and not by whoever answers it, in one batch with other streams."""
    store.append([listed(row, 1, ids=["x", "y"])])
    with store.reading() as reader:
        assert len(list(reader.events(row.id))) == 1
    alter_body(address, 1, lambda body: body.update(fields))
    with store.reading() as reader, pytest.raises(DamagedLog, match="event 1 cannot be read"):
        list(reader.events(row.id))


def test_streams_by_name_also_one_whose_settings_are_damaged(address, store, row):
    store.create_stream("b", {"coverage": 0.5}, 2.0)
    alter(address, "UPDATE streams SET settings = 'x' WHERE name = 'a'")
    with store.reading() as reader:
        assert [(each.name, each.settings) for each in reader.streams()] == [("a", {}), ("b", {"coverage": 0.5})]
        assert [each.name for each in reader.streams(after="a")] == ["b"]
        assert [each.name for each in reader.streams(limit=1)] == ["a"]
        assert reader.stream("a").id == row.id
        assert reader.stream("c") is None
