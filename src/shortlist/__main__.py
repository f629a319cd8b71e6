"""The ``shortlist`` command: says which extra to install if the command line's tools are missing."""

import importlib.util
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    if any(importlib.util.find_spec(name) is None for name in ("typer", "rich")):
        service = {"serve", "demo", "verify", "export", "backup", "expire", "keys"} & set(sys.argv)
        extra = "service" if service else "experiments"
        sys.stderr.write(f"shortlist: the command line needs an extra: pip install 'shortlist[{extra}]'\n")
        sys.exit(2)
    from shortlist.cli import run  # noqa: PLC0415 - needs the extra

    run()


if __name__ == "__main__":
    main()
