"""Running the app: one process, or several that share a port."""

import signal
import subprocess
import sys

import pytest

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
