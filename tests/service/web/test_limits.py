"""The limits of bodies: how slow, and how large together."""

import asyncio
import contextlib
import json
import socket

import pytest

from shortlist.service.web.limits import BodyLimits
from shortlist.service.web.problems import Refusal
from tests.service.running import running
from tests.service.web.checks import problem

LARGE = 300_000


@contextlib.contextmanager
def sending(service, body, length):
    """Send the beginning of a body, and wait."""
    head = "POST /v1/streams/docs/rounds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
        connection.sendall(head.encode() + f"Content-Length: {length}\r\n\r\n".encode() + body)
        yield connection


def answered(connection):
    """Return the status and the body of an answer after which the connection is closed."""
    data = b""
    while part := connection.recv(65536):
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("body", [b"", b'{"candidates": ['])
def test_a_body_that_does_not_arrive_is_a_408(sqlite, body):
    with running(sqlite, limits=BodyLimits(seconds=0.2)) as service:
        service.make()
        with sending(service, body, 1000) as connection:
            status, document = answered(connection)
        assert (status, document["type"]) == (408, "urn:shortlist:problem:request-timeout")
        assert document["detail"] == "the body did not arrive within 0.2 seconds: send it again, faster"
        assert service.propose().status_code == 201  # others are not disturbed


def test_slow_bodies_cannot_take_all_memory(sqlite):
    """Each is within the limit, and all together are not; ordinary requests pass all the same."""
    with running(sqlite, limits=BodyLimits(total=800_000)) as service, contextlib.ExitStack() as stack:
        service.make()
        slow = [stack.enter_context(sending(service, b" " * LARGE, LARGE + 1)) for _ in range(3)]
        held = service.app.state.limits
        while held.held < 3 * (LARGE - 2**16):
            pass
        large = [(f"c{i}", i / 7) for i in range(9_000)]
        document = problem(service.propose(large), 503, "service-unavailable")
        assert (
            document["detail"]
            == "the bodies of other requests fill the memory set aside for bodies: try again in a moment"
        )
        assert service.propose().status_code == 201
        for connection in slow:
            connection.close()
        while held.held:
            pass
        assert service.propose(large).status_code == 201


def test_a_request_that_is_given_up_is_not_waited_for():
    class Slow:
        refusal = None

        def give_up(self, refusal):
            self.refusal = refusal
            limits.arrived(self)

    async def main():
        slow, quick = Slow(), Slow()
        limits.expect(slow, None)
        limits.expect(quick, None)
        limits.arrived(quick)
        await asyncio.sleep(1.3)
        return slow, quick

    limits = BodyLimits(seconds=0.1)
    slow, quick = asyncio.run(main())
    assert isinstance(slow.refusal, Refusal)
    assert quick.refusal is None
