"""What the pages say of the error budget, in every state that it can be in."""

import re

import pytest

from shortlist import Client


def spend(service, misses, name="docs", **settings):
    """Show lists of thirty until they are cut, then miss so often; return the summary."""
    with Client(service.url, name) as client:
        client.create(**{"score": "raw", "delta": 0.01, **settings})
        for i in range(90 + misses):
            shown = client.propose([0.9 - 0.02 * j for j in range(30)])
            if i < 90:
                client.hit(shown.round_id, 0)
            else:
                client.miss(shown.round_id)
        return client.summary()


def read(page, service, name="docs"):
    """Return what the page says first, and the tile."""
    page.goto(f"{service.url}/page/streams/{name}")
    page.locator("#tiles dt").first.wait_for()
    tile = page.locator("#error-budget")
    return page.locator("#next").text_content(), tile.text_content() if tile.count() else None


def test_a_budget_of_which_little_is_spent(page, service):
    summary = spend(service, 3)
    words, tile = read(page, service)
    assert "Lists are cut at the threshold." in words
    assert "shifted" not in words
    assert tile.startswith("Error budget2.7 of 20 misses spent; burn rate 0.3\N{MULTIPLICATION SIGN}")
    assert summary["error_budget"]["burn_rate"] == pytest.approx(10 * 3 / 93)
    assert "No list was made longer so far." in tile
    assert "If answers are prompt, any W answered rounds in a row have at most 0.1 W + 20 misses of lists" in tile
    bar, track = (page.locator(f"#error-budget {part}").bounding_box()["width"] for part in (".bar", ".track"))
    assert bar / track == pytest.approx(2.7 / 20, abs=0.01)


def test_a_budget_that_runs_out_while_the_page_is_open(page, service):
    """Lists become longer, then complete; the page says so and what it means, and then that it is over."""
    spend(service, 0)
    read(page, service)
    summary = spend(service, 19)
    page.get_by_text("The error budget is running out: lists are longer for now.").wait_for()
    words = page.locator("#next").text_content()
    assert "Lists have missed so often that the distribution may have shifted. The threshold stays where it is" in words
    assert "Lists are cut at the threshold" not in words
    assert page.locator("#next.watch").count() == 1
    budget = summary["error_budget"]
    longer = f"{budget['lengthened']} lists were made longer so far, by {budget['added']:.1f}".removesuffix(".0")
    page.locator("#error-budget", has_text=longer).wait_for()
    page.goto(service.url)
    page.locator("td", has_text=re.compile(r"17\.1 of 20")).get_by_text("lists are longer").wait_for()
    spend(service, 0)
    spend(service, 0)  # picks alone: it recovers
    words, tile = read(page, service)
    assert "Lists are cut at the threshold." in words
    assert tile.startswith("Error budget0 of 20 misses spent")


def test_a_budget_of_which_more_than_half_is_spent_is_on_the_overview(page, service):
    spend(service, 12, name="half")
    spend(service, 11, name="less")
    spend(service, 12, name="off", miss_budget=None)
    page.goto(service.url)
    row = page.locator("tr")
    row.filter(has_text="half").get_by_text("over half spent").wait_for()
    assert "10.8 of 20" in row.filter(has_text="half").text_content()
    assert row.filter(has_text="less").locator(".badge").count() == 0
    words, tile = read(page, service, "off")
    assert tile is None
    assert "budget" not in words


#: A state, and what is said of it first and second.
STATES = {
    "at rest": ({}, {}, "Lists are cut at the threshold.", None),
    "spent": (
        {"spent": 19.2},
        {},
        "The error budget is spent: lists are complete for now.",
        "lists show every candidate",
    ),
    "just not spent": (
        {"spent": 19.1},
        {},
        "The error budget is running out: lists are longer for now.",
        "show more than",
    ),
    "a page": (
        {"spent": 16.0},
        {"at_most": 12},
        "The error budget is running out: lists are longer for now, but never longer than 12.",
        "lists show more than what reaches the threshold until",
    ),
    "a page, spent": (
        {"spent": 20},
        {"at_most": 12},
        "The error budget is spent: lists are longer for now, but never longer than 12.",
        "lists show 12 candidates, or all if there are fewer, until",
    ),
}
