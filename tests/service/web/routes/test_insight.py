"""Coverage by subgroup, and who answers, over HTTP."""

import csv

from tests.service.web.checks import problem


def test_coverage_by_subgroup(service):
    service.make("raw", score="raw")
    for i in range(6):
        body = {
            "candidates": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.1}],
            "round_id": f"r{i}",
            "tags": {"language": ("de", "=en")[i % 2], "customer": i % 3},
        }
        assert service.http.post("/v1/streams/raw/rounds", json=body).status_code == 201
        assert service.http.post("/v1/streams/raw/rounds", json=body).status_code == 200
        service.answer(f"r{i}", {"hit": "a"} if i % 2 else {"miss": True}, stream="raw")
    problem(
        service.http.post("/v1/streams/raw/rounds", json=body | {"tags": {"language": "fr"}}), 409, "conflicting-round"
    )
    rows = service.http.get("/v1/streams/raw/subgroups").json()["subgroups"]
    assert [(row["tag"], row["value"], row["rounds"], row["coverage"]) for row in rows][3:] == [
        ("language", "=en", 3, 1.0),
        ("language", "de", 3, 0.0),
    ]
    answer = service.http.get("/v1/streams/raw/subgroups", params={"format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="raw-subgroups.csv"'
    table = list(csv.DictReader(answer.text.splitlines()))
    assert [(row["tag"], row["value"]) for row in table][3] == ("language", "'=en")  # no formula
    assert service.http.get("/v1/streams/raw/rounds/r0").json()["tags"] == {"language": "de", "customer": "0"}


def test_bad_tags_are_refused(sqlite_service):
    candidates = [{"id": "a", "score": 0.9}]
    for tags in ({"": "x"}, {"a": None}, {"a": 0.5}, {"a": "x" * 101}, {str(i): "x" for i in range(11)}):
        answer = sqlite_service.http.post("/v1/streams/docs/rounds", json={"candidates": candidates, "tags": tags})
        assert answer.status_code == 422


def test_who_answers(sqlite_service):
    sqlite_service.make("quiet", score="raw", unanswered="ignore", patience=5)
    for i in range(120):
        sqlite_service.propose(stream="quiet", round_id=f"r{i}")
        if i % 2:
            sqlite_service.answer(f"r{i}", {"hit": "b"}, stream="quiet")
    check = sqlite_service.http.get("/v1/streams/quiet/silence").json()
    assert (check["rounds"], check["answered"]) == (115, 57)
    assert check["cut"] is None or check["cut"]["rounds"] < 115
    assert sum(row["rounds"] for row in check["by_length"]) == 115
    assert sqlite_service.http.get("/v1/streams/docs/silence").json()["rounds"] == 0


def test_an_unknown_stream(sqlite_service):
    for path in ("subgroups", "silence"):
        problem(sqlite_service.http.get(f"/v1/streams/nowhere/{path}"), 404, "unknown-stream")
