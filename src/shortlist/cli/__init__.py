"""The command line: parse, call, print."""

import sys
from typing import Annotated, Any, Final

import typer

import shortlist
from shortlist.cli import keys, mcp, paper, rescoring, score, service, threshold
from shortlist.errors import ShortlistError

__all__ = ["app", "run"]

#: What the parser raises: an option or a value that is not there, or does not fit.
_WrongUse: Final[Any] = typer.BadParameter.__mro__[1]

# Plain help: boxes cut long names of options off at 80 columns.
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False, rich_markup_mode=None)
for _command, _short in (
    (paper.reproduce, "Run the paper's experiments, on three tasks."),
    (paper.replay, "Show what a policy would have done on your log."),
    (threshold.threshold, "Turn labelled examples into a score_threshold."),
    (service.serve, "Run the service until it is told to stop."),
    (service.verify, "Rebuild every stream from its log and compare."),
    (service.export, "Write a stream's log to a file, or to standard output."),
    (service.backup, "Copy a SQLite database while the service runs."),
    (service.restore, "Put a backup of a SQLite database back."),
    (service.expire, "Close old rounds, or erase what people wrote."),
    (service.demo, "Show everything, with nothing to configure."),
    (mcp.mcp, "Put many MCP tools behind three, for agents."),
):
    app.command(short_help=_short)(_command)
app.command("rescore", short_help="Learn a new scorer's threshold from an old log.")(rescoring.rescore_command)
app.add_typer(score.app, name="score", short_help="Turn raw data and a model into a score file.")
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
    """Shortlists that keep the right answer, with a cut-off learned from what people pick."""


def run() -> None:
    """Run the command; an error is one line on stderr and exit status 2."""
    try:
        status = app(prog_name="shortlist", standalone_mode=False)
    except ShortlistError as error:
        sys.stderr.write(f"shortlist: {error}\n")
        sys.exit(2)
    except _WrongUse as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # no words at all: the help is the answer
            error.show()
            sys.exit(2)
        words = " ".join(error.format_message().split()).rstrip(".")
        where = getattr(getattr(error, "ctx", None), "command_path", "shortlist")
        sys.stderr.write(f"shortlist: {words[0].lower()}{words[1:]}; see {where} --help\n")
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("shortlist: interrupted\n")
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)
