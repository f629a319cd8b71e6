"""A disk that is full, a database that is read-only, a server that is gone: said clearly, nothing half-written."""

import psycopg
import pytest

from shortlist.service.engine import verify
from tests.service.running import running

BREAK = {
    "full": ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1073741823", "database or disk is full"),
    "read-only": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF", "readonly"),
}


def big(i):
    return [(f"document-{i}-{j}-" + "x" * 200, 0.5) for j in range(100)]


@pytest.mark.parametrize("how", BREAK)
def test_sqlite_that_fails_in_the_middle_of_work(sqlite, how, read, set_writer, caplog):
    breaks, mends, words = BREAK[how]
    with running(sqlite, snapshot_every=5) as service:
        service.make()
        for i in range(10):
            assert service.propose(big(i), round_id=f"r{i}").status_code == 201
        set_writer(breaks)
        before = service.http.get("/v1/streams/docs").json()
        for i in range(10, 20):
            answer = service.propose(big(i), round_id=f"r{i}")
            assert answer.status_code == 503, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["retry-after"]
            assert words not in answer.text
            assert "INSERT" not in answer.text
        assert words in caplog.text  # those who run it are told why, and those who ask are not
        assert service.http.get("/v1/streams/docs").json() == before  # reading goes on, and nothing has changed
        made = service.http.post("/v1/streams", json={"name": "more", "coverage": 0.9})
        assert made.status_code == 503 or how == "full"  # a row may still find room in the last page
        set_writer(mends)
        for i in range(10, 20):  # no restart was needed, and what failed was not stored
            assert service.propose(big(i), round_id=f"r{i}").status_code == 201
        assert service.answer("r3", {"hit": "document-3-0-" + "x" * 200}).status_code == 200
    found = next(found for found in verify(read(sqlite)) if found.stream == "docs")
    assert found.problems == []
    assert (found.events, found.rounds) == (21, 20)


@pytest.mark.parametrize("how", ["delete", "replace"])
def test_a_file_that_goes_away_while_it_is_served(sqlite, tmp_path, how, caplog):
    """Nothing is acknowledged any more, nor what was stored before; reading goes on, to save what there is."""
    file = tmp_path / "log.db"
    with running(sqlite) as service:
        service.make()
        for i in range(10):
            assert service.propose(round_id=f"r{i}").status_code == 201
        assert service.http.get("/readyz").status_code == 200
        if how == "delete":
            file.unlink()
        else:
            (tmp_path / "other.db").write_bytes(file.read_bytes())
            (tmp_path / "other.db").replace(file)
        assert service.http.get("/readyz").status_code == 503
        for answer in (
            service.propose(round_id="r10"),
            service.propose(round_id="r0"),
            service.answer("r0", {"hit": "b"}),
            service.http.post("/v1/streams", json={"name": "more", "coverage": 0.9}),
            service.http.delete("/v1/streams/docs"),
        ):
            assert answer.status_code == 503, answer.text
            assert "the log of the service says why" in answer.json()["detail"]
            assert str(tmp_path) not in answer.text
        assert service.http.get("/v1/streams/docs/export").text.count("\n") == 10
    assert f"{file}, or its -wal, was deleted" in caplog.text


def test_postgresql_that_is_read_only_for_a_while(postgresql, read):
    name = postgresql.partition("?")[0].rpartition("/")[2]
    with running(postgresql) as service, psycopg.connect(postgresql, autocommit=True) as admin:
        service.make()
        assert service.propose(round_id="r1").status_code == 201
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        cut_connections(admin)
        assert service.propose(round_id="r2").status_code == 503
        assert service.answer("r1", {"miss": True}).status_code == 503
        admin.execute("SET default_transaction_read_only = off")
        admin.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
        cut_connections(admin)
        assert service.propose(round_id="r2").status_code == 201
        assert service.answer("r1", {"miss": True}).status_code == 200
    (found,) = verify(read(postgresql))
    assert (found.problems, found.events) == ([], 3)


def test_postgresql_connections_that_are_cut_at_any_moment(postgresql, read):
    """Some requests may fail, and are repeated; in the end everything is there once."""
    with running(postgresql) as service, psycopg.connect(postgresql, autocommit=True) as admin:
        service.make()
        for i in range(60):
            if i % 3 == 0:
                cut_connections(admin)
            for _ in range(5):
                answer = service.propose(round_id=f"r{i}")
                if answer.status_code in (200, 201):
                    break
                assert answer.status_code == 503, answer.text
            else:
                pytest.fail("it did not recover")
    (found,) = verify(read(postgresql))
    assert (found.problems, found.rounds, found.events) == ([], 60, 60)


def cut_connections(admin):
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shortlist' AND "
        "datname = current_database() AND pid <> pg_backend_pid()"
    )
