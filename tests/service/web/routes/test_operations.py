"""Alive, ready, and metrics."""

import time

from tests.service.running import running


def test_it_is_alive_and_ready(service):
    assert service.http.get("/healthz").json()["status"] == "ok"
    assert service.http.get("/readyz").json() == {"status": "ready", "fits_waiting": 0}


def test_ready_means_that_writes_are_taken(sqlite, set_writer):
    with running(sqlite) as service:
        service.make()
        set_writer("PRAGMA query_only = ON")
        assert service.propose().status_code == 503
        assert service.http.get("/readyz").status_code == 503
        assert service.http.get("/healthz").status_code == 200
        set_writer("PRAGMA query_only = OFF")
        time.sleep(1.1)  # it tries once a second at most
        assert service.http.get("/readyz").status_code == 200


def test_balancers_may_ask_without_a_body(sqlite_service):
    for path in ("/healthz", "/readyz"):
        answer = sqlite_service.http.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_answers_are_kept_by_nobody_and_taken_for_nothing_else(sqlite_service):
    for path in ("/v1/streams", "/v1/streams/docs", "/v1/streams/nobody", "/metrics", "/readyz", "/nowhere"):
        answer = sqlite_service.http.get(path)
        assert answer.headers.get_list("cache-control") == ["no-store"], path
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"], path
    page = sqlite_service.http.get("/")
    assert page.headers.get_list("x-content-type-options") == ["nosniff"]
    assert page.headers.get_list("cache-control") != ["no-store"]
