"""A number from labeled examples on the command line: the number, its guarantee, its price, and a curve."""

import csv

import numpy as np
import pytest

import shortlist as package
from shortlist import threshold_from_labels
from tests.cli.command import refused, shortlist


@pytest.fixture
def folder(tmp_path):
    """A folder with 120 examples: the right answers' scores, and all results with two scorers."""
    rng = np.random.default_rng(0)
    lists = rng.random((120, 10)).round(4)
    lists[:, 0] = (0.5 + lists[:, 0] / 2).round(4)
    with (tmp_path / "true.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["true_score"], *([f"{score:.4f}"] for score in lists[:, 0])])
    with (tmp_path / "results.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["round_id", "dense", "distance", "picked"])
        for i, scores in enumerate(lists):
            rows.writerows([i, score, round(1 - score, 4), int(j == 0)] for j, score in enumerate(scores))
    return tmp_path, lists


def number(done):
    assert done.returncode == 0, done.stderr
    return float(done.stdout.splitlines()[0].removeprefix("score_threshold = "))


def test_a_row_per_example(folder):
    path, lists = folder
    done = shortlist("threshold", "true.csv", cwd=path)
    exact = threshold_from_labels(lists[:, 0]).threshold
    assert exact - 1e-5 < number(done) < exact  # on the safe side of > and of >=
    assert "With probability 0.95" in done.stdout
    assert "in 90% of questions or more" in done.stdout
    assert "29 examples are enough for a first number" in done.stdout
    assert f'"score_threshold": {done.stdout.splitlines()[0].split()[-1]}' in done.stdout
    assert "it compares what similarity_search_with_relevance_scores returns" in done.stdout
    assert "at delta 0.01 each" in done.stdout
    curve = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(("0.8 ", "0.9 ", "0.99 "))]
    chosen = threshold_from_labels(lists[:, 0], 0.8, choices=5).threshold
    assert float(curve[0][1]) == pytest.approx(chosen, abs=1e-5)
    assert curve[2][1:] == ["339", "more", "examples"]


def test_a_row_per_result_says_what_it_costs(folder):
    path, lists = folder
    done = shortlist("threshold", "results.csv", "--scorer", "dense", cwd=path)
    exact = threshold_from_labels(lists[:, 0]).threshold
    length = (lists >= exact).sum(axis=1).mean()
    ranks = (lists >= lists[:, :1]).sum(axis=1)
    top = -threshold_from_labels(-ranks.astype(float)).threshold
    assert f"expected: {length:.1f} of 10. A fixed top-k with the same guarantee: {top:.0f}." in done.stdout
    apart = shortlist("threshold", "results.csv", "--scorer", "distance", "--distances", cwd=path)
    assert number(apart) == pytest.approx(1 - exact, abs=1e-4)
    assert number(apart) > 1 - exact
    assert "is at most this far away" in apart.stdout
    # LangChain's score_threshold keeps what is larger, so a distance must not be pasted there.
    assert "similarity_score_threshold" not in apart.stdout
    assert f"if pair[1] <= {apart.stdout.splitlines()[0].split()[-1]}]" in apart.stdout
    assert "lister.warm_start(-lists, right)" in apart.stdout


def test_the_lines_that_it_prints_run(folder):
    path, lists = folder
    known = {"shortlist": package, "true_scores": lists[:, 0], "lists": lists, "right": [0] * len(lists)}
    for words in (["true.csv"], ["results.csv", "--scorer", "dense"]):
        printed = shortlist("threshold", *words, cwd=path).stdout.splitlines()
        lines = [line.strip() for line in printed if line.strip().startswith("lister")]
        assert len(lines) == 2
        exec("\n".join(lines), known)
        assert known["lister"].summary().shadow
        assert known["lister"].threshold > -np.inf


def test_what_there_is_no_number_for(folder):
    path, _ = folder
    few = ("threshold", "true.csv", "--coverage", "0.99")
    refused(shortlist(*few, cwd=path), "120 examples are too few for coverage 0.99 at delta 0.05, which needs 299")
    refused(shortlist("threshold", "results.csv", cwd=path), "has the scores dense, distance; a threshold is for one")
    refused(shortlist("threshold", "true.csv", "--scorer", "x", cwd=path), "has no columns round_id and picked")
    (path / "word.csv").write_text("round_id,score,picked\n1,0.5,1\n1,abc,0\n2,0.5,1\n")
    refused(shortlist("threshold", "word.csv", cwd=path), "row 2 of 'score' is 'abc'; a score must be a number")
    (path / "names.csv").write_text("question_id,score,picked\n1,0.5,1\n")
    refused(shortlist("threshold", "names.csv", cwd=path), "a row for each result, with round_id, a score and picked")
    done = shortlist("threshold", "results.csv", "--scorer", "distance", cwd=path)
    assert (
        "That is nearly everything. If smaller scores are better, they are distances: add --distances." in done.stdout
    )
    (path / "absent.csv").write_text("true_score,x\n" + ",1\n" * 50 + "0.5,1\n" * 50)
    done = shortlist("threshold", "absent.csv", cwd=path)
    assert done.returncode == 0, done.stderr
    assert "No number covers 90%: the right answer is missing from more of the 100 examples" in done.stdout


def test_numbers_at_the_edge_of_floats(tmp_path):
    """Strictly on the safe side, and of six digits; also where the score itself has no more than that."""
    for score in ("5e-324", "1e308", "-1e-310", "0", "0.55", "0.0003", "1"):
        (tmp_path / "edge.csv").write_text("true_score\n" + f"{score}\n" * 40)
        assert number(shortlist("threshold", "edge.csv", cwd=tmp_path)) < float(score)
        if not score.startswith("-"):
            assert number(shortlist("threshold", "edge.csv", "--distances", cwd=tmp_path)) > float(score)
