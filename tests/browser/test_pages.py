"""The pages in a real browser: made, watched and answered as a person would."""

import contextlib
import re
import time

import pytest

from shortlist import Client
from shortlist.service.engine.memory import load
from shortlist.service.keys import KeyFile
from shortlist.service.store import Store
from tests.service.running import free_port, running

MARKUP = "<img src=x onerror=alert(1)>"


def fill(service, count, stream="docs", answer=True):
    """Show lists of twelve, the first of which is right."""
    with Client(service.url, stream) as client:
        client.create(score="raw", delta=0.01, on_drift="report")
        for i in range(count):
            scores = [0.9] + [0.3 - 0.02 * j for j in range(11)]
            ids = ["right", MARKUP, *(f"d{j}" for j in range(10))]
            texts = [f"the text of {name}, as long as most texts are in some archive of passages" for name in ids]
            shown = client.propose(scores, ids, texts=texts, question=f"question {i} {MARKUP}")
            if answer:
                client.hit(shown.round_id, "right")


def state(service, stream="docs"):
    return service.http.get(f"/v1/streams/{stream}").json()


def later(page):
    """Let ten seconds pass on a page, in which answers can be undone."""
    page.clock.fast_forward(11_000)


BUSY = {"status": 503, "content_type": "application/problem+json", "body": '{"detail": "the disk is full"}'}


def first_question(page, service):
    """Open the page for answering, with a clock of its own."""
    page.clock.install()
    page.goto(f"{service.url}/page/streams/docs/answer")
    page.get_by_text("question 0").wait_for()


def wait_until(condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def test_a_stream_is_made_in_the_browser(page, service):
    page.goto(service.url)
    page.get_by_text("No streams yet").wait_for()
    page.get_by_label("Name").fill("search-box")
    page.get_by_label("Right answer in the list").select_option("0.95")
    page.get_by_label("Score").select_option("relative")
    page.get_by_label("Guarantee").select_option("about every list, too")
    page.get_by_label("Error budget").select_option("off")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="search-box").wait_for()
    assert state(service, "search-box")["settings"]["coverage"] == 0.95
    assert state(service, "search-box")["score"] == "relative(0.4)"
    assert state(service, "search-box")["error_budget"] is None
    page.get_by_label("Name").fill("strict")
    page.get_by_label("Guarantee").select_option("over many lists (default)")
    page.get_by_label("Error budget").select_option("10 misses: strict")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="strict").wait_for()
    assert state(service, "strict")["error_budget"]["size"] == 10
    kinds = [state(service, name)["policy"]["kind"] for name in ("search-box", "strict")]
    assert kinds == ["anytime", "product-limit"]
    page.get_by_label("Name").fill("search-box")
    page.get_by_role("button", name="Create").click()  # with other settings
    page.get_by_role("alert").filter(has_text="choose another name, or delete it first").wait_for()
    page.get_by_role("link", name="search-box").click()
    page.get_by_text(re.compile(r"Lists can become shorter once \d+ more rounds count")).wait_for()
    page.get_by_text("Score: relative(0.4) (as set)").wait_for()


def test_the_charts_follow_without_a_reload(page, service):
    fill(service, 5)
    page.goto(f"{service.url}/page/streams/docs")
    page.get_by_text("Lists can become shorter once 60 more rounds count").wait_for()
    page.locator("#threshold .main-svg").first.wait_for()
    loaded = page.evaluate("performance.timeOrigin")
    fill(service, 120)
    page.get_by_text("Lists are cut at the threshold").wait_for()
    page.locator("dd", has_text="125").first.wait_for()
    points = "document.getElementById('threshold').data[0].x.at(-1)"
    wait_until(lambda: page.evaluate(points) == 125)
    assert page.evaluate("document.getElementById('threshold').data[0].y.at(-1)") == state(service)["threshold"]
    assert page.evaluate("document.getElementById('coverage').data.map((trace) => trace.name)")[2] == "so far"
    # The last pick is an event of its own: a chart may have been drawn between it and its list.
    wait_until(lambda: sum(page.evaluate("document.getElementById('chosen').data[0].y")) == 125)
    assert page.locator("#drift .main-svg").count() > 0
    assert page.evaluate("performance.timeOrigin") == loaded


def test_why_a_candidate_was_shown_or_hidden_and_no_markup(page, service):
    fill(service, 130)
    page.goto(f"{service.url}/page/streams/docs")
    page.locator("#recent summary").first.click()
    first = page.locator("#recent details").first
    first.get_by_text("shown: right").wait_for()
    assert "reaches the threshold" in first.locator("li").first.inner_text()
    hidden = first.locator("li", has_text=MARKUP)
    assert hidden.inner_text().startswith(f"hidden: {MARKUP}")
    assert "is below the threshold" in hidden.inner_text()
    assert page.locator("img[src=x]").count() == 0


def test_export(page, service):
    fill(service, 3)
    page.goto(f"{service.url}/page/streams/docs")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Every event").click()
    assert caught.value.suggested_filename == "docs.jsonl"
    assert len(caught.value.path().read_text().splitlines()) == 6
    with page.expect_download() as caught:
        page.get_by_role("button", name="Counted rounds (CSV)").click()
    assert caught.value.path().read_text().startswith("round_id,shown_at")


def test_answers_by_mouse_and_by_keyboard(page, service):
    """Pick, not in this list, skip and undo, twice; nothing is sent before its ten seconds are over."""
    fill(service, 80)
    fill(service, 6, answer=False)
    before = state(service)
    first_question(page, service)
    assert page.locator("img[src=x]").count() == 0
    page.get_by_role("option", name=re.compile("right")).click()
    page.get_by_text("Picked right.").wait_for()
    page.get_by_text("question 1").wait_for()
    assert state(service)["hits"] == before["hits"]  # held back
    page.get_by_text("80 answered, 6 open, 1 of them not saved yet").wait_for()  # the service's counts
    page.keyboard.press("0")  # not in this list
    page.get_by_text("question 2").wait_for()
    page.keyboard.press("u")  # undo both: the rounds are back
    page.get_by_text("question 1").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("question 0").wait_for()
    page.get_by_text("80 answered, 6 open").wait_for()
    page.keyboard.press("1")
    page.get_by_text("question 1").wait_for()
    page.get_by_role("button", name="None of these").click()
    page.get_by_text("question 2").wait_for()
    page.keyboard.press("s")
    page.get_by_text("Skipped: it will not come back.").wait_for()
    page.get_by_text("question 3").wait_for()
    assert state(service)["hits"] == before["hits"]  # all of them held back, each for its own ten seconds
    later(page)
    wait_until(lambda: state(service)["skipped"] == before["skipped"] + 1)
    after = state(service)
    assert (after["hits"], after["misses"]) == (before["hits"] + 1, before["misses"] + 1)
    page.get_by_text("83 answered, 3 open").wait_for()


def test_answering_with_the_keyboard_alone(page, service):
    """Of a complete list: a pick, a miss, and in two steps that there is none."""
    fill(service, 3, answer=False)
    first_question(page, service)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "search":
            break
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("question 1").wait_for()
    page.keyboard.press("0")  # nothing was hidden: a miss all the same
    page.get_by_text("question 2").wait_for()
    page.keyboard.press("n")
    page.get_by_role("button", name="Not among all 12").wait_for()
    page.keyboard.press("n")
    page.get_by_text("Nothing to answer right now").wait_for()
    page.goto("about:blank")  # leaving sends what was held back
    wait_until(lambda: [state(service)[name] for name in ("hits", "misses", "absent")] == [1, 1, 1])


def test_there_is_none_only_after_looking_through_everything(page, service):
    fill(service, 80)
    with Client(service.url, "docs") as client:
        scores, ids = [0.9] + [0.3 - 0.02 * j for j in range(11)], [f"d{j}" for j in range(12)]
        for i in range(3):
            client.propose(scores, ids, question=f"whole {i}")
        client.propose([0.99, 0.95], ["e0", "e1"], question="part", truncated_below=0.95)
        client.propose([], [], question="empty", allow_empty=True)
    page.clock.install()
    page.goto(f"{service.url}/page/streams/docs/answer")
    page.get_by_text("whole 0").wait_for()
    page.get_by_text("1 of 12 candidates; the other 11 are less likely").wait_for()
    assert page.get_by_role("button", name=re.compile("there is none$")).count() == 0
    page.get_by_role("button", name="There is none …").click()
    page.get_by_text("All 12 candidates; the first one was in the list.").wait_for()
    assert page.get_by_role("option").count() == 12
    page.get_by_role("button", name="Not among all 12").click()
    page.get_by_text("whole 1").wait_for()
    page.keyboard.press("n")
    page.get_by_role("option", name=re.compile("d7")).click()  # found among the others: the list has missed it
    page.get_by_text("Picked d7, from the others.").wait_for()
    page.get_by_text("whole 2").wait_for()
    page.keyboard.press("1")
    page.get_by_text("part").wait_for()
    page.get_by_text("Candidates may be missing here").wait_for()
    assert page.locator("#look, #absent").count() == 0  # nobody can see everything
    page.keyboard.press("n")  # does nothing
    page.keyboard.press("0")
    page.get_by_text("The search found nothing.").wait_for()
    assert page.locator("#look, #absent").count() == 0  # nobody has seen anything
    page.keyboard.press("0")
    page.get_by_text("Nothing to answer right now").wait_for()
    later(page)
    wait_until(lambda: [state(service)[name] for name in ("hits", "misses", "absent")] == [81, 3, 1])


def test_an_answer_that_is_not_saved_says_so_and_is_tried_again(page, service):
    fill(service, 3, answer=False)
    first_question(page, service)
    page.route("**/feedback", lambda route: route.fulfill(**BUSY))
    page.keyboard.press("1")
    page.get_by_text("question 1").wait_for()
    later(page)
    page.get_by_role("alert").filter(has_text="1 answer is not saved yet: trying again").wait_for()
    page.get_by_text("0 answered, 3 open, 1 of them not saved yet").wait_for()
    assert state(service)["hits"] == 0
    page.unroute("**/feedback")
    wait_until(lambda: state(service)["hits"] == 1)
    page.get_by_text("1 answered, 2 open").wait_for()
    wait_until(lambda: page.locator("#unsaved").text_content() == "")


def test_an_answer_that_is_refused_in_the_end_says_so(page, service):
    """First the service is busy, then somebody else answered first: the second message stays."""
    fill(service, 2, answer=False)
    first_question(page, service)
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)  # the first message lasts until time passes, by `later`
    answers = iter([BUSY, BUSY | {"status": 409, "body": '{"detail": "it was answered before"}'}])
    page.route("**/feedback", lambda route: route.fulfill(**next(answers)))
    page.keyboard.press("1")
    later(page)
    page.get_by_role("alert").filter(has_text="not saved yet").wait_for()
    later(page)
    page.get_by_role("alert").filter(
        has_text="was not saved: somebody else answered first: it was answered before."
    ).wait_for()
    page.get_by_text("0 answered, 2 open").wait_for()


def test_leaving_sends_an_answer_that_is_not_saved(page, service):
    fill(service, 2, answer=False)
    first_question(page, service)
    page.route("**/feedback", lambda route: route.fulfill(**BUSY))
    page.keyboard.press("1")
    later(page)
    page.get_by_role("alert").filter(has_text="Nothing is lost if you close this page").wait_for()
    page.unroute("**/feedback")
    page.goto(service.url)
    wait_until(lambda: state(service)["hits"] == 1)  # and what was left is sent once more


def test_a_key_that_is_held_down_is_one_answer(page, service):
    fill(service, 3, answer=False)
    first_question(page, service)
    for _ in range(5):
        page.keyboard.down("n")  # the second and later ones are repeats
    page.keyboard.up("n")
    page.get_by_role("button", name="Not among all 12").wait_for()
    page.get_by_text("question 0").wait_for()


def test_the_state_of_the_connection_is_told_while_a_question_is_open(page, tmp_path):
    port = free_port()
    address = f"sqlite:///{tmp_path}/log.db"
    with running(address, port=port) as service:
        fill(service, 2, answer=False)
        page.goto(f"{service.url}/page/streams/docs/answer")
        page.get_by_text("question 0").wait_for()
        page.locator(".state[data-state=live]").wait_for()
    page.locator(".state[data-state=lost]").wait_for()
    with running(address, port=port):
        page.locator(".state[data-state=live]").wait_for()
        page.get_by_text("question 0").wait_for()


def test_an_answer_that_somebody_else_was_faster_with_is_not_counted(page, service):
    fill(service, 1, answer=False)
    first_question(page, service)
    open_rounds = service.http.get("/v1/streams/docs/rounds?open=true").json()["rounds"]
    assert service.answer(open_rounds[0]["round_id"], {"hit": "right"}).status_code == 200
    page.keyboard.press("2")
    later(page)
    page.get_by_role("alert").filter(has_text="was not saved: somebody else answered first: round").wait_for()
    page.get_by_text("1 answered, 0 open").wait_for()
    assert page.locator("#yours").text_content() == ""


def test_a_key_is_asked_for_when_keys_are_on(page, tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    key = keys.create("me", ["admin"])
    with running(f"sqlite:///{tmp_path}/log.db", keys=keys) as service:
        page.goto(service.url)
        page.get_by_label("API key").fill("sl_wrong")
        page.get_by_role("button", name="Use this key").click()
        page.get_by_text("That key is not valid").wait_for()
        page.get_by_label("API key").fill(key)  # it is asked for again
        page.get_by_role("button", name="Use this key").click()
        page.get_by_text("No streams yet").wait_for()
        page.get_by_label("Name").fill("docs")
        page.get_by_role("button", name="Create").click()
        page.get_by_role("link", name="docs").click()
        page.get_by_text("No threshold yet: the best 10 candidates are shown.").wait_for()
        page.locator(".state[data-state=live]").wait_for()


def test_the_page_survives_a_restart_of_the_service(page, tmp_path):
    port = free_port()
    address = f"sqlite:///{tmp_path}/log.db"
    with running(address, port=port) as service:
        fill(service, 5)
        page.goto(f"{service.url}/page/streams/docs")
        page.locator("dd", has_text="5").first.wait_for()
        page.locator(".state[data-state=live]").wait_for()
    page.locator(".state[data-state=lost]").wait_for()
    with running(address, port=port) as service:
        page.locator(".state[data-state=live]").wait_for()
        fill(service, 118)
        page.get_by_text("Lists are cut at the threshold").wait_for()


def test_the_policy_lets_nothing_in(page, service):
    answer = service.http.get("/")
    policy = answer.headers["content-security-policy"]
    assert "unsafe-eval" not in policy
    assert "script-src 'self';" in policy
    assert service.http.get("/static/plotly.min.js").status_code == 200
    assert service.http.get("/static/..%2fkeys.py").status_code == 404
    tag = answer.headers["etag"]
    assert service.http.get("/", headers={"If-None-Match": tag}).status_code == 304
    page.goto(service.url)
    with contextlib.suppress(Exception):
        page.add_script_tag(content="window.inlined = true")
    assert page.evaluate("window.inlined") is None
    assert any("Content Security Policy" in told for told in page.wrong)
    page.wrong.clear()


def test_a_stream_that_is_not_there(page, service):
    page.goto(f"{service.url}/page/streams/nothing")
    page.get_by_text("There is no such stream").wait_for()


@pytest.fixture
def large_service(tmp_path):
    """A service with a stream of a million rounds, as far as its history goes."""
    address = f"sqlite:///{tmp_path}/large.db"
    with running(address) as service:
        fill(service, 3)
    store = Store(address)
    with store.reading() as reader:
        stream, _ = load(reader, reader.stream("docs"))
    for i in range(1_000_000):
        stream.series.show(5 + i % 7, 50)
        if i % 10 < 9:
            stream.series.answer("hit")
        stream.series.mark(1e9 + i, i / 1e6, 0.001)
    store.save_snapshot(stream.id, stream.snapshot())
    store.close()
    with running(address) as service:
        yield service


def test_a_million_rounds_open_with_little_data(page, large_service):
    """The history is thinned on the server: what the page asks for stays small."""
    sizes = []
    page.on(
        "response",
        lambda answer: sizes.append(len(answer.body())) if "/v1/" in answer.url and "/live" not in answer.url else None,
    )
    page.goto(f"{large_service.url}/page/streams/docs")
    page.locator("#threshold .main-svg").first.wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("document.getElementById('threshold').data[0].x.at(-1)") == 1_000_003
    assert 100 <= page.evaluate("document.getElementById('threshold').data[0].x.length") <= 200
    print(f"{sum(sizes) / 1024:.0f} KB for a million rounds")
    assert sum(sizes) < 1_000_000
