"""axe-core finds no serious fault on any page, light or dark, on a desk or in a hand."""

import pytest

from tests.browser.test_pages import fill

PAGES = {"overview": "/", "stream": "/page/streams/docs", "answer": "/page/streams/docs/answer"}


def faults(page, axe):
    page.evaluate(axe)
    found = page.evaluate("axe.run(document)")["violations"]
    return [
        (fault["id"], fault["impact"], [node["html"][:120] for node in fault["nodes"][:3]])
        for fault in found
        if fault["impact"] in ("serious", "critical", "moderate")
    ]


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.soak),
        pytest.param(390, "light", marks=pytest.mark.soak),
    ],
)
def test_no_serious_fault(browser, service, axe, scheme, width):
    fill(service, 90)
    fill(service, 3, answer=False)
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
    page = context.new_page()
    for name, path in PAGES.items():
        page.goto(service.url + path)
        page.locator(".state[data-state=live]").wait_for()
        page.wait_for_timeout(1500)
        assert faults(page, axe) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    page.keyboard.press("/")  # the box to find one in, among all
    page.keyboard.type("d")
    page.get_by_text("10 found").wait_for()
    assert faults(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    page.keyboard.press("1")  # the toast with its undo
    page.locator("#toast:not([hidden])").wait_for()
    assert faults(page, axe) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_in_the_demo(browser, axe, scheme, tmp_path):
    from shortlist.service.demo import create_demo  # noqa: PLC0415 - slow
    from tests.service.running import running  # noqa: PLC0415

    with running(None, app=create_demo(f"sqlite:///{tmp_path}/log.db")) as service:
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{service.url}/page/demo")
        page.get_by_label("What do you want to do?").fill("read a file")
        page.get_by_role("button", name="Find").click()
        page.locator(".pick button").first.wait_for()
        assert faults(page, axe) == []
        context.close()
