"""The commands of the service: `serve`, `verify`, `export`, `backup`, `restore`, `expire`."""

import functools
import ipaddress
import os
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
        help="sqlite:///file or postgresql://user@host/name; by default a file in your data directory.",
        envvar="SHORTLIST_DATABASE",
        show_default=False,
    ),
]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option(
        help="Without keys: a host name, besides localhost, by which pages may call this service. Repeatable.",
        show_default=False,
    ),
]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option(
        help="A page of another server that browsers may call this service from: https://shop.example.org. Repeatable.",
        show_default=False,
    ),
]
ImageHost = Annotated[
    list[str] | None,
    typer.Option(
        help="A host whose pictures the answer page may show, such as https://pictures.example.org. Repeatable.",
        show_default=False,
    ),
]
RerankerUrl = Annotated[
    str | None,
    typer.Option(
        "--reranker",
        help="A reranker that scores, besides BM25, what is sent to /v1/rerank: http://127.0.0.1:8001/v1/rerank. If it "
        "needs a key: SHORTLIST_RERANKER_KEY.",
        show_default=False,
    ),
]
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _address(database: str | None) -> str:
    """Return the database's address; raise if an extra is missing."""
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


def _servers(option: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return addresses of servers, without a path, or say which is none; only pictures may come from all below one."""
    for each in given:
        any_below = r"(\*\.)?" if option == "image_host" else ""
        if re.fullmatch(rf"https?://{any_below}[A-Za-z0-9.-]+(:\d+)?", each) is None:
            raise InvalidParameter(
                f"{option} is {each!r}; give the scheme and the host, such as https://pictures.example.org"
            )
    return tuple(given)


def _reranker(url: str | None, model: str | None, timeout: str, *, required: bool) -> Any:
    """Return the reranker behind the service, if there is one."""
    if url is None:
        if model is not None or required:
            raise InvalidParameter("there is no reranker to which the other options belong: give --reranker URL")
        return None
    from shortlist.service.reranker import RerankerSettings  # noqa: PLC0415

    key = os.environ.get("SHORTLIST_RERANKER_KEY") or None
    return RerankerSettings(url, model, key, duration("reranker_timeout", timeout) or 0.0, required)


def serve(
    database: Database = None,
    host: Annotated[str, typer.Option(help="The address to listen on; by default only this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    api_key_file: Annotated[
        Path | None, typer.Option(help="Accept only these keys; see `shortlist keys`.", show_default=False)
    ] = None,
    insecure: Annotated[bool, typer.Option(help="Allow other machines to connect without keys.")] = False,
    allowed_host: AllowedHost = None,
    allow_origin: AllowOrigin = None,
    image_host: ImageHost = None,
    workers: Annotated[int, typer.Option(help="Worker processes; more than one needs PostgreSQL.", min=1)] = 1,
    body_limit: Annotated[float, typer.Option(help="The largest request body, in MB.", min=0.1, max=1000)] = 2,
    expire_after: Annotated[
        str | None, typer.Option(help="Close rounds unanswered for this long: 90s, 30m, 12h, 7d.", show_default=False)
    ] = None,
    erase_texts_after: Annotated[
        str | None, typer.Option(help="Erase questions and texts after this long.", show_default=False)
    ] = None,
    reranker: RerankerUrl = None,
    reranker_model: Annotated[str | None, typer.Option(help="Its model.", show_default=False)] = None,
    reranker_timeout: Annotated[str, typer.Option(help="How long to wait for it.")] = "5s",
    reranker_required: Annotated[
        bool, typer.Option(help="Refuse what it does not score, instead of using BM25 alone.")
    ] = False,
    access_log: Annotated[bool, typer.Option(help="Log every request, not only those that fail.")] = False,
) -> None:
    """Run the service, until it is stopped."""
    address = _address(database)
    if api_key_file is None and not insecure and not _is_local(host):
        raise InvalidParameter(
            f"host is {host}, which other machines can reach, and there are no keys: give --api-key-file, or "
            "--insecure if everyone may do everything"
        )
    from shortlist.service.keys import KeyFile  # noqa: PLC0415
    from shortlist.service.store import Store  # noqa: PLC0415
    from shortlist.service.web import create_app, listen, run  # noqa: PLC0415 - needs the extra

    keys = None if api_key_file is None else KeyFile(api_key_file)
    if keys is not None and not keys.listed():
        raise InvalidParameter(f"there is no key in {api_key_file}; create one with `shortlist keys create`")
    make = functools.partial(
        create_app,
        address,
        keys=keys,
        allowed_hosts=allowed_host or (),
        image_hosts=_servers("image_host", image_host or ()),
        allowed_origins=_servers("allow_origin", allow_origin or ()),
        body_limit=round(body_limit * 2**20),
        expire_after=duration("expire_after", expire_after),
        erase_texts_after=duration("erase_texts_after", erase_texts_after),
        reranker=_reranker(reranker, reranker_model, reranker_timeout, required=reranker_required),
    )
    store = Store(address)  # raises if something is wrong with the database
    store.close()
    if workers > 1 and not store.shared:
        raise InvalidParameter(
            f"workers is {workers}, and a SQLite file has one writer: use --workers 1, or PostgreSQL with --database"
        )
    listening = listen(host, port)
    console = Console(stderr=True)
    console.print(
        f"shortlist serves [bold]http://{escape(host)}:{listening.getsockname()[1]}[/] from "
        f"[bold]{escape(store.shown_address)}[/]{'' if keys is not None else ', without keys'}",
        highlight=False,
        soft_wrap=True,
    )
    run(make, sockets=[listening], workers=workers, access=access_log)


def verify(database: Database = None) -> None:
    """Rebuild every stream from its log and compare, bit for bit; check the database's file, and the texts."""
    address = _address(database)
    from shortlist.service.engine import verify as check  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415

    console = Console()
    table = Table(title="streams", title_justify="left")
    table.add_column("stream", no_wrap=True)
    for heading in ("events", "rounds", "threshold", "snapshots compared"):
        table.add_column(heading, justify="right")
    table.add_column("result")
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
        for each in check(store, lambda name, done, of: bar.update(task, description=name, completed=done, total=of)):
            total += bool(each.stream)
            unsound += bool(each.stream and each.problems)
            broken = broken or not each.stream
            words = "\n".join(f"[red]{escape(problem)}[/]" for problem in each.problems) or "[green]sound[/]"
            table.add_row(
                escape(each.stream) or "[red]the database[/]",
                f"{each.events:,}",
                f"{each.rounds:,}",
                f"{each.threshold:.6g}",
                f"{each.snapshots}",
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
    out: Annotated[Path | None, typer.Option(help="The file; by default standard output.", show_default=False)] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="The picks, as a training set: one row per answered round.")
    ] = False,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl (the default): every event. csv: one row per round, for replay. With --labels: csv, jsonl or "
            "parquet; by default the file extension of --out.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a stream's log, or its labels, to a file or to standard output."""
    forms = ("csv", "jsonl", "parquet") if labels else ("jsonl", "csv")
    suffix = "" if out is None else out.suffix.removeprefix(".").lower()
    if not form and labels and suffix and suffix not in forms:
        raise InvalidParameter(f"{out} ends in .{suffix}; it must end in .csv, .jsonl or .parquet, or give --format")
    form = form or (suffix if labels and suffix else forms[0])
    if form not in forms:
        raise InvalidParameter(f"format is {form!r}; it must be {', '.join(forms[:-1])} or {forms[-1]}")
    if form == "parquet" and out is None:
        raise InvalidParameter("a Parquet file is not for a terminal: give --out FILE")
    address = _address(database)
    from shortlist.service.engine import export_stream, write_labels  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415

    with ExitStack() as stack:
        store = Store(address, read_only=True)
        stack.callback(store.close)
        export_to: Any = write_labels if labels else export_stream
        write_to = functools.partial(export_to, store, stream, form=form)
        if out is None:
            write_to(sys.stdout)
            return
        lines = 0

        def write(path: Path) -> None:
            nonlocal lines
            if form == "parquet":
                lines = write_to(path)
                return
            with path.open("w", encoding="utf-8", newline="") as file:
                lines = write_to(file)

        try:
            replace_file(out, write, mode=0o600)
        except OSError as error:
            raise UnwritableFile(f"{out} cannot be written: {error.strerror}") from None
    what = "rows" if labels else "lines"
    Console(stderr=True).print(f"{lines:,} {what} in [bold]{escape(str(out))}[/]", highlight=False)


def backup(
    out: Annotated[Path, typer.Argument(help="The file to write; it must not exist yet.")],
    database: Database = None,
) -> None:
    """Copy a SQLite database while the service runs; the copy can be served directly."""
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
    copy: Annotated[Path, typer.Argument(help="The file that `shortlist backup` wrote.", metavar="BACKUP")],
    database: Database = None,
) -> None:
    """Restore a SQLite database, which no service may have open, from a backup; the old one is kept next to it."""
    address = _address(database)
    from shortlist.service.store.restoring import restore as put_back  # noqa: PLC0415 - needs the extra

    done = put_back(address, copy)
    last = (
        "" if done.last_at is None else f", the last of {datetime.fromtimestamp(done.last_at, UTC):%Y-%m-%d %H:%M} UTC"
    )
    kept = "" if done.kept is None else f"; the old database is now [bold]{escape(str(done.kept))}[/]"
    Console(stderr=True).print(
        f"restored {done.streams:,} stream{'s' * (done.streams != 1)} with {done.events:,} events{last}{kept}",
        highlight=False,
        soft_wrap=True,
    )


def expire(
    stream: Annotated[str, typer.Argument(help="The stream.")],
    older_than: Annotated[str, typer.Option(help="The minimum age: 90s, 30m, 12h, 7d.")],
    texts: Annotated[bool, typer.Option("--texts", help="Erase questions and texts, not rounds.")] = False,
    url: Annotated[
        str, typer.Option(help="The address of the service.", envvar="SHORTLIST_URL")
    ] = "http://127.0.0.1:8000",
    api_key: Annotated[
        str | None, typer.Option(help="A key with the scope admin.", envvar="SHORTLIST_API_KEY", show_default=False)
    ] = None,
) -> None:
    """Close rounds that were never answered, or erase questions and texts, in a running service."""
    seconds: Any = duration("older_than", older_than)
    from shortlist import Client  # noqa: PLC0415 - needs an extra

    with Client(url, stream, api_key=api_key) as client:
        count = client.erase_texts(seconds) if texts else client.expire(seconds)
    what = "questions and texts erased" if texts else "rounds closed"
    Console().print(f"{count:,} {what}", highlight=False)


def demo(
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    database: Database = None,
    simulate: Annotated[bool, typer.Option(help="Start with simulated users.")] = True,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    allowed_host: AllowedHost = None,
) -> None:
    """Run a demo: the service, its page and a built-in corpus, with nothing to configure."""
    _address(database)
    needs_extra("the demo", "service", "sklearn")
    from shortlist.service.demo import create_demo, default_file, open_browser  # noqa: PLC0415 - needs the extra
    from shortlist.service.store import Store  # noqa: PLC0415
    from shortlist.service.web import listen, run  # noqa: PLC0415

    address = database or f"sqlite:///{default_file()}"
    Store(address).close()  # raises if something is wrong with the database
    listening = listen("127.0.0.1", port)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/page/demo"
    console = Console()
    with console.status("reading the documentation of the standard library"):
        app = create_demo(address, simulate=simulate, allowed_hosts=allowed_host or ())
    console.print(f"Open [bold]{url}[/]. Ctrl-C stops it.", highlight=False, soft_wrap=True)
    if browser:
        open_browser(url)
    run(lambda: app, sockets=[listening])
