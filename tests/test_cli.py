"""The command line as a user meets it: exit status, one line of error, no traceback."""

import csv
import subprocess
import sys

import numpy as np
import pytest


def shortlist(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "shortlist", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=300,
    )


def refused(done, message):
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("shortlist: ")
    assert done.stderr.count("\n") == 1


def test_version_and_help():
    assert shortlist("--version").stdout.startswith("shortlist 0.")
    help_text = shortlist("--help").stdout
    for command in ("reproduce", "replay"):
        assert command in help_text


def test_list_tells_where_the_scores_come_from():
    text = shortlist("reproduce", "--list").stdout
    for part in ("EfficientNet-Lite0", "all-MiniLM-L6-v2", "eBay", "anytime@2/T"):
        assert part in text


def test_a_strangers_score_file(tmp_path):
    """float32, ties, negative scores, another size, no candidates."""
    scores = np.random.default_rng(0).integers(-20, 20, 777).astype(np.float32)
    np.savez(tmp_path / "strangers.npz", true_scores=scores)
    done = shortlist("reproduce", "--scores", "strangers.npz", "--rounds", 2000, "--runs", 2, "--jobs", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "results" / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["task"] for row in rows} == {"strangers"}
    assert {row["mean_set_size"] for row in rows} == {"nan"}
    assert float(next(row for row in rows if row["policy"] == "sps")["coverage"]) >= 0.9
    assert (tmp_path / "results" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "--scores", "missing.npz"), "missing.npz: there is no such file"),
        (("reproduce", "--tasks", "speech"), "task is 'speech'"),
        (("reproduce", "--policies", "spss"), "policy is 'spss'"),
        (("reproduce", "--coverage", "1.5"), "coverage is 1.5; it must lie strictly between 0 and 1"),
        (("reproduce", "--rounds", "1"), "rounds is 1; it must be at least 10"),
        (("reproduce", "--jobs", "-1"), "jobs is -1"),
        (("reproduce", "--out", "taken"), "out is taken, which is a file"),
        (("replay", "missing.csv"), "missing.csv: there is no such file"),
        (
            ("replay", "log.csv", "--column", "score"),
            "there is no column called 'score'; there are: true_score",
        ),
        (("replay", "log.csv", "--policy", "spss"), "policy is 'spss'"),
        (("replay", "log.csv", "--policy", "aci@x"), "what follows the @ must be a number"),
        (("replay", "text.csv"), "the column 'true_score' is not all numbers"),
        (("replay", "empty.csv"), "empty.csv: this cannot be read as CSV"),
        (("replay", "log.parquet"), "log.parquet: this cannot be read as Parquet"),
        (("replay", "nan.csv"), "row 2 of 'true_score' is inf"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path):
    (tmp_path / "taken").write_text("")
    (tmp_path / "log.csv").write_text("true_score\n0.5\n")
    (tmp_path / "text.csv").write_text("true_score\n0.5\nhigh\n")
    (tmp_path / "nan.csv").write_text("true_score,x\n0.5,1\ninf,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "log.parquet").write_text("no")
    refused(shortlist(*arguments, cwd=tmp_path), message)


def test_replay_of_a_log(tmp_path):
    """Two streams, out of order, with empty cells, as CSV and as Parquet: the same rows."""
    rng = np.random.default_rng(1)
    lines = ["when,who,score"]
    for when in rng.permutation(3000).tolist():
        score = "" if when % 50 == 0 else repr(float(np.random.default_rng(when).random()))
        lines.append(f"{when},{'ab'[when % 2]},{score}")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    arguments = (
        "--column",
        "score",
        "--stream",
        "who",
        "--time",
        "when",
        "--policy",
        "anytime,sps,greedy,etc@200",
    )
    done = shortlist("replay", "log.csv", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "results-replay" / "replay.csv").read_text()
    assert (tmp_path / "results-replay" / "replay.png").stat().st_size > 10_000
    assert len(rows.splitlines()) == 1 + 2 * 4
    from pyarrow import csv as arrow_csv  # noqa: PLC0415 - needed here only
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(arrow_csv.read_csv(tmp_path / "log.csv"), tmp_path / "log.parquet")
    done = shortlist("replay", "log.parquet", *arguments, "--out", "other", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "other" / "replay.csv").read_text() == rows
    first = rows.splitlines()[1].split(",")
    assert first[:3] == ["a", "anytime", "1500"]
    assert 0.9 <= float(first[3]) <= 1
