"""Many lists, or many answers, in one request."""

import itertools
import json
import socket

import pytest

from shortlist.service.engine.engine import Engine
from shortlist.service.store import Store
from shortlist.service.web import lines as reading
from shortlist.service.web.limits import BodyLimits
from tests.service.running import running
from tests.service.web.checks import problem

LISTED = [{"id": "a", "score": 0.3}, {"id": "b", "score": 0.9}]
LINES = {"Content-Type": "application/jsonl"}


def rounds(count, start=0):
    return [{"round_id": f"r{i}", "candidates": LISTED} for i in range(start, start + count)]


def post_lines(service, path, items, **headers):
    """Send JSON lines; return the results."""
    content = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in items).encode()
    answer = service.http.post(f"/v1/streams/docs/{path}", content=content, headers=LINES | headers)
    assert answer.status_code == 207, answer.text
    assert answer.headers["content-type"] == "application/jsonl"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_batch_of_answers(service):
    service.make()
    for i in range(4):
        service.propose(round_id=f"r{i}")
    answers = [
        {"round_id": "r0", "hit": "a"},
        {"round_id": "r1", "miss": True},
        {"round_id": "r2", "skip": True},
        {"round_id": "r0", "hit": "b"},
        {"round_id": "nothing", "miss": True},
        {"round_id": "r0", "hit": "a"},
    ]
    done = service.http.post("/v1/streams/docs/feedback", json={"answers": answers})
    assert done.status_code == 207
    assert [each["status"] for each in done.json()["results"]] == [200, 200, 200, 409, 404, 200]
    assert done.json()["results"][3]["problem"]["type"].endswith("conflicting-answer")
    assert service.http.get("/v1/streams/docs").json()["open"] == 1


def test_a_batch_of_lists(service):
    service.make(score="raw")
    alone = service.propose(round_id="r0").json()
    body = [*rounds(3), {"candidates": LISTED}, {"round_id": "r1", "candidates": LISTED[:1]}, {"candidates": []}]
    done = service.http.post("/v1/streams/docs/rounds:batch", json={"rounds": body})
    assert done.status_code == 207
    results = done.json()["results"]
    assert [each["status"] for each in results] == [200, 201, 201, 201, 409, 422]
    assert results[0] == alone | {"status": 200}
    assert [each["round_id"] for each in results[:3]] == ["r0", "r1", "r2"]
    assert len(results[3]["round_id"]) == 32
    assert results[4]["problem"]["type"].endswith("conflicting-round")
    assert results[5]["round_id"] is None
    assert service.http.get("/v1/streams/docs").json()["rounds"] == 4
    refused = service.http.post("/v1/streams/docs/rounds:batch", json={"rounds": rounds(1001)})
    assert "at most 1000" in problem(refused, 422, "invalid-request")["detail"]


def test_lists_and_answers_as_lines(service, monkeypatch):
    """Any number of them, in parts that share commits, each with its result, in order."""
    service.make(score="raw")
    commits, append = [], Store.append
    monkeypatch.setattr(
        Store, "append", lambda store, new, *more: commits.append(len(new)) or append(store, new, *more)
    )
    results = post_lines(service, "rounds:batch", rounds(1200))
    assert [(each["line"], each["round_id"], each["status"]) for each in results] == [
        (i + 1, f"r{i}", 201) for i in range(1200)
    ]
    assert results[7]["members"] == ["b", "a"]
    assert len(commits) <= 5
    answers = [{"round_id": f"r{i}", "hit": "b"} for i in range(1200)]
    results = post_lines(service, "feedback", answers, **{"Content-Type": "application/x-ndjson; charset=utf-8"})
    assert [each["status"] for each in results] == [200] * 1200
    assert results[-1] == {"line": 1200, "round_id": "r1199", "status": 200, "answer": {"hit": "b"}}
    assert sum(commits) == 2400
    assert len(commits) <= 10
    assert service.http.get("/v1/streams/docs").json()["hits"] == 1200


def test_a_line_that_is_wrong_is_one_result(sqlite_service):
    sqlite_service.propose(round_id="r0")
    sent = [
        '{"round_id": "r0", "hit": "b"}\r',
        "",
        "{nonsense",
        '{"round_id": "r0", "hit": "b", "miss": true}',
        '{"round_id": "unknown", "miss": true}',
        "[1]",
        b"\xff".decode("latin-1"),
        '{"round_id": "r0", "hit": "b"}',
        "",
    ]
    results = post_lines(sqlite_service, "feedback", sent)
    assert [(each["line"], each["status"]) for each in results] == [
        (1, 200),
        (3, 422),
        (4, 422),
        (5, 404),
        (6, 422),
        (7, 422),
        (8, 200),
    ]
    assert results[1]["problem"]["detail"].startswith("the body is not JSON")
    assert results[2]["problem"]["detail"].startswith("body: give exactly one of")
    assert results[1]["round_id"] is None


def test_a_line_that_is_too_long_is_one_result(sqlite):
    with running(sqlite, limits=BodyLimits(10_000)) as service:
        service.make()
        long = {"round_id": "long", "candidates": LISTED, "question": "x" * 15_000}
        results = post_lines(service, "rounds:batch", [*rounds(2), long, *rounds(2, 2), long])
        assert [each["status"] for each in results] == [201, 201, 422, 201, 201, 422]
        for each in (results[2], results[5]):
            assert each["problem"]["detail"] == (
                "line: it is longer than 10,000 bytes: send fewer candidates, or shorter texts"
            )
        endless = service.http.post("/v1/streams/docs/rounds:batch", content=b"x" * 500_000, headers=LINES)
        assert [json.loads(line)["status"] for line in endless.text.splitlines()] == [422]


def test_memory_holds_a_part_of_the_lines(sqlite, monkeypatch):
    """A body of sixty times the limit, and of four times the total for all bodies."""
    parts, together, answer_all = [], [], Engine.answer_all

    async def noted(engine, name, answers):
        parts.append(len(answers))
        return await answer_all(engine, name, answers)

    monkeypatch.setattr(Engine, "answer_all", noted)
    limits = BodyLimits(100_000, total=1_500_000)
    hold = limits.hold
    monkeypatch.setattr(limits, "hold", lambda *counts: (hold(*counts), together.append(limits._held))[0])
    with running(sqlite, limits=limits) as service:
        service.make()
        answers = ({"round_id": f"r{i}", "miss": True, "pad": "x" * 1_000} for i in range(6_000))
        content = (json.dumps(each).encode() + b"\n" for each in answers)
        answer = service.http.post("/v1/streams/docs/feedback", content=content, headers=LINES)
        assert len(answer.text.splitlines()) == 6_000
        assert 100_000 < max(together) < 1_500_000
        assert limits._held == 0
    assert max(parts) <= 500


def test_results_come_while_lines_are_sent(sqlite_service, monkeypatch):
    monkeypatch.setattr(reading, "_KEPT", 0)
    head = "POST /v1/streams/docs/rounds:batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\n"
    part = b"".join(json.dumps(each).encode() + b"\n" for each in rounds(500))
    with socket.create_connection(("127.0.0.1", sqlite_service.port), timeout=20) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n{len(part):x}\r\n".encode() + part + b"\r\n")
        assert connection.recv(12) == b"HTTP/1.1 207"
        data = b""
        while data.count(b'"status":201') < 500:
            data += connection.recv(65536)
        last = b'{"candidates":[]}'
        connection.sendall(f"{len(last):x}\r\n".encode() + last + b"\r\n0\r\n\r\n")
        while not data.endswith(b"0\r\n\r\n"):
            data += connection.recv(65536)
    assert data.count(b'"line":501,') == 1


def test_an_unknown_stream_is_one_error(sqlite_service):
    for path, kind in itertools.product(("feedback", "rounds:batch"), ("application/jsonl", "application/x-ndjson")):
        answer = sqlite_service.http.post(
            f"/v1/streams/nowhere/{path}", content=b'{"miss": true}', headers={"Content-Type": kind}
        )
        problem(answer, 404, "unknown-stream")
        answer = sqlite_service.http.post(f"/v1/streams/-a/{path}", content=b"{}", headers={"Content-Type": kind})
        assert problem(answer, 422, "invalid-request")["errors"][0]["where"] == "name"


@pytest.mark.parametrize("form", ["json", "lines"])
def test_answers_to_large_lists_are_not_all_in_memory_at_once(sqlite, monkeypatch, form):
    from shortlist.service.engine import pages  # noqa: PLC0415

    monkeypatch.setattr(pages, "_TOGETHER", 300_000)
    large = [{"id": f"candidate {i}", "score": i / 7} for i in range(2_000)]
    with running(sqlite) as service:
        service.make(score="raw")
        for i in range(12):
            service.http.post("/v1/streams/docs/rounds", json={"candidates": large, "round_id": f"r{i}"})
    fetched, begin = [], Store.begin

    def noted(store, folded, keys, patient):
        fetched.append(len(keys))
        return begin(store, folded, keys, patient)

    monkeypatch.setattr(Store, "begin", noted)
    with running(sqlite) as service:  # which has none of them in memory
        answers = [{"round_id": f"r{i}", "hit": "candidate 7"} for i in range(12)]
        if form == "json":
            reply = service.http.post("/v1/streams/docs/feedback", json={"answers": answers})
            results = reply.json()["results"]
        else:
            results = post_lines(service, "feedback", answers)
        assert [each["status"] for each in results] == [200] * 12
    assert sum(fetched) == 12
    assert max(fetched) <= 6
