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
    (arrays(name=np.array([1, 2])), "name must be a text"),
    ({"true_scores": np.array([None, 1.0])}, "cannot be read as an .npz file"),
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
