"""The command `keys`: create, list and revoke API keys."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist.service.keys import SCOPES, KeyFile

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Create, list and revoke API keys.")

File = Annotated[
    Path, typer.Option("--file", help="The key file, as for `serve --api-key-file`.", envvar="SHORTLIST_KEYS")
]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="The owner of the key.")],
    scopes: Annotated[
        str, typer.Option(help=f"What it may do, separated by commas: {', '.join(SCOPES)}.")
    ] = "propose,feedback,read",
    file: File = Path("shortlist-keys.json"),
) -> None:
    """Create a key and print it; it is shown only once."""
    keys = KeyFile(file)
    if file.exists() and any(each.name == name and each.revoked is None for each in keys.listed()):
        typer.echo(f"There is another key called {name!r}: answers of both are recorded under that name.", err=True)
    key = keys.create(name, [scope.strip() for scope in scopes.split(",") if scope.strip()])
    typer.echo(key)
    typer.echo(f"Only its hash is stored, in {file}; keep the key itself safe.", err=True)


@app.command("list")
def list_(file: File = Path("shortlist-keys.json")) -> None:
    """List the keys, without their secrets."""
    table = Table("id", "name", "scopes", "created", "revoked")
    for key in KeyFile(file).listed():
        table.add_row(key.id, escape(key.name), ", ".join(key.scopes), _day(key.created), _day(key.revoked))
    Console().print(table)


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(help="The key's id, from `shortlist keys list`.")],  # noqa: A002 - the word users read
    file: File = Path("shortlist-keys.json"),
) -> None:
    """Revoke a key; a running service that reads this file notices within seconds."""
    key = KeyFile(file).revoke(id)
    typer.echo(f"{key.id} ({key.name}) is revoked")
    typer.echo(
        f"A service that reads {file} notices within seconds. Restart one that has a copy of it, such as a systemd "
        "credential, or a container that mounts the file instead of its folder.",
        err=True,
    )


def _day(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")
