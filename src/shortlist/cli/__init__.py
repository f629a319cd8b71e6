"""The command line: parse, call, print."""

import sys
from typing import Annotated

import typer

import shortlist
from shortlist.cli import keys, paper, score, service
from shortlist.errors import ShortlistError

__all__ = ["app", "run"]

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
for _command in (
    paper.reproduce,
    paper.replay,
    service.serve,
    service.verify,
    service.export,
    service.backup,
    service.expire,
    service.demo,
):
    app.command()(_command)
app.add_typer(score.app, name="score")
app.add_typer(keys.app, name="keys")


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


def run() -> None:
    """Run the command; an error of ours is one line on stderr and exit status 2."""
    try:
        app()
    except ShortlistError as error:
        sys.stderr.write(f"shortlist: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("shortlist: interrupted\n")
        sys.exit(130)
