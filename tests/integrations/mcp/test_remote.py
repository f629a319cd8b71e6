"""Rounds in the service: created when it is there, and counted as on disk."""

import contextlib

import anyio
import anyio.to_thread
import pytest

import shortlist
from shortlist import Lister
from shortlist.errors import ConflictingStream, ServiceUnavailable
from shortlist.integrations.mcp import Gateway
from shortlist.integrations.mcp.config import ServiceStream
from shortlist.integrations.mcp.remote import RemoteLister
from tests.integrations.mcp.servers import Scores, Source, make_tools
from tests.service.running import free_port, running

SETTINGS = {"coverage": 0.9, "score": "raw", "at_most": 2}


@pytest.fixture
def service(tmp_path):
    with running(f"sqlite:///{tmp_path}/log.db") as one:
        yield one


def stream_of(service, name="tools"):
    with shortlist.Client(service.url, name) as client:
        return client.summary()


def test_calls_count_as_on_disk(service):
    """A hit, a measured miss after more and without, a miss, and a later call."""

    async def main():
        lister = RemoteLister(ServiceStream(url=service.url), **SETTINGS)
        assert isinstance(lister, Lister)
        source = Source(make_tools())
        gateway = Gateway(source, lister, Scores([4.0, 3.0, 2.0, 1.0]), more_count=1)
        for calls in (["0"], ["more", "2"], ["3", "0"], ["new"]):
            number = (await gateway.find_tools("x")).round
            for call in calls:
                if call == "more":
                    assert (await gateway.more_tools(number)).hidden == 1
                elif call == "new":
                    source.present.append(make_tools(1, "new")[0])
                    await gateway.call_tool(number, "new__tool_0")
                else:
                    await gateway.call_tool(number, f"files__tool_{call}")
        assert len(source.calls) == 5
        lister.close()

    anyio.run(main)
    summary = stream_of(service)
    assert (summary["rounds"], summary["hits"], summary["misses"], summary["found_after_more"]) == (4, 1, 3, 2)


def test_every_verb_goes_there(service):
    with contextlib.closing(RemoteLister(ServiceStream(url=service.url), coverage=0.9)) as lister:
        for verb in ("miss", "skip", "absent"):
            getattr(lister, verb)(lister.propose([0.1, 0.9]).round_id)
        lister.reveal(lister.propose([0.1, 0.9]).round_id, 1)
        summary = lister.summary()
    assert (summary["rounds"], summary["skipped"], summary["hits"]) == (4, 1, 1)


def test_settings_that_may_change_do_and_others_are_refused(service):
    address = ServiceStream(url=service.url)
    RemoteLister(address, **SETTINGS, delta=0.1).close()
    with contextlib.closing(RemoteLister(address, **SETTINGS | {"at_most": 1, "delta": 0.1})) as lister:
        assert len(lister.propose([0.1, 0.9]).members) == 1
    RemoteLister(address, **SETTINGS | {"at_most": 1, "delta": 0.1}).close()  # as it is now, not as it was made
    with pytest.raises(ConflictingStream):
        RemoteLister(address, **SETTINGS | {"coverage": 0.8, "delta": 0.1})
    with pytest.raises(ConflictingStream):
        RemoteLister(address, **SETTINGS)


def test_a_service_that_is_away_at_first(tmp_path, caplog):
    """The gateway starts without it, and learns from the moment that it is there."""
    port = free_port()
    address = ServiceStream(url=f"http://127.0.0.1:{port}", deadline=5.0)
    with contextlib.closing(RemoteLister(address, **SETTINGS)) as lister:
        assert "every tool is shown until the service is available" in caplog.text
        with pytest.raises(ServiceUnavailable):
            lister.propose([0.1, 0.9])
        with running(f"sqlite:///{tmp_path}/log.db", port=port) as service:
            shown = lister.propose([0.1, 0.9, 0.5])
            assert (shown.fallback, len(shown.members)) == (False, 2)
            assert stream_of(service)["rounds"] == 1


def test_an_asynchronous_client_will_do_too(service):
    async def main():
        async with shortlist.AsyncClient(service.url, "tools") as lister:
            await lister.create(coverage=0.9)
            source = Source(make_tools())
            gateway = Gateway(source, lister)
            found = await gateway.find_tools("number 3")
            assert found.tools[0].name == "files__tool_3"
            await gateway.call_tool(found.round, found.tools[0].name)
            assert len(source.calls) == 1

    anyio.run(main)
    assert stream_of(service)["hits"] == 1
