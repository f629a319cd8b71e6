"""The log, page by page, and as a file."""

import pytest

from tests.service.web.checks import problem


def test_the_log_in_pages(service):
    service.make(score="raw")
    for i in range(5):
        listed = [{"id": "<b>", "score": 0.5, "text": "a text"}, {"id": 7, "score": 0.1}]
        body = {"candidates": listed, "round_id": f"r{i}", "question": "Why?"}
        service.http.post("/v1/streams/docs/rounds", json=body)
    service.answer("r0", {"hit": 7})
    page = service.http.get("/v1/streams/docs/rounds", params={"limit": 2}).json()
    assert [each["round_id"] for each in page["rounds"]] == ["r0", "r1"]
    first = page["rounds"][0]
    assert first["answer"] == {"hit": 7}
    assert first["question"] == "Why?"
    why = "no threshold yet: everything is shown"
    known = {"id": "<b>", "score": 0.5, "scores": None, "comparable": 0.5, "shown": True, "why": why, "text": "a text"}
    assert first["candidates"][0] == known
    assert first["answered_at"] >= first["shown_at"]
    rest = service.http.get("/v1/streams/docs/rounds", params={"after": page["next"]}).json()
    assert [each["round_id"] for each in rest["rounds"]] == ["r2", "r3", "r4"]
    assert rest["next"] is None
    waiting = service.http.get("/v1/streams/docs/rounds", params={"open": "true"}).json()
    assert [each["round_id"] for each in waiting["rounds"]] == ["r1", "r2", "r3", "r4"]
    assert service.http.get("/v1/streams/docs/rounds/r0").json() == first


@pytest.mark.parametrize(("form", "kind"), [("jsonl", "application/jsonl"), ("csv", "text/csv; charset=utf-8")])
def test_the_log_as_a_file(sqlite_service, form, kind):
    sqlite_service.make("raw", score="raw")
    sqlite_service.propose(stream="raw", round_id="r1")
    sqlite_service.answer("r1", {"hit": "b"}, stream="raw")
    answer = sqlite_service.http.get("/v1/streams/raw/export", params={"format": form})
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"] == f'attachment; filename="raw.{form}"'
    assert len(answer.text.splitlines()) >= 2


def test_an_unknown_stream_is_an_error_before_the_file_begins(sqlite_service):
    for path in ("export", "series", "rounds", "rounds/r1"):
        problem(sqlite_service.http.get(f"/v1/streams/nowhere/{path}"), 404, "unknown-stream")
    problem(sqlite_service.http.get("/v1/streams/docs/rounds/r1"), 404, "unknown-round")


def test_the_newest_rounds_come_in_one_page(sqlite_service):
    for i in range(4):
        sqlite_service.propose(round_id=f"r{i}")
    page = sqlite_service.http.get("/v1/streams/docs/rounds", params={"newest": "true", "limit": 2}).json()
    assert [each["round_id"] for each in page["rounds"]] == ["r3", "r2"]
    assert page["next"] is None


def test_a_corrected_answer_is_the_one_that_is_exported(sqlite_service):
    sqlite_service.make("corrected", score="raw", grace=2)
    sqlite_service.propose(stream="corrected", round_id="r1")
    for body in ({"miss": True}, {"hit": "b"}):
        assert sqlite_service.answer("r1", body, stream="corrected").status_code == 200
    table = sqlite_service.http.get("/v1/streams/corrected/export", params={"format": "csv"}).text
    assert ",hit,b," in table


def test_only_rounds_that_count_are_in_the_table_of_a_stream_that_explores(sqlite_service):
    sqlite_service.make("clicks", score="raw", explore_share=0.5)
    explored = []
    for i in range(20):
        shown = sqlite_service.propose(stream="clicks", round_id=f"r{i}").json()
        if i % 2:
            sqlite_service.answer(f"r{i}", {"hit": "b"}, stream="clicks")
            explored += [f"r{i}"] * shown["explored"]
    rows = sqlite_service.http.get("/v1/streams/clicks/export", params={"format": "csv"}).text.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == explored
    assert 0 < len(explored) < 10


def test_charts_have_the_answers_as_they_end(sqlite_service):
    sqlite_service.make("corrected", score="raw", grace=1)
    for i in range(10):
        sqlite_service.propose(stream="corrected", round_id=f"r{i}")
        for body in ({"miss": True}, {"hit": "b"}):
            sqlite_service.answer(f"r{i}", body, stream="corrected")
    points = sqlite_service.http.get("/v1/streams/corrected/series").json()["points"]
    assert (sum(points["hits"]), sum(points["misses"])) == (9, 0)
