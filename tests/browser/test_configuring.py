"""Settings changed on the page of a stream, and a stream for people who only click made on the overview."""

import re

import pytest

from shortlist import Client
from shortlist.service.keys import KeyFile
from tests.browser.test_pages import fill, state, wait_until
from tests.service.running import running


@pytest.fixture
def settings(page, service):
    """The form on the page of a stream with six open rounds."""
    fill(service, 6, answer=False)
    page.goto(f"{service.url}/page/streams/docs")
    page.get_by_text("Fixed when the stream was created: coverage 90.0 %, delta 0.01, score raw,").wait_for()
    return page.locator("#configure")


def test_settings_are_changed(page, service, settings):
    change = settings.get_by_role("button", name="Change")
    assert change.is_disabled()
    settings.get_by_label("First page at most").fill("7")
    settings.get_by_label("Error budget").fill("")
    settings.get_by_label("Patience").fill("50")
    change.click()
    settings.get_by_text("Changed: at_most, patience, miss_budget.").wait_for()
    after = state(service)["settings"]
    assert (after["at_most"], after["miss_budget"], after["patience"], after["at_least"]) == (7, None, 50, 0)
    assert change.is_disabled()
    page.get_by_text("No threshold yet: the best 7 candidates are shown.").wait_for()
    with Client(service.url, "docs") as client:
        assert len(client.propose(list(range(12))).members) == 7
    settings.get_by_label("First page at most").fill("")
    settings.get_by_label("Shadow mode").check()
    change.click()
    page.get_by_text("Shadow mode: everything is shown, and nothing is learned yet.").wait_for()
    assert state(service)["settings"]["shadow"] is True


def test_a_change_that_is_refused_says_why_and_keeps_what_was_typed(page, service, settings):
    settings.get_by_label("Always show at least").fill("20")
    settings.get_by_label("First page at most").fill("10")
    settings.get_by_role("button", name="Change").click()
    alert = settings.get_by_role("alert")
    alert.filter(has_text="Not changed: at_most is 10, but at_least is 20: drop one of the two.").wait_for()
    assert state(service)["settings"]["at_most"] is None
    fill(service, 1, answer=False)  # and a live event
    page.locator("#tiles div", has_text="Open7").wait_for()
    assert settings.get_by_label("Always show at least").input_value() == "20"
    with Client(service.url, "docs") as client:  # somebody else changes what is not being typed
        client.configure(patience=99)
    wait_until(lambda: settings.get_by_label("Patience").input_value() == "99")
    assert settings.get_by_label("First page at most").input_value() == "10"


def test_a_key_without_the_scope_is_told_so(page, tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    admin, reader = keys.create("me", ["admin"]), keys.create("you", ["read"])
    with running(f"sqlite:///{tmp_path}/log.db", keys=keys) as service:
        service.http.headers["Authorization"] = f"Bearer {admin}"
        service.make()
        page.goto(f"{service.url}/page/streams/docs")
        page.get_by_label("API key").fill(reader)
        page.get_by_role("button", name="Use this key").click()
        page.get_by_label("Patience").fill("5")
        page.get_by_role("button", name="Change").click()
        page.get_by_role("alert").filter(has_text=re.compile("Not changed: .*admin")).wait_for()


def test_a_stream_for_people_who_only_click(page, service):
    page.goto(service.url)
    page.get_by_label("Name").fill("clicks")
    page.get_by_label("Score").select_option("raw")
    page.get_by_text("More settings").click()
    page.get_by_label("Users only click").select_option("explore 5 % of lists")
    assert page.get_by_label("Error budget").is_disabled()
    assert page.get_by_label("If lists miss too often").is_disabled()
    page.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="clicks").wait_for()
    assert page.get_by_label("Error budget").is_enabled()  # for the next one
    made = state(service, "clicks")["settings"]
    assert (made["explore_share"], made["miss_budget"], made["on_drift"]) == (0.05, None, None)
    with Client(service.url, "clicks") as client:
        while client.summary()["hits"] == 0:
            client.hit(client.propose([0.9, 0.1]).round_id, 0)
    page.get_by_text("misses are not reported").wait_for()
    page.get_by_role("link", name="clicks").click()
    page.get_by_text("For users who only click: 5.0 % of lists, chosen at random, show").wait_for()
    page.locator("#tiles").get_by_text("not known").wait_for()
    form = page.locator("#configure")
    assert not form.get_by_label("Error budget").is_visible()
    form.get_by_label("Explored share of rounds").fill("auto")
    form.get_by_role("button", name="Change").click()
    form.get_by_text("Changed: explore_share.").wait_for()
    assert state(service, "clicks")["settings"]["explore_share"] == "auto"


def test_several_that_are_needed(page, service):
    with Client(service.url, "docs") as client:
        client.create(score="raw", delta=0.01)
        shown = [client.propose([0.9, 0.8, 0.1], question=f"question {i}") for i in range(3)]
        for each in shown:
            client.hit(each.round_id, [0, 1])
    page.goto(f"{service.url}/page/streams/docs")
    page.get_by_text("3 picks, 0 misses").wait_for()
    page.get_by_text("exploring is off.").wait_for()
    page.locator("td", has_text="picked 0 and 1").nth(2).wait_for()
    page.goto(f"{service.url}/page/streams/docs/answer")
    page.get_by_text("3 answered, 0 open").wait_for()


@pytest.mark.usefixtures("settings")
def test_learning_is_started_over(page, service):
    """It is asked for twice, and says what it does."""
    steering = page.locator("#steering")
    help_ = "no earlier round counts any more, and lists are complete until enough rounds have been answered again."
    steering.get_by_text(help_).wait_for()
    assert not steering.get_by_label("Learn the score again").is_visible()  # it is raw
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    steering.get_by_role("button", name="Restart learning").click()
    assert help_ in asked[0]
    assert state(service)["epoch"] == 0
    page.once("dialog", lambda dialog: dialog.accept())
    steering.get_by_role("button", name="Restart learning").click()
    steering.get_by_text("Restarted.").wait_for()
    assert state(service)["epoch"] == 1
    page.locator("#tiles", has_text="epoch 1").wait_for()


#: What is said of `explore_share`, by what is set and by how far it is.
