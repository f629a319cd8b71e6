"""One verdict a statement: by hand, and what this project's own run of the paper's experiments gives."""

import pytest

from shortlist.lab.claims import Claim
from shortlist.lab.spec import Spec
from shortlist.lab.verdicts import DEPENDS, FAILS, HOLDS, UNJUDGED, Verdict, consistency, judge, totals, verdicts


def claim(statement, reading, task, holds, by="paper", text=""):
    return Claim(by, statement, text or statement, reading, task, "", holds=holds)


def verdict_of(*claims):
    (found,) = verdicts(list(claims))
    return found.verdict, found.where


def test_it_holds_if_it_does_under_every_reading_on_every_task():
    readings = [("r1", "x"), ("r1", "y"), ("r2", "x"), ("r2", "y")]
    assert verdict_of(*(claim("s", *reading, holds=True) for reading in readings)) == (HOLDS, "")


def test_it_depends_if_one_reading_holds_everywhere_and_another_does_not():
    found = [claim("s", "r1", "x", True), claim("s", "r1", "y", True), claim("s", "r2", "x", True)]
    assert verdict_of(*found, claim("s", "r2", "y", False)) == (DEPENDS, "r1: everywhere; r2: on x")


def test_it_fails_if_no_reading_holds_everywhere():
    """Each task has a reading under which it holds, and still no reading holds on both."""
    found = [claim("s", "r1", "x", True), claim("s", "r1", "y", False), claim("s", "r2", "x", False)]
    assert verdict_of(*found, claim("s", "r2", "y", True)) == (FAILS, "r1: on x; r2: on y")
    assert verdict_of(claim("s", "", "x", False)) == (FAILS, "nowhere")


def test_all_claims_of_a_statement_must_hold():
    """One about a policy with one reading, the other about one with two."""
    found = [claim("s", "", "x", True, text="greedy"), claim("s", "r1", "x", True), claim("s", "r2", "x", False)]
    assert verdict_of(*found) == (DEPENDS, "r1: on x; r2: nowhere")
    assert verdict_of(claim("s", "", "x", False, text="greedy"), *found[1:])[0] == FAILS


def test_auctions_are_read_pooled_or_by_item():
    """One way to read them is enough to depend; on some of them is said."""
    tasks = {"images": True, "auctions": False, "auctions: palm": True}
    assert verdict_of(*(claim("s", "", task, holds) for task, holds in tasks.items())) == (
        DEPENDS,
        "on images, auctions: palm",
    )
    tasks = {"images": False, "auctions": True, "auctions: palm": True}
    assert verdict_of(*(claim("s", "", task, holds) for task, holds in tasks.items())) == (FAILS, "on auctions")


def test_readings_are_said_once():
    """Where only one of two choices matters, the other is not mentioned."""
    found = [claim("s", f"a{i}; d{j}", "x", j == 1) for i in range(3) for j in range(2)]
    assert verdict_of(*found) == (DEPENDS, "d0: nowhere; d1: on x")
    found = [claim("s", f"a{i}; d{j}", "x", i == j == 0) for i in range(2) for j in range(2)]
    assert verdict_of(*found)[1] == "a0 and d0: on x; a0 and d1 or a1 and d0 or a1 and d1: nowhere"


def test_totals_are_of_verdicts_and_say_what_was_not_judged():
    found = [Verdict("paper", text, verdict, "") for text, verdict in (("a", HOLDS), ("b", DEPENDS), ("c", UNJUDGED))]
    assert totals(found) == [
        "Of the paper's 2 statements, 1 hold and 0 fail under every reading tried; 1 depend on the reading.",
        "1 of the paper's could not be judged by this run: see verdicts.csv.",
    ]
    assert totals([Verdict("paper", "a", UNJUDGED, "too short")]) == ["too short"]
    assert totals([]) == []


def test_no_reading_may_satisfy_all_statements():
    found = [claim("s1", "ACI a", "x", True), claim("s1", "ACI b", "x", False)]
    found += [claim("s2", "ACI a", "x", False), claim("s2", "ACI b", "x", True), claim("s3", "ACI a; DLR", "x", True)]
    assert consistency(found, "ACI") == (
        "No reading satisfies all 2 statements about ACI alone: ACI a satisfies 1; ACI b satisfies 1."
    )
    assert consistency(found[:2], "ACI").startswith("One reading satisfies all 1 statements")
    either = [claim("s4", "DLR 0; by regret", "x", False), claim("s4", "DLR 0; by distance", "x", True)]
    either += [claim("s4", "DLR 1; by regret", "x", False), claim("s4", "DLR 1; by distance", "x", False)]
    assert consistency(either, "DLR").endswith("DLR 0 satisfies 1; DLR 1 satisfies 0.")
    assert consistency(found, "ETC") == ""


def test_a_short_run_judges_nothing(small):
    found = judge(small, [claim("s", "", "x", True)])
    assert [one.verdict for one in found] == [UNJUDGED]
    assert "2 runs of 1,500 rounds" in found[0].where
    assert small.spec.rounds < Spec().rounds


@pytest.mark.soak
def test_the_papers_statements():
    """The verdicts of the pages, from the paper's own parameters: a minute."""
    from shortlist.lab.claims import claims  # noqa: PLC0415 - needed here only
    from shortlist.lab.run import run  # noqa: PLC0415

    results = run(Spec(), with_sweeps=False, with_lists=False, with_readings=True)
    found = verdicts(claims(results))
    paper = [one.verdict for one in found if one.by == "paper"]
    assert (paper.count(HOLDS), paper.count(DEPENDS), paper.count(FAILS)) == (6, 14, 0)
    assert "satisfies all 5 statements about ACI alone" in consistency(claims(results), "ACI")
