"""The command line: parse, call, print."""

import sys
from typing import Annotated, Any, Final

import typer

import shortlist
from shortlist._commands import COMMANDS
from shortlist.cli import items, keys, mcp, replay, reproduce, score, service, threshold
from shortlist.errors import ShortlistError

__all__ = ["app", "run"]

#: What the parser raises: an unknown option, or a value that is missing or invalid.
_UsageError: Final[Any] = typer.BadParameter.__base__

# Plain help: boxes truncate long option names at 80 columns.
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False, rich_markup_mode=None)
for _command in (
    reproduce.reproduce,
    replay.replay,
    threshold.threshold,
    service.serve,
    service.verify,
    service.export,
    service.backup,
    service.restore,
    service.expire,
    service.demo,
    mcp.mcp,
):
    app.command(short_help=COMMANDS[_command.__name__].summary)(_command)
for _name, _group in (("score", score.app), ("items", items.app), ("keys", keys.app)):
    app.add_typer(_group, name=_name, short_help=COMMANDS[_name].summary)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"shortlist {shortlist.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Shortlists that keep the right answer, with a cutoff learned from what people pick."""


def run() -> None:
    """Run the command; an error is one line on stderr and exit status 2."""
    try:
        status = app(prog_name="shortlist", standalone_mode=False)
    except ShortlistError as error:
        sys.stderr.write(f"shortlist: {error}\n")
        sys.exit(2)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # no arguments at all: show the help
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
