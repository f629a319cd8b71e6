"""Connections that take too long to say what they want, and how many there may be."""

import asyncio
import contextlib
import json
import resource
import socket
import threading

import uvicorn

from shortlist.service.web import create_app, server
from shortlist.service.web.connections import HeaderTimeout, most_connections
from tests.service.running import free_port

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextlib.contextmanager
def served(address, seconds):
    """Run a service as `shortlist serve` does, in a thread."""
    port = free_port()
    running = server.Server(uvicorn.Config(create_app(address), port=port, log_level="warning"))
    running.header_timeout = HeaderTimeout(seconds)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve()))
    thread.start()
    while not running.started:
        assert thread.is_alive()
    try:
        yield port
    finally:
        running.should_exit = True
        thread.join()


def rest(connection):
    """Return all that comes until the connection is closed."""
    data = b""
    while part := connection.recv(4096):
        data += part
    return data


def test_headers_that_do_not_arrive_close_the_connection(sqlite):
    with served(sqlite, 1.0) as port, contextlib.ExitStack() as stack:

        def connect(data):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            connection.sendall(data)
            return connection

        silent, slow, second = connect(b""), connect(REQUEST[:-2]), connect(REQUEST)
        assert second.recv(4096).startswith(b"HTTP/1.1 200")
        second.sendall(b"GET / HT")
        for connection in (silent, slow):
            head, _, body = rest(connection).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408 Request Timeout")
            assert json.loads(body)["type"] == "urn:shortlist:problem:request-timeout"
        assert b"HTTP/1.1" not in rest(second)
        assert connect(REQUEST).recv(4096).startswith(b"HTTP/1.1 200")


class Request:
    response_complete = False


class Connection:
    """A connection as the web server has it."""

    def __init__(self, cycle=None, timeout_keep_alive_task=None):
        self.cycle, self.timeout_keep_alive_task, self.transport = cycle, timeout_keep_alive_task, self
        self.sent, self.closed = b"", False

    def is_closing(self):
        return self.closed

    def write(self, data):
        self.sent += data

    def close(self):
        self.closed = True


def test_a_request_under_way_and_a_pause_between_two_are_left_alone():
    async def main():
        at_work, idle, new = Connection(Request()), Connection(Request(), object()), Connection()
        idle.cycle.response_complete = True
        timeout = HeaderTimeout(0.05)
        for _ in range(4):
            timeout.look([at_work, idle, new])
            await asyncio.sleep(0.03)
        return at_work.closed, idle.closed, new.closed

    assert asyncio.run(main()) == (False, False, True)


def test_each_request_has_its_own_time():
    async def main():
        busy, timeout = Connection(), HeaderTimeout(0.05)
        for _ in range(6):
            timeout.look([busy])
            busy.cycle = Request()
            busy.cycle.response_complete = True
            await asyncio.sleep(0.03)
        return busy.closed

    assert asyncio.run(main()) is False


def test_open_files_limit_the_connections():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        most = most_connections()
        assert most == resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 64
        assert most > 512 or before[1] < 1_000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
