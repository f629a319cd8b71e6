"""Every block of Python on a page passes `mypy --strict`, as it would in a reader's own code.

A page is one module: its blocks one after the other, as they run. A name may be given a value of another type further
down the page (`--allow-redefinition`), as in a notebook; nothing else of ours is relaxed (Dask's functions have no
types). One run over all pages.
"""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.pages import PAGES, ROOT, blocks

pytestmark = pytest.mark.soak  # half a minute

#: A plain function is a score, and what a task holds has a type.
SNIPPET = """
import numpy as np
from numpy.typing import NDArray

import shortlist
from shortlist.lab.tasks import load_task


def doubled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 2.0 * values


lister = shortlist.Shortlister(coverage=0.9, score=doubled)
score: shortlist.scores.Score = doubled
reveal_type(load_task("retrieval").scores.lists)
reveal_type(load_task("auctions").bids)
"""


def python_of(page):
    return [block.text for block in blocks(page) if block.language == "python"]


def check(folder):
    """Return what mypy says about all files of a folder."""
    command = [sys.executable, "-m", "mypy", "--strict", "--allow-redefinition", "--no-error-summary"]
    command += ["--untyped-calls-exclude", "distributed"]
    command += ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache" / "pages"), "."]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says about all pages, and about two files of ours: one that is right, one that is not."""
    folder = tmp_path_factory.mktemp("pages")
    for page in PAGES:
        texts = python_of(page)
        if texts:
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT)).removesuffix(".md"))
            (folder / f"page_{name}.py").write_text("".join(texts))
        for text in texts:
            saved = re.match(r"# (\w+\.py)\n", text)
            if saved:
                (folder / saved[1]).write_text(text)
    (folder / "ours.py").write_text(SNIPPET)
    (folder / "wrong.py").write_text("import shortlist\n\nshortlist.Shortlister(coverage='0.9', score=len)\n")
    return check(folder)


def test_every_block_has_right_types(said):
    count = sum(len(python_of(page)) for page in PAGES)
    print(f"{count} blocks are checked")
    assert count >= 70
    assert not [line for line in said if not line.startswith(("ours.py", "wrong.py")) and ": note:" not in line]


def test_a_plain_function_is_a_score_and_a_task_has_a_type(said):
    types = [line for line in said if line.startswith("ours.py")]
    assert not [line for line in types if ": error:" in line]
    assert "numpy.float64" in types[0]
    assert "BidTable" in types[1]


def test_a_wrong_type_is_noticed(said):
    """Negative control."""
    found = "\n".join(line for line in said if line.startswith("wrong.py"))
    assert 'incompatible type "str"' in found
    assert '"score" to "Shortlister" has incompatible type' in found
