"""Make the README's figure: ``python docs/figures.py``, or ``make figures``."""

import tempfile
from pathlib import Path

from shortlist.experiments.figures import draw_all
from shortlist.experiments.run import run
from shortlist.experiments.spec import Spec


def main() -> None:
    """Run the experiment on retrieval and keep its headline figure."""
    results = run(Spec(tasks=("retrieval",)), with_sweeps=False)
    target = Path(__file__).parent / "figures"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        draw_all(results, Path(folder))
        (target / "headline.png").write_bytes((Path(folder) / "headline.png").read_bytes())


if __name__ == "__main__":
    main()
