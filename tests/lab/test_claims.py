"""Every claim of the paper, measured under every reading, and a control in which they fail."""

import dataclasses
import math

import numpy as np

from shortlist import DLR, metrics, replay
from shortlist.lab.claims import claims, size_note, unjudged
from shortlist.lab.run import run
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import AUCTION_ITEMS, load_task
from shortlist.policies import PAPER

TASKS = ["images", "retrieval", "auctions", *(f"auctions: {item}" for item in AUCTION_ITEMS)]


def test_every_claim_is_measured_on_every_task_under_every_reading(small):
    found = claims(small)
    texts = {claim.claim for claim in found}
    assert len(texts) == 28
    assert {claim.task for claim in found if "logits" in claim.claim} == {"images"}  # the only ones that are logits
    by = {(claim.claim, claim.reading, claim.task): claim for claim in found}
    assert len(by) == len(found)
    assert by["Greedy is past the optimum in more than a tenth of the rounds", "", "images"].holds
    assert by["SPS is never past the optimum", "", "auctions: palm"].holds
    for reading in ("ACI's levels open", "ACI's levels clipped", "ACI's level moved on hits only"):
        for task in TASKS:
            assert ("ACI's regret is within a factor of 3 of Greedy's", reading, task) in by
    explored = {claim.reading for claim in found if claim.claim.startswith("ETC covers less")}
    assert explored == {"ETC's m chosen by regret", *(f"ETC's m = {share:g} T" for share in small.spec.etc_shares)}


def test_a_reading_is_what_its_policy_does(small):
    """Regret of clipped ACI as the claim has it, from the rule and the rounds."""
    chosen = small.readings[0].settings["retrieval", "aci@levels=clipped"]
    law = metrics.Population(*load_task("retrieval").population)
    regrets = []
    for run_number in range(small.spec.runs):
        stream = load_task("retrieval").draw(small.spec.generator("retrieval", "run", run_number), small.spec.rounds)
        policy = small.readings[0].spec.policy("aci@levels=clipped", chosen)
        assert (policy.levels, policy.step) == ("clipped", chosen)
        regrets.append(metrics.regret(replay(policy, stream.true_scores), law, 0.9)[-1])
    claim = next(
        claim
        for claim in claims(small)
        if (claim.reading, claim.task) == ("ACI's levels clipped", "retrieval") and "factor of 3" in claim.claim
    )
    assert claim.measured.startswith(f"ACI {np.mean(regrets):,.1f}, Greedy ")


def test_policies_are_called_by_their_labels_alone(small):
    """No key of the command line in any column."""
    keys = {name for name in PAPER if name.islower()} - {"greedy"}
    for claim in claims(small):
        words = set(f"{claim.claim} {claim.measured}".replace(",", " ").replace("'s", " ").split())
        assert not words & (keys | {"greedy"}), claim


def test_a_strong_word_is_measured_against_what_never_cutting_costs(small):
    """Very high regret is at least three quarters of it, which a policy that never undercovers can reach."""
    name = "Con-ETC's regret is at least 0.75 of that of never cutting"
    law = metrics.Population(*load_task("images").population)
    never = metrics.regret(np.full(small.spec.rounds, -math.inf), law, 0.9)[-1]
    for expected, share in {True: 0.76, False: 0.74}.items():
        changed = dataclasses.replace(small, readings=[])
        changed.rows = [
            dataclasses.replace(row, regret=share * never) if row.policy == "conservative-etc" else row
            for row in small.rows
        ]
        found = [claim for claim in claims(changed) if (claim.claim, claim.task) == (name, "images")]
        assert [claim.holds for claim in found] == [expected]  # other readings were not run
        assert found[0].measured.endswith(f"{share:.2f} of {never:,.1f}, the regret of never cutting")


def test_dlr_on_probabilities_is_run_on_the_same_rounds(small):
    """Brute force: softmax by its formula, the rounds drawn again."""
    task = load_task("images")
    logits = task.scores.candidate_scores.astype(float)
    true = task.scores.true_scores.astype(float)
    shares = np.array([math.exp(t) / sum(map(math.exp, row)) for t, row in zip(true, logits, strict=True)])
    regrets = []
    for number in range(small.spec.runs):
        rows = small.spec.generator("images", "run", number).integers(len(true), size=small.spec.rounds)
        thresholds = replay(DLR(0.9), shares[rows])
        regrets.append(metrics.regret(thresholds, shares, 0.9)[-1])
    claim = next(claim for claim in claims(small) if "logits" in claim.claim and "from 0; by regret" in claim.reading)
    on_logits = small.values("images", "dlr", "regret").mean()
    assert claim.measured == f"DLR {on_logits:,.1f} on logits, {np.mean(regrets):,.1f} on their softmax"


def test_claims_can_fail(small):
    """Negative control: with greedy's rows under SPS's name, SPS's claims do not hold."""
    swapped = dataclasses.replace(small, readings=[])
    name = {"greedy": "sps", "sps": "greedy"}
    swapped.rows = [dataclasses.replace(row, policy=name.get(row.policy, row.policy)) for row in small.rows]
    found = {claim.claim: claim.holds for claim in claims(swapped) if claim.task == "images"}
    assert not found["SPS is never past the optimum"]
    assert not found["SPS has the lowest regret of SPS, Greedy, ACI and DLR"]


def test_what_a_run_cannot_judge_is_listed():
    """A user's own setting is a reading of its policy; what needs a policy that was not run is named, not dropped."""
    spec = Spec(tasks=("auctions",), policies=("aci@0.128", "greedy"), rounds=200, runs=2)
    results = run(spec, with_sweeps=False, with_readings=True)
    assert not results.readings
    found = claims(results)
    assert {claim.claim for claim in found if "ACI" in claim.claim}
    assert len({claim.statement for claim in found}) == 5
    why = {one.statement: one.why for one in unjudged(results)}
    assert why["our algorithm never undercovers"] == "SPS was not run"
    assert why["our algorithm consistently obtains the lowest regret"] == "SPS and DLR were not run"
    assert len(why) == 15
    only = run(Spec(tasks=("auctions",), policies=("dlr",), rounds=100, runs=1), with_sweeps=False)
    assert "it is about images, which were not run" in {one.why for one in unjudged(only)}


def test_a_run_that_is_too_small_says_so():
    assert size_note(Spec()) == ""
    assert size_note(Spec(runs=1)) == (
        "These are 1 run of 10,000 rounds; the paper has 10 of 10,000, so its statements are not judged."
    )
