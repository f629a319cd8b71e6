"""The log, page by page, and as a file."""

import threading

import pytest

from shortlist.service.store import Reader
from shortlist.service.web.routes import log
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


def test_the_newest_rounds_first_and_how_to_go_on(sqlite_service):
    for i in range(4):
        sqlite_service.propose(round_id=f"r{i}")
    asked = {"newest": "true", "limit": 3}
    page = sqlite_service.http.get("/v1/streams/docs/rounds", params=asked).json()
    assert [each["round_id"] for each in page["rounds"]] == ["r3", "r2", "r1"]
    rest = sqlite_service.http.get("/v1/streams/docs/rounds", params=asked | {"before": page["next"]}).json()
    assert [each["round_id"] for each in rest["rounds"]] == ["r0"]
    assert rest["next"] is None


def propose_large(service, count, candidates=2_000, stream="docs"):
    """Show lists that take a third of a megabyte each, texts included."""
    listed = [{"id": f"candidate {i}", "score": i / 7, "text": "x" * 100} for i in range(candidates)]
    for i in range(count):
        body = {"candidates": listed, "round_id": f"r{i}"}
        assert service.http.post(f"/v1/streams/{stream}/rounds", json=body).status_code == 201


@pytest.mark.parametrize("asked", [{}, {"open": "true"}, {"newest": "true"}, {"newest": "true", "open": "true"}])
def test_a_page_ends_where_its_rounds_are_large(service, monkeypatch, asked):
    """What is not sent is not read; the others are on the next pages, and the view is written beside the loop."""
    service.make(score="raw")
    propose_large(service, 8)
    read, written = [], []
    numbered, view = Reader.numbered, log.round_json

    def counted(reader, stream_id, numbers):
        read.extend(numbers)
        return numbered(reader, stream_id, numbers)

    def noted(*arguments):
        written.append(threading.current_thread().name)
        return view(*arguments)

    monkeypatch.setattr(Reader, "numbered", counted)
    monkeypatch.setattr(log, "round_json", noted)
    names, place, pages = [], {}, 0
    while place is not None:
        answer = service.http.get("/v1/streams/docs/rounds", params={"limit": 1000, **asked, **place})
        page = answer.json()
        assert len(answer.content) < 5_000_000
        assert len(page["rounds"][0]["candidates"]) == 2_000
        names += [each["round_id"] for each in page["rounds"]]
        place = page["next"] and {"before" if "newest" in asked else "after": page["next"]}
        pages += 1
    assert 2 < pages < 8
    assert names == [f"r{i}" for i in range(8)][:: -1 if "newest" in asked else 1]
    assert len(read) == 8
    assert len(written) == 8
    assert all("asyncio" in name for name in written)  # threads for what takes a while


def test_one_round_larger_than_a_page_is_a_page(sqlite_service):
    propose_large(sqlite_service, 2, candidates=9_000)
    page = sqlite_service.http.get("/v1/streams/docs/rounds").json()
    assert [each["round_id"] for each in page["rounds"]] == ["r0"]
    one = sqlite_service.http.get("/v1/streams/docs/rounds/r0").json()
    assert one == page["rounds"][0]
    assert (one["candidate_count"], len(one["candidates"])) == (9_000, 9_000)


@pytest.mark.parametrize("count", [0, 3, 100])
def test_only_so_many_candidates_in_the_order_shown(sqlite_service, count):
    sqlite_service.make("top", score="raw", at_most=2)
    scores = [0.5, 0.1, 0.9, 0.7]
    sqlite_service.propose([(f"c{i}", score) for i, score in enumerate(scores)], stream="top", round_id="r")
    sqlite_service.http.post("/v1/streams/top/rounds/r/more", json={"count": 1})
    sqlite_service.answer("r", {"hit": "c0"}, stream="top")
    for path in ("/v1/streams/top/rounds/r", "/v1/streams/top/rounds"):
        view = sqlite_service.http.get(path, params={"candidates": count}).json()
        view = view["rounds"][0] if "rounds" in view else view
        assert [each["id"] for each in view["candidates"]] == ["c2", "c3", "c0", "c1"][:count]
        assert view["members"] == ["c2", "c3", "c0"][:count]
        assert (view["candidate_count"], view["member_count"], view["first"], view["rank"]) == (4, 3, 2, 3)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_part_of_an_export_is_small_too(sqlite_service, monkeypatch, form):
    sqlite_service.make("raw", score="raw", delta=0.01)
    propose_large(sqlite_service, 6, candidates=8_000, stream="raw")
    for i in range(6):
        assert sqlite_service.answer(f"r{i}", {"hit": "candidate 7"}, stream="raw").status_code == 200
    most, numbered = [], Reader.numbered
    monkeypatch.setattr(Reader, "numbered", lambda *asked: most.append(found := numbered(*asked)) or found)
    text = sqlite_service.http.get("/v1/streams/raw/export", params={"format": form}).text
    assert len(text.splitlines()) == (7 if form == "csv" else 12)
    lists = [sum(entry.is_list for entry in found) for found in most]
    assert sum(lists) >= 6
    assert max(lists) < 6


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
