"""The site: built strictly, complete by itself, nothing fetched from elsewhere."""

import html.parser
import re
import subprocess
import sys
from urllib.parse import unquote, urlparse

import pytest

from tests.docs.pages import PAGES


class Found(html.parser.HTMLParser):
    """What a page has and wants: ids, links, and things a browser fetches."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.ids |= {known[name] for name in ("id", "name") if known.get(name)}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag in ("script", "img", "iframe", "source") and known.get("src"):
            self.fetched.append(known["src"])
        if tag == "link" and known.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(known["href"])


@pytest.fixture(scope="module")
def pages(site):
    found = {path.relative_to(site).as_posix(): Found(path.read_text()) for path in site.rglob("*.html")}
    assert len(found) > 45
    return found


def test_nothing_comes_from_elsewhere(pages, site):
    for name, page in pages.items():
        for target in page.fetched:
            assert not urlparse(target).netloc, f"{name} fetches {target}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:", sheet.read_text()), sheet.name


def test_every_link_and_anchor_leads_somewhere(pages, site):
    for name, page in pages.items():
        if name == "404.html":
            continue
        for target in page.links + page.fetched:
            url = urlparse(target)
            if url.scheme or url.netloc:
                continue
            path = (site / name).parent / unquote(url.path) if url.path else site / name
            assert path.resolve().exists(), f"{name} links to {target}"
            inside = path.resolve().relative_to(site.resolve()).as_posix()
            if url.fragment and inside in pages and not url.fragment.startswith("__"):
                assert unquote(url.fragment) in pages[inside].ids, f"{name} links to {target}"


def test_links_between_files_work_without_the_site_too():
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            if page.parent.name == "reference" and target in ("command-line.md", "http.md"):
                continue  # written when the site is built
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_formulas_are_set(site):
    """No TeX is left over, neither as text nor inside of a formula."""
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert "arithmatex" not in text, path.name
        for formula in re.findall(r"<math.*?</math>", text, flags=re.DOTALL):
            assert "\\" not in re.sub(r'alttext="[^"]*"', "", formula), (path.name, formula[:300])
    assert len(re.findall("<math", (site / "explanation" / "theory.html").read_text())) > 80


def test_a_page_that_is_in_no_menu_or_links_nowhere_stops_the_build(tmp_path):
    """Negative control: strict means strict."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# x\n\n[nowhere](none.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\ntheme: {name: material, font: false}\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1
