"""The pages: README, CONTRIBUTING, SECURITY and all of docs, with the blocks of code on them."""

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["PAGES", "ROOT", "Block", "blocks", "lines"]

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benchmarks/results.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    text: str


def blocks(page):
    """Return the blocks of code on a page, in their order."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(language, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)) for indent, language, text in found]


def lines(block):
    """Return the commands of a block of shell, without their comments."""
    found = []
    for line in block.text.splitlines():
        found += [part.strip() for part in re.sub(r"\s+#.*$", "", line).split("&&")]
    return [line for line in found if line and not line.startswith("#")]
