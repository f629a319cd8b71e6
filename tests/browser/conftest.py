"""A real Chromium, where there is one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.service.running import running

CHROMIUM = os.environ.get("SHORTLIST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser():
    """Chromium, driven by Playwright. It runs an event loop in this thread, so it ends with its module."""
    if CHROMIUM is None:
        pytest.skip("no chromium here: the pages are not tested (apt-get install chromium)")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - starts slowly

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    """A fresh page; whatever goes wrong in it fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(30_000)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    page.wrong = wrong
    yield page
    context.close()
    assert [each for each in wrong if "ERR_CONNECTION" not in each and "Failed to load resource" not in each] == []


@pytest.fixture
def service(tmp_path):
    """A service on SQLite."""
    with running(f"sqlite:///{tmp_path}/log.db") as service:
        yield service


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core, from the npm registry."""
    folder = tmp_path_factory.mktemp("axe")
    command = ["npm", "pack", "axe-core@4.14.0", "--silent"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        pytest.skip("npm is not here, or does not reach its registry: accessibility is not tested")
    packed = list(folder.glob("axe-core-*.tgz"))
    if done.returncode or not packed:
        pytest.skip("axe-core could not be fetched: accessibility is not tested")
    subprocess.run(["tar", "xzf", packed[0].name], cwd=folder, check=True)
    return (Path(folder) / "package" / "axe.min.js").read_text()
