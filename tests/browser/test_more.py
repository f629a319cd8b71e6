"""The others: shown, searched, picked and taken back, by keyboard alone; what the service makes of it."""

import re

import pytest

from shortlist import Client
from tests.browser.test_pages import BUSY, fill, first_question, later, state, wait_until

CUT = "1 of 12 candidates; the other 11 are less likely."


@pytest.fixture
def cut(page, service):
    """A page with a question whose list has one of twelve candidates, and three more of these."""
    fill(service, 80)
    fill(service, 4, answer=False)
    first_question(page, service)
    page.get_by_text(CUT).wait_for()
    return service


def show_others(page):
    page.keyboard.press("m")
    page.get_by_text("All 12 candidates").or_(page.get_by_text("All 1000 candidates")).wait_for()
    page.keyboard.press("/")
    page.locator("#search:focus").wait_for()


def test_show_the_others_search_pick_and_undo_by_keyboard(page, cut):
    sent = []
    page.on("request", lambda request: sent.append(f"{request.url} {request.post_data}"))
    assert page.get_by_role("button", name="Show all 12").count() == 1
    show_others(page)
    assert state(cut)["expanded"] == 1
    page.get_by_text("All 12 candidates; the first one was in the list.").wait_for()
    page.keyboard.type("TEXT of D3")
    page.get_by_text("1 found").wait_for()
    assert page.get_by_role("option").locator("visible=true").count() == 1
    assert page.locator("[aria-selected=true]").text_content().startswith("6d3")
    active = page.locator("#search").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("data-member") == "5"
    page.keyboard.press("Enter")
    page.get_by_text("Picked d3, from the others.").wait_for()
    page.get_by_text("question 1").wait_for()
    page.keyboard.press("u")
    page.get_by_text("question 0").wait_for()
    assert page.get_by_role("option").locator("visible=true").count() == 12  # they stay shown
    page.keyboard.press("/")
    page.keyboard.type("d")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("Picked d2, from the others.").wait_for()
    later(page)
    wait_until(lambda: state(cut)["found_after_more"] == 1)
    after = state(cut)
    assert (after["hits"], after["misses"], after["expanded"]) == (80, 1, 1)
    assert any("/more" in each for each in sent)
    assert not [each for each in sent if "TEXT" in each or "text of" in each.lower()]  # the search stays here


def test_a_search_covers_all_candidates_in_one_step(page, cut):
    """What is not shown is found, marked as such, and picked; nothing else of the others is shown."""
    page.keyboard.press("/")
    page.keyboard.press("/")  # the key that leads there is not typed
    page.keyboard.type("d3")
    page.get_by_text("1 found").wait_for()
    assert page.locator("#search").input_value() == "d3"
    assert state(cut)["expanded"] == 1
    assert page.get_by_role("option").locator("visible=true").count() == 1
    mark = page.locator("li:not([hidden]) .name").evaluate("each => getComputedStyle(each, '::after').content")
    assert mark == '"not in the list"'
    page.keyboard.press("Escape")
    page.get_by_text(CUT).wait_for()
    assert page.get_by_role("option").locator("visible=true").count() == 1  # the list, as it was
    page.keyboard.press("/")
    page.keyboard.type("d3")
    page.keyboard.press("Enter")
    page.get_by_text("Picked d3, from the others.").wait_for()
    page.get_by_text("question 1").wait_for()
    page.keyboard.press("/")
    page.keyboard.press("Alt+0")  # where the focus is does not matter
    page.get_by_text("None of these.").wait_for()
    later(page)
    wait_until(lambda: (state(cut)["found_after_more"], state(cut)["misses"]) == (1, 2))


def test_there_is_none_by_keyboard_alone(page, cut):
    """The first press shows the others, so the second is believed."""
    page.keyboard.press("n")
    page.locator("#absent:focus").wait_for()
    assert (state(cut)["expanded"], state(cut)["absent"]) == (1, 0)
    page.keyboard.press("n")
    page.get_by_text("question 1").wait_for()
    show_others(page)
    page.keyboard.press("n")  # typed
    assert page.locator("#search").input_value() == "n"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "question"
    assert page.get_by_role("option").locator("visible=true").count() == 12
    page.keyboard.press("n")  # everything is shown: one press
    page.get_by_text("question 2").wait_for()
    later(page)
    wait_until(lambda: state(cut)["absent"] == 2)
    assert (state(cut)["misses"], state(cut)["expanded"]) == (0, 2)


def test_keys_do_not_pick_while_somebody_types_nor_what_is_filtered_out(page, cut):
    show_others(page)
    page.keyboard.type("0 1s")
    page.get_by_text("nothing found").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")  # to the buttons, and the filter stays
    page.keyboard.press("3")
    page.get_by_text("question 0").wait_for()
    assert page.locator("#toast").is_hidden()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.get_by_text("Picked d0, from the others.").wait_for()
    assert state(cut)["found_after_more"] == 0  # held back


def test_one_of_a_thousand_classes_is_found_and_the_buttons_stay_in_sight(page, service):
    names = [f"class {i:03}" for i in range(999)] + ["Ménétrier's disease"]
    scores = [0.9] + [0.5 - i / 3000 for i in range(999)]
    with Client(service.url, "docs") as client:
        client.create(score="raw", delta=0.01)
        for _ in range(80):
            client.hit(client.propose(scores, names).round_id, "class 000")
        client.propose(scores, names, question="question 0")
    first_question(page, service)
    show_others(page)
    absent = page.get_by_role("button", name="Not among all 1000")
    for place in (0, 20_000, 10_000_000):
        page.evaluate(f"scrollTo(0, {place})")
        box = absent.bounding_box()
        assert 0 <= box["y"] <= 900 - box["height"]
        search = page.locator("#search").bounding_box()
        assert 0 <= search["y"] <= 600
    page.keyboard.type("menetrier")
    page.get_by_text("1 found").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Picked Ménétrier's disease, from the others.").wait_for()
    later(page)
    wait_until(lambda: state(service)["found_after_more"] == 1)


def test_a_page_of_ten_can_be_looked_through_and_what_a_search_left_out_cannot(page, service):
    scores = [0.9 - 0.02 * i for i in range(30)]
    with Client(service.url, "docs") as client:
        client.create(score="raw", delta=0.01, at_most=10)
        client.propose(scores, question="question 0")
        client.propose(scores, question="question 1", truncated_below=0.3)
    first_question(page, service)
    page.keyboard.press("n")
    page.get_by_role("button", name="Not among all 30").click()
    page.get_by_text("question 1").wait_for()
    page.keyboard.press("n")
    page.get_by_text("Candidates may be missing here").wait_for()
    assert page.locator("#absent").count() == 0
    assert page.evaluate("document.activeElement.id") == "miss"


def test_an_explored_list_keeps_its_order_and_hides_its_scores(page, service):
    scores = [0.9 - 0.02 * i for i in range(12)]
    with Client(service.url, "docs") as client:
        client.create(score="raw", explore_share=1.0)
        shown = []
        while not shown or not shown[-1].explored:  # a coin, while there is no threshold
            shown.append(client.propose(scores, [f"d{i}" for i in range(12)], question=f"question {len(shown)}"))
        for each in shown[:-1]:
            client.skip(each.round_id)
    page.goto(f"{service.url}/page/streams/docs/answer")
    page.get_by_text("All 12 candidates, in random order.").wait_for()
    assert page.locator(".pick .name").all_text_contents() == list(shown[-1].members)
    assert list(shown[-1].members) != [f"d{i}" for i in range(12)]
    assert page.locator(".pick .score").count() == 0


def test_others_that_cannot_be_shown_now(page, cut):
    busy = [BUSY]
    page.route("**/more", lambda route: route.fulfill(**busy.pop()) if busy else route.continue_())
    page.keyboard.press("m")
    page.get_by_role("alert").filter(has_text="The others cannot be shown now: the disk is full.").wait_for()
    page.get_by_text(CUT).wait_for()
    assert state(cut)["expanded"] == 0
    show_others(page)
    assert page.get_by_role("alert").filter(has_text="cannot be shown").count() == 0


def test_others_of_a_round_that_somebody_else_has_answered(page, cut):
    first = cut.http.get("/v1/streams/docs/rounds?open=true&limit=1").json()["rounds"][0]["round_id"]
    assert cut.answer(first, {"miss": True}).status_code == 200
    page.keyboard.press("m")
    page.get_by_role("alert").filter(has_text="has an answer").wait_for()
    page.get_by_text("question 1").wait_for()


def test_the_stream_says_how_often_more_was_asked_for(page, cut):
    show_others(page)
    page.keyboard.type("d4")
    page.keyboard.press("Enter")
    page.get_by_text("question 1").wait_for()
    page.goto(f"{cut.url}/page/streams/docs")
    page.get_by_text("1 list expanded; in 1 of them the right answer was among the others").wait_for()
    page.locator("td", has_text="picked d4, from the others").wait_for()
    page.get_by_text("1 of 12 shown, then 11 more").click()
    reasons = page.locator("#recent details[open] li")
    assert reasons.filter(has_text="shown when more of the list was asked for").count() == 11
    assert re.match("shown: right", reasons.first.text_content())
