"""LaTeX: tables with the numbers of the results, captions, and a document that compiles."""

import dataclasses
import re
import shutil
import subprocess

import pytest

from shortlist.lab.claims import claims
from shortlist.lab.latex import escape, write_latex
from shortlist.lab.verdicts import DEPENDS, FAILS, HOLDS, verdicts


@pytest.fixture(scope="module")
def written(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("latex")
    return folder, write_latex(small, verdicts(claims(small)), folder)


def test_every_file_is_named(written):
    folder, names = written
    assert sorted(path.name for path in folder.iterdir()) == names
    for name in ("all.tex", "table-results.tex", "table-images.tex", "table-claims.tex", "figure-regret.tex"):
        assert name in names


def test_a_table_has_a_row_for_each_policy_and_its_numbers(small, written):
    table = (written[0] / "table-retrieval.tex").read_text()
    rows = dict(re.findall(r"^([^&\n]+) & (\$.*) \\\\$", table, flags=re.MULTILINE))
    assert list(rows) == [
        r"AnytimeSPS, $\delta$ = 2/T (ours)", r"AnytimeSPS, $\delta$ = 0.01 (ours)", "ProductLimit (ours)", "SPS",
        "Con-ETC", "ETC", "Greedy", "ACI", "DLR",
    ]  # fmt: skip
    regret = small.values("retrieval", "sps", "regret").mean()
    cells = rows["SPS"].split(" & ")
    assert cells[0].startswith(rf"${regret:.1f} \pm ")
    assert cells[1] == f"${small.values('retrieval', 'sps', 'coverage').mean():.3f}$"
    assert cells[2] == "$0$"
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert table.count(rule) == 1
    assert r"$\lambda_1 = 0.1$, $\lambda_2 = 10$" in table


def test_the_wide_table_has_all_tasks(small, written):
    table = (written[0] / "table-results.tex").read_text()
    for task in ("images", "auctions"):
        assert f"{small.values(task, 'dlr', 'coverage').mean():.3f}" in table
    assert table.count(r"\multicolumn{3}{c}") == table.count(r"\cmidrule") == 3
    assert r"\begin{table*}" in table


def test_claims_are_there_with_their_totals(small, written):
    table = (written[0] / "table-claims.tex").read_text()
    found = verdicts(claims(small))
    for verdict in (HOLDS, DEPENDS, FAILS):
        assert table.count(rf"\raggedright {verdict}\strut") == sum(one.verdict == verdict for one in found)
    assert "hold and" in table


def test_figures_have_their_captions(written):
    figure = (written[0] / "figure-coverage.tex").read_text()
    assert r"\caption{Coverage rate so far; the dashed line is the target." in figure  # as another paper would say it
    assert "of the paper" not in figure
    assert r"\includegraphics[width=\textwidth]{coverage.pdf}" in figure
    assert "coverage-retrieval.pdf" in figure
    assert r"\begin{figure}" in (written[0] / "figure-revenue-regret.tex").read_text()


def test_a_text_is_a_text():
    assert escape("a_b & 5 % of $1 {#} ~^\\") == (
        r"a\_b \& 5 \% of \$1 \{\#\} \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )
    assert escape("± é 日") == r"$\pm$ é ?"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_document_compiles(small, tmp_path):
    """In two columns, with a policy's name that LaTeX would stumble over."""
    odd = dataclasses.replace(small, spec=dataclasses.replace(small.spec, policies=("sps", "dlr", "greedy", "aci")))
    write_latex(odd, verdicts(claims(odd)), tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "undefined" not in done.stdout
    assert "Overfull" not in done.stdout
    assert (tmp_path / "all.pdf").stat().st_size > 50_000
