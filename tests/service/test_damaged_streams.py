"""One damaged stream, or one damaged event: listed, reported, deleted, and no other stream is touched."""

import asyncio
import re

import pytest
import sqlalchemy as sa

from shortlist.errors import DamagedLog
from shortlist.service.engine import verify
from shortlist.service.store import Reader
from tests.service.running import running
from tests.service.tampering import alter, alter_body

DAMAGE = {
    "half an event": "UPDATE events SET body = substr(body, 1, 20) WHERE number = 3 AND stream_id = 2",
    "an event of an unknown kind": "UPDATE events SET kind = 'nonsense' WHERE number = 2 AND stream_id = 2",
    "a body with nothing in it": "UPDATE events SET body = '{}' WHERE number = 1 AND stream_id = 2",
    "settings that are not JSON": "UPDATE streams SET settings = 'x' WHERE id = 2",
    "settings of another kind": "UPDATE streams SET settings = '{\"coverage\": 7}' WHERE id = 2",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_one_damaged_stream_touches_no_other(address, name, read):
    """It is listed as damaged and can be deleted; the list, retention, metrics and `verify` go on without it."""
    with running(address) as service:
        for stream in ("aaa", "bbb", "ccc"):
            service.make(stream)
            service.play(stream=stream)
    alter(address, "DELETE FROM snapshots")
    alter(address, DAMAGE[name])
    findings = {found.stream: found.problems for found in verify(read(address))}
    assert findings["aaa"] == findings["ccc"] == []
    assert findings["bbb"]
    with running(address) as service:
        service.call(service.engine.retention.retain(None, 0.0))  # erase all texts, now
        page = service.http.get("/v1/streams").json()
        assert [stream["name"] for stream in page["streams"]] == ["aaa", "ccc"]
        (damaged,) = page["damaged"]
        assert damaged["name"] == "bbb"
        assert "stream 'bbb' is damaged" in damaged["why"]
        document = service.http.get("/v1/streams/bbb")
        assert (document.status_code, document.json()["type"]) == (500, "urn:shortlist:problem:damaged-log")
        assert service.propose(stream="bbb").status_code == 500
        assert service.propose(stream="ccc").status_code == 201
        assert "shortlist_streams_damaged 1.0" in service.http.get("/metrics").text
        assert service.http.get("/readyz").status_code == 200
        with service.engine.store.reading() as reader:
            assert [len(reader.texts(stream_id, range(1, 9))) for stream_id in (1, 2, 3)] == [0, 0, 0]
        service.call(service.engine.retention.retain(0.0, None))  # and close what waits
        assert service.http.get("/v1/streams/ccc").json()["open"] == 0
        assert service.http.delete("/v1/streams/bbb").status_code == 204
        assert service.http.get("/v1/streams").json()["damaged"] == []
        service.make("bbb")  # and made again
        service.play(stream="bbb")
    assert all(found.problems == [] for found in verify(read(address)))


def test_a_database_that_is_away_for_a_moment_is_not_damage(sqlite, monkeypatch):
    with running(sqlite) as service:
        service.make()
        service.play()
    with running(sqlite) as service:
        real, lost = Reader.numbers, sa.exc.OperationalError("SELECT", {}, Exception("server closed the connection"))
        monkeypatch.setattr(Reader, "numbers", lambda *_, **__: (_ for _ in ()).throw(lost))
        assert service.http.get("/v1/streams/docs").status_code == 503
        monkeypatch.setattr(Reader, "numbers", real)
        assert service.http.get("/v1/streams/docs").json()["hits"] == 3
        assert service.http.get("/v1/streams").json()["damaged"] == []


@pytest.mark.parametrize("fields", [{"scores": None}, {"positions": [7]}, {"round_id": None, "ids": None}], ids=str)
def test_a_round_that_does_not_fit_together_stops_its_own_stream_alone(sqlite, fields):
    """What can be read as JSON, and makes no sense, is no better than what cannot."""
    with running(sqlite) as service:
        for stream in ("aaa", "bbb"):
            service.make(stream)
            service.propose(stream=stream, round_id="r0")
    alter_body(sqlite, 1, lambda body: body.update(fields))
    with running(sqlite) as service:  # from a snapshot

        async def together():
            calls = [service.engine.answer(stream, "r0", "hit", "b") for stream in ("aaa", "bbb")]
            return await asyncio.gather(*calls, return_exceptions=True)

        first, second = service.call(together())
        assert isinstance(first, DamagedLog)
        assert second[1]


def test_a_damaged_round_of_the_past_stops_its_own_stream_alone(address):
    """It is met while a batch is being judged: requests of other streams in it go on."""
    with running(address) as service:
        for stream in ("aaa", "bbb"):
            service.make(stream)
            for i in range(3):
                service.propose(stream=stream, round_id=f"r{i}")
                service.answer(f"r{i}", {"hit": "b"}, stream=stream)
    alter(address, "UPDATE events SET body = '{oops' WHERE number = 1 AND stream_id = 1")
    with running(address) as service:  # from a snapshot: the state is sound, the log is not
        assert service.http.get("/v1/streams/aaa").status_code == 200

        async def together():
            calls = [
                service.engine.answer("aaa", "r0", "hit", "b"),
                service.engine.answer("bbb", "r0", "hit", "b"),
                service.engine.propose("bbb", ["x"], [0.5], round_id="new"),
            ]
            return await asyncio.gather(*calls, return_exceptions=True)

        first, second, third = service.call(together())
        assert isinstance(first, DamagedLog)
        assert "stream 'aaa' is damaged: event 1" in str(first)
        assert (second[1], third[1]) == (False, True)
        page = service.http.get("/v1/streams").json()
        assert [each["name"] for each in page["damaged"]] == ["aaa"]
        assert [each["name"] for each in page["streams"]] == ["bbb"]
        assert service.http.get("/readyz").status_code == 200


def test_the_live_page_of_a_damaged_stream_is_an_error_not_silence(sqlite):
    with running(sqlite) as service:
        service.make()
        service.play()
    alter(sqlite, "DELETE FROM snapshots")
    alter(sqlite, "UPDATE events SET body = '{}' WHERE number = 1")
    with running(sqlite) as service:
        for path in ("live", "export", "rounds", "series"):
            answer = service.http.get(f"/v1/streams/docs/{path}")
            assert answer.status_code == 500, path
            assert re.search("damaged", answer.json()["detail"])


def test_an_event_that_is_no_text_damages_its_own_stream(sqlite, read):
    """SQLite stores any bytes as text. A stream's name may be hit as well."""
    with running(sqlite) as service:
        for stream in ("aaa", "bbb", "ccc"):
            service.make(stream)
            service.play(stream=stream)
    alter(sqlite, "DELETE FROM snapshots")
    alter(sqlite, "UPDATE events SET body = CAST(x'7bff' || body AS TEXT) WHERE number = 3 AND stream_id = 2")
    alter(sqlite, "UPDATE streams SET name = CAST(name || x'ff' AS TEXT) WHERE id = 3")
    findings = {found.stream: found.problems for found in verify(read(sqlite))}
    assert findings["aaa"] == []
    assert "event 3 cannot be read: UnicodeEncodeError" in findings["bbb"][0]
    assert findings["ccc?"] == []
    with running(sqlite) as service:
        page = service.http.get("/v1/streams").json()
        assert [stream["name"] for stream in page["streams"]] == ["aaa"]
        assert [damaged["name"] for damaged in page["damaged"]] == ["bbb"]
        assert service.propose(stream="aaa").status_code == 201
        assert service.propose(stream="bbb").status_code == 500
