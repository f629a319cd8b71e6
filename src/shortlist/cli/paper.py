"""The commands that need no service: `reproduce` and `replay`."""

import dataclasses
import glob
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shortlist._validation import check_probability
from shortlist.errors import InvalidParameter, needs_extra
from shortlist.lab.tasks import TASKS, load_task
from shortlist.policies import PAPER, REGISTRY
from shortlist.policies.loading import is_reference

__all__ = ["replay", "reproduce"]

_POLICIES: Final = "anytime,sps"
#: How many streams are printed; all are written.
_STREAMS_SHOWN: Final = 5
_SCHEDULER: Final = "The address of a Dask scheduler to work on, such as tcp://10.0.0.1:8786."


def reproduce(
    tasks: Annotated[
        str, typer.Option(help=f"Tasks, separated by commas: {', '.join(TASKS)}.")
    ] = "images,retrieval,auctions",
    policies: Annotated[
        str,
        typer.Option(
            help="Policies, separated by commas: see --list. Without its @ a name means all its settings. "
            "my_policy.py:MyPolicy is a class in a file of your own."
        ),
    ] = "all",
    rounds: Annotated[int, typer.Option(help="Rounds a run, the paper's T.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Runs to average over.")] = 10,
    coverage: Annotated[float, typer.Option(help="Share of rounds that must be covered.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and report.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one a core.")] = 0,
    scheduler: Annotated[str | None, typer.Option(help=_SCHEDULER)] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="A score file of your own (.npz), or a table of bids (.csv), run instead of the tasks."),
    ] = None,
    suite: Annotated[
        str,
        typer.Option(help="paper: its experiments. field: all online conformal methods, under distribution shift too."),
    ] = "paper",
    list_: Annotated[bool, typer.Option("--list", help="List tasks and policies, and run nothing.")] = False,
) -> None:
    """Run the paper's experiments: every policy on three tasks, with figures, tables, claims and a report."""
    needs_extra("reproduce", "experiments", "matplotlib")
    from shortlist.lab.spec import POLICIES, Spec  # noqa: PLC0415 - only this command needs them

    if list_:
        _list()
        return
    spec = Spec(
        tasks=_chosen("tasks", tasks),
        policies=_expand(_policies(policies, scheduler), POLICIES),
        rounds=rounds,
        runs=runs,
        coverage=coverage,
        seed=seed,
        scores=None if scores is None else str(scores if scheduler is None else scores.absolute()),
    )
    processes = _jobs(jobs)
    if suite not in ("paper", "field"):
        raise InvalidParameter(f"suite is {suite!r}; it must be paper or field")
    _check_folder(out)
    if suite == "field":
        if scores is not None or policies != "all":
            raise InvalidParameter(
                "the field suite runs all its methods on the tasks that ship: drop --scores, --policies"
            )
        _field(spec, processes, scheduler, out)
        return
    from shortlist.lab.output import write_results  # noqa: PLC0415 - brings matplotlib
    from shortlist.lab.run import run as run_spec  # noqa: PLC0415

    console = Console()
    with _progress(console) as bar:
        tell = _teller(bar)
        results = run_spec(spec, jobs=processes, scheduler=scheduler, with_sweeps=spec.scores is None, progress=tell)
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
    for name in results.optimal_lists:
        console.print(_lists_table(results, name))
    page = escape(str(out / "report.html"))
    console.print(f"Everything is in [bold]{escape(str(out))}[/]; open [bold]{page}[/].", highlight=False)


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
        typer.Option(
            help="With --lists: the columns of scores, separated by commas; otherwise all columns of numbers."
        ),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="With --lists: how likely a threshold may ever pass its optimal one.")
    ] = 0.05,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            "--policy",
            help="Policies, separated by commas, settings after an @; or my_policy.py:MyPolicy, a class in a file of "
            "your own.",
        ),
    ] = _POLICIES,
    coverage: Annotated[float, typer.Option(help="Share of rounds that must be covered.")] = 0.9,
    column: Annotated[
        str, typer.Option(help="The column of true scores; empty cells are misses at any threshold.")
    ] = "true_score",
    by: Annotated[
        str | None,
        typer.Option("--by", "--stream", help="A column that tells streams apart; else each file is a stream."),
    ] = None,
    time: Annotated[str | None, typer.Option(help="A column to sort by; otherwise the files' order.")] = None,
    separator: Annotated[str, typer.Option(help="What stands between the cells of a CSV file.")] = ",",
    out: Annotated[Path, typer.Option(help="Folder for rows and figure.")] = Path("results-replay"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one a core.")] = 0,
    scheduler: Annotated[str | None, typer.Option(help=_SCHEDULER)] = None,
) -> None:
    """Show what any policy would have done on your own log, or on thousands of streams at once."""
    from shortlist.lab.executors import workplace  # noqa: PLC0415
    from shortlist.lab.logs import LogFiles  # noqa: PLC0415 - brings pyarrow
    from shortlist.lab.replays import ReplayRow, replay_files, replay_stream  # noqa: PLC0415

    check_probability("coverage", coverage, 0.9)
    _check_folder(out)
    paths = _paths(files)
    if scheduler is not None:  # the workers may be elsewhere
        paths = tuple(str(Path(path).absolute()) for path in paths)
    if lists:
        if policies != _POLICIES or column != "true_score":
            raise InvalidParameter("--lists compares scores, all with AnytimeSPS: drop --policies and --column")
        check_probability("delta", delta, 0.05)
        chosen_scorers = () if scorers is None else _chosen("scorers", scorers)
        _replay_lists(paths, chosen_scorers, by, time, separator, coverage, delta, out, jobs, scheduler)
        return
    if scorers is not None:
        raise InvalidParameter(f"scorers is {scorers!r}, which is for --lists: add --lists, or drop it")
    log = LogFiles(paths, column=column, by=by, time=time, separator=separator)
    chosen, console = _policies(policies, scheduler), Console()
    with _progress(console) as bar, workplace(_jobs(jobs, least=len(log.paths)), scheduler) as submit:
        rows, places = replay_files(log, chosen, coverage, submit, _teller(bar))
    from shortlist.lab.figures import draw_replay  # noqa: PLC0415 - brings matplotlib
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
    from shortlist.lab.candidates import CandidateFiles  # noqa: PLC0415 - brings pyarrow
    from shortlist.lab.executors import Unit, finish, workplace  # noqa: PLC0415
    from shortlist.lab.lists import LogListRow, log_rows  # noqa: PLC0415

    console = Console()
    streams = CandidateFiles(paths, scorers, by=by, time=time, separator=separator).read()
    units: list[Unit] = [(log_rows, (name, lists, coverage, delta)) for name, lists in streams.items()]
    found: dict[str, list[tuple[LogListRow, Any]]] = {}
    with _progress(console) as bar, workplace(_jobs(jobs, least=len(units)), scheduler) as submit:
        for (_, (name, *_rest)), rows in finish(submit, units, "comparing lists", _teller(bar)):
            found[name] = rows
    from shortlist.lab.figures import draw_lists  # noqa: PLC0415 - brings matplotlib
    from shortlist.lab.output import write_table  # noqa: PLC0415

    ordered = {name: found[name] for name in streams}
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
    from shortlist.lab.comparison import label_of_variant  # noqa: PLC0415

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
    for heading in ("length: last tenth", "all rounds", "coverage"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            escape(label_of_variant(row.variant, lists.scorers)),
            f"{row.last_tenth:,.2f}",
            f"{row.mean_set_size:,.2f}",
            f"{row.coverage:.4f}",
        )
    console.print(table)
    for sentence in _in_words(lists, {row.variant: row for row in rows}, coverage, delta):
        console.print(escape(sentence), highlight=False, soft_wrap=True)


def _in_words(lists: Any, rows: dict[str, Any], coverage: float, delta: float) -> list[str]:
    """Say what a comparison says."""
    from shortlist.lab.comparison import label_of_variant  # noqa: PLC0415

    several = len(lists.scorers) > 1
    ours, fixed = (rows["auto-all"], rows["top-k-rrf"]) if several else (rows["auto"], rows["top-k"])
    shipped = rows["auto-budget"]
    absent = float((lists.right < 0).mean())
    sentences = [
        "Length is the mean number of candidates in a list; coverage is the share of lists with the picked one in "
        f"them. Asked for: {coverage:g} at delta {delta:g}. A fixed top-k and autocut guarantee nothing.",
        f"Auto has shown everything in its first rounds, and then cut by what it learned from them: {ours.score}.",
        f"A lister as shipped is {label_of_variant(shipped.variant, lists.scorers)!r}: lists grow while misses come "
        "faster than coverage allows.",
    ]
    if several:
        sentences.append("RRF is reciprocal rank fusion: the sum of 1 / (60 + rank) over the scorers.")
    if absent > 0:
        sentences.append(f"In {absent:.1%} of the rounds nothing was picked: no list covers them.")
    if ours.last_tenth == lists.counts[-max(1, len(lists.counts) // 10) :].mean():
        sentences.append(
            "Auto has cut nothing in the last tenth: it shows everything until its score and a first threshold are "
            "learned. Give a longer log, or a smaller coverage."
        )
    else:
        ratio = ours.last_tenth / fixed.last_tenth
        sentences.append(
            f"Top-k at the same coverage ({ours.coverage:.3f}), known in hindsight only: {fixed.score}. In the last "
            f"tenth auto's lists are {ratio:.2f} times as long ({ours.last_tenth:,.2f} beside {fixed.last_tenth:,.2f})."
        )
    return [*sentences, ""]


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


def _lists_table(results: Any, name: str) -> Table:
    """Return a task's ways of making lists, as means over runs."""
    from shortlist.lab.comparison import label_of_variant  # noqa: PLC0415
    from shortlist.lab.lists import lists_of  # noqa: PLC0415

    task = results.spec.task(name)
    table = Table(title=escape(f"{task.title}: how long lists are, by what they are cut"), title_justify="left")
    table.add_column("lists by", no_wrap=True)
    for heading in ("length: last tenth", "all rounds", "coverage"):
        table.add_column(heading, justify="right")
    for variant in results.list_variants(name):
        last, over_all, covered = (
            float(results.list_values(name, variant, column).mean())
            for column in ("last_tenth", "mean_set_size", "coverage")
        )
        label = escape(label_of_variant(variant, lists_of(task).scorers))
        table.add_row(label, f"{last:,.2f}", f"{over_all:,.2f}", f"{covered:.4f}")
    return table


def _field(spec: Any, processes: int, scheduler: str | None, out: Path) -> None:
    """Run all methods of the field, and write tables and figures."""
    from shortlist.lab.field import run_field  # noqa: PLC0415 - only this suite needs them
    from shortlist.lab.field_output import write_field  # noqa: PLC0415 - brings matplotlib

    console = Console()
    with _progress(console) as bar:
        rows = run_field(spec, jobs=processes, scheduler=scheduler, progress=_teller(bar))
    write_field(rows, out, spec.coverage)
    console.print(
        f"Tables and figures are in [bold]{escape(str(out))}[/]: field.csv, field.md, field-misses and field-shifts.",
        highlight=False,
    )


def _jobs(jobs: int, least: int | None = None) -> int:
    """Return how many processes to use; a single file needs no second one."""
    if jobs < 0:
        raise InvalidParameter(f"jobs is {jobs}; it must be a number of processes, or 0 for one a core")
    return jobs or (1 if least == 1 else os.cpu_count() or 1)


def _paths(patterns: list[str]) -> tuple[str, ...]:
    """Return the files that names and patterns stand for, each once, in the order of their names."""
    found: list[str] = []
    for pattern in patterns:
        if Path(pattern).exists() or not glob.has_magic(pattern):
            found.append(pattern)
            continue
        matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - a pattern may begin at the root
        if not matches:
            raise InvalidParameter(f"{pattern}: no file fits this pattern")
        found += matches
    return tuple(dict.fromkeys(found))


def _teller(bar: Progress) -> Callable[[str, int, int], None]:
    """Return what shows each stage of some work on a bar of its own."""
    stages: dict[str, Any] = {}

    def tell(what: str, done: int, of: int) -> None:
        if what not in stages:
            stages[what] = bar.add_task(what, total=of)
        bar.update(stages[what], completed=done, total=of)

    return tell


def _list() -> None:
    console = Console()
    for name in TASKS:
        console.print(f"[bold]{name}[/]: {load_task(name).source}.", highlight=False)
    others = [key for key, entry in REGISTRY.items() if entry.nameable and not entry.paper]
    console.print(f"[bold]policies[/]: {', '.join(PAPER)}", highlight=False)
    console.print(f"[bold]further policies[/]: {', '.join(others)}", highlight=False)


def _policies(text: str, scheduler: str | None) -> tuple[str, ...]:
    """Return the policies that an option names; workers of a cluster need absolute paths."""
    chosen = _chosen("policies", text)
    if scheduler is None:
        return chosen
    return tuple(str(Path(name).absolute()) if is_reference(name) else name for name in chosen)


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
