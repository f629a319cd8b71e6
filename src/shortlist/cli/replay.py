"""The command `replay`: what a policy would have done on a log, and how long lists would have been."""

import dataclasses
import glob
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist._validation import check_probability
from shortlist.cli.job_options import SCHEDULER, check_folder, named_policies, names, process_count, progress, teller
from shortlist.errors import InvalidParameter

__all__ = ["replay"]

_POLICIES: Final = "product-limit,anytime"
#: How many streams are printed; all are written.
_STREAMS_SHOWN: Final = 5


def replay(
    files: Annotated[list[str], typer.Argument(help="Logs: CSV or Parquet files, or patterns like 'logs/*.parquet'.")],
    lists: Annotated[
        bool,
        typer.Option(
            "--lists",
            help="The log has a row for each candidate (round_id, a column for each scorer, picked): compare how long "
            "lists would have been by raw, relative and learned scores, reciprocal rank fusion and a fixed top-k.",
        ),
    ] = False,
    scorers: Annotated[
        str | None,
        typer.Option(help="With --lists: the columns of scores, separated by commas; by default, all numeric columns."),
    ] = None,
    delta: Annotated[
        float,
        typer.Option(help="With --lists, where every list has a guarantee: how likely one may ever be cut too far."),
    ] = 0.01,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            "--policy",
            help="Policies, separated by commas, settings after an @; or my_policy.py:MyPolicy, a class in a file of "
            "your own.",
        ),
    ] = _POLICIES,
    coverage: Annotated[float, typer.Option(help="Target share of rounds to cover.")] = 0.9,
    column: Annotated[
        str, typer.Option(help="The column of true scores; empty cells are misses at any threshold.")
    ] = "true_score",
    by: Annotated[
        str | None,
        typer.Option("--by", "--stream", help="A column that identifies streams; otherwise, each file is one."),
    ] = None,
    time: Annotated[str | None, typer.Option(help="A column to sort by; otherwise, the order of the files.")] = None,
    separator: Annotated[str, typer.Option(help="Separator of CSV files.")] = ",",
    out: Annotated[Path, typer.Option(help="Folder for rows and figure.")] = Path("results-replay"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one per core.")] = 0,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
) -> None:
    """Show what any policy would have done on your own log, or on thousands of streams at once."""
    from shortlist.lab.executors import workplace  # noqa: PLC0415
    from shortlist.lab.replays import ReplayRow, replay_files, replay_stream  # noqa: PLC0415
    from shortlist.lab.round_log import LogFiles  # noqa: PLC0415 - brings pyarrow

    check_probability("coverage", coverage, 0.9)
    check_folder(out)
    paths = _paths(files)
    if scheduler is not None:  # the workers may be elsewhere
        paths = tuple(str(Path(path).absolute()) for path in paths)
    if lists:
        if policies != _POLICIES or column != "true_score":
            raise InvalidParameter("--lists compares scores, under both guarantees: drop --policies and --column")
        check_probability("delta", delta, 0.01)
        chosen_scorers = () if scorers is None else names("scorers", scorers)
        _replay_lists(paths, chosen_scorers, by, time, separator, coverage, delta, out, jobs, scheduler)
        return
    if scorers is not None:
        raise InvalidParameter(f"scorers is {scorers!r}, which is for --lists: add --lists, or drop it")
    log = LogFiles(paths, column=column, by=by, time=time, separator=separator)
    chosen, console = named_policies(policies, scheduler), Console()
    with progress(console) as bar, workplace(process_count(jobs, least=len(log.paths)), scheduler) as submit:
        rows, places = replay_files(log, chosen, coverage, submit, teller(bar))
    from shortlist.lab.log_figures import draw_replay  # noqa: PLC0415 - brings matplotlib
    from shortlist.lab.output import write_table  # noqa: PLC0415

    write_table(out / "replay.csv", [field.name for field in dataclasses.fields(ReplayRow)], rows)
    first = {name: log.read(paths, [name])[name] for name, paths in list(places.items())[:3]}
    drawn = {
        (name, policy): path
        for name, scores in first.items()
        for policy, path in replay_stream(name, scores, chosen, coverage)[1].items()
    }
    draw_replay(out, first, drawn, coverage)
    named = Path(log.paths[0]).name if len(log.paths) == 1 else f"{len(log.paths):,} files"
    table = Table(
        title=escape(f"{named}: coverage {coverage}"),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("stream", overflow="ellipsis", no_wrap=True, max_width=16)
    table.add_column("policy", overflow="fold")
    for heading in ("rounds", "coverage", "threshold", "optimal", "past", "first cut"):
        table.add_column(heading, justify="right", no_wrap=True, min_width=len(heading))
    for row in rows[:40]:
        table.add_row(
            escape(row.stream),
            row.policy,
            f"{row.rounds:,}",
            f"{row.coverage:.4f}",
            f"{row.threshold:.3g}",
            f"{row.optimal_threshold:.3g}",
            f"{row.undercoverage_count:,}",
            f"{row.first_cut:,}" if row.first_cut else "never",
        )
    console.print(table)
    if len(rows) > 40:
        console.print(f"... and {len(rows) - 40} more rows in {escape(str(out / 'replay.csv'))}", highlight=False)
    console.print(f"Rows and figure are in [bold]{escape(str(out))}[/].", highlight=False)


def _replay_lists(
    paths: tuple[str, ...],
    scorers: tuple[str, ...],
    by: str | None,
    time: str | None,
    separator: str,
    coverage: float,
    delta: float,
    out: Path,
    jobs: int,
    scheduler: str | None,
) -> None:
    """Compare ways of making lists on a log with candidates."""
    from shortlist.lab.candidate_log import CandidateFiles  # noqa: PLC0415 - brings pyarrow
    from shortlist.lab.executors import Unit, finish, workplace  # noqa: PLC0415
    from shortlist.lab.lists import LogListRow, log_rows  # noqa: PLC0415

    console = Console()
    streams = CandidateFiles(paths, scorers, by=by, time=time, separator=separator).read()
    units: list[Unit] = [(log_rows, (name, lists, coverage, delta)) for name, lists in streams.items()]
    results: dict[str, list[tuple[LogListRow, Any]]] = {}
    with progress(console) as bar, workplace(process_count(jobs, least=len(units)), scheduler) as submit:
        for (_, (name, *_rest)), rows in finish(submit, units, "comparing lists", teller(bar)):
            results[name] = rows
    from shortlist.lab.log_figures import draw_lists  # noqa: PLC0415 - brings matplotlib
    from shortlist.lab.output import write_table  # noqa: PLC0415

    ordered = {name: results[name] for name in streams}
    columns = [field.name for field in dataclasses.fields(LogListRow)]
    write_table(out / "lists.csv", columns, [row for rows in ordered.values() for row, _ in rows])
    drawn = {name: {row.variant: sizes for row, sizes in rows} for name, rows in list(ordered.items())[:3]}
    draw_lists(out, drawn, next(iter(streams.values())).scorers)
    for name, rows in list(ordered.items())[:_STREAMS_SHOWN]:
        _print_lists(console, name, streams[name], [row for row, _ in rows], coverage, delta)
    if len(ordered) > _STREAMS_SHOWN:
        more = len(ordered) - _STREAMS_SHOWN
        console.print(f"... and {more:,} more streams in {escape(str(out / 'lists.csv'))}", highlight=False)
    console.print(f"Rows and figure are in [bold]{escape(str(out))}[/]: lists.csv, lists.png.", highlight=False)


def _print_lists(console: Console, name: str, lists: Any, rows: list[Any], coverage: float, delta: float) -> None:
    """Print one stream's comparison, and what it says."""
    from shortlist.lab.list_baselines import label_of_variant  # noqa: PLC0415

    counts = lists.counts
    fewest, most = int(counts.min()), int(counts.max())
    candidates = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    table = Table(
        title=escape(
            f"{name}: {len(counts):,} rounds of {candidates} candidates, scored by {', '.join(lists.scorers)}"
        ),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("lists by", no_wrap=True)
    for heading in ("length: all rounds", "first 200", "last tenth", "coverage"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            escape(label_of_variant(row.variant, lists.scorers)),
            f"{row.mean_set_size:,.2f}",
            f"{row.first_200:,.2f}",
            f"{row.last_tenth:,.2f}",
            f"{row.coverage:.4f}",
        )
    console.print(table)
    for sentence in _in_words(lists, {row.variant: row for row in rows}, coverage, delta):
        console.print(escape(sentence), highlight=False, soft_wrap=True)


def _in_words(lists: Any, rows: dict[str, Any], coverage: float, delta: float) -> list[str]:
    """Return a comparison in words."""
    from shortlist.lab.list_baselines import label_of_variant  # noqa: PLC0415

    several = len(lists.scorers) > 1
    strict = rows["auto-all"] if several else rows["auto"]
    ours, fixed = rows["default"], rows["top-k-rrf"] if several else rows["top-k"]
    absent = float((lists.right < 0).mean())
    sentences = [
        "Length is the mean number of candidates in a list; coverage is the share of lists with the picked one in "
        f"them. Target: {coverage:g}.",
        f"A lister as shipped is {label_of_variant('default', lists.scorers)!r}: short from the first list on, with "
        f"misses bounded by its error budget; its score at the end: {ours.score}. The fixed top-k that covers as "
        f"much, known only in hindsight, is {fixed.score}; its lists are {_ratio(fixed, ours):.2f} times as long "
        f"({fixed.mean_set_size:,.2f} compared with {ours.mean_set_size:,.2f}).",
        f"Raw, relative{', RRF' if several else ''} and auto have a guarantee about every list, at delta {delta:g}: "
        f"they show everything first. Auto then cuts by the score that it learned: {strict.score}. A fixed top-k and "
        "autocut guarantee nothing.",
    ]
    if several:
        sentences.append("RRF is reciprocal rank fusion: the sum of 1 / (60 + rank) over the scorers.")
    if absent > 0:
        sentences.append(f"In {absent:.1%} of the rounds nothing was picked: no list covers them.")
    if strict.last_tenth == lists.counts[-max(1, len(lists.counts) // 10) :].mean():
        sentences.append(
            "Auto cut nothing in the last tenth: it shows everything until its score and a first threshold are "
            "learned. Give a longer log, or a smaller coverage."
        )
    return [*sentences, ""]


def _ratio(one: Any, other: Any) -> float:
    """Return how many times as long the lists of one row are."""
    return float(one.mean_set_size / other.mean_set_size) if other.mean_set_size else float("inf")


def _paths(patterns: list[str]) -> tuple[str, ...]:
    """Return the files that match names and patterns, each once, in the order of their names."""
    paths: list[str] = []
    for pattern in patterns:
        if Path(pattern).exists() or not glob.has_magic(pattern):
            paths.append(pattern)
            continue
        matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - a pattern may begin at the root
        if not matches:
            raise InvalidParameter(f"{pattern}: no file matches this pattern")
        paths += matches
    return tuple(dict.fromkeys(paths))
