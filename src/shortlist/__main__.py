"""The ``shortlist`` command: says which extra to install if the command line's tools are missing."""

import sys

from shortlist.errors import MissingExtra, needs_extra

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    service = {"serve", "demo", "verify", "export", "backup", "restore", "expire", "keys"} & set(sys.argv)
    extra = "service" if service else "mcp" if "mcp" in sys.argv[1:2] else "experiments"
    try:
        needs_extra("the command line", extra, "typer", "rich")
    except MissingExtra as error:
        sys.stderr.write(f"shortlist: {error}\n")
        sys.exit(2)
    from shortlist.cli import run  # noqa: PLC0415 - needs the extra

    run()


if __name__ == "__main__":
    main()
