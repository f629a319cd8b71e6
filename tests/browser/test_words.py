"""What the page of a stream says, in the states in which it could be wrong."""

import re

import numpy as np
import pytest

from shortlist import Client
from tests.service.running import running
from tests.service.tampering import alter


def play(service, rounds, *, settings, right_rank, candidates=30, answer=True):
    """Show lists in which the right one has a rank that is drawn; return the stream's summary."""
    rng = np.random.default_rng(0)
    with Client(service.url, "docs") as client:
        client.create(**{"coverage": 0.9, "score": "raw", **settings})
        for _ in range(rounds):
            scores = np.sort(rng.random(candidates))[::-1]
            right = int(right_rank(rng))
            shown = client.propose(scores)
            if not answer:
                continue
            if right in shown.members:
                client.hit(shown.round_id, right)
            else:
                client.miss(shown.round_id)
        return client.summary()


def read(page, service):
    page.goto(f"{service.url}/page/streams/docs")
    page.locator("#next p").first.wait_for()
    ids = ["settings", "next", "threshold-note", "coverage-note", "length-note", "chosen-note"]
    return {name: page.locator(f"#{name}").text_content() for name in ids}


def first_place(_rng):
    return 0


def among_ten(rng):
    """Below the tenth place in 22 of 100 rounds."""
    return rng.integers(10) if rng.random() < 0.78 else 20


def test_a_new_stream(page, service):
    play(service, 0, settings={}, right_rank=first_place)
    words = read(page, service)
    assert words["settings"] == (
        "Target: the right answer in 90.0 % of lists; with probability 0.99 the threshold never passes the optimum."
    )
    assert "Everything is shown so far. Lists can become shorter once 65 more rounds count." in words["next"]
    assert "No answer yet" in words["coverage-note"]


def test_with_at_most_nothing_is_said_that_is_not_so(page, service):
    """Ten of thirty are shown, 22 % of the right answers lie beyond: nothing is complete, learned, or covered."""
    summary = play(service, 300, settings={"at_most": 10}, right_rank=among_ten)
    assert summary["threshold"] == -np.inf
    assert (summary["truncated_share"], summary["rounds_needed"]) == (1.0, None)
    words = read(page, service)
    everything = " ".join(words.values())
    for wrong in ("Everything is shown", "can become shorter", "never coverage", "Above the target"):
        assert wrong not in everything
    assert "No threshold yet: the best 10 candidates are shown." in words["next"]
    assert "100.0 % of all lists so far may lack a candidate that reached the threshold (at_most is 10" in words["next"]
    assert "Next: fewer misses" in words["next"]
    assert "; lists of more than 10 are cut short, and not covered by it unless somebody shows" in words["settings"]
    assert words["length-note"] == "Never more than 10 candidates."
    low, high = summary["coverage_interval"]
    expected = (
        "Below the target of 90.0 %, by more than chance explains: truncated lists" if high < 0.9 else "is within"
    )
    assert expected in words["coverage-note"]
    assert low < 0.9


def test_at_most_that_is_large_enough(page, service):
    summary = play(service, 300, settings={"at_most": 10}, right_rank=first_place)
    words = read(page, service)
    assert summary["threshold"] > -np.inf
    assert "Lists are cut at the threshold, and after 10 candidates." in words["next"]


@pytest.mark.parametrize("rounds", [20, 200])
def test_shadow_mode(page, service, rounds):
    summary = play(service, rounds, settings={"shadow": True}, right_rank=first_place)
    words = read(page, service)
    assert "Shadow mode: everything is shown" in words["next"]
    missed = f"Everything is shown. With the threshold, {summary['would_have_missed']} of {rounds} right answers"
    assert words["coverage-note"].startswith(missed)
    assert "Lists are cut" not in words["next"]
    assert "can become shorter" not in words["next"]


def test_a_search_that_finds_too_little(page, service):
    """The right one is among the candidates in 7 of 10 rounds: no date is given for what will not come."""
    summary = play(service, 200, settings={}, right_rank=lambda rng: 0 if rng.random() < 0.7 else 99)
    words = read(page, service)
    assert summary["rounds_needed"] is None
    assert "Next: better candidates: everything was shown in 200 answered rounds" in words["next"]
    assert "can become shorter" not in words["next"]
    assert "Below the target of 90.0 %" in words["coverage-note"]
    assert not re.search("truncated", words["coverage-note"])


def test_the_horizon_of_sps(page, service):
    play(service, 200, settings={"policy": {"kind": "sps", "horizon": 500}}, right_rank=first_place)
    words = read(page, service)
    assert "a guarantee for 500 rounds" in words["settings"]
    assert "Above the target: nothing is cut at a threshold yet." in words["coverage-note"]  # it plans for 500
    assert words["threshold-note"] == "No threshold yet."


def test_coverage_above_the_target(page, service):
    play(service, 300, settings={}, right_rank=first_place)
    words = read(page, service)
    assert "Above the target: the threshold approaches the optimum from below." in words["coverage-note"]
    assert words["threshold-note"] == "It never falls."


def test_with_open_rounds_the_first_cut_may_come_sooner(page, service):
    """One open round holds back eighty answered ones: one answer is enough."""
    with Client(service.url, "docs") as client:
        client.create(coverage=0.9, score="raw")
        first = client.propose([0.9, 0.1])
        for _ in range(80):
            client.hit(client.propose([0.9, 0.1]).round_id, 0)
        words = read(page, service)
        assert "once 65 more rounds count; answers to open rounds can make it sooner." in words["next"]
        client.hit(first.round_id, 0)
        assert client.threshold == 0.9


def play_hybrid(client, rounds, seed=0):
    """Show lists of two scorers, the first of which says much more, and answer each."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        table = rng.normal(size=(12, 2))
        right = int(np.argmax(table @ [3.0, 0.5] + rng.gumbel(size=12)))
        shown = client.propose({"dense": table[:, 0], "bm25": np.where(np.arange(12) % 4, table[:, 1], np.nan)})
        client.reveal(shown.round_id, right)


def test_learning_a_score_and_what_was_learned(page, service):
    """While the page is open: how far it is, then what each scorer counts, in words and in a picture."""
    with Client(service.url, "docs") as client:
        client.create(coverage=0.9)
        play_hybrid(client, 12)
        words = read(page, service)
        assert "Learning the score: 12 of 100 picks; everything is shown until then." in words["next"]
        assert "Next:" not in words["next"]
        bar = page.get_by_role("progressbar", name="Picks that the score is learned from")
        assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("12", "100")
        assert not page.locator("#threshold-card, #chosen-card, #shares-card").locator("visible=true").count()
        page.goto(service.url)
        page.get_by_text("learning the score: 12 of 100 picks").wait_for()
        page.goto(f"{service.url}/page/streams/docs")
        page.get_by_text("Learning the score: 12 of 100 picks").wait_for()
        play_hybrid(client, 95, seed=1)
        page.get_by_role("heading", name="Weight of each scorer").wait_for()
        assert bar.count() == 0
        learned = client.summary()["scorers"]
    rows = page.locator("#shares li")
    told = [f"{name}{100 * share:.0f} %" for name, share in sorted(learned.items(), key=lambda each: -each[1])]
    assert told[0].startswith("dense")
    assert rows.all_text_contents() == told
    width = "(row, part) => row.querySelector(part).getBoundingClientRect().width"
    shares = rows.evaluate_all(f"rows => rows.map(row => ({width})(row, '.bar') / ({width})(row, '.track'))")
    assert shares == pytest.approx(sorted(learned.values(), reverse=True), abs=0.01)
    assert "Score: learned from 100 picks: dense " in page.locator("#next").text_content()
    page.locator("#chosen .main-svg").first.wait_for()  # drawn once there is room for it
    assert page.locator("#chosen .main-svg").first.bounding_box()["width"] > 300
    page.locator("#recent summary").first.click()
    candidates = page.locator("#recent details").first.locator(".scores").all_text_contents()
    assert len(candidates) == 12
    assert sum("bm25 \N{EN DASH}" in each for each in candidates) == 3


def test_a_learned_score_of_one_scorer_is_a_sentence(page, service):
    play(service, 35, settings={"score": "auto"}, right_rank=first_place)
    words = read(page, service)
    assert "Score: learned from 30 picks. Next: at least" in words["next"]
    assert page.locator("#shares-card").is_hidden()
    assert words["threshold-note"] == "No threshold yet."


#: What `words.score` and `words.learning` say of a state.
STATES = {
    "much": ({"score": "auto", "score_why": "learned from 30 picks", "refit_gain": 0.124}, "make lists 12 % shorter"),
    "nothing": ({"score": "learned", "score_why": "learned from 9 picks", "refit_gain": 0.004}, "not make lists"),
    "less": ({"score": "auto", "score_why": "learned from 30 picks", "refit_gain": -0.1}, "not make lists shorter"),
    "shares": (
        {"score": "auto", "score_why": "learned: a 57%, b 43%", "refit_gain": None},
        "Score: learned: a 57 %, b",
    ),
    "fixed": ({"score": "raw", "score_why": "as set", "refit_gain": None}, "Score: raw (as set)."),
}


@pytest.mark.parametrize("name", STATES)
def test_what_is_said_of_a_score(page, service, name):
    state, expected = STATES[name]
    page.goto(service.url)
    told = page.evaluate(
        "async (summary) => (await import('/static/words.js')).score(summary)", state | {"fit_picks": None}
    )
    assert expected in told


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"at_most": 10}, "Learning the score: 5 of 30 picks; the best 10 candidates are shown until then."),
        ({"shadow": True}, "Learning the score: 5 of 30 picks; everything is shown in any case."),
        ({}, "Learning the score: 5 of 30 picks; everything is shown until then."),
    ],
    ids=str,
)
def test_learning_a_score_in_other_states(page, service, settings, expected):
    play(service, 5, settings={"score": "auto", **settings}, right_rank=first_place)
    words = read(page, service)
    assert expected in words["next"]
    assert words["threshold-note"] == "No threshold while the score is being learned."
    assert words["chosen-note"] == "Picks are plotted once the score is learned."


@pytest.fixture
def damaged_service(tmp_path):
    """A service that finds a damaged stream in its database, and a sound one."""
    address = f"sqlite:///{tmp_path}/damaged.db"
    with running(address) as service:
        play(service, 2, settings={}, right_rank=first_place)
        service.make("other")
    alter(address, "DELETE FROM snapshots")
    alter(address, "UPDATE events SET body = '{}' WHERE number = 1")
    with running(address) as service:
        yield service


def test_the_page_of_a_damaged_stream_says_so(page, damaged_service):
    page.goto(f"{damaged_service.url}/page/streams/docs")
    page.get_by_text("stream 'docs' is damaged").wait_for()


def test_silence_that_is_ignored_has_a_condition(page, service):
    play(service, 3, settings={"unanswered": "ignore"}, right_rank=first_place, answer=False)
    assert (
        "provided that right answers with low scores are answered at least as often as others, and no later"
        in read(page, service)["settings"]
    )


def test_a_damaged_stream_is_on_the_overview_and_can_be_deleted(page, damaged_service):
    page.goto(damaged_service.url)
    page.get_by_role("heading", name="Damaged streams").wait_for()
    page.get_by_text("Stream 'docs' is damaged: event 1 cannot be read").wait_for()
    page.get_by_role("link", name="other").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete docs").click()
    page.locator("#damaged").wait_for(state="hidden")
