"""Takes the pictures of the pages: each in light and dark, on a desk and in a hand."""

import asyncio
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from shortlist.service.demo import ASKED, SIMULATED, Corpus, create_demo
from shortlist.service.engine import Engine

OUT = Path(__file__).parent / "figures"
PAGES = {
    "demo": "/page/demo",
    "overview": "/",
    "stream": f"/page/streams/{SIMULATED}",
    "answer": f"/page/streams/{ASKED}/answer",
    "others": f"/page/streams/{ASKED}/answer",
}
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
QUESTIONS = ("split a string into words", "read a text file line by line", "a random integer", "sort a list by a key")


async def prepare(engine: Engine) -> None:
    """Let people answer for a while, and leave a few questions open."""
    corpus, rng = Corpus(), random.Random(0)
    names = rng.sample(range(len(corpus.names)), 130)
    for number, place in enumerate(names):
        question = QUESTIONS[number % 4] if number >= 126 else corpus.texts[place][:60]
        found = corpus.search(question)
        made, _ = await engine.propose(ASKED, found.names, found.scores, question=question, texts=found.texts)
        if number >= 126:
            continue
        right = corpus.names[place]
        if right in made.members:
            await engine.answer(ASKED, made.shown.round_id, "hit", right)
        else:
            await engine.answer(ASKED, made.shown.round_id, "skip")


def find(page: Page) -> None:
    """Show the others, and find some among them."""
    page.keyboard.press("m")
    page.locator("#search:focus").wait_for()
    page.keyboard.type("str")
    page.wait_for_timeout(300)


def leave(page: Page) -> None:
    """Answer it, so that the next picture has another question."""
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.goto("about:blank")  # which sends it
    page.wait_for_timeout(500)


def shoot(browser: Browser, url: str) -> None:
    """Take all pictures."""
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            context = browser.new_context(
                color_scheme=scheme,
                viewport={"width": width, "height": height},
            )
            for name, path in PAGES.items():
                page = context.new_page()
                page.goto(url + path)
                page.locator(".state[data-state=live]").wait_for()
                if name == "demo":
                    page.get_by_label("What do you want to do?").fill(QUESTIONS[0])
                page.wait_for_timeout(2500)
                if name == "others":
                    find(page)
                page.screenshot(path=OUT / f"page-{name}-{scheme}-{size}.png", full_page=name == "stream")
                if name == "others":
                    leave(page)
                page.close()
                print(f"page-{name}-{scheme}-{size}.png")
            context.close()


def main() -> None:
    """Start the demo, wait until it has learned something, and take the pictures."""
    chromium = shutil.which("chromium") or sys.exit("chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        app = create_demo(f"sqlite:///{folder}/demo.db")
        server = uvicorn.Server(uvicorn.Config(app, port=8765, log_level="warning"))
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_until_complete, args=(server.serve(),))
        thread.start()
        while not server.started:
            time.sleep(0.05)
        asyncio.run_coroutine_threadsafe(prepare(app.state.engine), loop).result(120)
        engine: Engine = app.state.engine
        while asyncio.run_coroutine_threadsafe(engine.summary(SIMULATED), loop).result(60)["rounds"] <= 1500:
            time.sleep(0.5)
        with sync_playwright() as playwright:
            flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            shoot(browser, "http://127.0.0.1:8765")
            browser.close()
        app.state.engine.hurry()
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
