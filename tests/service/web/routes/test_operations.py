"""Alive, ready, and metrics."""

import time

from tests.service.running import running


def test_it_is_alive_and_ready(service):
    assert service.http.get("/healthz").json()["status"] == "ok"
    assert service.http.get("/readyz").json() == {"status": "ready"}


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
