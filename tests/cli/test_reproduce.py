"""The command `reproduce`."""

import csv
import json

import numpy as np
import pytest

from tests.cli.command import OWN, refused, shortlist


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
        (("reproduce", "--policies", ""), "name one or more"),
        (
            ("reproduce", "--policies", "sps,no.py:Mine"),
            "policy is 'no.py:Mine'; there is no file no.py; name a Python",
        ),
        (("reproduce", "--policies", "own.py:Mine"), "own.py has no Mine; it has Steady, Needy, Gained"),
        (("reproduce", "--policies", "own.py:Needy"), "every other parameter needs a default"),
        (("reproduce", "--policies", "own.py:limit"), "limit is not a policy; derive the class from shortlist.Policy"),
        (("reproduce", "--policies", "own.py:Steady,own.py:Steady"), "a policy is named twice: Steady, Steady"),
        (("reproduce", "--lambda1", "0"), "lambda1 is 0.0; it must be a number above 0"),
        (("reproduce", "--bidders", "1"), "bidders is 1; it must be at least 2"),
        (("reproduce", "--aci-steps", "small"), "aci_steps is 'small'; give numbers, separated by commas"),
        (("reproduce", "--etc-shares", "0.5,2"), "etc_shares is 0.5, 2; it must hold different shares"),
        (("reproduce", "--suite", "field", "--lambda1", "1"), "with the paper's regret: drop --scores"),
        (("reproduce", "--suite", "field", "--latex"), "the field suite runs all its methods"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path):
    (tmp_path / "taken").write_text("")
    (tmp_path / "own.py").write_text(OWN)
    refused(shortlist(*arguments, cwd=tmp_path), message)


def test_a_score_file_with_two_scorers_is_compared_by_both(tmp_path):
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(400, 10, 2))
    right = (3 * tables.sum(axis=2) + rng.gumbel(size=(400, 10))).argmax(axis=1)
    np.savez(tmp_path / "mine.npz", scorers=["dense", "bm25"], candidate_scores=tables, true_column=right)
    common = ("--scores", "mine.npz", "--rounds", 800, "--runs", 1, "--policies", "sps", "--jobs", 1)
    done = shortlist("reproduce", *common, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "results" / "list_lengths.csv").open() as file:
        rows = {row["variant"]: float(row["last_tenth"]) for row in csv.DictReader(file)}
    assert rows["auto-all"] < rows["auto"] < rows["sps"]
    assert "auto, all scorers" in (tmp_path / "results" / "report.html").read_text()
    assert "auto, all scorers" in done.stdout


def test_an_earlier_experiment_is_replaced_and_nothing_else(tmp_path):
    common = ("reproduce", "--rounds", 300, "--runs", 1, "--jobs", 1, "--policies", "sps,dlr", "--out", "out")
    assert shortlist(*common, "--tasks", "auctions", cwd=tmp_path).returncode == 0
    (tmp_path / "out" / "figures" / "mine.png").write_text("mine")
    assert (tmp_path / "out" / "revenue.csv").exists()
    assert shortlist(*common, "--tasks", "uniform", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "out" / "revenue.csv").exists()
    assert (tmp_path / "out" / "figures" / "mine.png").read_text() == "mine"
    assert "mine.png" not in (tmp_path / "out" / "manifest.json").read_text()


def test_a_policy_of_ones_own_runs_beside_the_others(tmp_path):
    """From a file in another folder, in two processes, with the same rows as in one."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "own.py").write_text(OWN)
    common = ("--rounds", 400, "--runs", 2, "--tasks", "retrieval", "--policies", "sps,dlr,policies/own.py:Steady")
    tables = []
    for jobs in (1, 2):
        done = shortlist("reproduce", *common, "--jobs", jobs, "--out", f"out{jobs}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Steady" in done.stdout
        with (tmp_path / f"out{jobs}" / "summary.csv").open() as file:
            tables.append([{**row, "seconds": ""} for row in csv.DictReader(file)])
    assert tables[0] == tables[1]
    assert [row["policy"] for row in tables[0]] == ["sps", "sps", "dlr", "dlr", "Steady", "Steady"]
    assert "Steady" in (tmp_path / "out1" / "report.html").read_text()
    assert "policies/own.py:Steady" in (tmp_path / "out1" / "manifest.json").read_text()
    assert "retrieval/Steady/regret" in np.load(tmp_path / "out1" / "curves.npz")


def test_knobs_latex_and_totals(tmp_path):
    """Report, manifest and what is printed have what was asked for; a policy of one's own is tuned and drawn."""
    (tmp_path / "own.py").write_text(OWN)
    done = shortlist(
        "reproduce", "--tasks", "auctions", "--policies", "sps,aci,etc,own.py:Gained", "--rounds", 300, "--runs", 2,
        "--jobs", 1, "--lambda1", 0.2, "--lambda2", 5, "--bidders", 3, "--aci-steps", "0.01,0.02", "--etc-shares",
        "0.3", "--latex", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = tmp_path / "results"
    with (out / "verdicts.csv").open() as file:
        assert {row["verdict"] for row in csv.DictReader(file)} == {"not judged"}
    assert "These are 2 runs of 300 rounds; the paper has 10 of 10,000" in done.stdout
    assert "hold and" not in done.stdout  # a short run prints no totals
    manifest = json.loads((out / "manifest.json").read_text())
    options = manifest["options"]
    assert [options[name] for name in ("lambda1", "lambda2", "bidders")] == [0.2, 5.0, 3]
    assert (options["aci_steps"], options["etc_shares"]) == ([0.01, 0.02], [0.3])
    assert set(manifest["tuning_regret"]["auctions/Gained"]) == {"0.01", "0.1", "1.0"}
    page = (out / "report.html").read_text()
    assert "Gained, gain from 0.01, 0.1, 1" in page
    assert "Not in the paper: Gained (added)." in page
    assert "latex/table-auctions.tex" in manifest["sha256"]
    assert "Gained &" in (out / "latex" / "table-auctions.tex").read_text()
