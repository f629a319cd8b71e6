"""The figures of an experiment: those of the paper, by its numbers, and ours. `panel_plots` draws their panels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes

from shortlist.lab import panel_plots, sweeps
from shortlist.lab.figure_style import Ends, label, label_of, panels, save, style
from shortlist.lab.run import Results
from shortlist.lab.spec import PAPER_TASKS, Spec
from shortlist.policies import PAPER

__all__ = ["Panel", "Picture", "draw_all", "paper_number", "pictures"]

MAIN: Final = ("anytime@2/T", "sps", "dlr", "aci", "greedy")
APPENDIX: Final = ("anytime@2/T", "sps", "etc", "conservative-etc")
LEARNERS: Final = ("anytime@2/T", "anytime@0.01", "sps")

#: The paper's figures, three in its results and the same three in its appendix: curve, axis, what it shows.
_PAPER: Final = (
    ("regret", "cumulative regret", "Cumulative regret, log scale."),
    ("coverage", "coverage so far", "Coverage rate so far; the dashed line is the target."),
    ("undercoverage", "rounds past the optimum", "Rounds so far in which the threshold was past the optimal one."),
)
_CURVES: Final = {"undercoverage": "undercoverage_count"}


@dataclass(frozen=True)
class Panel:
    """One panel: the task it shows (or another name for its file), and the function that draws it."""

    name: str
    draw: Callable[[Axes], Ends]


@dataclass(frozen=True)
class Picture:
    """One figure.

    Attributes
    ----------
    name
        The name of its file.
    words
        What it shows, in words that fit another paper.
    panels
        What is drawn, from left to right.
    origin
        Which figure of the paper it is, or that it is ours.
    added
        Which lines of a figure of the paper are not the paper's.
    ylabel
        The label of the leftmost axis.
    number
        Its number in the paper, for example 1 or 1b; empty for our own figures.
    width, height
        Width and height of a panel, in inches.
    apart
        The least distance between names at the ends of lines, in lines of text.
    in_print
        Whether it is also drawn for LaTeX.
    """

    name: str
    words: str
    panels: tuple[Panel, ...]
    origin: str = "Ours, not in the paper."
    added: str = ""
    ylabel: str = ""
    number: str = ""
    width: float = 4.3
    height: float = 3.3
    apart: float = 1.25
    in_print: bool = True

    @property
    def caption(self) -> str:
        """What it shows, which figure of the paper it is, and what in it is ours."""
        return " ".join(filter(None, (self.origin, self.words, self.added)))


def draw_all(results: Results, folder: Path) -> dict[str, str]:
    """Draw every figure that the results have data for; return names and captions in reading order."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    with style():
        for picture in pictures(results):
            figure, row = panels(len(picture.panels), picture.width, picture.height)
            for axes, panel in zip(row, picture.panels, strict=True):
                ends = panel.draw(axes)
                axes.set_title(paper_letter(picture, panel) + axes.get_title(loc="left"))
                label(figure, axes, ends, picture.apart)
            if picture.ylabel:
                row[0].set_ylabel(picture.ylabel)
            save(figure, folder, picture.name)
            drawn[picture.name] = picture.caption
    return drawn


def paper_number(spec: Spec, number: int) -> str:
    """Return the paper's number of a figure on the tasks that are run; empty if they are not the paper's.

    >>> paper_number(Spec(), 1), paper_number(Spec(tasks=("retrieval",)), 1), paper_number(Spec(tasks=("uniform",)), 1)
    ('1', '1b', '')
    """
    if spec.scores is not None or not set(spec.task_names) <= set(PAPER_TASKS):
        return ""
    if set(spec.task_names) == set(PAPER_TASKS):
        return str(number)
    return ", ".join(f"{number}{'abc'[PAPER_TASKS.index(name)]}" for name in spec.task_names)


def paper_letter(picture: Picture, panel: Panel) -> str:
    """Return the letter that the paper gives a panel, for its title."""
    return f"({'abc'[PAPER_TASKS.index(panel.name)]}) " if picture.number else ""


def pictures(results: Results) -> Iterator[Picture]:
    """Yield every figure that the results have data for, in reading order."""
    yield from _of_the_paper(results)
    yield from _of_lists(results)
    yield from _of_ours(results)


def _runs(results: Results) -> str:
    return f"Mean and 95 % band over {results.spec.runs} runs, coverage {results.spec.coverage}."


def _panels(names: Sequence[str], draw: Callable[..., Ends], results: Results, *rest: object) -> tuple[Panel, ...]:
    """Return a panel a task."""
    return tuple(Panel(name, partial(_draw, draw, results, name, *rest)) for name in names)


def _draw(draw: Callable[..., Ends], results: Results, *rest: object) -> Ends:
    *arguments, axes = rest
    return draw(axes, results, *arguments)


def _of_the_paper(results: Results) -> Iterator[Picture]:
    spec = results.spec
    for suffix, chosen, first in (("", MAIN, 1), ("_appendix", APPENDIX, 4)):
        policies = [policy for policy in chosen if policy in spec.policies]
        policies += [] if suffix else _others(results)
        if not policies or (suffix and len(policies) < 3):
            continue
        for i, (name, ylabel, words) in enumerate(_PAPER):
            number = paper_number(spec, first + i)
            yield Picture(
                f"{name}{suffix}",
                f"{words} {_runs(results)}",
                _panels(spec.task_names, panel_plots.draw_curves, results, policies, _CURVES.get(name, name)),
                f"Figure {number} of the paper." if number else f"As Figure {first + i} of the paper, on other data.",
                _ours(policies),
                ylabel,
                number,
            )
            if name == "regret" and not suffix:
                yield Picture(
                    "regret_growth",
                    "Cumulative regret, both axes logarithmic: steeper than the dotted line is superlinear. "
                    f"{_runs(results)}",
                    _panels(spec.task_names, panel_plots.draw_growth, results, policies),
                    ylabel=ylabel,
                )


def _ours(policies: Sequence[str]) -> str:
    """Return which lines of a figure of the paper are not the paper's."""
    named = {"anytime": "AnytimeSPS (ours)", "product-limit": "ProductLimit (ours)"}
    parts = [words for name, words in named.items() if any(policy.startswith(name) for policy in policies)]
    parts += [f"{label_of(policy)} (added)" for policy in policies if policy not in PAPER]
    return f"Not in the paper: {', '.join(parts)}." if parts else ""


def _others(results: Results) -> list[str]:
    """Return the policies that are not the paper's or its baselines: every figure of policies shows them."""
    return [policy for policy in results.spec.policies if policy not in PAPER]


def _learners(results: Results) -> list[str]:
    spec = results.spec
    return [policy for policy in LEARNERS if policy in spec.policies] + _others(results) or [*spec.policies[:3]]


def _of_lists(results: Results) -> Iterator[Picture]:
    spec, runs = results.spec, _runs(results)
    if spec.scores is None and "auto-all" in results.list_variants("retrieval"):
        yield Picture(
            "headline",
            f"Retrieval with two scorers: passages shown at the same guarantee, log scale. {runs}",
            (Panel("retrieval", partial(_draw, panel_plots.draw_headline, results)),),
            width=7.6,
            height=4.2,
            in_print=False,
        )
    with_lists = [name for name in spec.task_names if results.optimal.get((name, 0), {}).get("set_size") is not None]
    if with_lists:
        yield Picture(
            "list_length",
            f"Mean list length, log scale; the dashed line is the optimal threshold's. {runs}",
            _panels(with_lists, panel_plots.draw_lengths, results, _learners(results)),
            ylabel="candidates shown",
        )
    if results.list_rows:
        tasks = list(results.optimal_lists)
        most = max(len(results.list_variants(task)) for task in tasks)
        yield Picture(
            "lists_compared",
            "Mean list length over all rounds, with the coverage. SPS to auto have the guarantee 1 - 2/T about every "
            "list, shortlist as shipped has its error budget; a fixed top-k is the smallest that covers as much as "
            f"shortlist does in the same run; autocut has no target coverage. {runs}",
            _panels(tasks, panel_plots.draw_compared, results),
            width=4.9,
            height=0.7 + 0.33 * most,
            in_print=False,
        )
        yield Picture(
            "shorter_lists",
            "Mean list length round by round, log scale. Auto shows everything in the first "
            "rounds, from which it learns its score; shortlist as shipped cuts from the first list on. The fixed top-k "
            f"is chosen in hindsight. {runs}",
            _panels(tasks, panel_plots.draw_shorter, results),
            ylabel="candidates shown",
            width=4.9,
            height=3.6,
            in_print=False,
        )


def _of_ours(results: Results) -> Iterator[Picture]:
    spec, runs = results.spec, _runs(results)
    yield Picture(
        "thresholds",
        "Thresholds of all runs (thin) and their mean, from the first cut on; the dashed line is the optimum.",
        _panels(spec.task_names, panel_plots.draw_thresholds, results, _learners(results)),
        ylabel="threshold",
    )
    with_revenue = [name for name in spec.task_names if "revenue" in results.optimal.get((name, 0), {})]
    if with_revenue:
        chosen = ("anytime@2/T", "sps", "dlr", "aci", "etc")
        sellers = [p for p in chosen if p in spec.policies] + _others(results) or _learners(results)
        yield Picture(
            "revenue",
            "Revenue per round so far, in excess of that without a reserve price; "
            f"the dashed line is the optimal reserve price for this coverage. {runs}",
            _panels(with_revenue, panel_plots.draw_revenue, results, sellers),
            ylabel="extra revenue per round",
            width=6.0,
        )
        yield Picture(
            "revenue_regret",
            "Cumulative regret for another reward, price times probability of sale, "
            f"relative to the optimal reserve price for this coverage. {runs}",
            _panels(with_revenue, panel_plots.draw_curves, results, sellers, "revenue_regret"),
            ylabel="cumulative revenue regret",
            width=6.0,
        )
    if results.horizons:
        yield Picture(
            "regret_vs_horizon",
            "Regret against the horizon T at delta = 2/T, uniform scores, coverage 0.9, mean "
            f"and 95 % band of {sweeps.RUNS} runs, with the slope fitted from 10,000 rounds on.",
            (Panel("horizon", partial(_draw, panel_plots.draw_horizons, results)),),
            width=5.6,
            apart=2.3,
        )
    if results.coverages:
        yield Picture(
            "regret_vs_coverage",
            f"Regret and the round of the first cut against coverage, at {spec.rounds:,} "
            f"rounds and delta = 2/T, uniform scores, mean and 95 % band of {sweeps.RUNS} runs.",
            tuple(
                Panel(column, partial(_draw, panel_plots.draw_coverages, results, column, title))
                for column, title in (
                    ("regret", f"Regret after {spec.rounds:,} rounds"),
                    ("first_cut", "Round of the first cut"),
                )
            ),
            width=4.8,
        )
