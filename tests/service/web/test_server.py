"""Running the app: one process, or several that share a port."""

import asyncio
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from shortlist.errors import InvalidParameter
from shortlist.service.web import server
from tests.service.running import free_port, process


def test_several_workers_share_a_port_on_postgresql(postgresql):
    port = free_port()
    arguments = ["serve", "--database", postgresql, "--port", str(port), "--workers", "2"]
    child = subprocess.Popen([sys.executable, "-m", "shortlist", *arguments], stderr=subprocess.DEVNULL)
    try:
        from shortlist import Client  # noqa: PLC0415

        with Client(f"http://127.0.0.1:{port}", "docs", retries=40) as client:
            client.create()
            for _ in range(30):
                with Client(client.url, "docs", retries=10) as other:  # a new connection each: any worker
                    other.hit(other.propose([0.5]).round_id, 0)
            assert client.summary()["hits"] == 30
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_do_not_wait_for_more_to_send(host):
    """asyncio turns off Nagle's algorithm only on sockets that are named as TCP; with it every answer takes 40 ms."""
    try:
        listener = server.listen(host, 0)
    except InvalidParameter:
        pytest.skip(f"this machine has no {host}")

    async def nodelay():
        set_to = asyncio.get_running_loop().create_future()

        def accepted(_, writer):
            set_to.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(accepted, sock=listener):
            _, writer = await asyncio.open_connection(host, listener.getsockname()[1])
            on = await set_to
            writer.close()
            return on

    assert asyncio.run(nodelay())


def test_a_port_that_is_taken_is_said_so():
    with server.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidParameter, match=f"cannot listen on 127.0.0.1 port {port}: .*; try another --port"):
            server.listen("127.0.0.1", port)
    with pytest.raises(InvalidParameter, match="try another --port"):
        server.listen("127.0.0.1", 70_000)


def test_a_socket_can_be_shared_with_workers():
    with server.listen("127.0.0.1", 0) as listener:
        assert listener.get_inheritable()


def test_a_signal_ends_live_events_at_once(sqlite):
    """The web server waits for open responses, and live events never end by themselves."""
    with process(sqlite) as (child, port), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
        http.post("/v1/streams", json={"name": "docs", "coverage": 0.9})
        with http.stream("GET", "/v1/streams/docs/live") as answer:
            lines = answer.iter_lines()
            next(line for line in lines if line == "event: stream")
            child.terminate()
            assert "event: end" in list(lines)
        assert child.wait(60) == -signal.SIGTERM
