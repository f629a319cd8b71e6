"""Score files: a stranger's are read, a broken one gets one clear line."""

import zipfile

import numpy as np
import pytest

from shortlist.errors import InvalidScores
from shortlist.lab.tasks import read_scores, task_from_file, write_scores

TRUE = np.array([0.5, 0.25, -1.0], dtype=np.float32)
CANDIDATES = np.array([[0.5, 0.1], [0.0, 0.25], [-1.0, -1.0]], dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_round_trip(tmp_path, dtype):
    path = tmp_path / "mine.npz"
    write_scores(path, TRUE.astype(dtype), CANDIDATES.astype(dtype), name="mine", source="a test")
    scores = read_scores(path)
    assert scores.true_scores.dtype == dtype
    assert (scores.name, scores.source) == ("mine", "a test")
    task = task_from_file(path)
    assert task.draw(np.random.default_rng(0), 10).set_sizes(np.zeros(10)) is not None


def test_a_file_with_true_scores_alone_will_do(tmp_path):
    np.savez(tmp_path / "strangers.npz", true_scores=TRUE)
    scores = read_scores(tmp_path / "strangers.npz")
    assert scores.candidate_scores is None
    assert scores.name == "strangers"
    assert task_from_file(tmp_path / "strangers.npz").draw(np.random.default_rng(0), 5).candidates is None


def arrays(**changes):
    return {"true_scores": TRUE, "candidate_scores": CANDIDATES} | changes


TABLES = np.stack([CANDIDATES, CANDIDATES + 3], axis=2)
COLUMNS = np.array([0, 1, -1])


def several(**changes):
    return {"candidate_scores": TABLES, "scorers": np.array(["dense", "bm25"]), "true_column": COLUMNS} | changes


MALFORMED = [
    ({"scores": TRUE}, "there is no array called true_scores (found: scores)"),
    (arrays(true_scores=TRUE.astype(int)), "true_scores is of type int64; it must be a float array"),
    (arrays(true_scores=CANDIDATES), "true_scores has the shape (3, 2)"),
    (arrays(true_scores=np.empty(0, np.float32)), "true_scores is empty"),
    (
        arrays(true_scores=np.array([0.5, np.nan, 0], np.float32)),
        "true_scores[1] is nan; scores must be finite",
    ),
    (arrays(candidate_scores=TRUE), "candidate_scores has the shape (3,)"),
    (arrays(candidate_scores=CANDIDATES[:2]), "candidate_scores has 2 rows and true_scores 3 entries"),
    (arrays(candidate_scores=CANDIDATES.astype(np.float64)), "they must be the same"),
    (arrays(candidate_scores=CANDIDATES + 1), "true_scores[0] is 0.5, which is not in row 0"),
    (arrays(candidate_scores=np.full((3, 2), np.inf, np.float32)), "candidate_scores[0, 0] is inf"),
    (arrays(name=np.array([1, 2])), "name must be text"),
    ({"true_scores": np.array([None, 1.0])}, "cannot be read as an .npz file"),
    ({"scorers": np.array(["a"])}, "there are scorers and no array called candidate_scores"),
    ({"scorers": np.array(["a"]), "candidate_scores": TABLES}, "there are scorers and no array called true_column"),
    (several(scorers=np.array([1, 2])), "scorers is of type int64; it must be a list of names"),
    (several(scorers=np.array(["a", "a"])), "each needs a name of its own"),
    (several(scorers=np.array(["a", "b", "c"])), "there are 3 scorers (a, b, c); its last axis must have one entry"),
    (several(candidate_scores=CANDIDATES), "candidate_scores has the shape (3, 2); it must have a row of scores"),
    (several(candidate_scores=np.full_like(TABLES, np.inf)), "candidate_scores[0, 0, 0] is inf; scores must be finite"),
    (several(true_column=COLUMNS[:2]), "has the shape (2,); it must be 3 whole numbers, one for each row"),
    (several(true_column=COLUMNS / 2), "true_column is of type float64"),
    (several(true_column=COLUMNS + 1), "true_column[1] is 2; it must be between 0 and 1, or -1"),
    (
        several(candidate_scores=np.where(np.arange(3)[:, None, None] == 1, np.nan, TABLES)),
        "true_column[1] is 1, a candidate that no scorer has a score for; write -1",
    ),
    (several(true_scores=TRUE), "true_scores are not the first scorer's scores of the right answers; leave them out"),
]


@pytest.mark.parametrize(("content", "message"), MALFORMED, ids=[message for _, message in MALFORMED])
def test_malformed_files_get_one_clear_line(tmp_path, content, message):
    path = tmp_path / "mine.npz"
    np.savez(path, **content)
    with pytest.raises(InvalidScores) as caught:
        read_scores(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_a_score_file_gets_one_clear_line(tmp_path):
    (tmp_path / "text.npz").write_text("true_scores")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "single.npy", TRUE)
    whole = tmp_path / "whole.npz"
    np.savez(whole, true_scores=TRUE)
    (tmp_path / "cut.npz").write_bytes(whole.read_bytes()[:-30])
    with zipfile.ZipFile(tmp_path / "stranger.npz", "w") as archive:
        archive.writestr("true_scores.npy", "hello")
    for name, message in (
        ("text.npz", "this is not an .npz file"),
        ("empty.npz", "this is not an .npz file"),
        ("cut.npz", "this is not an .npz file"),
        ("stranger.npz", "true_scores is not an array"),
        ("single.npy", "this is a single array"),
        ("missing.npz", "there is no such file"),
        ("", "this is a folder"),
    ):
        with pytest.raises(InvalidScores, match=message) as caught:
            read_scores(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_several_scorers_with_gaps_and_lists_of_different_length(tmp_path):
    """The first scorer's part is what the paper's policies see; a candidate without any score is not there."""
    tables = TABLES.astype(np.float64)
    tables[0, 1, 0] = np.nan  # the first scorer has none for this one
    tables[2, 1] = np.nan  # there is no such candidate
    write_scores(
        tmp_path / "a.npz", None, tables, name="mine", source="a test", scorers=["dense", "bm25"], true_column=COLUMNS
    )
    scores = read_scores(tmp_path / "a.npz")
    assert scores.scorers == ("dense", "bm25")
    assert np.array_equal(scores.tables, tables, equal_nan=True)
    assert scores.true_columns.tolist() == [0, 1, -1]
    assert scores.true_scores.tolist() == [0.5, 0.25, -np.inf]
    assert scores.candidate_scores.flags.c_contiguous
    task = task_from_file(tmp_path / "a.npz")
    stream = task.draw(np.random.default_rng(0), 50)
    rows = stream.candidates[1]
    everything = stream.set_sizes(np.full(50, -np.inf))
    assert everything.tolist() == np.array([1, 2, 1])[rows].tolist()
    assert stream.set_sizes(np.full(50, 0.1)).tolist() == np.array([1, 1, 0])[rows].tolist()
    again = tmp_path / "b.npz"
    write_scores(again, scores.true_scores, tables, name="mine", source="a test", scorers=["dense", "bm25"],
                 true_column=COLUMNS)  # fmt: skip
    assert read_scores(again).true_scores.tolist() == scores.true_scores.tolist()


def test_one_scorer_may_have_a_name_and_a_column(tmp_path):
    np.savez(tmp_path / "one.npz", candidate_scores=TABLES[:, :, :1], scorers=["dense"], true_column=COLUMNS)
    scores = read_scores(tmp_path / "one.npz")
    assert (scores.scorers, scores.by_scorer) == (("dense",), None)
    assert np.array_equal(scores.tables, TABLES[:, :, :1], equal_nan=True)
    assert np.array_equal(scores.lists, TABLES[:, :, 0], equal_nan=True)
    assert scores.true_columns.tolist() == [0, 1, -1]


def test_a_small_file_does_not_become_gigabytes(tmp_path, monkeypatch):
    """What it would unpack to is known before it is; and a header may say anything."""
    np.savez_compressed(tmp_path / "zeros.npz", true_scores=np.zeros(3_000_000))
    assert len(read_scores(tmp_path / "zeros.npz").true_scores) == 3_000_000  # 24 MB are no harm
    monkeypatch.setattr("shortlist.lab.tasks.score_file._SMALL", 1_000_000)
    with pytest.raises(InvalidScores, match=r"would become 24,000,\d+, more than 100 times as many"):
        read_scores(tmp_path / "zeros.npz")
    np.savez(tmp_path / "plain.npz", true_scores=np.zeros(3_000_000))
    read_scores(tmp_path / "plain.npz")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    with zipfile.ZipFile(tmp_path / "boast.npz", "w") as archive:
        archive.writestr("true_scores.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InvalidScores, match=r"memory|cannot be read"):
        read_scores(tmp_path / "boast.npz")
