"""Running the app: one process, or several that share a port."""

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from shortlist.cli import service as service_commands
from shortlist.errors import InvalidParameter
from shortlist.service.web import server
from tests.service.running import free_port


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


@pytest.fixture
def limited(sqlite):
    """Run `shortlist serve` with five requests per second, and count how many of forty are refused."""

    def count(*options, path="/v1/streams", requests=40):
        port = free_port()
        arguments = ["serve", "--database", sqlite, "--port", str(port), "--requests-per-second", "5", *options]
        child = subprocess.Popen([sys.executable, "-m", "shortlist", *arguments], stderr=subprocess.DEVNULL)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
                wait_for(http, child)
                answers = [http.get(path, headers={"X-Forwarded-For": f"10.0.0.{i}"}) for i in range(requests)]
                return [answer.status_code for answer in answers].count(429)
        finally:
            child.terminate()
            child.wait(30)

    return count


def wait_for(http, child):
    """Wait until a service answers."""
    while True:
        with contextlib.suppress(httpx.TransportError):
            http.get("/healthz")
            return
        assert child.poll() is None, "the service did not start"
        time.sleep(0.05)


def test_nobody_chooses_under_which_address_they_are_counted(limited):
    """Who sends another X-Forwarded-For with each request is still the same sender."""
    assert limited() > 20


def test_a_proxy_that_is_trusted_says_who_asks(limited):
    assert limited("--trusted-proxy", "127.0.0.0/8") == 0


def test_what_is_public_is_limited_too(limited):
    assert limited(path="/openapi.json", requests=200) > 20
    assert limited(path="/healthz", requests=200) == 0


def test_a_request_to_switch_to_websockets_is_one_like_any_other(sqlite):
    """Connections of another protocol have nothing that the service could look at."""
    port = free_port()
    arguments = [sys.executable, "-m", "shortlist", "serve", "--database", sqlite, "--port", str(port)]
    child = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    switch = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
            wait_for(http, child)
            for path, status in (("/v1/streams", 200), ("/v1/streams/docs/live", 404)):
                answer = http.get(path, headers=switch)
                assert (answer.status_code, "streams" in answer.json()) == (status, status == 200)
    finally:
        child.terminate()
        child.wait(30)


def test_a_proxy_without_an_address_is_refused():
    with pytest.raises(InvalidParameter, match="trusted_proxy is 'nginx'; give an address"):
        service_commands._proxies(["127.0.0.1", "nginx"])
