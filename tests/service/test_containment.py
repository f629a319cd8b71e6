"""What one request, one page or one damaged event can do to a service: as little as possible.

Each attack is one that once worked. Damage is made with SQL behind the service's back.
"""

import asyncio
import json
import re

import pytest
import sqlalchemy as sa

from shortlist.errors import DamagedLog
from shortlist.service.engine import series, verify
from shortlist.service.engine.series import Histogram, Series
from shortlist.service.store import database
from shortlist.service.store.reading import Reader
from tests.service.running import running


def answered(service, stream, count=3, **more):
    for _ in range(count):
        shown = service.propose(stream=stream, question="who", **more).json()
        assert service.answer(shown["round_id"], {"hit": "b"}, stream=stream).status_code == 200


def damage(address, sql):
    """Change the database behind the service's back."""
    engine = database.make_engine(address)
    with engine.begin() as connection:
        assert connection.execute(sa.text(sql)).rowcount > 0
    engine.dispose()


@pytest.mark.parametrize("score", [1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308, 9e307, 5e-324])
def test_a_score_at_the_end_of_the_range_and_a_hit(address, read, score):
    """Three valid requests, which once made a stream unreadable for ever, and the list of streams with it."""
    with running(address) as service:
        service.make("victim")
        service.make("other")
        shown = service.propose([("a", score), ("b", 0.5)], stream="victim", round_id="r1")
        assert shown.status_code == 201
        assert service.answer("r1", {"hit": "a"}, stream="victim").status_code == 200
        answered(service, "victim")
        for path in ("/v1/streams", "/v1/streams/victim", "/v1/streams/victim/series", "/v1/streams/victim/rounds"):
            assert service.http.get(path).status_code == 200, path
    assert all(found.problems == [] for found in verify(read(address)))
    with running(address) as service:
        assert service.http.get("/v1/streams/victim").json()["hits"] == 4
        assert service.http.delete("/v1/streams/victim").status_code == 204


@pytest.mark.parametrize("values", [(1e308, 1.0), (0.5, -1.7e308, 1e306), (5e-324, -5e-324), (1e-300, 1e300, -1e300)])
def test_a_histogram_takes_every_finite_number(values):
    histogram = Histogram()
    for value in values:
        histogram.add(0, value)
    assert sum(histogram.counts) == sum(abs(value) <= 1e306 for value in values)
    assert json.loads(json.dumps(histogram.to_dict(), allow_nan=False))


def test_a_chart_that_cannot_be_drawn_does_not_touch_the_stream(address, monkeypatch, caplog):
    """Whatever goes wrong in a chart: the fold goes on, the chart starts again, and it is counted."""
    with running(address) as service:
        service.make()
        answered(service, "docs", 5)
        threshold = service.http.get("/v1/streams/docs").json()["counted"]
        monkeypatch.setattr(Histogram, "add", lambda *_: 1 / 0)
        answered(service, "docs", 1)
        monkeypatch.undo()
        answered(service, "docs", 1)
        summary = service.http.get("/v1/streams/docs").json()
        assert (summary["hits"], summary["counted"]) == (7, threshold + 2)
        assert "shortlist_charts_dropped_total 1.0" in service.http.get("/metrics").text
        assert service.http.get("/v1/streams/docs/series").status_code == 200
    assert "the charts of stream docs start again: event 12 cannot be drawn" in caplog.text


def test_a_chart_that_starts_again_in_the_middle_of_a_round():
    history = Series()
    history.answer("hit")
    history.mark(1.0, 0.5, None)
    assert history.points()["candidates"] == [0.0]
    assert series.Series.from_dict(history.to_dict()).points() == history.points()


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
            answered(service, stream)
    damage(address, "DELETE FROM snapshots")
    damage(address, DAMAGE[name])
    findings = {found.stream: found.problems for found in verify(read(address))}
    assert findings["aaa"] == findings["ccc"] == []
    assert len(findings["bbb"]) == 1
    with running(address) as service:
        service.call(service.engine.retain(None, 0.0))  # erase all texts, now
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
        service.call(service.engine.retain(0.0, None))  # and close what waits
        assert service.http.get("/v1/streams/ccc").json()["open"] == 0
        assert service.http.delete("/v1/streams/bbb").status_code == 204
        assert service.http.get("/v1/streams").json()["damaged"] == []
        service.make("bbb")  # and made again
        answered(service, "bbb")
    assert all(found.problems == [] for found in verify(read(address)))


def test_absent_of_a_truncated_list_is_a_miss_and_in_the_table_that_replay_reads(sqlite, read):
    """Nobody has seen everything there, or of an empty search: the round stays in the sample."""
    with running(sqlite) as service:
        service.make(patience=3)
        lists = [{"truncated_below": 0.3}, {"candidates": (), "allow_empty": True}, {}, {}]
        rounds = [service.propose(**more).json() for more in lists]
        assert [shown["truncated"] for shown in rounds] == [True, False, False, False]
        for shown in rounds:
            assert service.answer(shown["round_id"], {"absent": True}).status_code == 200
            assert service.answer(shown["round_id"], {"absent": True}).status_code == 200  # twice is once
        summary = service.http.get("/v1/streams/docs").json()
        assert (summary["absent"], summary["misses"], summary["counted"]) == (2, 2, 2)
        late = service.propose().json()
        for _ in range(4):
            answered(service, "docs", 1)
        assert service.answer(late["round_id"], {"absent": True}).status_code == 200  # it has been counted as low
        counted = service.http.get("/v1/streams/docs").json()["counted"]
        rows = service.http.get("/v1/streams/docs/export", params={"format": "csv"}).text.splitlines()[1:]
        assert len(rows) == counted == 7
    assert [found.problems for found in verify(read(sqlite))] == [[]]


def test_a_database_that_is_away_for_a_moment_is_not_damage(sqlite, monkeypatch):
    with running(sqlite) as service:
        service.make()
        answered(service, "docs")
    with running(sqlite) as service:
        real, lost = Reader.page, sa.exc.OperationalError("SELECT", {}, Exception("server closed the connection"))
        monkeypatch.setattr(Reader, "page", lambda *_, **__: (_ for _ in ()).throw(lost))
        assert service.http.get("/v1/streams/docs").status_code == 503
        monkeypatch.setattr(Reader, "page", real)
        assert service.http.get("/v1/streams/docs").json()["hits"] == 3
        assert service.http.get("/v1/streams").json()["damaged"] == []


def test_a_damaged_round_of_the_past_stops_its_own_stream_alone(address):
    """It is met while a batch is being judged: requests of other streams in it go on."""
    with running(address) as service:
        for stream in ("aaa", "bbb"):
            service.make(stream)
            for i in range(3):
                service.propose(stream=stream, round_id=f"r{i}")
                service.answer(f"r{i}", {"hit": "b"}, stream=stream)
    damage(address, "UPDATE events SET body = '{oops' WHERE number = 1 AND stream_id = 1")
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
        answered(service, "docs")
    damage(sqlite, "DELETE FROM snapshots")
    damage(sqlite, "UPDATE events SET body = '{}' WHERE number = 1")
    with running(sqlite) as service:
        for path in ("live", "export", "rounds", "series"):
            answer = service.http.get(f"/v1/streams/docs/{path}")
            assert answer.status_code == 500, path
            assert re.search("damaged", answer.json()["detail"])
