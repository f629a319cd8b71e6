"""The command `mcp`: a gateway for agents that have too many tools."""

import asyncio
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist.errors import ShortlistError, needs_extra

if TYPE_CHECKING:
    from shortlist.integrations.mcp.config import Config, Embeddings

__all__ = ["mcp"]


def mcp(
    config: Annotated[Path, typer.Argument(help="A file with mcpServers, as MCP clients use it.")],
    http: Annotated[
        int | None,
        typer.Option(
            help="Serve over HTTP on this port of this machine, instead of standard input and output.",
            min=1,
            max=65535,
            show_default=False,
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Connect to every server, list its tools, and exit.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print what searches showed and led to so far, and exit.")
    ] = False,
) -> None:
    """Put the tools of other MCP servers behind three: find_tools, more_tools, call_tool."""
    needs_extra("the gateway for agents", "mcp", "mcp")
    import anyio  # noqa: PLC0415 - comes with the extra

    from shortlist.integrations.mcp.config import read_config  # noqa: PLC0415 - needs the extra
    from shortlist.integrations.mcp.tool_server import serve_http, serve_stdio  # noqa: PLC0415 - needs the extra

    settings = read_config(config)
    # Standard output belongs to the protocol.
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_in_one_line)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, format="shortlist: %(message)s")
    logging.getLogger("mcp").setLevel(logging.ERROR)
    if summary:
        _print_summary(settings)
    elif check:
        anyio.run(_check, settings)
    elif http is not None:
        with _ended_as_by_ctrl_c():
            anyio.run(serve_http, settings, http, _announce)
    else:
        with _ended_as_by_ctrl_c():
            anyio.run(serve_stdio, settings)


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, by which clients and service managers end a gateway, end its servers too.

    However it is ended, once or twice, and whatever that interrupts, the outcome is one KeyboardInterrupt.
    """
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        if not ended:
            ended = True
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except BaseExceptionGroup as group:
        interrupted = group.subgroup((KeyboardInterrupt, asyncio.CancelledError)) is not None
        if not ended and not interrupted:
            raise
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGTERM, before)
    if ended:  # closing the servers may have consumed the cancellation
        raise KeyboardInterrupt


def _announce(address: str) -> None:
    sys.stderr.write(f"shortlist: tools at {address}\n")


def _in_one_line(record: logging.LogRecord) -> bool:
    """Leave out tracebacks, which contain parts of messages, and so of arguments and results."""
    record.exc_info = record.exc_text = None
    return True


def _print_summary(settings: "Config") -> None:
    """Print the figures of the log, and what is needed next."""
    from shortlist.integrations.mcp.search_log import read_log  # noqa: PLC0415 - needs the extra
    from shortlist.integrations.mcp.state import saved_summary  # noqa: PLC0415 - needs the extra
    from shortlist.integrations.tools import SearchFigures  # noqa: PLC0415 - only here

    for line in SearchFigures.of(read_log(settings.state / "log.jsonl")).lines():
        typer.echo(line)
    if settings.service is not None:
        typer.echo(f"its rounds are in the stream {settings.service.stream} of {settings.service.url}")
    elif (learned := saved_summary(settings.state)) is not None and learned.waiting_for:
        typer.echo(f"waiting for {learned.waiting_for}")


async def _check(settings: "Config") -> None:
    """Print each server with its tools, or its problem."""
    from shortlist.integrations.mcp.upstream import Upstreams  # noqa: PLC0415 - needs the extra

    table = Table("server", "tools", "schema tokens (approx.)", "problem")
    console = Console()
    async with Upstreams(settings.servers).running() as upstreams:
        await upstreams.ready(max(server.start_timeout for server in settings.servers) + 5)
        for each in upstreams.all:
            tokens = sum(tool.tokens for tool in each.tools)
            problem = each.problem or "; ".join(each.left_out)
            table.add_row(each.server.name, f"{len(each.tools)}", f"{tokens:,}", escape(problem))
        away = sum(each.problem is not None for each in upstreams.all)
        total = sum(tool.tokens for tool in upstreams.tools())
        count = len(upstreams.tools())
        missing = set(settings.always) - {tool.name for tool in upstreams.tools()}
    console.print(table)
    console.print(
        f"{count} tools, about {total:,} schema tokens; {away} of {len(settings.servers)} servers unavailable",
        highlight=False,
    )
    ready = True
    if settings.embeddings is not None:
        ready = _try_embeddings(console, settings.embeddings)
    if missing:
        console.print(f"no server has {', '.join(sorted(missing))}, which is in always", highlight=False)
    if away or missing or not ready:
        raise typer.Exit(1)


def _try_embeddings(console: Console, embeddings: "Embeddings") -> bool:
    """Say whether there are embeddings."""
    from shortlist.integrations.mcp.tool_server import make_embed  # noqa: PLC0415 - needs the extra

    try:
        length = len(make_embed(embeddings)(["a text"])[0])
    except ShortlistError as error:
        console.print(f"no embeddings, so searches are by words: {error}", highlight=False)
        return False
    console.print(f"embeddings of length {length}", highlight=False)
    return True
