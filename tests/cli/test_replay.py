"""The command `replay`."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from shortlist.lab.tasks import load_task
from tests.cli.command import OWN, refused, shortlist


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "missing.csv"), "missing.csv: there is no such file"),
        (
            ("replay", "log.csv", "--column", "score"),
            "there is no column called 'score'; there are: true_score",
        ),
        (("replay", "log.csv", "--policy", "spss"), "policy is 'spss'"),
        (("replay", "log.csv", "--policy", "aci@x"), "its step must be a number"),
        (("replay", "text.csv"), "row 2 of 'true_score' is 'high'; a score must be a number, or empty"),
        (("replay", "empty.csv"), "empty.csv: this cannot be read as CSV"),
        (("replay", "log.parquet"), "log.parquet: this cannot be read as Parquet"),
        (("replay", "nan.csv"), "row 2 of 'true_score' is inf"),
        (("replay", "log.csv", "--policy", "sps@inf"), "its horizon must be a number"),
        (("replay", "log.csv", "--policy", "anytime@"), "its delta must be a number"),
        (("replay", "log.csv", "--policy", "etc@1.5"), "its explore must be a whole number, or a share of the rounds"),
        (("replay", "log.csv", "--policy", "greedy@1"), "greedy has no setting"),
        (("replay", "log.csv", "--policy", "oracle"), "it needs its threshold"),
        (("replay", "log.csv", "--policy", "sps,sps"), "a policy is named twice"),
        (("replay", "log.csv", "--policy", ""), "name one or more"),
        (("replay", "."), "this is a folder"),
        (("replay", "twice.csv"), "there are 2 columns called 'true_score'"),
        (("replay", "latin.csv"), "is it UTF-8 text?"),
        (("replay", "times.csv", "--column", "when"), "row 1 of 'when' is datetime"),
        (
            ("replay", "words.csv", "--time", "when"),
            "neither numbers nor times, for example '1.2.2024'",
        ),
        (("replay", "semicolon.csv"), "try another --separator"),
        (("replay", "header.csv"), "there are no rows"),
        (("replay", "log.csv", "--policies", "no.py:Mine"), "there is no file no.py"),
        (("replay", "log.csv", "--policies", "own.py:Mine"), "own.py has no Mine; it has Steady, Needy, Gained"),
        (
            ("replay", "log.csv", "--lists"),
            "there is no column called 'round_id'; there are: true_score; --lists needs",
        ),
        (("replay", "log.csv", "--lists", "--policies", "sps"), "drop --policies and --column"),
        (("replay", "log.csv", "--lists", "--delta", "2"), "delta is 2.0; it must lie strictly between 0 and 1"),
        (("replay", "log.csv", "--lists", "--scorers", ","), "scorers is ','; name one or more"),
        (("replay", "log.csv", "--scorers", "dense"), "scorers is 'dense', which is for --lists: add --lists"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path):
    (tmp_path / "log.csv").write_text("true_score\n0.5\n")
    (tmp_path / "text.csv").write_text("true_score\n0.5\nhigh\n")
    (tmp_path / "nan.csv").write_text("true_score,x\n0.5,1\ninf,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "log.parquet").write_text("no")
    (tmp_path / "twice.csv").write_text("true_score,true_score\n1,2\n")
    (tmp_path / "latin.csv").write_bytes("true_score,gr\xf6\xdfe\n1,2\n".encode("latin-1"))
    (tmp_path / "times.csv").write_text("true_score,when\n1,2024-01-01 00:00:00\n")
    (tmp_path / "words.csv").write_text("true_score,when\n1,1.2.2024\n2,10.1.2024\n")
    (tmp_path / "semicolon.csv").write_text("true_score;who\n1;2\n")
    (tmp_path / "header.csv").write_text("true_score,who\n")
    (tmp_path / "own.py").write_text(OWN)
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


def candidates(folder, rounds, scorers):
    """Write a log in which the scorers together know more than the first alone."""
    rng = np.random.default_rng(0)
    lines = [f"round_id,candidate_id,{','.join(scorers)},picked"]
    for i in range(rounds):
        values = rng.normal(size=(12, 2))
        right = int((3 * values.sum(axis=1) + rng.gumbel(size=12)).argmax())
        for j, row in enumerate(values[:, : len(scorers)].tolist()):
            lines.append(f"q{i},c{j},{','.join(map(repr, row))},{int(j == right)}")
    (folder / "candidates.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("scorers", [("dense",), ("dense", "bm25")])
def test_replay_of_lists(tmp_path, scorers):
    candidates(tmp_path, 800, scorers)
    done = shortlist("replay", "candidates.csv", "--lists", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"800 rounds of 12 candidates, scored by {', '.join(scorers)}" in done.stdout
    with (tmp_path / "results-replay" / "lists.csv").open() as file:
        rows = {row["variant"]: row for row in csv.DictReader(file)}
    several = len(scorers) > 1
    assert set(rows) == {"raw", "relative", "auto", "default", "top-k", "autocut"} | (
        {"rrf", "auto-all", "top-k-rrf"} if several else set()
    )
    fixed = "top-k-rrf" if several else "top-k"
    length, other = (float(rows[variant]["mean_set_size"]) for variant in ("default", fixed))
    assert f"its lists are {other / length:.2f} times as long" in done.stdout.replace("\n", " ")
    for row in rows.values():
        assert all(
            f"{float(row[column]):.2f}" in done.stdout for column in ("mean_set_size", "first_200", "last_tenth")
        )
        assert f"{float(row['coverage']):.4f}" in done.stdout
    assert "…" not in done.stdout  # eighty characters are wide enough
    assert (tmp_path / "results-replay" / "lists.png").stat().st_size > 10_000


def test_the_page_says_what_is_printed(tmp_path, monkeypatch):
    """The log is written by the code on the page."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "your-log.md").read_text()
    code = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "candidates.csv" in block)
    monkeypatch.chdir(tmp_path)
    exec(code, {"csv": csv, "np": np, "load_task": load_task})
    done = shortlist("replay", "candidates.csv", "--lists", cwd=tmp_path)
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    expected = re.search(r"```text\n(candidates: .*?)```", page, re.DOTALL)[1].splitlines()
    assert [line for line in expected if line not in printed] == []


def test_replay_of_a_log_too_short_to_cut(tmp_path):
    candidates(tmp_path, 40, ("dense", "bm25"))
    done = shortlist("replay", "candidates.csv", "--lists", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Auto cut nothing in the last tenth" in done.stdout


def test_replay_takes_a_log_at_its_word(tmp_path):
    """Empty lines of a single column are misses, 007 is not 7, and names may hold anything."""
    cells = ["" if i % 20 == 0 else str(i % 97) for i in range(600)]
    (tmp_path / "one.csv").write_text("true_score\n" + "\n".join(cells) + "\n")
    (tmp_path / "two.csv").write_text("true_score,x\n" + "".join(f"{cell},1\n" for cell in cells))
    rows = []
    for name in ("one", "two"):
        assert shortlist("replay", f"{name}.csv", "--out", name, cwd=tmp_path).returncode == 0
        rows.append((tmp_path / name / "replay.csv").read_text().replace(name, "log"))
    assert rows[0] == rows[1]
    assert ",600," in rows[0]
    wild = ["007", "7", "a$x^$b", "[/x]"]
    lines = [f"{i};{wild[i % 4]}" for i in range(400)]
    (tmp_path / "[red]$^$.csv").write_text("true_score;who\n" + "\n".join(lines) + "\n")
    done = shortlist("replay", "[red]$^$.csv", "--separator", ";", "--stream", "who", "--out", "[red]y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[red]y" in done.stdout
    with (tmp_path / "[red]y" / "replay.csv").open() as file:
        assert sorted({row["stream"] for row in csv.DictReader(file)}) == sorted(wild)


def test_a_policy_of_ones_own_replays_a_log(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    scores = np.random.default_rng(0).random(500)
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("true_score\n" + "\n".join(map(str, scores.tolist())) + "\n")
    command = ("replay", "a.csv", "b.csv", "--policies", "anytime,own.py:Steady", "--jobs", 2)
    done = shortlist(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "results-replay" / "replay.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["policy"] for row in rows] == ["anytime", "Steady"] * 2
    threshold, hits = 0.0, 0
    for n, score in enumerate(scores.tolist()):
        last, hit = threshold, score >= threshold
        hits += hit
        threshold += ((1 - 0.9) - (not hit)) / (n + 10.0)
    assert float(rows[1]["threshold"]) == last
    assert float(rows[1]["coverage"]) == hits / 500
