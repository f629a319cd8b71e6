"""Results on disk: every file that is named, and what an interrupted run leaves."""

import csv
import dataclasses
import hashlib
import json

import numpy as np
import pytest

from shortlist.lab import sweeps
from shortlist.lab.claims import claims
from shortlist.lab.output import write_results
from shortlist.lab.run import run
from shortlist.lab.spec import POLICIES, Spec
from shortlist.lab.verdicts import judge
from tests.lab.small import SMALL


def test_every_promised_file_is_written(small, tmp_path):
    results = dataclasses.replace(small)
    results.horizons = [
        sweeps.HorizonRow(policy, rounds, 0, rounds**0.55)
        for policy in sweeps.swept(SMALL)
        for rounds in sweeps.HORIZONS
    ]
    results.coverages = [
        sweeps.CoverageRow(policy, coverage, 0, 5.0, 10 * (coverage < 0.99))
        for policy in sweeps.swept(SMALL)
        for coverage in sweeps.COVERAGES
    ]
    write_results(results, tmp_path)
    with (tmp_path / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "task", "policy", "run", "regret", "coverage", "undercoverage_count", "mean_set_size", "seconds",
    ]  # fmt: skip
    assert len(rows) == 3 * len(POLICIES) * 2
    assert {row["policy"] for row in rows} == set(POLICIES)
    assert float(rows[0]["regret"]) == small.rows[0].regret  # all digits
    with (tmp_path / "claims.csv").open() as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == ["by", "statement", "claim", "reading", "task", "measured", "holds"]
    assert {row["holds"] for row in found} <= {"yes", "no"}
    with (tmp_path / "verdicts.csv").open() as file:
        verdicts = list(csv.DictReader(file))
    assert list(verdicts[0]) == ["by", "statement", "verdict", "where"]
    assert {row["verdict"] for row in verdicts} == {"not judged"}  # two runs of 1,500 rounds
    with (tmp_path / "readings.csv").open() as file:
        readings = list(csv.DictReader(file))
    assert {row["item"] for row in readings} == {"", "cartier", "palm", "xbox"}
    assert {"aci@levels=clipped", "dlr@start=-10", "etc@explore=0.005"} <= {row["policy"] for row in readings}
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    for name in [
        "regret",
        "regret_growth",
        "coverage",
        "undercoverage",
        "regret_appendix",
        "coverage_appendix",
        "undercoverage_appendix",
        "list_length",
        "thresholds",
        "revenue",
        "revenue_regret",
        "regret_vs_horizon",
        "regret_vs_coverage",
        "headline",
        "lists_compared",
        "shorter_lists",
    ]:
        assert {f"{name}.svg", f"{name}.png"} <= figures
    with (tmp_path / "list_lengths.csv").open() as file:
        lengths = list(csv.DictReader(file))
    assert list(lengths[0]) == [
        "task", "variant", "run", "score", "mean_set_size", "first_200", "last_tenth", "coverage",
        "undercoverage_count",
    ]  # fmt: skip
    assert {row["task"] for row in lengths} == {"images", "retrieval", "tools"}
    assert {row["undercoverage_count"] for row in lengths if row["variant"] == "top-k"} == {""}
    with np.load(tmp_path / "curves.npz") as curves:
        assert curves["images/sps/regret"].shape == (2, curves["rounds"].size)
    with (tmp_path / "revenue.csv").open() as file:
        revenue = list(csv.DictReader(file))
    assert list(revenue[0]) == ["task", "policy", "run", "revenue_per_round", "revenue_regret"]
    regrets = {(row["policy"], int(row["run"])): row["revenue_regret"] for row in revenue}
    assert float(regrets["sps", 1]) == small.stack("auctions", "sps", "revenue_regret")[1, -1]
    assert regrets["optimal reserve price", 0] == "0.0"
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["options"]["seed"] == 0
    assert manifest["options"]["lambda2"] == 10.0
    assert manifest["options"]["bidders"] == 5
    assert len(manifest["options"]["aci_steps"]) == 8
    assert not (tmp_path / "latex").exists()  # it was not asked for
    for name, digest in manifest["sha256"].items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    page = (tmp_path / "report.html").read_text()
    assert page.count("<figure") == 15
    for outside in ("http://", "https://", "<script", 'src="/'):
        assert outside not in page.replace("http://www.w3.org", "")


def test_latex_is_written_where_it_is_asked_for_and_removed_with_the_rest(tmp_path):
    results = run(Spec(tasks=("uniform",), policies=("sps",), rounds=100, runs=1), with_sweeps=False)
    assert write_results(results, tmp_path, latex=True) == judge(results, claims(results))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    files = {f"latex/{path.name}" for path in (tmp_path / "latex").iterdir()}
    assert {"latex/all.tex", "latex/table-uniform.tex", "latex/regret-uniform.pdf"} <= files
    assert files <= set(manifest["sha256"])
    write_results(results, tmp_path)
    assert not list((tmp_path / "latex").iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_leaves_its_finished_rows(jobs, tmp_path, small):
    """Ctrl-C in the middle: after the second of six runs."""

    def press(what, done, _of):
        if (what, done) == ("replaying", 2):
            raise KeyboardInterrupt

    results = run(SMALL, jobs=jobs, with_sweeps=False, progress=press)
    assert not results.complete
    write_results(results, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["summary.csv"]
    with (tmp_path / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(POLICIES)
    finished = {(row.task, row.policy, row.run): row.regret for row in small.rows}
    for row in rows:
        assert finished[row["task"], row["policy"], int(row["run"])] == float(row["regret"])
