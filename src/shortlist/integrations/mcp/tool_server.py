"""The gateway as an MCP server: three tools, over standard input and output or over HTTP."""

import contextlib
import json
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final

import anyio
import anyio.lowlevel
import uvicorn
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ToolDescription

import shortlist
from shortlist.errors import InvalidParameter, InvalidScores, ShortlistError
from shortlist.integrations.mcp.config import Config, Embeddings, ServiceStream
from shortlist.integrations.mcp.gateway import Found, Gateway, error_result
from shortlist.integrations.mcp.search_log import SearchLog, read_log
from shortlist.integrations.mcp.standard_input import readable_input
from shortlist.integrations.mcp.state import kept_lister
from shortlist.integrations.mcp.upstream import Upstreams
from shortlist.integrations.tools import ToolShortlist, endpoint, local_model
from shortlist.integrations.tools.ranking import Embed

__all__ = ["create_server", "make_embed", "opened", "serve_http", "serve_stdio"]

_HOST: Final = "127.0.0.1"
#: The last events of the log that a gateway reads when it starts.
_RESUMED: Final = 10_000

#: The instructions for a host: what to do with the three tools.
_INSTRUCTIONS: Final = (
    "Before a task, call find_tools with a sentence that says what you want to do. It returns tools with schemas, "
    "and a round. Call one of them with call_tool and that round. If none fits, call more_tools with the round. For "
    "another task, call find_tools again."
)
_ROUND: Final = {"type": "string", "description": "The round that find_tools returned."}
_FOUND: Final = {
    "type": "object",
    "properties": {
        "round": {"type": "string"},
        "tools": {"type": "array", "items": {"type": "object"}},
        "hidden": {"type": "integer"},
        "next": {"type": "string"},
        "unavailable": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["round", "tools", "hidden", "next"],
}


def _descriptions(servers: Sequence[str]) -> list[ToolDescription]:
    """Return the three tools as agents see them."""
    return [
        ToolDescription(
            name="find_tools",
            description="Find the tools for a task. Returns a short list of tools with their schemas, and a round. "
            f"The tools are from these servers: {', '.join(servers)}.",
            input_schema={
                "type": "object",
                "properties": {"task": {"type": "string", "description": "What you want to do, in a sentence."}},
                "required": ["task"],
            },
            output_schema=_FOUND,
            annotations=ToolAnnotations(read_only_hint=True),
        ),
        ToolDescription(
            name="more_tools",
            description="Show more tools for the same task, if none that find_tools returned fits.",
            input_schema={"type": "object", "properties": {"round": _ROUND}, "required": ["round"]},
            output_schema=_FOUND,
            annotations=ToolAnnotations(read_only_hint=True),
        ),
        ToolDescription(
            name="call_tool",
            description="Call a tool that find_tools or more_tools returned.",
            input_schema={
                "type": "object",
                "properties": {
                    "round": _ROUND,
                    "name": {"type": "string", "description": "The tool's name, as returned."},
                    "arguments": {"type": "object", "description": "Its arguments, according to its input_schema."},
                },
                "required": ["round", "name"],
            },
        ),
    ]


def create_server(
    gateway: Gateway,
    servers: Sequence[str] = (),
    *,
    ready: Callable[[], Awaitable[None]] | None = None,
    session: str | None = None,
) -> Server[Any]:
    """Return the MCP server of a gateway.

    Parameters
    ----------
    gateway
        The gateway.
    servers
        The names of the servers behind it, shown to agents.
    ready
        Awaited before each request is answered: servers may be starting.
    session
        The conversation, if the server has one client only. Otherwise it is the one that the client's transport has.

    Returns
    -------
    Server[Any]
        The server, to be run over any transport.
    """
    described = _descriptions(servers)

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        if ready is not None and gateway.has_always:
            await ready()
        always = [
            ToolDescription(name=tool.name, description=tool.description, input_schema=tool.input_schema)
            for tool in gateway.always_on()
        ]
        return ListToolsResult(tools=[*described, *always])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        try:
            if ready is not None:
                await ready()
            return await _called(gateway, params.name, params.arguments or {}, session or _session_of(context))
        except MCPError:
            raise  # what the tool's own server said
        except ShortlistError as error:
            return error_result(str(error))

    return Server(
        "shortlist",
        version=shortlist.__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _called(gateway: Gateway, name: str, given: dict[str, Any], session: str | None) -> CallToolResult:
    """Return the answer to a call of one of the three tools, or of one that is always on."""
    if name == "find_tools":
        return _result(await gateway.find_tools(given.get("task", ""), session))
    if name == "more_tools":
        return _result(await gateway.more_tools(str(given.get("round", ""))))
    if name == "call_tool":
        return await gateway.call_tool(str(given.get("round", "")), str(given.get("name", "")), given.get("arguments"))
    if gateway.is_always(name):
        return await gateway.call_always(name, given)
    # An agent that has the name of a tool behind the gateway may well call it in this way.
    return error_result(f"there is no tool {name!r} here; use find_tools, then call_tool")


def _session_of(context: Any) -> str | None:
    """Return the session of a client over HTTP; None if its version of the protocol has none."""
    headers = getattr(context.request, "headers", None)
    return None if headers is None else headers.get("mcp-session-id")


def _result(tools: Found) -> CallToolResult:
    answer = tools.to_dict()
    text = json.dumps(answer, separators=(",", ":"), ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer)


@contextmanager
def _kept(config: Config) -> Iterator[tuple[ToolShortlist, Callable[[], None] | None]]:
    """Open the search, with its lister in a folder or a stream of the service; and what saves it."""
    with contextlib.ExitStack() as stack:
        lister: shortlist.Lister
        if config.service is None:
            lister, save = stack.enter_context(kept_lister(config.state, **config.settings))
        else:
            lister, save = stack.enter_context(_stream(config.service, config.settings)), None
        path = config.state / "log.jsonl"
        log = SearchLog(path)
        stack.callback(log.close)
        embed = None if config.embeddings is None else make_embed(config.embeddings)
        try:
            tools = ToolShortlist((), lister, embed, at_most=config.settings["at_most"], on_event=log.add)
        except InvalidScores as error:
            raise InvalidParameter(f"{config.state} was learned with other scorers: {error}") from None
        # What the log holds is what a lister may still take: the rest is only for the figures.
        tools.resume(deque(read_log(path), maxlen=_RESUMED))
        try:
            yield tools, save
        finally:
            tools.end()
            if save is not None:
                save()


def make_embed(settings: Embeddings) -> Embed:
    """Return the function from texts to vectors that the settings describe.

    Parameters
    ----------
    settings
        The address, or the local model.

    Returns
    -------
    Embed
        The function.
    """
    if settings.local is not None:
        return local_model(settings.local)
    return endpoint(str(settings.url), settings.model, headers=settings.headers, timeout=settings.timeout)


def _stream(service: ServiceStream, settings: Mapping[str, Any]) -> shortlist.Client:
    """Return a client of the stream, created if it does not exist; while it is away, lists are by words and capped."""
    client = shortlist.Client(
        service.url, service.stream, service.api_key, deadline=service.deadline, fallback="everything"
    )
    try:
        client.create(**{name: value for name, value in settings.items() if name != "keep"})
    except BaseException:
        client.close()
        raise
    return client


@asynccontextmanager
async def opened(config: Config, session: str | None = None) -> AsyncIterator[Server[Any]]:
    """Start the gateway described by a settings file, and yield its server.

    Parameters
    ----------
    config
        The settings.
    session
        The conversation, if there is one client only.
    """
    names = [server.name for server in config.servers]
    with _kept(config) as (tools, save):
        async with Upstreams(config.servers).running() as upstreams:
            gateway = Gateway(upstreams, tools, always=config.always, more_count=config.more_count, save=save)
            yield create_server(gateway, names, ready=partial(upstreams.ready, config.wait), session=session)


async def serve_stdio(config: Config) -> None:
    """Serve over standard input and output, until the client ends.

    Parameters
    ----------
    config
        The settings.
    """
    async with opened(config, secrets.token_hex(8)) as server, stdio_server(readable_input()) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def serve_http(config: Config, port: int, announce: Callable[[str], None] = lambda _: None) -> None:
    """Serve over HTTP at ``/mcp``, on this machine only, until the process is stopped.

    There are no keys. A web page can reach this machine too, through a host name that resolves to it, so requests must
    address it by IP or as localhost, and must not come from a page of another host.

    Parameters
    ----------
    config
        The settings.
    port
        The port to listen on.
    announce
        Called with the address once it can be used.
    """
    # Named as TCP: only then does asyncio turn off Nagle's algorithm, which makes an answer wait for 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_HOST, port))
    except OSError as error:
        listening.close()
        raise InvalidParameter(f"port {port} of {_HOST} cannot be used: {error.strerror}; give another one") from None
    with listening:
        async with opened(config) as server:
            app = server.streamable_http_app(host=_HOST)
            # log_config=None: its lines go through our handlers, which leave tracebacks out.
            settings = uvicorn.Config(
                app, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=3
            )
            announce(f"http://{_HOST}:{port}/mcp")
            await uvicorn.Server(settings).serve(sockets=[listening])
            await anyio.lowlevel.checkpoint()  # a signal cancels here, and not while servers are being closed
