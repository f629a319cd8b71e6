"""Every claim of the paper, measured, and a control in which they fail."""

import dataclasses
import math

import numpy as np
import pytest

from shortlist import DLR, metrics, replay
from shortlist.lab.claims import Claim, Totals, claims, totals, totals_in_words
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import load_task
from shortlist.policies import PAPER


def test_every_claim_is_measured_on_every_task(small):
    found = claims(small)
    texts = {claim.claim for claim in found}
    on_logits = [claim for claim in found if "logits" in claim.claim]
    assert [claim.task for claim in on_logits] == ["images"]  # retrieval has cosines, auctions have bids
    assert len(found) == 3 * (len(texts) - 1) + 1
    assert len(texts) == 27
    by = {(claim.claim, claim.task): claim for claim in found}
    assert by["Greedy is past the optimum in more than a tenth of the rounds", "images"].holds
    assert by["SPS is never past the optimum", "retrieval"].holds


def test_policies_are_called_by_their_labels_alone(small):
    """No key of the command line in any column, and the paper's words are quoted for its claims alone."""
    keys = {name for name in PAPER if name.islower()} - {"greedy"}
    for claim in claims(small):
        words = set(f"{claim.claim} {claim.measured}".replace(",", " ").replace("'s", " ").split())
        assert not words & (keys | {"greedy"}), claim
        assert (claim.by == "paper") == bool(claim.statement)


def test_a_strong_word_is_measured_in_its_strength(small):
    """Con-ETC has more regret than SPS here, but "very high" it is only beyond a factor of 3."""
    name = "Con-ETC has more than 3 times the regret of SPS"
    rows = {True: 3.1, False: 2.9}
    for expected, factor in rows.items():
        changed = dataclasses.replace(small)
        sps = {row.task: small.values(row.task, "sps", "regret").mean() for row in small.rows}
        changed.rows = [
            dataclasses.replace(row, regret=factor * sps[row.task]) if row.policy == "conservative-etc" else row
            for row in small.rows
        ]
        assert {claim.holds for claim in claims(changed) if claim.claim == name} == {expected}


def test_dlr_on_probabilities_is_run_on_the_same_rounds(small):
    """Brute force: softmax by its formula, the rounds drawn again."""
    task = load_task("images")
    logits = task.scores.candidate_scores.astype(float)
    true = task.scores.true_scores.astype(float)
    shares = np.array([math.exp(t) / sum(map(math.exp, row)) for t, row in zip(true, logits, strict=True)])
    regrets = []
    for run in range(small.spec.runs):
        rows = small.spec.generator("images", "run", run).integers(len(true), size=small.spec.rounds)
        thresholds = replay(DLR(0.9), shares[rows])
        regrets.append(metrics.regret(thresholds, shares, 0.9)[-1])
    claim = next(claim for claim in claims(small) if "logits" in claim.claim)
    on_logits = small.values("images", "dlr", "regret").mean()
    assert claim.measured == f"DLR {on_logits:,.1f} on logits, {np.mean(regrets):,.1f} on their softmax"


def test_claims_can_fail(small):
    """Negative control: with greedy's rows under SPS's name, SPS's claims do not hold."""
    swapped = dataclasses.replace(small)
    name = {"greedy": "sps", "sps": "greedy"}
    swapped.rows = [dataclasses.replace(row, policy=name.get(row.policy, row.policy)) for row in small.rows]
    found = {claim.claim: claim.holds for claim in claims(swapped) if claim.task == "images"}
    assert not found["SPS is never past the optimum"]
    assert not found["SPS has the lowest regret of SPS, Greedy, ACI and DLR"]


@pytest.fixture
def three():
    verdicts = {"a": (True, True), "b": (True, False), "c": (False, False)}
    return [
        Claim("paper", text, text, task, "", holds=holds)
        for text, both in verdicts.items()
        for task, holds in zip(("x", "y"), both, strict=True)
    ]


def test_claims_are_counted(three):
    assert totals(three, "paper") == Totals(holds=3, measured=6, on_all=1, on_some=1, on_none=1)
    assert totals(three, "ours").measured == 0
    ours = [Claim("ours", "", "d", "x", "", holds=True)]
    assert totals_in_words(three + ours) == [
        "The paper's claims: of 3, 1 hold on every task measured, 1 on some and 1 on none (3 of 6, counted task by "
        "task).",
        "Our own claims: of 1, 1 hold on every task measured, 0 on some and 0 on none (1 of 1, counted task by task).",
    ]
    assert totals_in_words([]) == totals_in_words([], Spec(runs=1)) == []
    assert totals_in_words(ours, Spec()) == totals_in_words(ours)
    assert totals_in_words(ours, Spec(runs=2, rounds=2000))[-1] == (
        "These are 2 runs of 2,000 rounds; the paper has 10 of 10,000, and fewer can mislead."
    )
