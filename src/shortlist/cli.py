"""The command line: parse, call, print."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import shortlist
from shortlist.errors import ShortlistError
from shortlist.experiments.comparison import compare

__all__ = ["app", "run"]

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shortlist {shortlist.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Shortlists that keep the right answer, with a cut-off learnt from clicks alone."""


@app.command()
def reproduce(
    coverage: Annotated[float, typer.Option(help="Share of rounds that must be covered.")] = 0.9,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds a run, the paper's T.")] = 10_000,
    runs: Annotated[int, typer.Option(min=1, help="Runs to average over.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random scores.")] = 0,
) -> None:
    """Compare all policies on uniform scores, where the optimal threshold is known."""
    table = Table(title=f"coverage {coverage}, {rounds:,} rounds, mean of {runs} runs, uniform scores")
    table.add_column("policy")
    for column in ("regret", "coverage", "rounds past the optimum", "last threshold"):
        table.add_column(column, justify="right")
    console = Console()
    with console.status("replaying ..."):
        for row in compare(coverage, rounds, runs, seed):
            table.add_row(
                row.policy,
                f"{row.regret:,.1f}",
                f"{row.coverage:.3f}",
                f"{row.undercoverage_count:,.0f}",
                f"{row.threshold:.4f}",
            )
    console.print(table)


def run() -> None:
    """Run the command; an error of ours is one line on stderr and exit status 2."""
    try:
        app()
    except ShortlistError as error:
        sys.stderr.write(f"shortlist: {error}\n")
        sys.exit(2)
