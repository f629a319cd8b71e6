"""The command `threshold`: which score_threshold, from labeled examples."""

import math
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist.errors import InvalidInput, InvalidParameter
from shortlist.logs import LabeledThreshold, threshold_from_labels
from shortlist.logs.calibration import examples_needed

__all__ = ["threshold"]

#: The coverages of the curve.
_CURVE: Final = (0.8, 0.85, 0.9, 0.95, 0.99)


class _Examples(NamedTuple):
    """Labeled examples, with scores for which larger is better."""

    true_scores: Any
    #: float[n, m], NaN beyond the end of a list; None if only the right answers' scores are known.
    candidates: Any
    #: The rank of the right answer in each list, from 1; infinity where it is not in it.
    ranks: Any

    def length(self, cut: float) -> str:
        """Return the mean list length at a threshold, in words."""
        return "" if self.candidates is None else f"{(self.candidates >= cut).sum(axis=1).mean():,.1f}"


def threshold(
    file: Annotated[Path, typer.Argument(help="Labeled examples: CSV or Parquet.")],
    coverage: Annotated[float, typer.Option(help="Share of questions whose right answer must be shown.")] = 0.9,
    delta: Annotated[float, typer.Option(help="Probability that the threshold may be too high.")] = 0.05,
    column: Annotated[
        str,
        typer.Option(
            help="One row per example: the column of the right answer's score, empty if it was not among the results."
        ),
    ] = "true_score",
    scorer: Annotated[
        str | None,
        typer.Option(
            help="One row per result (round_id, scores, picked): the column of scores, if there are several.",
            show_default=False,
        ),
    ] = None,
    distances: Annotated[bool, typer.Option("--distances", help="Smaller is better.")] = False,
    separator: Annotated[str, typer.Option(help="The separator of a CSV file.")] = ",",
) -> None:
    """Turn labeled examples into a number to paste into score_threshold, and say what it guarantees.

    One row per example with the score of its right answer is enough. With one row per result (the columns round_id, a
    score, and picked, which is 1 for the right one), it also prints the list length, compared with a fixed top-k.
    """
    examples = _read(file, column, scorer, distances, separator)
    labeled = threshold_from_labels(examples.true_scores, coverage, delta)
    if labeled.threshold is None:
        raise InvalidInput(
            f"{labeled.examples} examples are too few for coverage {coverage:g} at delta {delta:g}, which needs "
            f"{labeled.examples + labeled.missing}: label {labeled.missing} more, or ask for less coverage"
        )
    console = Console(soft_wrap=True, highlight=False)
    _say(console, labeled, examples, distances)
    _curve(console, examples, delta, distances)


def _read(path: Path, column: str, scorer: str | None, distances: bool, separator: str) -> _Examples:
    from shortlist.lab.candidate_log import CandidateFiles  # noqa: PLC0415 - brings pyarrow
    from shortlist.lab.round_log import LogFiles, read_table  # noqa: PLC0415

    sign = -1.0 if distances else 1.0
    names = read_table(path, separator).column_names
    if not {"round_id", "picked"} <= set(names):
        if scorer is not None:
            raise InvalidParameter(
                f"scorer is {scorer!r}, which is for one row per result; {path} has no columns round_id and picked"
            )
        if column not in names and len(names) > 1:
            raise InvalidParameter(
                f"{path} has the columns {', '.join(names)}; give a row for each result, with round_id, a score and "
                f"picked (1 or 0), or a row for each question, with {column} (or another --column)"
            )
        true = next(iter(LogFiles((str(path),), column=column, separator=separator).read([str(path)]).values()))
        return _Examples(np.where(np.isinf(true), -np.inf, sign * true), None, None)
    scorers = () if scorer is None else (scorer,)
    (lists,) = CandidateFiles((str(path),), scorers, separator=separator).read().values()
    if len(lists.scorers) > 1:
        raise InvalidParameter(
            f"{path} has the scores {', '.join(lists.scorers)}; a threshold is for one of them: name it with --scorer, "
            "or learn from all with a Shortlister"
        )
    candidates = sign * lists.values[:, :, 0]
    right = candidates[np.arange(len(candidates)), lists.right]
    true = np.where(lists.right < 0, -np.inf, right)
    # Ties count as the worst case: a store may put any of them first.
    ranks = np.where(lists.right < 0, np.inf, (candidates >= true[:, None]).sum(axis=1))
    return _Examples(true, candidates, ranks)


def _say(console: Console, labeled: LabeledThreshold, examples: _Examples, distances: bool) -> None:
    """Print the number, its guarantee and its price, and what to change."""
    cut, n = labeled.threshold, labeled.examples
    assert cut is not None  # noqa: S101 - see threshold
    if cut == -math.inf:
        console.print(
            f"No number covers {labeled.coverage:.0%}: the right answer is missing from more of the {n:,} examples "
            "than that allows. Fetch more results, or ask for less coverage."
        )
        return
    number = _paste(cut, distances)
    console.print(f"[bold]score_threshold = {number}[/]\n")
    reaches = "is at most this far away" if distances else "scores at least this"
    console.print(
        f"From {n:,} examples. With probability {1 - labeled.delta:g} over the draw of the examples, the right answer "
        f"{reaches} in {labeled.coverage:.0%} of questions or more. That is one look at one coverage, fixed "
        "beforehand, on questions like these; it does not adapt to distribution shift."
    )
    if examples.candidates is not None:
        top = threshold_from_labels(-examples.ranks, labeled.coverage, labeled.delta).threshold
        k = "none, the right answer is missing too often" if top is None or math.isinf(top) else f"{-top:,.0f}"
        console.print(
            f"Results shown per question, expected: {examples.length(cut)} of {_candidates(examples)}. "
            f"A fixed top-k with the same guarantee: {k}."
        )
        everything = (examples.candidates >= cut).sum() / np.isfinite(examples.candidates).sum()
        if everything > 0.95 and not distances:
            console.print(
                "That is nearly everything. If smaller scores are better, they are distances: add --distances."
            )
    needed = examples_needed(labeled.coverage, labeled.delta)
    console.print(f"{needed:,} examples are enough for a first number; more bring it closer to the optimal one.\n")
    _change(console, labeled.coverage, number, examples, distances)


def _change(console: Console, coverage: float, number: str, examples: _Examples, distances: bool) -> None:
    """Print the lines to change."""
    fetch = 50 if examples.candidates is None else examples.candidates.shape[1]
    if distances:
        # LangChain's own threshold is on relevance, which is larger for closer results.
        before = "pairs = store.similarity_search_with_score(question, k=4)"
        pairs = f"store.similarity_search_with_score(question, k={fetch})"
        after = f"pairs = [pair for pair in {pairs} if pair[1] <= {number}]"
        note = "its score_threshold does not accept distances"
    else:
        before = 'retriever = store.as_retriever(search_kwargs={"k": 4})'
        kwargs = f'{{"k": {fetch}, "score_threshold": {number}}}'
        after = f'retriever = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={kwargs})'
        note = (
            "it compares what similarity_search_with_relevance_scores returns, so the examples must have those scores"
        )
    console.print(f"What to change, in LangChain for example ({note}):\n")
    console.print(escape(f"  - {before}"))
    console.print(escape(f"  + {after}\n"))
    turned = "-" if distances else ""
    raw, data = (', score="raw"', "true_scores") if examples.candidates is None else ("", "lists, right")
    console.print("Or let it keep learning, starting from the same examples, in shadow mode first:\n")
    console.print(escape(f"  lister = shortlist.Shortlister(coverage={coverage:g}{raw}, shadow=True)"))
    console.print(escape(f"  lister.warm_start({turned}{data})\n"))


def _candidates(examples: _Examples) -> str:
    counts = (~np.isnan(examples.candidates)).sum(axis=1)
    return f"{counts.mean():,.0f}"


def _paste(cut: float, distances: bool) -> str:
    """Return a six-digit number strictly on the safe side: stores differ in > and >=."""
    number = Decimal(f"{cut:.5e}")
    step = Decimal(1).scaleb(number.adjusted() - 5 if number else -6)
    while float(number) >= cut:  # in decimals: 0.1234, slightly less in binary, would be printed as 0.1234 again
        number, step = number - step, 2 * step
    return f"{float(-number if distances else number):.6g}"


def _curve(console: Console, examples: _Examples, delta: float, distances: bool) -> None:
    """Print thresholds to choose from, each at its share of delta."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, title_justify="left")
    for heading in ("coverage", "score_threshold", *(() if examples.candidates is None else ("results shown",))):
        table.add_column(heading, justify="right", no_wrap=True)
    for coverage in _CURVE:
        point = threshold_from_labels(examples.true_scores, coverage, delta, choices=len(_CURVE))
        cut = point.threshold
        if cut is None:
            number, length = f"{point.missing:,} more examples", ""
        elif cut == -math.inf:
            number, length = "none", examples.length(-math.inf)
        else:
            number, length = _paste(cut, distances), examples.length(cut)
        table.add_row(f"{coverage:g}", number, *(() if examples.candidates is None else (length,)))
    console.print(
        f"If you have not decided on a coverage: the numbers below are at delta {delta / len(_CURVE):g} each, so you "
        "may choose one of them after looking."
    )
    console.print(table)
