"""The pages as files; tests/browser opens them."""

import pytest

from shortlist.service.web.pages import STATIC
from tests.service.web.checks import problem

PAGES = ["/", "/page/streams/docs", "/page/streams/docs/answer", "/page/start", "/favicon.ico", "/static/plotly.min.js"]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_comes_from_elsewhere(sqlite_service, path):
    answer = sqlite_service.http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_browser_asks_whether_a_file_has_changed(sqlite_service):
    first = sqlite_service.http.get("/static/style.css")
    assert first.content == (STATIC / "style.css").read_bytes()
    assert first.headers["cache-control"] == "no-cache"
    again = sqlite_service.http.get("/static/style.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["nowhere.js", "..%2Fkeys.py", "%2Fetc%2Fpasswd"])
def test_only_the_files_of_the_pages(sqlite_service, name):
    problem(sqlite_service.http.get(f"/static/{name}"), 404, "not-found")
