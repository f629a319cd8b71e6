"""The commands of the service: `serve`, `verify`, `export`."""

import importlib.util
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shortlist.errors import InvalidParameter, MissingExtra, UnwritableFile

__all__ = ["export", "serve", "verify"]

Database = Annotated[
    str | None,
    typer.Option(
        help="sqlite:///file or postgresql://user@host/name; a file in your data directory otherwise.",
        envvar="SHORTLIST_DATABASE",
        show_default=False,
    ),
]


def _address(database: str | None) -> str:
    """Return the database's address; say which extra is missing, if one is."""
    for module in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "platformdirs"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(
                f"the service needs {module}, which comes with an extra: pip install 'shortlist[service]'"
            )
    from shortlist.service.store.database import default_address  # noqa: PLC0415 - needs the extra

    return database or default_address()


def serve(
    database: Database = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
) -> None:
    """Run the service until it is told to stop."""
    address = _address(database)
    from shortlist.service.app import create_app, listen, run  # noqa: PLC0415 - needs the extra
    from shortlist.service.store.database import shown_address  # noqa: PLC0415

    console = Console(stderr=True)
    console.print(f"shortlist keeps its log in [bold]{escape(shown_address(address))}[/]", highlight=False)
    run(create_app(address), sockets=[listen(host, port)])


def verify(database: Database = None) -> None:
    """Rebuild every stream from its log and compare, bit for bit."""
    address = _address(database)
    from shortlist.service.engine import verify as check  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415

    console = Console()
    table = Table(title="streams", title_justify="left")
    table.add_column("stream", no_wrap=True)
    for heading in ("events", "rounds", "threshold", "snapshots compared"):
        table.add_column(heading, justify="right")
    table.add_column("found")
    unsound = total = 0
    bar = Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with ExitStack() as stack:
        store = Store(address, read_only=True)
        stack.callback(store.close)
        stack.enter_context(bar)
        task = bar.add_task("verifying", total=1)
        for found in check(store, lambda name, done, of: bar.update(task, description=name, completed=done, total=of)):
            total += 1
            unsound += bool(found.problems)
            words = "\n".join(f"[red]{escape(problem)}[/]" for problem in found.problems) or "[green]sound[/]"
            table.add_row(
                escape(found.stream),
                f"{found.events:,}",
                f"{found.rounds:,}",
                f"{found.threshold:.6g}",
                f"{found.snapshots}",
                words,
            )
    console.print(table)
    console.print(f"{total} stream{'s' * (total != 1)}, {unsound} with problems", highlight=False)
    if unsound:
        raise typer.Exit(1)


def export(
    stream: Annotated[str, typer.Argument(help="The stream.")],
    database: Database = None,
    out: Annotated[Path | None, typer.Option(help="The file; standard output otherwise.", show_default=False)] = None,
    form: Annotated[
        str,
        typer.Option("--format", help="jsonl: every event, complete. csv: a row for each round, as replay reads it."),
    ] = "jsonl",
) -> None:
    """Write a stream's log to a file."""
    if form not in ("jsonl", "csv"):
        raise InvalidParameter(f"format is {form!r}; it must be jsonl or csv")
    address = _address(database)
    from shortlist.service.engine import export_stream  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415

    with ExitStack() as stack:
        store = Store(address, read_only=True)
        stack.callback(store.close)
        if out is None:
            export_stream(store, stream, sys.stdout, form)
            return
        try:
            file = stack.enter_context(out.open("w", encoding="utf-8", newline=""))
        except OSError as error:
            raise UnwritableFile(f"{out} cannot be written: {error.strerror}") from None
        lines = export_stream(store, stream, file, form)
    Console(stderr=True).print(f"{lines:,} lines in [bold]{escape(str(out))}[/]", highlight=False)
