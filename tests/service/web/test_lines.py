"""JSON lines: read, stored and answered in parts, whatever is in them."""

import json
import socket

from shortlist.service.engine.engine import Engine
from shortlist.service.web import lines as reading
from shortlist.service.web.limits import BodyLimits
from tests.service.running import running
from tests.service.web.batches import LINES, LISTED, post_lines, rounds


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
    monkeypatch.setattr(limits, "hold", lambda *counts: (hold(*counts), together.append(limits.held))[0])
    with running(sqlite, limits=limits) as service:
        service.make()
        answers = ({"round_id": f"r{i}", "miss": True, "pad": "x" * 1_000} for i in range(6_000))
        content = (json.dumps(each).encode() + b"\n" for each in answers)
        answer = service.http.post("/v1/streams/docs/feedback", content=content, headers=LINES)
        assert len(answer.text.splitlines()) == 6_000
        assert 100_000 < max(together) < 1_500_000
        assert limits.held == 0
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
