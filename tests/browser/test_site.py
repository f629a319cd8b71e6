"""The site in a real browser: on a desk and in a hand, with nothing fetched from elsewhere."""

import functools
import http.server
import threading

import pytest

#: On a desk, and in a hand.
SIZES = ((1280, 900), (360, 740))


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served, for as long as this module runs."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("size", [SIZES[0], pytest.param(SIZES[1], marks=pytest.mark.soak)], ids=str)
def test_every_page_fits_and_is_whole(page, address, site, size):
    """No page is wider than a screen, no picture is missing, nothing is asked of another machine."""
    asked, broken, wide, lacking = [], [], [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda response: broken.append(response.url) if response.status >= 400 else None)
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if path.name != "404.html")
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    for name in names:
        page.goto(address + name)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(name)
        if not page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)"):
            lacking.append(name)
    assert not wide
    assert not lacking
    assert not [url for url in asked if not url.startswith((address, "data:"))]
    assert not broken


@pytest.mark.parametrize("place", ["a server", "a folder"])
def test_the_search_finds_a_page(page, address, site, place):
    """Also where no worker can be started: opened from a folder."""
    page.goto((address if place == "a server" else f"{site.as_uri()}/") + "explanation/theory.html")
    field, found = page.get_by_role("textbox", name="Search"), page.locator(".md-search-result__item").first
    field.click()
    for _ in range(20):  # words that come before the index is read are not looked up
        field.fill("")
        field.press_sequentially("patience")
        page.wait_for_timeout(1_000)
        if found.is_visible():
            break
    assert "late" in page.locator(".md-search-result__list").inner_text().lower()


def test_a_phone_has_a_menu(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}index.html")
    page.locator("label.md-header__button[for=__drawer]").click()
    page.get_by_role("link", name="Tutorial").first.click()
    page.get_by_role("heading", name="From a list of scores to a learning shortlist").wait_for()


def test_formulas_have_a_size(page, address):
    """They are set by the browser itself: taller than a line of text where they should be."""
    page.goto(f"{address}explanation/theory.html")
    heights = page.evaluate(
        "[...document.querySelectorAll('math[display=block]')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(heights) >= 6
    assert min(heights) > 15
    assert max(heights) > 35
