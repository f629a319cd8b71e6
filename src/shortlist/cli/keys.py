"""The command `keys`: make, list and revoke API keys."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist.service.keys import SCOPES, KeyFile

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, list and revoke API keys.")

File = Annotated[
    Path, typer.Option("--file", help="The file of keys, as `serve --api-key-file` takes it.", envvar="SHORTLIST_KEYS")
]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    scopes: Annotated[
        str, typer.Option(help=f"What it may do, separated by commas: {', '.join(SCOPES)}.")
    ] = "propose,feedback,read",
    file: File = Path("shortlist-keys.json"),
) -> None:
    """Make a key, and print it: this once, and never again."""
    key = KeyFile(file).create(name, [scope.strip() for scope in scopes.split(",") if scope.strip()])
    typer.echo(key)
    typer.echo(f"Its hash is kept in {file}; the key itself is not, so keep it yourself.", err=True)


@app.command("list")
def list_(file: File = Path("shortlist-keys.json")) -> None:
    """List the keys; their secrets are not known."""
    table = Table("id", "name", "scopes", "made", "revoked")
    for key in KeyFile(file).listed():
        table.add_row(key.id, escape(key.name), ", ".join(key.scopes), _day(key.created), _day(key.revoked))
    Console().print(table)


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(help="The key's id, from `shortlist keys list`.")],  # noqa: A002 - the word people read
    file: File = Path("shortlist-keys.json"),
) -> None:
    """Make a key worthless; a running service that reads this file notices within seconds."""
    key = KeyFile(file).revoke(id)
    typer.echo(f"{key.id} ({key.name}) is revoked")
    typer.echo(
        f"A service that reads {file} notices within seconds. Restart one that has a copy of it, such as a systemd "
        "credential or a container that mounts the file and not its folder.",
        err=True,
    )


def _day(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")
