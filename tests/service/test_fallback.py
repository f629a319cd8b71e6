"""A search page and its service: hung, down, slow and back again. Times are not asserted, but what is returned is."""

import asyncio
import os
import signal
import time

import httpx
import pytest

from shortlist import AsyncClient, Client
from shortlist.client import _fallback
from shortlist.errors import InvalidParameter, NotAllowed, ServiceUnavailable, ShortlistError
from shortlist.service.keys import KeyFile
from tests.service.running import free_port, process, running

SCORES, IDS = [0.2, 0.9, 0.5], ["a", "b", "c"]


def test_a_service_that_hangs_and_comes_back(sqlite, monkeypatch):
    """What it had stored after all is taken back, and counts for nothing."""
    monkeypatch.setattr(_fallback, "_PAUSE", 0.0)
    with (
        process(sqlite) as (server, port),
        Client(f"http://127.0.0.1:{port}", "docs") as patient,
        Client(f"http://127.0.0.1:{port}", "docs", deadline=1.0, fallback="everything") as client,
    ):
        patient.create(0.8, score="raw")
        patient.propose(SCORES, IDS)
        os.kill(server.pid, signal.SIGSTOP)
        began = time.monotonic()
        late = client.propose(SCORES, IDS, round_id="late")
        spent = time.monotonic() - began
        assert (late.fallback, late.members) == (True, ("b", "c", "a"))
        client.hit(late.round_id, "b")  # goes nowhere
        assert client.more(late.round_id).members == ()
        os.kill(server.pid, signal.SIGCONT)
        for _ in range(50):
            shown = client.propose(SCORES, IDS)  # and what was late is taken back, where it was stored after all
            told = patient.summary()
            if told["withdrawn"] or (not shown.fallback and time.monotonic() - began > 10):
                break
            time.sleep(0.1)
        stored = [each["round_id"] for each in patient.log()]
        assert "late" not in stored or told["withdrawn"]
        assert not shown.fallback
        assert told["hits"] == 0
    print(f"everything was there after {spent:.2f} s of a deadline of 1 s")


def test_a_key_that_is_refused_is_an_error_and_not_a_reason_to_show_everything(sqlite, keys):
    """A wrong or revoked key: complete lists for ever, and nothing learned, would look like a service that works."""
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:
        for key in (None, "sl_000000000000_" + "x" * 43, keys["read"]):
            with Client(service.url, "docs", key, fallback="everything") as client:
                with pytest.raises(NotAllowed):
                    client.propose(SCORES, IDS)
                with pytest.raises(NotAllowed):
                    client.propose_many([{"scores": SCORES, "ids": IDS}])


def test_a_service_that_is_down():
    url = f"http://127.0.0.1:{free_port()}"
    with Client(url, "docs", deadline=0.5, fallback="everything") as client:
        assert client.propose(SCORES, IDS).members == ("b", "c", "a")
        assert client.propose({"x": [1.0, 2.0], "y": [0.1, float("nan")]}).fallback
        with pytest.raises(InvalidParameter):
            client.propose([0.5], texts=["a", "b"])  # what is wrong here is wrong there
    with Client(url, "docs", retries=0) as client, pytest.raises(ServiceUnavailable):
        client.propose(SCORES, IDS)

    async def page():
        async with AsyncClient(url, "docs", deadline=0.5, fallback="everything") as client:
            shown = await client.propose(SCORES, IDS)
            await client.hit(shown.round_id, "b")
            return shown

    assert asyncio.run(page()).fallback


def test_a_damaged_answer_is_no_strangers_error(monkeypatch):
    for error in (httpx.DecodingError("x"), httpx.TooManyRedirects("x"), httpx.ReadTimeout("x")):

        def broken(*_, error=error, **__):
            raise error

        monkeypatch.setattr(httpx.Client, "request", broken)
        with Client("http://127.0.0.1:1", "docs", retries=0) as client, pytest.raises(ShortlistError):
            client.summary()


def test_what_a_client_cannot_be_made_with():
    for wrong in ({"fallback": "nothing"}, {"deadline": 0}, {"deadline": "soon"}):
        with pytest.raises(InvalidParameter):
            Client("http://127.0.0.1:1", "docs", **wrong)


def test_lists_are_taken_back_by_the_client(sqlite):
    with running(sqlite) as service, Client(service.url, "docs") as client:
        client.create()
        client.withdraw(client.propose(SCORES, IDS).round_id)
        assert client.summary()["withdrawn"] == 1
        assert [each["answer"] for each in client.log()] == [{"withdrawn": True}]
