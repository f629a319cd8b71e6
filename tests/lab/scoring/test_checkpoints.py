"""Batches that can be stopped and resumed."""

import numpy as np
import pytest

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.scoring.checkpoints import Job, ScoreBatch, digest_of_bytes
from shortlist.lab.tasks import read_scores


def numbers(start, stop):
    made = np.arange(start, stop, dtype=np.float32)
    return ScoreBatch(made, np.stack([made, -made - 1], axis=1), digest_of_bytes([made.tobytes()]))


def test_a_stop_and_a_resume_give_the_same_file(tmp_path):
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    with Job(whole, {"model": "m"}, total=23, batch=5) as job:
        job.run(numbers, lambda *_: None)
        job.finish(name="n", source="s")
    computed = []

    def stopping(start, stop):
        if len(computed) in (2, 3):
            computed.append(None)
            raise KeyboardInterrupt
        computed.append(start)
        return numbers(start, stop)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), Job(parts, {"model": "m"}, total=23, batch=5) as job:
            job.run(stopping, lambda *_: None)
    told = []
    with Job(parts, {"model": "m"}, total=23, batch=5) as job:
        job.run(stopping, lambda done, total: told.append((done, total)))
        job.finish(name="n", source="s")
    assert [start for start in computed if start is not None] == [0, 5, 10, 15, 20]
    assert told[0] == (10, 23)
    assert told[-1] == (23, 23)
    assert parts.read_bytes() == whole.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []
    assert read_scores(parts).details["model"] == "m"


def test_another_job_is_not_taken_up(tmp_path):
    out = tmp_path / "scores.npz"
    with Job(out, {"model": "one"}, total=3, batch=1) as job:
        job.run(numbers, lambda *_: None)
        with pytest.raises(InvalidParameter, match="is in use by another process"):
            Job(out, {"model": "one"}, total=3, batch=1)
    with pytest.raises(InvalidParameter, match="model was 'one' and is 'two' now"):
        Job(out, {"model": "two"}, total=3, batch=1)
    (tmp_path / "scores.npz.partial" / "000000001.npz").write_bytes(b"PK")
    with Job(out, {"model": "one"}, total=3, batch=1) as job, pytest.raises(InvalidScores, match="is damaged"):
        job.finish(name="n", source="s")
    (tmp_path / "scores.npz.partial" / "settings.json").unlink()
    with pytest.raises(InvalidParameter, match="batches without their settings"):
        Job(out, {"model": "two"}, total=3, batch=1)


def test_scores_that_are_not_finite_are_noticed_at_once(tmp_path):
    def broken(start, stop):
        return ScoreBatch(np.full(stop - start, np.nan, np.float32), np.zeros((stop - start, 2), np.float32), "")

    with (
        Job(tmp_path / "s.npz", {}, total=3, batch=2) as job,
        pytest.raises(InvalidScores, match="some scores of questions 0 to 1"),
    ):
        job.run(broken, lambda *_: None)
