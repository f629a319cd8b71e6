"""Logs, round by round."""

import io
import json

import numpy as np
import pytest

from shortlist.errors import DamagedFile, InvalidParameter, MissingFile
from shortlist.logs import LoggedRound, read_log
from shortlist.rounds.codec import encode
from shortlist.rounds.events import Absent, Expanded, Hit, Listed, Restarted, kind_of


def test_rounds_as_the_service_returns_them():
    rounds = read_log(
        [
            {
                "round_id": "a",
                "candidates": [{"id": "x", "score": 0.1}, {"id": "y", "score": 0.2}],
                "members": ["y"],
                "answer": {"hit": "y"},
                "epoch": 1,
                "shown_at": 1.0,
                "answered_at": 2.0,
            },
            {"candidates": ["x", "y"], "members": ["y", "x"], "first": 1, "answer": {"hit": ["x", "y"]}},
            {"candidates": [1, 2], "answer": None, "explored": True},
            {"candidates": [1, 2], "answer": {"absent": True}},
            {"candidates": [1, 2], "members": [2], "answer": {"absent": True}},
            {"candidates": [1, 2], "answer": {"expired": True}},
        ]
    )
    assert rounds == [
        LoggedRound("a", ["x", "y"], ["y"], 1, "hit", ("y",), 1, False, 1.0, 2.0),
        LoggedRound(1, ["x", "y"], ["y", "x"], 1, "hit", ("x", "y")),
        LoggedRound(2, [1, 2], [1, 2], 2, None, (), explored=True),
        LoggedRound(3, [1, 2], [1, 2], 2, "absent"),
        LoggedRound(4, [1, 2], [2], 1, "miss"),  # who has not seen everything cannot know
        LoggedRound(5, [1, 2], [1, 2], 2, "expired"),
    ]
    assert [each.is_silent for each in rounds] == [False, False, True, False, False, True]
    assert read_log(rounds) == rounds


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ([{"candidates": None, "answer": None}], "round 0 of the log cannot be read: TypeError"),
        ([{"candidates": [{"score": 1}], "answer": None}], "round 0 of the log cannot be read: KeyError"),
        ([{"candidates": ["x"], "answer": None, "first": "y"}], "round 0 of the log cannot be read: ValueError"),
        ([{"candidates": ["x"], "answer": None, "shown_at": "y"}], "round 0 of the log cannot be read: ValueError"),
        ([{"candidates": ["x"], "answer": {"miss": False}}], "the answer of round 0 is {'miss': False}; it must be"),
        (7, "log is a int; give the file that `shortlist export` wrote, or a list of rounds"),
        ({"candidates": []}, "log is a dict"),
        ([{"candidates": ["x"]}], 'round 0 of the log is .*; give mappings with "candidates" and "answer"'),
        ([{"candidates": ["x"], "answer": "x"}], r"the answer of round 0 is 'x'; it must be \{\"hit\": id\}"),
        ([{"candidates": ["x"], "answer": {"hit": "y"}}], "answered .*, which was not shown"),
        (
            [{"candidates": ["x"], "members": ["y"], "answer": None}],
            "has shown 'y', which is not one of its candidates",
        ),
    ],
)
def test_what_is_no_log(log, message):
    with pytest.raises(InvalidParameter, match=message):
        read_log(log)


def test_files_that_are_no_logs(tmp_path):
    with pytest.raises(MissingFile, match="there is no file"):
        read_log(tmp_path / "nowhere.jsonl")
    file = tmp_path / "log.jsonl"
    for line in ("no JSON", "[]", '{"kind": "miss"}', '{"kind": "miss", "at": "x", "round_id": "a"}'):
        file.write_text(line)
        with pytest.raises(DamagedFile, match="line 1: this is not an event of a log"):
            read_log(str(file))
    file.write_text('{"kind": "miss", "at": 1.0, "round_id": "a"}')
    with pytest.raises(DamagedFile, match="round a is answered, and its list is not in the file"):
        read_log(file)


def test_an_exported_file_is_the_log_of_its_stream(tmp_path):
    events = [
        Listed("a", ["x", "y", "z"], [0.3, 0.2, 0.1], [0], 0.25, 0, 1),
        Expanded("a", [1], 1),
        Hit("a", "y", 0.2, missed=True, after_more=True),
        Restarted(1),
        Listed("b", ["x", "y"], [0.3, 0.2], [0, 1], -float("inf"), 1, 2, complete=True),
        Hit("b", "x", 0.3),
        Listed("c", ["x", "y"], [0.3, 0.2], [0], 0.25, 1, 1),
        Absent("c", believed=False),
        Listed("d", ["x", "y"], [0.3, 0.2], [1, 0], -float("inf"), 1, 2, explored=True),
    ]
    file = io.StringIO()
    for i, event in enumerate(events):
        file.write(
            json.dumps({"stream": "s", "number": i, "at": float(i), "kind": kind_of(event), **encode(event)}) + "\n"
        )
    path = tmp_path / "log.jsonl"
    path.write_text(file.getvalue())
    assert read_log(path) == [
        LoggedRound("a", ["x", "y", "z"], ["x", "y"], 1, "hit", ("y",), 0, False, 0.0, 2.0),
        LoggedRound("b", ["x", "y"], ["x", "y"], 2, "hit", ("x",), 1, False, 4.0, 5.0),
        LoggedRound("c", ["x", "y"], ["x"], 1, "miss", (), 1, False, 6.0, 7.0),
        LoggedRound("d", ["x", "y"], ["y", "x"], 2, None, (), 1, True, 8.0, None),
    ]


def test_who_has_not_seen_everything_is_not_believed():
    """An empty list, one that may lack candidates, and a search that found nothing."""
    absent = {"answer": {"absent": True}}
    log = [
        {"candidates": [0, 1], "members": [], **absent},
        {"candidates": [0, 1], "truncated": True, **absent},
        {"candidates": [], **absent},
        {"candidates": [0, 1], "members": np.array([1, 0]), **absent},
    ]
    assert [each.answer for each in read_log(log)] == ["miss", "miss", "miss", "absent"]


def test_files_in_other_encodings_and_with_wrong_positions(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_bytes(b'{"kind": "miss", "at": 1.0, "round_id": "\xe4"}')
    with pytest.raises(DamagedFile, match="line 1: this is not an event of a log"):
        read_log(file)
    listed = Listed("a", ["x"], [0.3], [7], 0.25, 0, 1)
    file.write_text(json.dumps({"at": 1.0, "kind": "listed", **encode(listed)}))
    with pytest.raises(DamagedFile, match="is damaged: IndexError"):
        read_log(file)
