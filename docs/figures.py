"""Draw the figures of README and docs: ``python docs/figures.py``, or ``make figures``.

The pages draw their own: each page's Python blocks are run in its folder. The README's figure is the
experiment's headline.
"""

import contextlib
import os
import re
import tempfile
from pathlib import Path

import matplotlib as mpl

from shortlist.experiments.figures import draw_all
from shortlist.experiments.run import run
from shortlist.experiments.spec import Spec

DOCS = Path(__file__).parent


def blocks(page: Path) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def headline() -> None:
    """Run the experiment on retrieval and keep its headline figure."""
    results = run(Spec(tasks=("retrieval",)))
    with tempfile.TemporaryDirectory() as folder:
        draw_all(results, Path(folder))
        (DOCS / "figures" / "headline.png").write_bytes((Path(folder) / "headline.png").read_bytes())


def main() -> None:
    """Draw everything."""
    mpl.use("agg")
    (DOCS / "figures").mkdir(exist_ok=True)
    headline()
    for page in sorted(DOCS.glob("*.md")):
        if "savefig" in page.read_text(encoding="utf-8"):
            namespace: dict[str, object] = {}
            with contextlib.chdir(DOCS):
                for block in blocks(page):
                    exec(compile(block, page.name, "exec"), namespace)  # noqa: S102 - our own pages
            print(f"{os.path.relpath(page)}: drawn")


if __name__ == "__main__":
    main()
