"""The demo: understood in a minute, without reading."""

import re
import signal
import subprocess
import sys

import httpx
import pytest

from shortlist.service.demo import ASKED, EVERY_LIST, SIMULATED, create_demo
from tests.browser.test_pages import state, wait_until
from tests.service.running import free_port, running


@pytest.fixture
def demo(tmp_path):
    with running(None, app=create_demo(f"sqlite:///{tmp_path}/log.db")) as service:
        yield service


def test_watching_and_answering(page, demo):
    page.goto(f"{demo.url}/page/demo")
    page.get_by_text(re.compile("After \\d+ questions \\S+ of \\d+ functions are shown on average")).wait_for()
    page.locator("#guarantee", has_text="nothing about a single list").wait_for()
    assert page.get_by_role("radio").count() == 2
    page.wait_for_function("() => document.querySelectorAll('#lengths path, #lengths polyline').length >= 2")
    page.get_by_label("about every list, too: complete ones first").check()
    page.locator("#guarantee", has_text="about every list, with probability 0.99").wait_for()
    assert page.locator("#charts").get_attribute("href") == f"/page/streams/{EVERY_LIST}#demo"
    page.get_by_label("over many lists: short from the first one on").check()
    switch = page.get_by_role("switch", name="Simulate users")
    assert switch.is_checked()
    switch.click()
    wait_until(lambda: httpx.get(f"{demo.url}/v1/demo/users").json() == {"on": False})
    before = state(demo, SIMULATED)["rounds"]
    switch.click()
    wait_until(lambda: state(demo, SIMULATED)["rounds"] > before)
    page.get_by_label("What do you want to do?").fill("split a string into words")
    page.get_by_role("button", name="Find").click()
    page.locator(".pick button", has_text="str.split").first.click()
    page.get_by_text("Thank you. Ask another question.").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator(".pick button", has_text="str.split").first.click()
    page.get_by_label("What do you want to do?").fill("§§§")
    page.get_by_role("button", name="Find").click()
    page.get_by_text("The search found nothing").wait_for()
    wait_until(lambda: state(demo, ASKED)["hits"] == 1)
    assert state(demo, ASKED)["counted"] == 201  # it began with 200 labeled questions
    assert list(state(demo, SIMULATED)["scorers"]) == ["bm25", "letters"]
    page.get_by_role("link", name="See the charts").click()
    page.locator("#threshold .main-svg").first.wait_for()


def test_one_command_starts_it(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "shortlist", "demo", "--port", str(port), "--no-browser"]
    child = subprocess.Popen(
        [*command, "--database", f"sqlite:///{tmp_path}/demo.db"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert f"http://127.0.0.1:{port}/page/demo" in child.stdout.readline()
        wait_until(lambda: up(f"http://127.0.0.1:{port}/page/demo"))
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) in (0, -signal.SIGTERM)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        child.stdout.close()


def up(url):
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False
