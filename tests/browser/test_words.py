"""The page of a stream shows what the service says of it: `test_sentences.py` has what that is."""

import numpy as np
import pytest

from shortlist import Client
from tests.service.running import running
from tests.service.tampering import alter


def play(service, rounds, *, settings, right_rank, candidates=30, answer=True):
    """Show lists in which the right one has a rank that is drawn; return the stream's summary."""
    rng = np.random.default_rng(0)
    with Client(service.url, "docs") as client:
        client.create(**{"coverage": 0.9, "score": "raw", "delta": 0.01, **settings})
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
    ids = ["settings", "guarantee", "next", "threshold-note", "coverage-note", "length-note", "chosen-note"]
    return {name: page.locator(f"#{name}").text_content() for name in ids}


def first_place(_rng):
    return 0


def test_a_new_stream(page, service):
    play(service, 0, settings={}, right_rank=first_place)
    words = read(page, service)
    assert words["settings"] == "Target: the right answer in 90.0 % of lists."
    assert words["guarantee"].startswith("Guarantee: about every list, with probability 0.99 none is cut further than")
    assert "Everything is shown so far. Lists can become shorter once 65 more rounds count." in words["next"]
    assert "No answer yet" in words["coverage-note"]


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
        client.create(coverage=0.9, delta=0.01)
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
    assert words["next"].endswith("Score: learned from 30 picks.")
    assert page.locator("#shares-card").is_hidden()
    assert words["threshold-note"] == "No threshold yet."


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


def test_a_damaged_stream_is_on_the_overview_and_can_be_deleted(page, damaged_service):
    page.goto(damaged_service.url)
    page.get_by_role("heading", name="Damaged streams").wait_for()
    page.get_by_text("Stream 'docs' is damaged: event 1 cannot be read").wait_for()
    page.get_by_role("link", name="other").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete docs").click()
    page.locator("#damaged").wait_for(state="hidden")
