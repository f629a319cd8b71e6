"""Every claim of the paper, measured, and a control in which they fail."""

import dataclasses

from shortlist.lab.claims import claims


def test_every_claim_is_measured_on_every_task(small):
    found = claims(small)
    texts = {claim.claim for claim in found}
    assert len(found) == 3 * len(texts)
    assert len(texts) == 22
    by = {(claim.claim, claim.task): claim for claim in found}
    assert by["greedy frequently undercovers (in more than a tenth of the rounds)", "images"].holds
    assert by["sps never undercovers", "retrieval"].holds


def test_claims_can_fail(small):
    """Negative control: with greedy's rows under SPS's name, SPS's claims do not hold."""
    swapped = dataclasses.replace(small)
    name = {"greedy": "sps", "sps": "greedy"}
    swapped.rows = [dataclasses.replace(row, policy=name.get(row.policy, row.policy)) for row in small.rows]
    found = {claim.claim: claim.holds for claim in claims(swapped) if claim.task == "images"}
    assert not found["sps never undercovers"]
    assert not found["SPS has the lowest regret of SPS, greedy, ACI and DLR"]
