"""The ``shortlist`` command: says which extra to install if the command line's tools are missing."""

import sys

from shortlist.errors import MissingExtra, needs_extra

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    service = {"serve", "demo", "verify", "export", "backup", "restore", "expire", "keys"} & set(sys.argv)
    try:
        needs_extra("the command line", "service" if service else "experiments", "typer", "rich")
    except MissingExtra as error:
        sys.stderr.write(f"shortlist: {error}\n")
        sys.exit(2)
    from shortlist.cli import run  # noqa: PLC0415 - needs the extra

    run()


if __name__ == "__main__":
    main()
