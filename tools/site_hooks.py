"""What the site needs beside its pages: pages made from the repository, and formulas without a script.

- `CHANGELOG.md`, `CONTRIBUTING.md`, `SECURITY.md` and `benchmarks/results.md` become pages.
- The reference of the command line and of HTTP is written from the code (`site_reference.py`).
- The reference of policies lists every policy of the registry that its page does not name.
- A picture of a page in light colors is followed by the same in dark colors; the theme shows the one that fits.
- TeX becomes MathML while the site is built; browsers set it themselves, and nothing is fetched.
"""

import html
import re
import sys
from pathlib import Path
from typing import Any, Final

import latex2mathml.converter
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from site_reference import command_line, http, other_policies

ROOT: Final = Path(__file__).parents[1]
TAKEN: Final = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security-policy.md": "SECURITY.md",
    "benchmarks.md": "benchmarks/results.md",
}
WRITTEN: Final = {"reference/command-line.md": command_line, "reference/http.md": http}
#: Where pages of the repository link to files that are pages of the site too.
LINKS: Final = {page: name for name, page in TAKEN.items()}
_MATH: Final = re.compile(
    r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>',
    flags=re.DOTALL,
)


#: A picture of a page, in light colors.
_LIGHT: Final = re.compile(r'<img ([^>]*?)src="([^"]+)-light-([a-z]+\.png)"([^>]*)>')


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from elsewhere."""
    for name, source in TAKEN.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=_relinked(text)))
    for name, write in WRITTEN.items():
        files.append(File.generated(config, name, content=write()))
    return files


def on_page_markdown(markdown: str, page: Any, **_rest: Any) -> str:
    """Point links out of `docs` at the pages that were made of those files; list the other policies."""
    markdown = other_policies(markdown)
    up = "../" * page.file.src_uri.count("/")
    for source, name in LINKS.items():
        markdown = markdown.replace(f"]({up}../{source}", f"]({up}{name}")
    return markdown


def on_page_content(content: str, **_rest: Any) -> str:
    """Turn TeX into MathML, and show pictures of pages in the reader's colors."""
    content = _LIGHT.sub(
        r'<img \1src="\2-light-\3#only-light"\4><img \1src="\2-dark-\3#only-dark"\4>',
        content,
    )
    return _MATH.sub(lambda match: mathml(html.unescape(match[2]), block=match[1] == "div"), content)


def mathml(tex: str, *, block: bool) -> str:
    """Return a formula as browsers set it."""
    plain = re.sub(r"\\[bB]ig[lr]", "", tex)  # brackets grow by themselves
    plain = plain.replace(" : ", r"\;:\;")
    plain = re.sub(r"(?<=\w) \\log", r"\\,\\log", plain).replace(r"\log ", r"\log\, ")  # n log T, not nlogT
    return latex2mathml.converter.convert(plain.strip(), display="block" if block else "inline")


def _relinked(text: str) -> str:
    """Return a page of the repository with its links as the site has them."""
    text = re.sub(r"\]\((?:\.\./)?docs/", "](", text)
    for source, name in LINKS.items():
        text = text.replace(f"]({source})", f"]({name})")
    return text
