"""The first steps: where there is no stream, no round, nothing to answer; and from the demo to data of one's own."""

import re
import shlex
import subprocess
import sys
from urllib.parse import urlsplit

import httpx
import pytest

from shortlist import Client
from shortlist.scores import learn
from shortlist.service.demo import SIMULATED, create_demo
from shortlist.service.keys import KeyFile
from tests.browser.test_pages import state, wait_until
from tests.service.running import running

LIST = "('faq-2', 'faq-7', 'faq-9')\n"


def blocks(page):
    """Return the calls on the page: in Python, and with curl."""
    return page.get_by_label("Python", exact=True).inner_text(), page.get_by_label("curl", exact=True).inner_text()


def run_python(text):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_curl(text):
    """Send what curl would send, and return the answers."""
    answers = []
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line)
        assert words[0] == "curl"
        method = words[words.index("-X") + 1] if "-X" in words else "POST"
        url = next(word for word in words if word.startswith("http"))
        headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word == "-H")
        answers.append(httpx.request(method, url, headers=headers, content=words[words.index("-d") + 1]))
        assert answers[-1].status_code in (200, 201), answers[-1].text
    return [answer.json() for answer in answers]


def test_without_streams_there_are_three_ways_to_start(page, service):
    page.goto(service.url)
    page.get_by_role("heading", name="No streams yet").wait_for()
    page.get_by_text("A stream is a sequence of questions that share a threshold").wait_for()
    assert [page.locator(".ways h3").nth(i).inner_text() for i in (0, 1, 4)] == [
        "Watch it learn",
        "Call it from your code",
        "Create a stream here",
    ]
    page.get_by_text("shortlist demo", exact=True).wait_for()
    in_python, with_curl = blocks(page)
    assert run_python(in_python) == LIST
    assert state(service, "my-data")["hits"] == 1
    assert run_curl(with_curl)[1]["members"] == ["faq-2", "faq-7", "faq-9"]  # the stream is the same one
    assert state(service, "my-data")["hits"] == 2
    page.get_by_role("link", name="my-data").wait_for()  # no reload: the table is there now
    assert page.locator("#first").count() == 0


def test_what_is_read_where_there_is_no_stream_is_left_alone(page, service):
    """The page looks again every two seconds; what somebody has selected must not go away."""
    page.goto(service.url)
    page.locator("#first").wait_for()
    page.evaluate("document.querySelector('#first').dataset.mine = 'yes'")
    with page.expect_response(re.compile("/v1/streams")):
        pass
    with page.expect_response(re.compile("/v1/streams")):
        pass
    assert page.locator("#first[data-mine=yes]").count() == 1


def test_a_stream_without_rounds_says_the_next_step(page, service):
    with Client(service.url, "docs") as client:
        client.create()
    page.goto(f"{service.url}/page/streams/docs")
    page.get_by_role("heading", name="Next step: send the first round").wait_for()
    assert page.locator("#tiles").is_hidden()
    to_answer = page.get_by_role("link", name="the answer page", exact=True).get_attribute("href")
    assert to_answer == f"{service.url}/page/streams/docs/answer"
    in_python, with_curl = blocks(page)
    assert "create" not in in_python  # it is there
    assert run_python(in_python) == LIST
    page.locator("#start").wait_for(state="hidden")
    page.locator("#tiles").wait_for()
    run_curl(with_curl)
    assert state(service)["hits"] == 2


def test_the_calls_have_the_scorers_and_the_model_of_the_stream(page, service):
    learned = learn([{"bm25": [3.0, 1.0], "l'été": [0.5, 0.1]}] * 40, [0] * 40)
    with Client(service.url, "docs") as client:
        client.create(score=learned, scorer_version="v1")
    page.goto(f"{service.url}/page/streams/docs")
    page.locator("#start").wait_for()
    in_python, with_curl = blocks(page)
    assert run_python(in_python) == LIST
    run_curl(with_curl)
    assert state(service)["hits"] == 2


def test_nothing_to_answer_says_why(page, service):
    with Client(service.url, "docs") as client:
        client.create()
        page.clock.install()
        page.goto(f"{service.url}/page/streams/docs/answer")
        page.get_by_text("Nothing was added yet").wait_for()
        page.get_by_text("shortlist items add docs items.jsonl").wait_for()
        client.add_items([{"id": f"item-{i}", "ids": ["a", "b"], "scores": [0.9, 0.1]} for i in range(2)])
        held = client.next(annotator="bob")
        page.get_by_role("button", name=re.compile("^1 a")).or_(page.locator("[data-member='0']")).first.click()
        page.clock.fast_forward(15_000)  # an answer is held back for as long as it can be undone
        page.get_by_text("Other annotators have the rest").wait_for()
        client.hit(held["round_id"], "a")
    page.get_by_text("Everything is answered").wait_for()
    page.get_by_role("link", name="the stream's page").click()
    page.get_by_role("heading", name="docs").wait_for()


def test_a_stream_that_is_not_there_can_be_created(page, service):
    page.goto(f"{service.url}/page/streams/search-box")
    page.get_by_text("There is no such stream").wait_for()
    page.get_by_role("link", name="Create it").click()
    wait_until(lambda: page.get_by_label("Name").input_value() == "search-box")  # its script has run


@pytest.mark.parametrize(("at", "script", "name"), [("/", "overview", "early"), ("/page/start", "start", "my-data")])
def test_a_form_waits_for_its_script(page, service, at, script, name):
    """A click before the listener would load the page again, and create nothing."""
    held = []

    def hold(route):  # a bound method is no handler for Playwright
        held.append(route)

    page.route(f"**/static/{script}.js", hold)
    page.goto(f"{service.url}{at}", wait_until="commit")
    create = page.get_by_role("button", name="Create", exact=True)
    create.wait_for()
    assert create.is_disabled()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Name").press("Enter")
    assert urlsplit(page.url).query == ""
    held.pop().continue_()
    create.click()
    wait_until(lambda: state(service, name).get("rounds") == 0)


def test_an_existing_stream_with_other_settings_is_refused(page, service):
    with Client(service.url, "my-data") as client:
        client.create(coverage=0.8)
    page.goto(f"{service.url}/page/start")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("alert").filter(has_text="choose another name, or delete it first").wait_for()
    assert page.locator("#use").is_hidden()


def test_with_keys_the_calls_have_room_for_one_and_do_not_show_it(page, tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    secret = keys.create("boss", ["propose", "feedback", "read", "admin"])
    with running(f"sqlite:///{tmp_path}/log.db", keys=keys) as service:
        page.goto(f"{service.url}/page/start")
        page.get_by_label("API key").fill(secret)
        page.get_by_role("button", name="Use this key").click()
        page.locator(".state[data-state=live]").wait_for()
        page.get_by_role("button", name="Create").click()
        in_python, with_curl = blocks(page)
        assert 'api_key="sl_..."' in in_python
        assert "-H 'Authorization: Bearer sl_...'" in with_curl
        assert secret not in page.content()
        run_python(in_python.replace("sl_...", secret))
        run_curl(with_curl.replace("sl_...", secret))


@pytest.mark.parametrize("width", [1280, 390])
def test_from_watching_it_learn_to_your_data_in_three_clicks(browser, tmp_path, width):
    with running(None, app=create_demo(f"sqlite:///{tmp_path}/log.db")) as demo:
        page = browser.new_context(viewport={"width": width, "height": 844}).new_page()
        page.goto(f"{demo.url}/page/demo")
        page.get_by_role("heading", name="Watch it learn").wait_for()
        page.get_by_role("link", name="See the charts").click()  # one
        page.get_by_role("heading", name=SIMULATED).wait_for()
        page.get_by_role("link", name="Use it on your data").click()  # two
        page.get_by_role("button", name="Create").click()  # three
        page.get_by_text(
            re.compile("Stream my-data is ready. No threshold yet: the best 10 candidates are shown.")
        ).wait_for()
        in_python, with_curl = blocks(page)
        assert f'shortlist.Client("{demo.url}", "my-data")' in in_python
        assert run_python(in_python) == LIST
        run_curl(with_curl)
        wait_until(lambda: state(demo, "my-data")["hits"] == 2)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("link", name="Watch it learn").click()
        page.get_by_role("heading", name="my-data").wait_for()
        assert page.locator("#own").is_hidden()  # it is no part of the demo
        page.context.close()
