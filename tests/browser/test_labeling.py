"""A day's work on the answer page: a team, a queue, undone and lost answers, pictures, a thousand classes."""

import base64
import contextlib
import json
import os
import signal
import threading

import pytest

from shortlist import Client
from shortlist.service.keys import KeyFile
from tests.browser.conftest import CHROMIUM
from tests.browser.test_pages import state, wait_until
from tests.service.running import running

CLASSES = ["right", *(f"class {number}" for number in range(11))]
SCORES = [0.9, *(0.4 - 0.01 * number for number in range(11))]


def items(count, **more):
    return [
        {"id": f"i{number}", "scores": SCORES, "ids": CLASSES, "question": f"which of i{number}", **more}
        for number in range(count)
    ]


def fill(service, count, stream="images", **settings):
    with Client(service.url, stream) as client:
        client.create(score="raw", delta=0.01, **settings)
        assert client.add_items(items(count)) == [None] * count


def open_page(page, service, stream="images"):
    page.goto(f"{service.url}/page/streams/{stream}/answer")
    page.locator(".question").wait_for()


def question(page):
    return page.locator(".question").text_content()


class Annotator(threading.Thread):
    """Somebody with a browser and a key of their own, who answers by keyboard alone; one of them is killed."""

    def __init__(self, url, key, answers, *, dies_after=None):
        super().__init__()
        self.url, self.key, self.answers, self.dies_after = url, key, answers, dies_after
        self.seen, self.clicks, self.failure = [], 0, None

    def run(self):
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - each thread has its own

        try:
            with sync_playwright() as playwright:
                flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
                chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
                with contextlib.suppress(KilledError):
                    self.work(chromium)
                    chromium.close()
        except Exception as error:  # noqa: BLE001 - told by whoever waits
            self.failure = error

    def work(self, chromium):
        page = chromium.new_page()
        page.set_default_timeout(60_000)
        page.clock.install()  # so that nobody waits for the ten seconds in which an answer can be undone
        page.add_init_script(f"sessionStorage.setItem('shortlist-key', {json.dumps(self.key)})")
        page.goto(f"{self.url}/page/streams/images/answer")
        last = None
        while True:
            page.wait_for_function(
                "last => { const q = document.querySelector('.question');"
                " return document.getElementById('waiting') || (q && q.textContent !== last); }",
                arg=last,
            )
            if page.locator("#waiting").count():
                break
            last = page.locator(".question").text_content()
            self.seen.append(last)
            if self.clicks == self.dies_after:
                page.clock.fast_forward(10_001)
                page.wait_for_function("() => !document.getElementById('left').textContent.includes('not saved')")
                processes = chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
                os.kill(next(each["id"] for each in processes if each["type"] == "browser"), signal.SIGKILL)
                raise KilledError
            page.keyboard.press("1")
            self.clicks += 1
            if self.clicks % 10 == 0:  # a key has at most twenty leases
                page.clock.fast_forward(10_001)
        page.clock.fast_forward(10_001)
        wait_until(lambda: page.locator("#left").text_content().endswith("open"))


class KilledError(Exception):
    """A browser was killed."""


def work_together(service, keys, count, *, dies_after):
    """Let three people answer so many items, one of whom is killed on the way; check that nothing was lost."""
    people = [
        Annotator(service.url, key, count, dies_after=dies_after if number == 0 else None)
        for number, key in enumerate(keys)
    ]
    for each in people:
        each.start()
    for each in people:
        each.join(600)
    assert [each.failure for each in people] == [None] * 3
    return people


def check_team(tmp_path, count, dies_after):
    file = KeyFile(tmp_path / "keys.json")
    keys = [file.create(name, ["feedback"]) for name in ("ann", "bob", "cem")]
    admin = file.create("lead", ["admin"])
    with running(f"sqlite:///{tmp_path}/log.db", keys=KeyFile(file.path)) as service:
        service.http.headers["Authorization"] = f"Bearer {admin}"
        with Client(service.url, "images", api_key=admin) as client:
            client.create(score="raw", record_annotators=True)
            assert client.add_items(items(count)) == [None] * count
        people = work_together(service, keys, count, dies_after=dies_after)
        clicks = sum(each.clicks for each in people)
        wait_until(lambda: service.http.get("/v1/streams/images/items").json()["answered"] == clicks)
        held = people[0].seen[-1]  # what the one who was killed had before them
        open_rounds = service.http.get("/v1/streams/images/rounds?open=true").json()["rounds"]
        left = service.http.get("/v1/streams/images/items").json()
        signers = {row["annotator"]: row["answers"] for row in classes(service)["annotators"]}
        # Nobody saw an item that another held; all were answered but the one, which comes back when its lease ends.
        seen = [each for person in people for each in person.seen]
        assert len(seen) == len(set(seen)) == count
        assert [each["question"] for each in open_rounds] == [held]
        assert (left["waiting"], left["open"], clicks) == (0, 1, count - 1)
        assert signers == {"ann": dies_after, "bob": people[1].clicks, "cem": people[2].clicks}
        store = service.engine.store
        service.call(_end_leases(store))
        again = service.http.post("/v1/streams/images/next", json={}).json()
        assert again["question"] == held
        assert service.answer(again["round_id"], {"hit": "right"}, stream="images").status_code == 200
        assert service.http.get("/v1/streams/images/items").json()["answered"] == count
        return people


async def _end_leases(store):
    """Let all leases end, as two minutes would."""
    import sqlalchemy as sa  # noqa: PLC0415

    with store._writing.begin() as connection:
        connection.execute(sa.text("UPDATE leases SET until = 0"))


def classes(service, stream="images"):
    return service.http.get(f"/v1/streams/{stream}/classes").json()


def test_three_browsers_three_keys_and_one_that_is_killed(browser, tmp_path):
    del browser  # only whether there is one
    check_team(tmp_path, 24, 3)


@pytest.mark.soak
def test_three_hundred_items(browser, tmp_path):
    del browser
    people = check_team(tmp_path, 300, 40)
    print("clicks", [each.clicks for each in people], "items seen", sum(len(each.seen) for each in people))


def answers(service):
    """Return the answers that the service has, by question."""
    rounds = service.http.get("/v1/streams/images/rounds").json()["rounds"]
    return {each["question"]: each["answer"] for each in rounds if each["answer"] is not None}


def test_an_answer_is_undone_for_ten_seconds_and_then_final(page, service):
    fill(service, 6, guidelines="Pick what you see.\nNothing else.")
    page.clock.install()
    open_page(page, service)
    page.get_by_text("Pick what you see.").wait_for()
    first = question(page)
    page.keyboard.press("2")
    page.get_by_text("Picked class 0.").wait_for()
    page.locator(".last li", has_text=first).get_by_role("button", name="Change").click()
    page.locator(".question", has_text=first).wait_for()
    page.keyboard.press("1")
    page.get_by_text("Picked right.").wait_for()
    assert answers(service) == {}
    page.clock.fast_forward(10_001)
    page.locator(".last li", has_text=first).get_by_text("final").wait_for()
    assert answers(service) == {first: {"hit": "right"}}
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('shortlist-answer:'))") == []
    page.get_by_text("1 by you in this browser").wait_for()


def test_a_reload_goes_on_where_it_was_and_sends_what_was_answered(page, service):
    fill(service, 6)
    open_page(page, service)
    first = question(page)
    page.keyboard.press("1")
    page.wait_for_function("last => document.querySelector('.question')?.textContent !== last", arg=first)
    before = question(page)
    page.reload()
    page.locator(".question", has_text=before).wait_for()
    wait_until(lambda: answers(service) == {first: {"hit": "right"}})


def test_an_answer_that_could_not_be_sent_is_sent_by_the_next_page(page, service):
    """Its tab was closed, and the service was out of reach; another annotator's page leaves it alone."""
    fill(service, 3)
    open_page(page, service)
    first = question(page)
    context = page.context
    page.keyboard.press("1")
    page.wait_for_function("last => document.querySelector('.question')?.textContent !== last", arg=first)
    context.set_offline(True)
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.clock.install()
    open_page(again, service)
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('shortlist-answer:'))"
    assert len(again.evaluate(kept)) == 1
    assert answers(service) == {}
    again.clock.fast_forward(10_001)
    again.locator(".last li", has_text=first).get_by_text("final").wait_for()
    assert answers(service) == {first: {"hit": "right"}}
    assert again.evaluate(kept) == []
    again.evaluate(
        "localStorage.setItem('shortlist-answer:images:x', JSON.stringify({name: 'images', at: 0, annotator: 'bob', "
        "answer: {miss: true}, words: 'not in this list', round: {round_id: 'x'}}))"
    )
    again.reload()
    again.locator(".question").wait_for()
    again.clock.fast_forward(20_000)
    assert len(again.evaluate(kept)) == 1
    again.close()


def test_without_storage_an_answer_is_sent_at_once(page, service):
    fill(service, 2)
    open_page(page, service)
    first = question(page)
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('no room'); }; }")
    page.keyboard.press("1")
    wait_until(lambda: answers(service) == {first: {"hit": "right"}})
    assert page.locator("#toast").is_hidden()


def test_an_annotators_key_leads_nowhere_that_it_cannot_go(page, tmp_path):
    file = KeyFile(tmp_path / "keys.json")
    ann, admin = file.create("ann", ["feedback"]), file.create("lead", ["admin"])
    with running(f"sqlite:///{tmp_path}/log.db", keys=KeyFile(file.path)) as service:
        with Client(service.url, "images", api_key=admin) as client:
            client.create(score="raw")
            client.add_items(items(1))
        page.add_init_script(f"sessionStorage.setItem('shortlist-key', {json.dumps(ann)})")
        open_page(page, service)
        page.locator("header nav a").first.wait_for(state="hidden")
        page.goto(service.url)
        page.get_by_text("This key cannot read streams.").wait_for()
        page.goto(f"{service.url}/page/streams/images")
        page.get_by_text("This key cannot read streams").wait_for()


def test_later_gives_an_item_back(page, service):
    fill(service, 3)
    open_page(page, service)
    first = question(page)
    page.keyboard.press("l")
    page.wait_for_function("first => document.querySelector('.question')?.textContent !== first", arg=first)
    queue = service.http.get("/v1/streams/images/items").json()
    assert (queue["open"], queue["held"], queue["waiting"]) == (2, 1, 1)
    assert state(service, "images")["skipped"] == 0
    seen = [question(page)]
    for _ in range(2):
        page.keyboard.press("0")
        page.wait_for_function("last => document.querySelector('.question')?.textContent !== last", arg=seen[-1])
        seen.append(question(page))
    assert seen[-1] == first  # there was nothing else


def test_who_lost_a_lease_is_told(page, service):
    page.clock.install()
    fill(service, 2)
    open_page(page, service)
    first = question(page)
    taken = service.http.get("/v1/streams/images/rounds?open=true").json()["rounds"][0]["round_id"]
    assert service.http.delete(f"/v1/streams/images/rounds/{taken}/lease").status_code == 204
    page.clock.fast_forward(31_000)
    page.get_by_role("alert").filter(has_text="Somebody else has this one now").wait_for()
    page.wait_for_function("first => document.querySelector('.question')?.textContent !== first", arg=first)


def test_a_lease_is_renewed_while_the_page_is_open(page, service):
    page.clock.install()
    fill(service, 1)
    open_page(page, service)
    renewed = []
    page.on("request", lambda request: renewed.append(request) if request.url.endswith("/lease") else None)
    for _ in range(4):
        page.clock.fast_forward(31_000)
        page.wait_for_timeout(50)
    wait_until(lambda: len(renewed) >= 3)
    assert service.http.post("/v1/streams/images/next", json={}).status_code == 204


def test_pictures_of_hosts_that_are_allowed(page, tmp_path):
    address = f"sqlite:///{tmp_path}/log.db"
    with running(address, image_hosts=["https://pictures.example.org"]) as service:
        with Client(service.url, "images") as client:
            client.create(score="raw")
            client.add_items(items(1, image="https://pictures.example.org/1.png"))
            client.add_items([each | {"id": "other"} for each in items(1, image="https://elsewhere.example.org/1.png")])
        png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        asked = []

        def serve(route):
            asked.append(route.request.url)
            route.fulfill(content_type="image/png", body=base64.b64decode(png))

        page.route("https://*.example.org/**", serve)
        page.on("console", lambda _: page.wrong.clear())  # what the policy refuses is told there
        open_page(page, service)
        seen = set()
        for _ in range(2):
            page.locator("img.picture, a[href*=elsewhere]").first.wait_for()
            if page.locator("img.picture").count() and "elsewhere" not in page.locator("img.picture").get_attribute(
                "src"
            ):
                page.wait_for_function("document.querySelector('img.picture')?.naturalWidth > 0")
                seen.add("shown")
            else:
                page.get_by_text("The picture cannot be shown here").wait_for()
                seen.add("refused")
            before = page.locator("img.picture, a[href*=elsewhere]").first.evaluate("each => each.src ?? each.href")
            page.keyboard.press("1")
            page.wait_for_function(
                "before => document.getElementById('waiting') || [...document.querySelectorAll('.picture, #round a')]"
                ".some((each) => (each.src ?? each.href) !== before)",
                arg=before,
            )
        assert seen == {"shown", "refused"}
        assert asked == ["https://pictures.example.org/1.png"]
        page.wrong.clear()


def test_a_thousand_classes_on_the_first_day(page, service):
    """The best ten, and the others one key away: "there is none" always in sight, and a label takes few keys."""
    names = [f"breed {number:03}" for number in range(999)] + ["Ménétrier"]
    with Client(service.url, "images") as client:
        client.create(at_most=None)
        client.add_items([{"id": "i0", "scores": [-float(n) for n in range(1000)], "ids": names, "question": "who"}])
    open_page(page, service)
    page.get_by_text("10 of 1000 candidates; the other 990 are less likely.").wait_for()
    assert page.get_by_role("button", name="There is none").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("men")
    page.get_by_text("1 found").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Picked Ménétrier, from the others.").wait_for()


def test_items_from_a_file_and_labels_on_the_page_of_a_stream(page, service, tmp_path):
    service.make("images", score="raw", record_annotators=True)
    page.goto(f"{service.url}/page/streams/images")
    page.get_by_text("0 items waiting").wait_for()
    lines = [
        {"id": f"i{n}", "question": f"q{n}", "candidates": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.2}]}
        for n in range(5)
    ]
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join([*map(json.dumps, lines), '{"id": "broken"}']))
    page.locator("#items input[type=file]").set_input_files(file)
    page.get_by_text("5 items received.").wait_for()
    page.get_by_role("alert").filter(has_text="1 item refused. Line 6:").wait_for()
    page.get_by_text("5 items waiting").wait_for()
    for label, who in (("a", "ann"), ("a", "bob"), ("b", "ann")):
        taken = service.http.post("/v1/streams/images/next", json={}).json()
        service.answer(taken["round_id"], {"hit": label, "annotator": who}, stream="images")
    page.reload()
    page.get_by_text("By annotator: ann 2, bob 1.").wait_for()
    assert page.locator("#classes tbody tr").count() == 2
    with page.expect_download() as caught:
        page.get_by_role("button", name="Training set (CSV)").click()
    assert caught.value.suggested_filename == "images-labels.csv"
    assert len(caught.value.path().read_text().splitlines()) == 4


TEXT = (
    "A small brown bird, seen at dusk near a stream.\n\n" + "It sang from the top of a spruce for some minutes. " * 12
)


def test_candidates_are_on_the_first_screen(browser, service):
    """At three sizes, with guidelines open and shut, of texts and pictures; the answer before covers nothing."""
    names = [f"class {number:03}" for number in range(300)]
    picture = {"question": "who", "image": f"{service.url}/static/icon.svg"}
    for name, more in (("texts", {"question": TEXT}), ("pictures", picture)):
        with Client(service.url, name) as client:
            client.create(guidelines="Pick the species that you see.\n" * 8)
            scores = [-float(n) for n in range(300)]
            client.add_items([{"id": f"i{n}", "scores": scores, "ids": names, **more} for n in range(12)])
    for width, height, least in ((1366, 768, 8), (1920, 1080, 10), (390, 844, 3)):
        for name in ("texts", "pictures"):
            context = browser.new_context(viewport={"width": width, "height": height})
            page = context.new_page()
            open_page(page, service, name)
            weight = page.locator(".question").evaluate("each => getComputedStyle(each).fontWeight")
            assert weight == ("400" if name == "texts" else "600")
            for is_open in (True, False):
                if not is_open:
                    page.locator("#guidelines summary").click()
                page.locator("#guidelines[open]").wait_for(state="visible" if is_open else "hidden")
                assert page.evaluate(SEEN) >= least, (width, name, is_open)
            page.keyboard.press("1")
            page.locator("#toast:not([hidden])").wait_for()
            page.wait_for_function(f"() => ({SEEN}) >= {least}")
            assert page.evaluate(COVERED) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            context.close()


#: How many candidates can be seen whole, above the buttons; and what lies below the words about the last answer.
SEEN = """[...document.querySelectorAll("#members li")].map((each) => each.getBoundingClientRect())
  .filter(({ top, bottom }) => top >= 0 && bottom <= document.querySelector(".dock").getBoundingClientRect().top + 1)
  .length"""
COVERED = """(() => {
  const { left, right, top, bottom } = document.getElementById("toast").getBoundingClientRect();
  return [...document.querySelectorAll("main *")].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width && box.left < right && box.right > left && box.top < bottom && box.bottom > top;
  }).map((each) => each.id || each.className);
})()"""
