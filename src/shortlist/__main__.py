"""The ``shortlist`` command; if a dependency of the command line is missing, it says which extra to install."""

import sys

import shortlist
from shortlist._commands import COMMANDS, overview
from shortlist.errors import MissingExtra, needs_extra

__all__ = ["main"]


def main() -> None:
    """Run the command line; `--help` and `--version` need no extra."""
    first = next(iter(sys.argv[1:]), "--help")
    try:
        needs_extra("the command line", COMMANDS[first].extra if first in COMMANDS else "experiments", "typer", "rich")
    except MissingExtra as error:
        _without_extras(first, error)
    from shortlist.cli import run  # noqa: PLC0415 - needs the extra

    run()


def _without_extras(first: str, error: MissingExtra) -> None:
    """Say what can be said without the command line's dependencies, and stop."""
    if first == "--version":
        sys.stdout.write(f"shortlist {shortlist.__version__}\n")
        sys.exit(0)
    if first == "--help":
        sys.stdout.write(f"{overview()}\nOnly the library is installed: {error}\n")
        sys.exit(0)
    sys.stderr.write(f"shortlist: {error}\n")
    sys.exit(2)


if __name__ == "__main__":
    main()
