"""The commands of the service: `serve`, `verify`, `export`, `backup`, `restore`, `expire`."""

import functools
import ipaddress
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shortlist._files import replace_file
from shortlist.errors import InvalidParameter, UnwritableFile, needs_extra

__all__ = ["backup", "demo", "expire", "export", "restore", "serve", "verify"]

Database = Annotated[
    str | None,
    typer.Option(
        help="sqlite:///file or postgresql://user@host/name; a file in your data directory otherwise.",
        envvar="SHORTLIST_DATABASE",
        show_default=False,
    ),
]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option(
        help="Without keys: a name by which pages may ask for this service, besides localhost. Can be given again.",
        show_default=False,
    ),
]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option(
        help="The address, or network, of a proxy: its X-Forwarded-For says who asks. Can be given again.",
        show_default=False,
    ),
]
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _address(database: str | None) -> str:
    """Return the database's address; say which extra is missing, if one is."""
    modules = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "platformdirs", "prometheus_client")
    needs_extra("the service", "service", *modules)
    from shortlist.service.store.database import default_address  # noqa: PLC0415 - needs the extra

    return database or default_address()


def duration(option: str, text: str | None) -> float | None:
    """Return a duration in seconds: 90s, 30m, 12h or 7d.

    >>> duration("older_than", "12h")
    43200.0
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text.strip())
    if match is None:
        raise InvalidParameter(f"{option} is {text!r}; write 90s, 30m, 12h or 7d")
    return float(match[1]) * _UNITS[match[2]]


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _proxies(given: Sequence[str]) -> tuple[str, ...]:
    """Return the proxies that are believed, or say which is no address."""
    for each in given:
        try:
            ipaddress.ip_network(each, strict=False)
        except ValueError:
            raise InvalidParameter(
                f"trusted_proxy is {each!r}; give an address, such as 127.0.0.1, or a network, such as 10.0.0.0/8"
            ) from None
    return tuple(given)


def serve(
    database: Database = None,
    host: Annotated[str, typer.Option(help="Where to listen; only this machine otherwise.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    api_key_file: Annotated[
        Path | None, typer.Option(help="Let only these keys in; see `shortlist keys`.", show_default=False)
    ] = None,
    insecure: Annotated[bool, typer.Option(help="Listen to other machines without keys.")] = False,
    allowed_host: AllowedHost = None,
    trusted_proxy: TrustedProxy = None,
    workers: Annotated[int, typer.Option(help="Processes, on PostgreSQL.", min=1)] = 1,
    requests_per_second: Annotated[
        float | None,
        typer.Option(help="The most for each key, or for each address without keys.", min=0.1, show_default=False),
    ] = None,
    body_limit: Annotated[
        float, typer.Option(help="The largest body of a request, in MB; JSON lines may be longer.", min=0.1, max=1000)
    ] = 2,
    expire_after: Annotated[
        str | None, typer.Option(help="Close rounds unanswered for so long: 90s, 30m, 12h, 7d.", show_default=False)
    ] = None,
    erase_texts_after: Annotated[
        str | None, typer.Option(help="Erase questions and texts after so long.", show_default=False)
    ] = None,
    access_log: Annotated[bool, typer.Option(help="Log every request, not only those that fail.")] = False,
) -> None:
    """Run the service until it is told to stop."""
    address = _address(database)
    proxies = _proxies(trusted_proxy or ())
    if api_key_file is None and not insecure and not _is_local(host):
        raise InvalidParameter(
            f"host is {host}, which other machines can reach, and there are no keys: give --api-key-file, or say "
            "--insecure if everybody may do everything"
        )
    from shortlist.service.keys import KeyFile  # noqa: PLC0415
    from shortlist.service.store import Store  # noqa: PLC0415
    from shortlist.service.web import create_app, listen, run, run_workers  # noqa: PLC0415 - needs the extra
    from shortlist.service.web.limits import BodyLimits  # noqa: PLC0415

    keys = None if api_key_file is None else KeyFile(api_key_file)
    if keys is not None and not keys.listed():
        raise InvalidParameter(f"there is no key in {api_key_file}; make one with `shortlist keys create`")
    make = functools.partial(
        create_app,
        address,
        keys=keys,
        allowed_hosts=allowed_host or (),
        rate=requests_per_second,
        limits=BodyLimits(round(body_limit * 2**20)),
        expire_after=duration("expire_after", expire_after),
        erase_texts_after=duration("erase_texts_after", erase_texts_after),
    )
    listening = listen(host, port)
    store = Store(address)  # says what is wrong with the database, if anything is
    if workers > 1 and not store.shared:
        store.close()
        raise InvalidParameter(
            f"workers is {workers}, and a SQLite file has one writer: use --workers 1, or PostgreSQL with --database"
        )
    store.close()
    console = Console(stderr=True)
    console.print(
        f"shortlist serves [bold]http://{escape(host)}:{listening.getsockname()[1]}[/] from "
        f"[bold]{escape(store.shown_address)}[/]{'' if keys is not None else ', without keys'}",
        highlight=False,
        soft_wrap=True,
    )
    if workers == 1:
        run(make(), sockets=[listening], access=access_log, proxies=proxies)
    else:
        run_workers(make, workers, [listening], access=access_log, proxies=proxies)


def verify(database: Database = None) -> None:
    """Rebuild every stream from its log and compare, bit for bit; check the file, the log's hash, and texts."""
    address = _address(database)
    from shortlist.service.engine import verify as check  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415

    console = Console()
    table = Table(title="streams", title_justify="left")
    table.add_column("stream", no_wrap=True)
    for heading in ("events", "rounds", "threshold", "snapshots compared"):
        table.add_column(heading, justify="right")
    table.add_column("hash", no_wrap=True)
    table.add_column("found")
    unsound, total, broken = 0, 0, False
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
            total += bool(found.stream)
            unsound += bool(found.stream and found.problems)
            broken = broken or not found.stream
            words = "\n".join(f"[red]{escape(problem)}[/]" for problem in found.problems) or "[green]sound[/]"
            table.add_row(
                escape(found.stream) or "[red]the database[/]",
                f"{found.events:,}",
                f"{found.rounds:,}",
                f"{found.threshold:.6g}",
                f"{found.snapshots}",
                found.chain[:12],
                words,
            )
    console.print(table)
    end = "; the database file is damaged" if broken else ""
    console.print(f"{total} stream{'s' * (total != 1)}, {unsound} with problems{end}", highlight=False)
    if unsound or broken:
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
    """Write a stream's log to a file, or to standard output."""
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
        lines = 0

        def write(path: Path) -> None:
            nonlocal lines
            with path.open("w", encoding="utf-8", newline="") as file:
                lines = export_stream(store, stream, file, form)

        try:
            replace_file(out, write, mode=0o600)
        except OSError as error:
            raise UnwritableFile(f"{out} cannot be written: {error.strerror}") from None
    Console(stderr=True).print(f"{lines:,} lines in [bold]{escape(str(out))}[/]", highlight=False)


def backup(
    out: Annotated[Path, typer.Argument(help="The file to make; it must not be there yet.")],
    database: Database = None,
) -> None:
    """Copy a SQLite database while the service runs; the copy can be served as it is."""
    address = _address(database)
    from shortlist.service.store import Store  # noqa: PLC0415 - needs the extra

    store = Store(address, read_only=True)
    try:
        store.backup(out)
    finally:
        store.close()
    size = out.stat().st_size
    Console(stderr=True).print(f"{size / 2**20:,.1f} MB in [bold]{escape(str(out))}[/]", highlight=False)


def restore(
    copy: Annotated[Path, typer.Argument(help="The file that `shortlist backup` made.", metavar="BACKUP")],
    database: Database = None,
) -> None:
    """Put a backup in the place of a SQLite database that no service has open; what was there is kept beside it."""
    address = _address(database)
    from shortlist.service.store.restoring import restore as put_back  # noqa: PLC0415 - needs the extra

    done = put_back(address, copy)
    last = (
        "" if done.last_at is None else f", the last of {datetime.fromtimestamp(done.last_at, UTC):%Y-%m-%d %H:%M} UTC"
    )
    kept = "" if done.kept is None else f"; the database that was there is now [bold]{escape(str(done.kept))}[/]"
    Console(stderr=True).print(
        f"restored {done.streams:,} stream{'s' * (done.streams != 1)} with {done.events:,} events{last}{kept}",
        highlight=False,
        soft_wrap=True,
    )


def expire(
    stream: Annotated[str, typer.Argument(help="The stream.")],
    older_than: Annotated[str, typer.Option(help="How old: 90s, 30m, 12h, 7d.")],
    texts: Annotated[bool, typer.Option("--texts", help="Erase questions and texts, not rounds.")] = False,
    url: Annotated[str, typer.Option(help="Where the service runs.", envvar="SHORTLIST_URL")] = "http://127.0.0.1:8000",
    api_key: Annotated[
        str | None, typer.Option(help="An admin's key.", envvar="SHORTLIST_API_KEY", show_default=False)
    ] = None,
) -> None:
    """Close rounds that were never answered, or erase what people wrote, in a running service."""
    seconds: Any = duration("older_than", older_than)
    from shortlist import Client  # noqa: PLC0415 - needs an extra

    with Client(url, stream, api_key=api_key) as client:
        count = client.erase_texts(seconds) if texts else client.expire(seconds)
    what = "questions and texts erased" if texts else "rounds closed"
    Console().print(f"{count:,} {what}", highlight=False)


def demo(
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    database: Database = None,
    simulate: Annotated[bool, typer.Option(help="Begin with simulated people.")] = True,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    allowed_host: AllowedHost = None,
) -> None:
    """Show everything: the service, its page and a built-in corpus, with nothing to configure."""
    _address(database)
    needs_extra("the demo", "service", "sklearn")
    from shortlist.service.demo import create_demo, default_file, open_browser  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415
    from shortlist.service.web import listen, run  # noqa: PLC0415

    address = database or f"sqlite:///{default_file()}"
    Store(address).close()  # says what is wrong with the database, if anything is
    listening = listen("127.0.0.1", port)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/page/demo"
    console = Console()
    with console.status("reading the documentation of the standard library"):
        app = create_demo(address, simulate=simulate, allowed_hosts=allowed_host or ())
    console.print(f"Open [bold]{url}[/]. Ctrl-C stops it.", highlight=False, soft_wrap=True)
    if browser:
        open_browser(url)
    run(app, sockets=[listening])
