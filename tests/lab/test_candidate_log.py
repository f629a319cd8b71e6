"""A user's own log with a row for each candidate."""

import csv

import numpy as np
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.candidate_log import CandidateFiles

HEADER = ["round_id", "candidate_id", "dense", "bm25", "picked"]
ROWS = [
    ["7", "a", "0.5", "3", "0"],
    ["7", "b", "0.25", "", "1"],
    ["007", "a", "0.75", "1", "0"],
    ["7", "c", "", "2", ""],
    ["9", "z", "-1", "0", "1"],
]


def write(path, rows, header=None):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header or HEADER, *rows])
    return str(path)


def test_rounds_are_put_together_in_their_order(tmp_path):
    """Rows of a round need not lie together, 007 is not 7, and rounds may differ in length."""
    path = write(tmp_path / "log.csv", ROWS)
    lists = CandidateFiles((path,)).read()["log"]
    assert lists.scorers == ("dense", "bm25")
    assert lists.counts.tolist() == [3, 1, 1]
    assert lists.right.tolist() == [1, -1, 0]
    assert np.array_equal(lists.values[0], np.array([[0.5, 3], [0.25, np.nan], [np.nan, 2]]), equal_nan=True)
    one = CandidateFiles((path,), scorers=("bm25",))
    with pytest.raises(InvalidScores, match="row 2 has no score in bm25; a candidate needs at least one: leave the"):
        one.read()


def test_csv_and_parquet_are_the_same_lists(tmp_path):
    rows = [["q" + row[0], *row[1:]] for row in ROWS]
    path = write(tmp_path / "log.csv", rows)
    parquet.write_table(arrow_csv.read_csv(path), tmp_path / "other.parquet")
    first = CandidateFiles((path,)).read()["log"]
    second = CandidateFiles((str(tmp_path / "other.parquet"),)).read()["other"]
    assert np.array_equal(first.values, second.values, equal_nan=True)
    assert first.right.tolist() == second.right.tolist()


def test_streams_times_and_several_files(tmp_path):
    """A stream goes on from file to file; times are those of a round's first row."""
    header = ["round_id", "who", "at", "s", "picked"]
    one = write(tmp_path / "1.csv", [["a", "x", 30, 1, 1], ["a", "x", 99, 2, 0], ["b", "y", 5, 3, 0]], header)
    two = write(tmp_path / "2.csv", [["c", "x", 20, 4, 0], ["d", "x", 40, 5, 1], ["b", "y", 6, 6, 1]], header)
    read = CandidateFiles((one, two), by="who", time="at").read()
    assert list(read) == ["x", "y"]
    assert read["x"].scorers == ("s",)  # who and at are no scorers
    assert read["x"].values[:, 0, 0].tolist() == [4, 1, 5]
    assert read["x"].right.tolist() == [-1, 0, 0]
    assert read["y"].values[:, :, 0].tolist() == [[3, 6]]
    assert read["y"].right.tolist() == [1]
    in_order = CandidateFiles((one, two), by="who", scorers=("s",)).read()
    assert in_order["x"].values[:, 0, 0].tolist() == [1, 4, 5]
    assert list(CandidateFiles((one, two), scorers=("s",)).read()) == ["1", "2"]


def changed(row, column, value):
    rows = [list(each) for each in ROWS]
    rows[row][HEADER.index(column)] = value
    return rows


MALFORMED = [
    (changed(1, "picked", "2"), HEADER, "row 2 of 'picked' is 2; it must be 1, or 0, or empty"),
    (changed(0, "picked", "1"), HEADER, "2 candidates of the round '7' are picked; there must be at most one"),
    (changed(0, "dense", "inf"), HEADER, "row 1 of 'dense' is inf; a score must be a finite number, or empty"),
    (changed(0, "candidate_id", "c"), HEADER, "the candidate 'c' is in the round '7' twice; write all its scores in"),
    (changed(2, "round_id", ""), HEADER, "row 3 of 'round_id' is empty; every row needs one"),
    (ROWS, ["round", *HEADER[1:]], "there is no column called 'round_id'; there are: round, candidate_id, dense"),
    (ROWS, [*HEADER[:4], "clicked"], "there is no column called 'picked'; there are: round_id"),
    ([["1", "a", "x", "y", "1"]], HEADER, "there is no column of scores, only round_id, candidate_id, dense, bm25"),
]


@pytest.mark.parametrize(("rows", "header", "message"), MALFORMED, ids=[message for _, _, message in MALFORMED])
def test_malformed_logs_get_one_clear_line(tmp_path, rows, header, message):
    path = write(tmp_path / "log.csv", rows, header)
    with pytest.raises((InvalidScores, InvalidParameter)) as caught:
        CandidateFiles((path,)).read()
    assert message in str(caught.value)
    assert path in str(caught.value)
    assert "\n" not in str(caught.value)


def test_scorers_that_are_named_must_be_there_and_be_numbers(tmp_path):
    path = write(tmp_path / "log.csv", changed(0, "bm25", "high"))
    with pytest.raises(InvalidScores, match="'bm25' holds 'high'; a score must be a number, or empty"):
        CandidateFiles((path,), scorers=("dense", "bm25")).read()
    with pytest.raises(InvalidParameter, match="there is no column called 'cosine'"):
        CandidateFiles((path,), scorers=("cosine",)).read()
    with pytest.raises(InvalidParameter, match="scorers are dense, dense; name each once"):
        CandidateFiles((path,), scorers=("dense", "dense")).read()
