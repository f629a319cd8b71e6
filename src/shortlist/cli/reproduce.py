"""The command `reproduce`: the paper's experiments, or the field's."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist.cli.job_options import (
    SCHEDULER,
    check_folder,
    named_policies,
    names,
    numbers,
    process_count,
    progress,
    teller,
)
from shortlist.errors import InvalidParameter, needs_extra
from shortlist.lab.tasks import AUCTION_ITEMS, TASKS, load_task
from shortlist.policies import PAPER, REGISTRY, policy_label

__all__ = ["reproduce"]

_STEPS: Final = ",".join(f"{step:g}" for step in REGISTRY["aci"].grid)
_SHARES: Final = ",".join(f"{share:g}" for share in REGISTRY["etc"].grid)


def reproduce(
    tasks: Annotated[
        str, typer.Option(help=f"Tasks, separated by commas: {', '.join(TASKS)}.")
    ] = "images,retrieval,auctions",
    policies: Annotated[
        str,
        typer.Option(
            help="Policies, separated by commas: see --list. A name without @ means all its settings. Settings "
            "by name: dlr@start=-10, aci@step=0.008,levels=clipped. my_policy.py:MyPolicy is a class in your own file."
        ),
    ] = "all",
    rounds: Annotated[int, typer.Option(help="Rounds per run, the paper's T.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Runs to average over.")] = 10,
    coverage: Annotated[float, typer.Option(help="Target share of rounds to cover.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    lambda1: Annotated[float, typer.Option(help="Weight of over-coverage in regret.")] = 0.1,
    lambda2: Annotated[float, typer.Option(help="Weight of under-coverage in regret.")] = 10.0,
    bidders: Annotated[int, typer.Option(help="Bidders in each auction.")] = 5,
    item: Annotated[
        str | None, typer.Option(help=f"Auctions of one item: {', '.join(AUCTION_ITEMS)}. By default all are pooled.")
    ] = None,
    aci_steps: Annotated[
        str, typer.Option(help="Grid for ACI's step, chosen by regret on streams that are not reported.")
    ] = _STEPS,
    etc_shares: Annotated[
        str, typer.Option(help="Grid for the exploration of both ETCs, as shares of the rounds; chosen likewise.")
    ] = _SHARES,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and report.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one per core.")] = 0,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Your own score file (.npz) or table of bids (.csv), instead of the tasks."),
    ] = None,
    suite: Annotated[
        str,
        typer.Option(
            help="paper: its experiments. field: all online conformal methods, also under distribution shift."
        ),
    ] = "paper",
    latex: Annotated[
        bool,
        typer.Option("--latex", help="Write booktabs tables, and PDF figures at column and page width, to OUT/latex."),
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List tasks and policies, then exit.")] = False,
) -> None:
    """Run the paper's experiments: every policy on three tasks, with figures, tables, claims and a report."""
    needs_extra("reproduce", "experiments", "matplotlib")
    from shortlist.lab.spec import POLICIES, Spec  # noqa: PLC0415 - only this command needs them

    if list_:
        _list()
        return
    spec = Spec(
        tasks=names("tasks", tasks),
        policies=_expand(named_policies(policies, scheduler), POLICIES),
        rounds=rounds,
        runs=runs,
        coverage=coverage,
        seed=seed,
        lambda1=lambda1,
        lambda2=lambda2,
        bidders=bidders,
        item=item,
        aci_steps=numbers("aci_steps", aci_steps),
        etc_shares=numbers("etc_shares", etc_shares),
        scores=None if scores is None else str(scores if scheduler is None else scores.absolute()),
    )
    processes = process_count(jobs)
    if suite not in ("paper", "field"):
        raise InvalidParameter(f"suite is {suite!r}; it must be paper or field")
    check_folder(out)
    if suite == "field":
        plain = Spec(spec.tasks, rounds=rounds, runs=runs, coverage=coverage, seed=seed)
        if spec != plain or latex:
            raise InvalidParameter(
                "the field suite runs all its methods on the tasks that ship, with the paper's regret: drop --scores, "
                "--policies, --lambda1, --lambda2, --bidders, --item, --aci-steps, --etc-shares and --latex"
            )
        _field(spec, processes, scheduler, out)
        return
    from shortlist.lab.output import write_results  # noqa: PLC0415 - brings matplotlib
    from shortlist.lab.run import run as run_spec  # noqa: PLC0415

    console = Console()
    with progress(console) as bar:
        tell = teller(bar)
        results = run_spec(
            spec,
            jobs=processes,
            scheduler=scheduler,
            with_sweeps=spec.scores is None,
            with_readings=True,
            progress=tell,
        )
        if results.complete:
            tell("drawing and writing", 0, 1)
        verdicts = write_results(results, out, latex=latex)
        if results.complete:
            tell("drawing and writing", 1, 1)
    if not results.complete:
        sys.stderr.write(f"shortlist: interrupted; {len(results.rows)} finished rows are in {out / 'summary.csv'}\n")
        raise typer.Exit(130)
    _print(console, results, verdicts, out)


def _print(console: Console, results: Any, verdicts: list[Any], out: Path) -> None:
    """Print the tables, how many statements of the paper hold, and where everything is."""
    from shortlist.lab.verdicts import totals  # noqa: PLC0415

    for name in results.spec.task_names:
        console.print(_summary_table(results, name))
    for name in results.optimal_lists:
        console.print(_lists_table(results, name))
    for sentence in totals(verdicts):
        console.print(escape(sentence), highlight=False, soft_wrap=True)
    page = escape(str(out / "report.html"))
    console.print(f"Everything is in [bold]{escape(str(out))}[/]; open [bold]{page}[/].", highlight=False)


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
    for column in ("regret", "coverage", "past optimum", "list length"):
        table.add_column(column, justify="right")
    for policy in spec.policies:
        regret, covered, past, size = (
            float(results.values(name, policy, column).mean())
            for column in ("regret", "coverage", "undercoverage_count", "mean_set_size")
        )
        length = "-" if size != size else f"{size:,.2f}"  # noqa: PLR0124 - not a number
        table.add_row(escape(policy_label(policy)), f"{regret:,.1f}", f"{covered:.4f}", f"{past:,.1f}", length)
    return table


def _lists_table(results: Any, name: str) -> Table:
    """Return the variants of lists on a task, as means over runs."""
    from shortlist.lab.list_baselines import label_of_variant  # noqa: PLC0415
    from shortlist.lab.lists import lists_of  # noqa: PLC0415

    task = results.spec.task(name)
    table = Table(title=escape(f"{task.title}: list length by score"), title_justify="left")
    table.add_column("lists by", no_wrap=True)
    for heading in ("length: all rounds", "first 200", "last tenth", "coverage"):
        table.add_column(heading, justify="right")
    for variant in results.list_variants(name):
        over_all, first, last, covered = (
            float(results.list_values(name, variant, column).mean())
            for column in ("mean_set_size", "first_200", "last_tenth", "coverage")
        )
        label = escape(label_of_variant(variant, lists_of(task).scorers))
        table.add_row(label, f"{over_all:,.2f}", f"{first:,.2f}", f"{last:,.2f}", f"{covered:.4f}")
    return table


def _field(spec: Any, processes: int, scheduler: str | None, out: Path) -> None:
    """Run all methods of the field, and write tables and figures."""
    from shortlist.lab.field import run_field  # noqa: PLC0415 - only this suite needs them
    from shortlist.lab.field_output import write_field  # noqa: PLC0415 - brings matplotlib

    console = Console()
    with progress(console) as bar:
        rows = run_field(spec, jobs=processes, scheduler=scheduler, progress=teller(bar))
    write_field(rows, out, spec.coverage)
    console.print(
        f"Tables and figures are in [bold]{escape(str(out))}[/]: field.csv, field.md, field-misses and field-shifts.",
        highlight=False,
    )


def _list() -> None:
    console = Console()
    for name in TASKS:
        console.print(f"[bold]{name}[/]: {load_task(name).source}.", highlight=False)
    others = [key for key, entry in REGISTRY.items() if entry.nameable and not entry.paper]
    console.print(f"[bold]policies[/]: {', '.join(PAPER)}", highlight=False)
    console.print(f"[bold]further policies[/]: {', '.join(others)}", highlight=False)


def _expand(names: tuple[str, ...], policies: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named policies, all settings of each."""
    if names == ("all",):
        return policies
    expanded: list[str] = []
    for name in names:
        expanded += [policy for policy in policies if name in (policy, policy.partition("@")[0])] or [name]
    return tuple(expanded)
