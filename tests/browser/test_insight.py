"""What a stream's page tells after the fact: coverage by tag, who answers, what half the misses would have been."""

import csv

import numpy as np
import pytest

from shortlist import Client
from tests.browser.test_accessible import faults


def play(service, name, rounds=300, *, answer=lambda *_: True, **settings):
    """Play rounds of 20 candidates: the right one is the first; those who do not find it ask for more."""
    rng = np.random.default_rng(0)
    with Client(service.url, name) as client:
        client.create(0.8, score="raw", **settings)
        for t in range(rounds):
            scores = rng.random(20)
            scores[0] = rng.beta(3, 1)
            shown = client.propose(scores, tags={"language": ("en", "de")[t % 3 == 0], "customer": f"c{t % 4}"})
            if not answer(rng, 0 in shown.members):
                continue
            if 0 not in shown.members:
                client.more(shown.round_id)
            client.hit(shown.round_id, 0)


def test_coverage_by_tag_and_what_half_the_misses_would_have_been(page, service, axe, tmp_path):
    play(service, "tagged")
    page.goto(f"{service.url}/page/streams/tagged")
    card = page.locator("#subgroups")
    card.get_by_text("language: en").wait_for()
    rows = card.locator("tbody tr")
    assert rows.count() == 6
    assert rows.nth(4).inner_text().split("\t")[:3] == ["language: en", "200", "200"]
    with page.expect_download() as saving:
        card.get_by_role("button", name="As a table (CSV)").click()
    saving.value.save_as(tmp_path / "table.csv")
    table = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert [row["value"] for row in table] == ["c0", "c1", "c2", "c3", "en", "de"]
    tile = page.locator("#if-asked")
    tile.get_by_text("If you had asked for 90.0 %").wait_for()
    assert "Known from 300 answered rounds." in tile.inner_text()
    assert page.locator("#silence").is_hidden()
    assert faults(page, axe) == []


def test_without_tags_there_is_no_table(page, service):
    with Client(service.url, "plain") as client:
        client.create()
        client.propose([0.5])
    page.goto(f"{service.url}/page/streams/plain")
    page.get_by_text("Learning the score: 0 of 30 picks").wait_for()
    page.wait_for_timeout(300)
    assert page.locator("#subgroups").is_hidden()
    assert page.locator("#if-asked").count() == 0


@pytest.mark.parametrize("leave", [False, True])
def test_who_answers_where_silence_is_ignored(page, service, axe, leave):
    def answer(rng, found):
        return rng.random() < 0.9 and (found or not leave)

    play(service, "quiet", 700, answer=answer, unanswered="ignore", patience=10)
    page.goto(f"{service.url}/page/streams/quiet")
    card = page.locator("#silence")
    card.get_by_text("of the last 690 rounds that had time for an answer got one").wait_for()
    sign = (
        "users who do not find the right answer seem to leave"
        if leave
        else "No test found evidence against ignoring silence"
    )
    card.get_by_text(sign).wait_for()
    assert faults(page, axe) == []
