"""Make the README's figure: ``python docs/figures.py``."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from shortlist import SPS, AnytimeSPS, metrics, replay

mpl.use("agg")
from matplotlib import pyplot as plt

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"


def main() -> None:
    """Draw threshold paths and cumulative regret of SPS and AnytimeSPS at the same promise."""
    rounds, runs, coverage = 10_000, 10, 0.9
    streams = [np.random.default_rng(s).random(rounds) for s in np.random.SeedSequence(0).spawn(runs)]
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name, policy, colour in (
        ("SPS, the paper", SPS(coverage, rounds), ORANGE),
        ("AnytimeSPS", AnytimeSPS(coverage, 2 / rounds), BLUE),
    ):
        paths = np.array([replay(policy, scores) for scores in streams])
        shown = 1 - metrics.Uniform().miscoverage(paths).mean(axis=0)
        regret = np.array([metrics.regret(path, metrics.Uniform(), coverage) for path in paths]).mean(axis=0)
        t = np.arange(1, rounds + 1)
        left.plot(t, shown * 100, color=colour, lw=2)
        right.plot(t, regret, color=colour, lw=2)
        left.annotate(
            name, (t[-1], shown[-1] * 100), (-6, 18), textcoords="offset points", color=colour, ha="right"
        )
        right.annotate(
            name, (t[-1], regret[-1]), (-6, 8), textcoords="offset points", color=colour, ha="right"
        )
    left.axhline(90, color=GREY, lw=1, ls="--")
    left.annotate("optimal", (0, 90), (4, 4), textcoords="offset points", color=GREY)
    left.set(title="Share of true scores above the threshold", xlabel="round", ylabel="%", ylim=(89, 100.5))
    right.set(title="Regret so far", xlabel="round", ylim=(0, None))
    for axes in (left, right):
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(0, rounds)
        axes.title.set_fontweight("bold")
        axes.title.set_fontsize(11)
    folder = Path(__file__).parent / "figures"
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / "headline.png", dpi=160)


if __name__ == "__main__":
    main()
