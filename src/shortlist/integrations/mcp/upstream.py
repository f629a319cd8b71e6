"""The servers behind the gateway, isolated: one that dies, hangs or changes its tools does not affect the others.

Each server has a task that connects, lists its tools, and refreshes them when the server says so, when a call
fails, and periodically. When the connection ends, its tools leave the catalog at once, and the task reconnects
with growing pauses. No request of an agent waits for a server, except calls of that server's tools.
"""

import logging
import math
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Self

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, ToolListChangedNotification

from shortlist.errors import ServiceUnavailable
from shortlist.integrations.mcp.catalog import Offered, cleaned, notice
from shortlist.integrations.mcp.config import HttpServer, Server, StdioServer
from shortlist.integrations.tools import Tool

__all__ = ["Upstream", "Upstreams"]

_log = logging.getLogger("shortlist.mcp")

#: Seconds until an unavailable server is retried, at first and at most; after a connection of `_LIVED`, from the first.
_FIRST_PAUSE, _LONGEST_PAUSE, _LIVED = 1.0, 60.0, 30.0
_CLOSED: Final = "it closed the connection"
#: The most pages of tools read from one server.
_PAGES: Final = 100
#: Seconds between two refreshes of a server's tools, however often it reports a change.
_SHORTEST: Final = 1.0


class Upstream:
    """A server, its tools, and its problem, if any.

    Parameters
    ----------
    server
        How to reach it.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        #: Its tools; none while it is unavailable.
        self.tools: tuple[Tool, ...] = ()
        #: Why it is unavailable, in words; None while it is connected, and before the first attempt.
        self.problem: str | None = None
        #: What it was too slow for, in words; None once it has answered again.
        self.slow: str | None = None
        #: Why it has tools that are left out, in words.
        self.left_out: list[str] = []
        #: Set after the first attempt.
        self.tried = anyio.Event()
        self._client: Client | None = None
        self._wake = anyio.Event()
        self._ended = anyio.Event()

    async def run(self) -> None:
        """Keep the connection until the task is canceled."""
        pause = _FIRST_PAUSE
        while True:
            started = anyio.current_time()
            try:
                await self._connected()
                problem = _CLOSED
            except Exception as error:  # noqa: BLE001 - whatever one server does, the others go on
                problem = _in_words(error)
            self._client, self.tools, self.problem = None, (), problem
            self.tried.set()
            if anyio.current_time() - started > _LIVED:
                pause = _FIRST_PAUSE
            _log.warning("server %s is unavailable: %s; trying again in %.0f s", self.server.name, problem, pause)
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool.

        Raises
        ------
        MCPError
            If the server itself reports an error.
        ServiceUnavailable
            If it is unavailable, or did not answer in time.
        """
        name, client = self.server.name, self._client
        if client is None:
            raise ServiceUnavailable(f"server {name} is unavailable ({self.problem}); try again shortly")
        try:
            result = await client.call_tool(tool.upstream_name, arguments, read_timeout_seconds=self.server.timeout)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                self.slow = f"it did not answer {tool.name} within {self.server.timeout:g} s"
                self._wake.set()  # does it answer again?
                raise ServiceUnavailable(f"server {name} is slow: {self.slow}") from error
            self._wake.set()  # is it still there?
            if error.code == CONNECTION_CLOSED:
                raise ServiceUnavailable(f"server {name} closed the connection during {tool.name}") from error
            raise
        except Exception as error:
            self._wake.set()
            raise ServiceUnavailable(f"server {name} failed at {tool.name}: {_in_words(error)}") from error
        self.slow = None
        return result

    @property
    def notice(self) -> str | None:
        """Why its tools cannot be had, or only slowly, in one line; None if they can."""
        if self.problem is not None:
            return f"{self.server.name}: {self.problem}"
        if not self.tried.is_set():
            return f"{self.server.name}: it is starting"
        return None if self.slow is None else f"{self.server.name}: {self.slow}; its tools may still work"

    async def _connected(self) -> None:
        """Connect, and return when the connection has ended."""
        self._ended, self._wake = anyio.Event(), anyio.Event()
        with anyio.CancelScope(deadline=anyio.current_time() + self.server.start_timeout) as scope:
            client = Client(
                _watched(self._transport(), self._closed),
                message_handler=self._heard,
                cache=None,
            )
            async with client, anyio.create_task_group() as group:
                await self._look(client)
                scope.deadline = math.inf
                self._client, self.problem = client, None
                self.tried.set()
                group.start_soon(self._listen, client)
                while not self._ended.is_set():
                    looked = anyio.current_time()
                    with anyio.move_on_after(self.server.refresh):
                        await self._wake.wait()
                    with anyio.move_on_after(looked + _SHORTEST - anyio.current_time()):
                        await self._ended.wait()
                    self._wake = anyio.Event()
                    if not self._ended.is_set():
                        await self._look_again(client)
                self._client, self.tools, self.problem = None, (), _CLOSED  # before the process is waited for
                group.cancel_scope.cancel()
        if scope.cancelled_caught:
            raise TimeoutError(f"it did not list its tools within {self.server.start_timeout:g} s")

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        server = self.server
        if isinstance(server, StdioServer):
            parameters = StdioServerParameters(
                command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
            )
            return stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)
        assert isinstance(server, HttpServer)  # noqa: S101 - there are two kinds
        return _http(server)

    async def _look_again(self, client: Client) -> None:
        """Refresh the server's tools; one that is busy with a call may not answer in time, and keeps those it has."""
        with anyio.move_on_after(self.server.timeout) as scope:
            await self._look(client)
        if scope.cancelled_caught:
            self.slow = f"it did not list its tools within {self.server.timeout:g} s"
        else:
            self.slow = None

    async def _look(self, client: Client) -> None:
        """Refresh the server's tools."""
        offered: list[Offered] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            offered += [
                Offered(each.name, each.description or each.title or "", each.input_schema) for each in page.tools
            ]
            cursor = page.next_cursor
            if cursor is None:
                break
        tools, left_out = cleaned(self.server.name, offered)
        if tools != self.tools:
            _log.info("server %s has %d tools", self.server.name, len(tools))
            self.tools = tools
        if left_out != self.left_out:
            for reason in left_out:
                _log.warning("server %s: %s", self.server.name, reason)
            self.left_out = left_out

    async def _listen(self, client: Client) -> None:
        """Refresh whenever the server reports that its tools have changed."""
        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._wake.set()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            return  # an older one sends notifications; one that does neither is refreshed periodically

    async def _heard(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._wake.set()

    def _closed(self) -> None:
        self._ended.set()
        self._wake.set()


class Upstreams:
    """All servers behind a gateway, connected while `running` is open.

    Parameters
    ----------
    servers
        How to reach them.
    """

    def __init__(self, servers: Iterable[Server]) -> None:
        self.all = [Upstream(server) for server in servers]
        self._started = 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Upstreams"]:
        """Keep the connections while this is open."""
        self._started = anyio.current_time()
        async with anyio.create_task_group() as group:
            for upstream in self.all:
                group.start_soon(upstream.run)
            try:
                yield self
            finally:
                group.cancel_scope.cancel()

    async def ready(self, seconds: float) -> None:
        """Wait until each server was tried once, but at most until `seconds` after the start."""
        with anyio.CancelScope(deadline=self._started + seconds):
            for upstream in self.all:
                await upstream.tried.wait()

    def tools(self) -> list[Tool]:
        """Return the tools of all available servers, in the order of the servers."""
        return [tool for upstream in self.all for tool in upstream.tools]

    def unavailable(self) -> list[str]:
        """Return which servers are away or slow, and why, in one line each."""
        return [notice for upstream in self.all if (notice := upstream.notice) is not None]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool of the server that has it; see `Upstream.call`."""
        upstream = next(each for each in self.all if each.server.name == tool.server)
        return await upstream.call(tool, arguments)


@asynccontextmanager
async def _http(server: HttpServer) -> AsyncIterator[Any]:
    timeout = httpx2.Timeout(30.0, read=300.0)
    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _watched(transport: AbstractAsyncContextManager[Any], closed: Callable[[], None]) -> AsyncIterator[Any]:
    """Report when the other side closes the connection: nothing else does, between calls."""
    async with transport as (reading, writing):
        yield _Watched(reading, closed), writing


class _Watched:
    """A stream of messages that reports its end."""

    def __init__(self, stream: Any, closed: Callable[[], None]) -> None:
        self._stream, self._closed = stream, closed

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._closed()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._stream.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _in_words(error: BaseException) -> str:
    """Return an error in one line; for a group, its first error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "it ended while it was starting; run its command by hand to see why"
    words = notice(str(error))
    return words if isinstance(error, TimeoutError) and words else f"{type(error).__name__}: {words}".rstrip(": ")
