"""Takes the pictures of the pages: each in light and dark, on a desk and in a hand."""

import asyncio
import io
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import uvicorn
from matplotlib.patches import Circle, Ellipse, Polygon
from playwright.sync_api import Browser, Page, sync_playwright

from shortlist.service.demo import ASKED, SIMULATED, Corpus, create_demo
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.engine.commands import Author
from shortlist.service.engine.item_opening import Item

OUT = Path(__file__).parent / "figures"
PAGES = {
    "demo": "/page/demo",
    "overview": "/",
    "start": "/page/start",
    "stream": f"/page/streams/{SIMULATED}",
    "answer": f"/page/streams/{ASKED}/answer",
    "others": f"/page/streams/{ASKED}/answer",
    "labeling": "/page/streams/pictures/answer",
    "labels": "/page/streams/pictures",
}
FISH = ("tench", "goldfish", "great white shark", "hammerhead", "stingray", "coho", "eel", "puffer", "lionfish", "ray")
HOST = "https://pictures.example.org"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
#: How much of a stream's page its picture has: down to the charts.
LONGEST = {"desktop": 1640, "phone": 1688}
QUESTIONS = ("split a string into words", "read a text file line by line", "a random integer", "sort a list by a key")


async def prepare(engine: Engine) -> None:
    """Let users answer for a while, and leave a few questions open."""
    corpus, rng = Corpus(), random.Random(0)
    names = rng.sample(range(len(corpus.names)), 138)
    for number, position in enumerate(names):
        question = QUESTIONS[number % 4] if number >= 126 else corpus.texts[position][:60]
        results = corpus.search(question)
        round_, _ = await engine.propose(ASKED, results.names, results.scores, question=question, texts=results.texts)
        if number >= 126:
            continue
        right = corpus.names[position]
        if right in round_.members:
            await engine.answer(ASKED, round_.shown.round_id, "hit", right)
        else:
            await engine.answer(ASKED, round_.shown.round_id, "miss")


async def fill_queue(engine: Engine) -> None:
    """Let a team label pictures for a while, and leave some for us."""
    guidelines = "Pick what fills most of the picture.\nIf two fit, pick the more specific one."
    settings: dict[str, Any] = {"score": "raw", "record_annotators": True, "guidelines": guidelines}
    await engine.create_stream("pictures", StreamSettings.of(coverage=0.9, **settings))
    rng, items = np.random.default_rng(0), []
    for number in range(260):
        scores = rng.normal(size=len(FISH))
        scores[number % len(FISH)] += 3.5 if number % 10 < 8 else 1.0
        image = f"{HOST}/{number}.png"
        items.append(Item(f"picture-{number}", list(FISH), scores, ("",), f"What is on picture {number}?", image=image))
    await engine.labeling.add("pictures", items)
    for number in range(180):
        held = await engine.labeling.take("pictures")
        assert held is not None  # noqa: S101 - there are more
        right = FISH[int(held.round_id.removeprefix("picture-")) % len(FISH)]
        shown, _, _ = await engine.history.round("pictures", held.round_id)
        if right not in shown.members:
            await engine.more("pictures", held.round_id)
        await engine.answer("pictures", held.round_id, "hit", right, Author(("ann", "bob", "cem")[number % 3]))


def draw_fish() -> bytes:
    """Return a picture of a fish."""
    figure, axes = plt.subplots(figsize=(6, 3.2), facecolor="#bfe3ea")
    axes.add_patch(Ellipse((0, 0), 6, 2.6, color="#e07b39"))
    axes.add_patch(Polygon([(2.5, 0), (4.6, 1.5), (4.1, 0), (4.6, -1.5)], color="#c8632a"))
    axes.add_patch(Polygon([(-0.6, 1.1), (1.2, 2.1), (1.6, 0.9)], color="#c8632a"))
    axes.add_patch(Circle((-2, 0.35), 0.32, color="white"))
    axes.add_patch(Circle((-2.07, 0.35), 0.15, color="black"))
    axes.set(xlim=(-5, 6), ylim=(-2.4, 2.6), aspect="equal")
    axes.axis("off")
    out = io.BytesIO()
    figure.savefig(out, dpi=110)
    plt.close(figure)
    return out.getvalue()


def label(page: Page) -> None:
    """Answer two, so that there is something to undo."""
    for _ in range(2):
        before = page.locator(".question").text_content()
        page.keyboard.press("1")
        page.wait_for_function("last => document.querySelector('.question')?.textContent !== last", arg=before)
    page.wait_for_timeout(1500)


def find(page: Page) -> None:
    """Find some among all."""
    page.keyboard.press("/")
    page.locator("#search:focus").wait_for()
    page.keyboard.type("str")
    page.wait_for_timeout(300)


def leave(page: Page) -> None:
    """Answer it, so that the next picture has another question."""
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.goto("about:blank")  # which sends it
    page.wait_for_timeout(500)


def ask(page: Page) -> None:
    """Type a question."""
    page.get_by_label("What do you want to do?").fill(QUESTIONS[0])


def create(page: Page) -> None:
    """Create a stream, to see the calls."""
    page.get_by_role("button", name="Create").click()
    page.locator("#use").wait_for()


def remove(page: Page) -> None:
    """Delete that stream again: other pictures do not have it."""
    page.request.delete(page.url.replace("/page/start", "/v1/streams/my-data"))


def scroll(page: Page) -> None:
    """Go to the items."""
    page.locator("#items").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.getElementById('items').offsetTop - 16)")


def pass_by(_: Page) -> None:
    """Do nothing."""


#: What is done on a page before its picture is taken, and after.
PREPARE = {"demo": ask, "start": create, "others": find, "labeling": label, "labels": scroll}
LEAVE = {"start": remove, "others": leave}


def shoot(browser: Browser, url: str) -> None:
    """Take all pictures."""
    fish = draw_fish()
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            context = browser.new_context(
                color_scheme=scheme,
                viewport={"width": width, "height": height},
            )
            context.route(f"{HOST}/**", lambda route: route.fulfill(content_type="image/png", body=fish))
            for name, address in PAGES.items():
                page = context.new_page()
                page.goto(url + address)
                page.locator(".state[data-state=live]").wait_for()
                page.wait_for_timeout(2500)
                PREPARE.get(name, pass_by)(page)
                top: Any = {"x": 0, "y": 0, "width": width, "height": LONGEST[size]} if name == "stream" else None
                page.screenshot(path=OUT / f"page-{name}-{scheme}-{size}.png", full_page=top is not None, clip=top)
                LEAVE.get(name, pass_by)(page)
                page.goto("about:blank")  # what it holds is given back
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
        asyncio.run_coroutine_threadsafe(fill_queue(app.state.engine), loop).result(120)
        app.state.image_hosts = (HOST,)
        engine: Engine = app.state.engine
        while asyncio.run_coroutine_threadsafe(engine.summary(SIMULATED), loop).result(60)["rounds"] <= 1500:
            time.sleep(0.5)
        with sync_playwright() as playwright:
            flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            shoot(browser, "http://127.0.0.1:8765")
            browser.close()
        app.state.engine.prepare_shutdown()
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
