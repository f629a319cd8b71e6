"""The report: one file that opens offline, with everything that was measured."""

import dataclasses
import re

import pytest

from shortlist.lab.claims import Claim, claims
from shortlist.lab.figures import draw_all
from shortlist.lab.report import write_report
from shortlist.lab.run import run
from shortlist.lab.spec import Spec
from shortlist.lab.verdicts import verdicts


@pytest.fixture(scope="module")
def results():
    return run(Spec(tasks=("auctions",), policies=("anytime@2/T", "sps", "aci"), rounds=300, runs=2), with_sweeps=False)


def page_of(results, folder, found=None):
    figures = draw_all(results, folder / "figures")
    found = claims(results) if found is None else found
    write_report(results, found, verdicts(found), figures, folder)
    return (folder / "report.html").read_text()


def test_its_numbers_are_those_of_the_results(results, tmp_path):
    page = page_of(results, tmp_path)
    for policy in results.spec.policies:
        mean = results.values("auctions", policy, "coverage").mean()
        assert f'<td class="n">{mean:.4f}' in page
    ours, paper = (results.values("auctions", policy, "regret").mean() for policy in ("anytime@2/T", "sps"))
    assert f"{ours / paper:.2f} &times;" in page
    assert "revenue per round" in page
    by_revenue = results.stack("auctions", "sps", "revenue_regret")[:, -1].mean()
    assert f'<td class="n">{by_revenue:,.0f} ' in page
    assert f"step {results.settings['auctions', 'aci']}" in page  # the setting that was chosen


def test_figures_are_inside_and_nothing_else_is_fetched(results, tmp_path):
    page = page_of(results, tmp_path)
    sources = re.findall(r'src="([^"]{0,30})', page)
    assert sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    for name in ("regret", "coverage", "revenue"):
        assert page.count(f'id="{name}"') == 1
    assert not re.search(r"<script|<link|@import|https?://(?!www\.w3\.org)", page)


def test_a_claim_that_fails_is_said_to_fail_and_text_stays_text(results, tmp_path):
    found = [
        Claim("paper", "b & c", "a < b & c", "", "auctions", "<b>1</b>", holds=False),
        Claim("ours", "d", "d", "", "auctions", "2", holds=True),
    ]
    page = page_of(results, tmp_path, found)
    measured = "<td>auctions</td><td>&lt;b&gt;1&lt;/b&gt;</td>"
    assert f"<td>“b &amp; c”</td><td>a &lt; b &amp; c</td><td></td>{measured}" in page
    total = "Of the paper&#x27;s 1 statements, 0 hold and 1 fail under every reading tried; 0 depend"
    assert total in page.split("<h2>")[0]  # what the report opens with
    assert total in page.split("<h2>The paper's statements</h2>")[1][:200]
    assert page.count("does not hold</span>") == page.count('"no">fails under every reading tried</span>') == 1
    assert page.count('"yes">holds</span>') == 2  # the verdict, and the claim it rests on


def test_scores_of_ones_own_are_named_in_the_title(tmp_path):
    import numpy as np  # noqa: PLC0415 - needed here only

    np.savez(tmp_path / "mine.npz", true_scores=np.random.default_rng(0).random(50))
    spec = Spec(scores=str(tmp_path / "mine.npz"), policies=("sps",), rounds=50, runs=1)
    own = run(spec, with_sweeps=False)
    page = page_of(dataclasses.replace(own), tmp_path)
    assert "<title>Online shortlists on mine</title>" in page
    assert "The paper's experiments on other data." in page
    assert "Vision Transformer" not in page
    assert "As Figure 1 of the paper, on other data." in page


def test_ways_of_making_lists_are_compared(small, tmp_path):
    page = page_of(small, tmp_path)
    section = page.split("shorter lists</h2>")[1].split("<h2>")[0]
    for words in ("auto, all scorers", "fixed top-k by RRF", "raw dense, SPS (the paper)", "the best fixed score"):
        assert words in section
    for task, variant in (("retrieval", "auto-all"), ("tools", "rrf"), ("images", "top-k")):
        mean = small.list_values(task, variant, "last_tenth").mean()
        assert f'<td class="n">{mean:,.2f}' in section
    assert section.count("<figure") == 2


def test_it_opens_with_what_was_reproduced_on_which_models(small, tmp_path):
    opening = page_of(small, tmp_path).split("<h2>")[0]
    assert "Reproduced: Figures 1 to 6 of the paper's six, on all three tasks" in opening
    for words in ("EfficientNet-Lite0", "Vision Transformer", "MiniLM", "DPR", "shortlist score images imagenet/val"):
        assert words in opening


def test_one_task_is_said_to_be_one_task(results, tmp_path):
    opening = page_of(results, tmp_path).split("<h2>")[0]
    assert "Reproduced: Figures 1 to 3 of the paper's six, on 1 of three tasks (auctions)" in opening
    assert "Each auction has 5 bidders" in opening


def test_knobs_are_in_the_report(tmp_path):
    spec = Spec(
        tasks=("auctions",), policies=("sps", "aci"), rounds=200, runs=1, tuning_runs=1,
        lambda1=0.5, lambda2=3.0, bidders=3, aci_steps=(0.02, 0.03),
    )  # fmt: skip
    page = page_of(run(spec, with_sweeps=False), tmp_path)
    for words in ("&lambda;<sub>1</sub> = 0.5", "&lambda;<sub>2</sub> = 3 ", "3 bidders", "ACI, step from 0.02, 0.03"):
        assert words in page
