"""The commands that need no service: `reproduce` and `replay`."""

import dataclasses
import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shortlist.errors import InvalidParameter, MissingExtra
from shortlist.parameters import check_probability
from shortlist.tasks import TASKS, load_task

__all__ = ["replay", "reproduce"]


def reproduce(
    tasks: Annotated[
        str, typer.Option(help=f"Tasks, separated by commas: {', '.join(TASKS)}.")
    ] = "images,retrieval,auctions",
    policies: Annotated[
        str,
        typer.Option(help="Policies, separated by commas: see --list. Without its @ a name means all its settings."),
    ] = "all",
    rounds: Annotated[int, typer.Option(help="Rounds a run, the paper's T.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Runs to average over.")] = 10,
    coverage: Annotated[float, typer.Option(help="Share of rounds that must be covered.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and report.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one a core.")] = 0,
    scores: Annotated[
        Path | None, typer.Option(help="A score file of your own (.npz), run instead of the tasks.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List tasks and policies, and run nothing.")] = False,
) -> None:
    """Run the paper's experiments: every policy on three tasks, with figures, tables, claims and a report."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("reproduce needs matplotlib, which is in an extra: pip install 'shortlist[experiments]'")
    from shortlist.experiments.spec import POLICIES, Spec  # noqa: PLC0415 - only this command needs them

    if list_:
        _list(POLICIES)
        return
    spec = Spec(
        tasks=_chosen("tasks", tasks),
        policies=_expand(_chosen("policies", policies), POLICIES),
        rounds=rounds,
        runs=runs,
        coverage=coverage,
        seed=seed,
        scores=None if scores is None else str(scores),
    )
    if jobs < 0:
        raise InvalidParameter(f"jobs is {jobs}; it must be a number of processes, or 0 for one a core")
    _check_folder(out)
    from shortlist.experiments.output import write_results  # noqa: PLC0415 - brings matplotlib
    from shortlist.experiments.run import run as run_spec  # noqa: PLC0415

    console = Console()
    with _progress(console) as bar:
        stages: dict[str, int] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in stages:
                stages[what] = bar.add_task(what, total=of)
            bar.update(stages[what], completed=done, total=of)  # type: ignore[arg-type]

        results = run_spec(spec, jobs=jobs or os.cpu_count() or 1, with_sweeps=spec.scores is None, progress=tell)
        if results.complete:
            tell("drawing and writing", 0, 1)
        write_results(results, out)
        if results.complete:
            tell("drawing and writing", 1, 1)
    if not results.complete:
        sys.stderr.write(f"shortlist: interrupted; {len(results.rows)} finished rows are in {out / 'summary.csv'}\n")
        raise typer.Exit(130)
    for name in spec.task_names:
        console.print(_summary_table(results, name))
    page = escape(str(out / "report.html"))
    console.print(f"Everything is in [bold]{escape(str(out))}[/]; open [bold]{page}[/].", highlight=False)


def replay(
    file: Annotated[Path, typer.Argument(help="A log of true scores: CSV or Parquet.")],
    policies: Annotated[
        str,
        typer.Option("--policies", "--policy", help="Policies, separated by commas, settings after an @."),
    ] = "anytime,sps",
    coverage: Annotated[float, typer.Option(help="Share of rounds that must be covered.")] = 0.9,
    column: Annotated[
        str, typer.Option(help="The column of true scores; empty cells are misses at any threshold.")
    ] = "true_score",
    stream: Annotated[str | None, typer.Option(help="A column that tells streams apart.")] = None,
    time: Annotated[str | None, typer.Option(help="A column to sort by; otherwise the file's order.")] = None,
    separator: Annotated[str, typer.Option(help="What stands between the cells of a CSV file.")] = ",",
    out: Annotated[Path, typer.Option(help="Folder for rows and figure.")] = Path("results-replay"),
) -> None:
    """Show what any policy would have done on your own log."""
    from shortlist.experiments.logs import ReplayRow, read_log, replay_log  # noqa: PLC0415 - brings pyarrow

    check_probability("coverage", coverage, 0.9)
    log = read_log(file, column=column, stream=stream, time=time, separator=separator)
    rows, paths = replay_log(log, _chosen("policies", policies), coverage)
    _check_folder(out)
    from shortlist.experiments.figures import draw_replay  # noqa: PLC0415 - brings matplotlib
    from shortlist.experiments.output import write_table  # noqa: PLC0415

    write_table(out / "replay.csv", [field.name for field in dataclasses.fields(ReplayRow)], rows)
    draw_replay(out, log, paths, coverage)
    table = Table(title=escape(f"{file.name}: coverage {coverage}"), title_justify="left")
    table.add_column("stream", overflow="ellipsis", no_wrap=True, max_width=16)
    table.add_column("policy", no_wrap=True)
    for heading in ("rounds", "coverage", "threshold", "optimal", "past", "first cut"):
        table.add_column(heading, justify="right", no_wrap=True)
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
    console = Console()
    console.print(table)
    if len(rows) > 40:
        console.print(f"... and {len(rows) - 40} more rows in {escape(str(out / 'replay.csv'))}", highlight=False)
    console.print(f"Rows and figure are in [bold]{escape(str(out))}[/].", highlight=False)


def _summary_table(results: Any, name: str) -> Table:
    spec = results.spec
    table = Table(
        title=escape(
            f"{spec.task(name).title}: coverage {spec.coverage}, {spec.rounds:,} rounds, "
            f"mean of {spec.runs} run{'s' * (spec.runs > 1)}"
        ),
        title_justify="left",
    )
    table.add_column("policy", no_wrap=True)
    for column in ("regret", "coverage", "rounds past optimum", "list length"):
        table.add_column(column, justify="right")
    for policy in spec.policies:
        regret, covered, past, size = (
            float(results.values(name, policy, column).mean())
            for column in ("regret", "coverage", "undercoverage_count", "mean_set_size")
        )
        length = "-" if size != size else f"{size:,.2f}"  # noqa: PLR0124 - not a number
        table.add_row(policy, f"{regret:,.1f}", f"{covered:.4f}", f"{past:,.1f}", length)
    return table


def _list(policies: tuple[str, ...]) -> None:
    console = Console()
    for name in TASKS:
        console.print(f"[bold]{name}[/]: {load_task(name).source}.", highlight=False)
    console.print(f"[bold]policies[/]: {', '.join(policies)}", highlight=False)


def _chosen(option: str, text: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InvalidParameter(f"{option} is {text!r}; name one or more, separated by commas")
    return names


def _expand(names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named policies, all settings of each."""
    if names == ("all",):
        return known
    found: list[str] = []
    for name in names:
        found += [policy for policy in known if name in (policy, policy.partition("@")[0])] or [name]
    return tuple(found)


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InvalidParameter(f"out is {out}, which is a file; name a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(f"out is {out}, which cannot be created: {error.strerror}") from None


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
