"""New scores from a file."""

import math

import pytest

from shortlist.errors import InvalidParameter, InvalidScores, MissingFile
from shortlist.logs import LoggedRound
from shortlist.logs.newscores import read_new_scores

ROUND = LoggedRound("r1", ["b", 7], ["b"], 1)


def write(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_one_scorer_and_several(tmp_path):
    one = read_new_scores(write(tmp_path, "\ufeffround_id,candidate,dense\nr1,7,0.5\nr1,b,0.25\nr2,x,1\n"))
    assert one(ROUND) == [0.25, 0.5]  # in the order of the log
    two = read_new_scores(write(tmp_path, "candidate,dense,bm25,round_id\n7,0.5,2,r1\nb,,1,r1\n"))(ROUND)
    assert (math.isnan(two["dense"][0]), two["dense"][1], two["bm25"]) == (True, 0.5, [1.0, 2.0])


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", InvalidParameter, r"has the columns \(none\); it needs round_id, candidate, and one per scorer"),
        ("round_id,candidate\n", InvalidParameter, "has the columns round_id, candidate; it needs"),
        ("round_id,candidate,a\nr1,b,x\n", InvalidScores, "line 2: 'x' is not a finite number"),
        ("round_id,candidate,a\nr1,b,inf\n", InvalidScores, "line 2: 'inf' is not a finite number"),
        (
            "round_id,candidate,a\nr1,b,1\nr1,b,2\n",
            InvalidParameter,
            "line 3: candidate 'b' of round r1 occurs twice",
        ),
        ("round_id,candidate,a\nr1," + "b" * 140_000 + ",1\n", InvalidParameter, "cannot be read: field larger than"),
    ],
)
def test_what_is_no_table(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_new_scores(write(tmp_path, text))
    with pytest.raises(MissingFile, match="there is no file"):
        read_new_scores(tmp_path / "nowhere.csv")


def test_every_candidate_of_every_round_is_needed(tmp_path):
    scores = read_new_scores(write(tmp_path, "round_id,candidate,a\nr1,b,0.5\n"))
    with pytest.raises(InvalidParameter, match="no row for candidate 7 of round r1; give one for every candidate"):
        scores(ROUND)


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_bytes(b"round_id,candidate,a\nr1,\xe4,1\n")
    with pytest.raises(InvalidParameter, match=r"cannot be read: .*; it must be CSV in UTF-8"):
        read_new_scores(path)
