"""What Prometheus reads."""

import re
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

from shortlist import Client
from shortlist.errors import StoreUnavailable
from shortlist.service.engine import overview
from shortlist.service.keys import KeyFile
from shortlist.service.web import service_metrics
from tests.service.running import free_port, running


def scrape(service, **headers):
    """Return what `/metrics` says, by name and labels."""
    http = service if isinstance(service, httpx.Client) else service.http
    answer = http.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    found = re.findall(r"^(shortlist_[^ {]+(?:\{.*?\})?) (\S+)$", answer.text, flags=re.MULTILINE)
    return {name: float(value) for name, value in found}


def test_what_prometheus_reads(service):
    service.make(delta=0.01, on_drift="report")
    for i in range(120):
        service.propose(round_id=f"r{i}")
        service.answer(f"r{i}", {"hit": "b"} if i % 10 else {"miss": True})
    service.propose(round_id="open")
    page = service.http.get("/metrics").text
    figures = dict(re.findall(r"^(shortlist_\S+) (\S+)$", page, flags=re.MULTILINE))
    assert float(figures['shortlist_rounds_total{stream="docs"}']) == 121
    assert float(figures['shortlist_hits_total{stream="docs"}']) == 108
    assert float(figures['shortlist_misses_total{stream="docs"}']) == 12
    assert float(figures['shortlist_open_rounds{stream="docs"}']) == 1
    assert 'shortlist_drift_level{stream="docs"}' in figures
    assert 'shortlist_fit_picks{stream="docs"}' not in figures  # the score is learned
    assert float(figures["shortlist_commit_requests_count"]) >= 241
    route = "/v1/streams/{name}/rounds"
    assert float(figures[f'shortlist_requests_total{{method="POST",route="{route}",status="201"}}']) == 121
    assert float(figures[f'shortlist_request_seconds_count{{route="{route}"}}']) == 121
    assert "docs/rounds" not in page  # routes, never paths: those have no end


def test_how_far_the_score_is_learned(sqlite_service):
    sqlite_service.make("strict", delta=0.01)
    sqlite_service.play(3, stream="strict")
    assert 'shortlist_fit_picks{stream="strict"} 3.0' in sqlite_service.http.get("/metrics").text


def test_the_error_budget(sqlite_service):
    """What it holds, what is spent of it, how fast, and what it did; nothing where it is off."""
    sqlite_service.make("spent", score="raw", delta=0.01, miss_budget=3)
    sqlite_service.make("off", score="raw", delta=0.01, miss_budget=None)
    for stream in ("spent", "off"):
        for i in range(90):
            sqlite_service.propose(stream=stream, round_id=f"r{i}")
            sqlite_service.answer(f"r{i}", {"hit": "b"} if i < 84 else {"miss": True}, stream=stream)
    page = sqlite_service.http.get("/metrics").text
    figures = dict(re.findall(r"^(shortlist_\S+) (\S+)$", page, flags=re.MULTILINE))
    budget = sqlite_service.http.get("/v1/streams/spent").json()["error_budget"]
    assert float(figures['shortlist_error_budget_size{stream="spent"}']) == budget["size"] == 3
    assert float(figures['shortlist_error_budget_spent{stream="spent"}']) == budget["spent"] > 1
    # Of the last six lists, those of one candidate have missed; those of both could not have been longer.
    assert float(figures['shortlist_lists_lengthened_total{stream="spent"}']) == budget["lengthened"] > 0
    charged = 6 - budget["lengthened"]
    assert float(figures['shortlist_error_budget_burn_rate{stream="spent"}']) == pytest.approx(10 * charged / 90)
    assert budget["burn_rate"] == pytest.approx(10 * charged / 90)
    assert not [name for name in figures if 'stream="off"' in name and ("error_budget" in name or "lengthened" in name)]
    for name in ("size", "spent", "burn_rate"):
        assert f"# HELP shortlist_error_budget_{name} Misses" in page


def of_streams(figures):
    return {name: value for name, value in figures.items() if "{stream=" in name}


def test_a_restart_forgets_no_stream(address):
    """Whoever looks first after a crash sees what was there before it, and nothing is loaded for it."""
    with running(address) as service:
        for name in ("a", "b", "c"):
            service.make(name, delta=0.01, on_drift="report", at_most=1)
            service.play(40, stream=name)
            service.propose(stream=name, round_id="more")
            service.http.post(f"/v1/streams/{name}/rounds/more/more", json={})
            service.answer("more", {"hit": "a"}, stream=name)
        before = scrape(service)
    with running(address) as service:
        after = scrape(service)
        assert service.engine.in_memory == []
        assert of_streams(after) == of_streams(before)
        assert after["shortlist_streams"] == 3
        assert after['shortlist_rounds_total{stream="c"}'] == 41
        assert after['shortlist_rounds_expanded_total{stream="c"}'] == 1
        assert after['shortlist_found_after_more_total{stream="c"}'] == 1
        assert after['shortlist_list_length_median{stream="c"}'] >= 1
        assert after['shortlist_error_budget_size{stream="c"}'] == 20
        service.play(1, stream="b")
        service.http.delete("/v1/streams/a")
        later = scrape(service)
        assert later['shortlist_rounds_total{stream="b"}'] == 42
        assert not [name for name in later if 'stream="a"' in name]


def test_a_stream_that_takes_long_to_read_stops_nobody(sqlite, monkeypatch):
    """It is missing, and said to be, until it is read; everything else goes on meanwhile."""
    with running(sqlite) as service:
        service.make("long")
        service.play(5, stream="long")
    go_on, load = threading.Event(), overview.load

    def slow(*arguments):
        assert go_on.wait(30)
        return load(*arguments)

    monkeypatch.setattr(overview, "load", slow)
    monkeypatch.setattr(overview, "_PATIENCE", 0.2)
    with running(sqlite) as service:
        service.make("short")
        service.play(2, stream="short")
        first = scrape(service)
        assert first["shortlist_streams_unread"] == 1
        assert first['shortlist_rounds_total{stream="short"}'] == 2
        assert 'shortlist_rounds_total{stream="long"}' not in first
        service.play(1, stream="short")  # neither the writer nor the readers wait
        assert service.http.get("/readyz").status_code == 200
        go_on.set()
        monkeypatch.setattr(overview, "_PATIENCE", 20)
        assert scrape(service)['shortlist_rounds_total{stream="long"}'] == 5


def test_stopping_does_not_wait_for_a_long_log(sqlite, monkeypatch):
    with running(sqlite) as service:
        service.make("long")
        service.play(5, stream="long")
    monkeypatch.setattr(overview, "_PATIENCE", 0.01)
    monkeypatch.setattr(overview.Overview, "_is_missing", lambda *_: True)
    reading, load = threading.Event(), overview.load

    def waits(reader, row, stopping):
        reading.set()
        while not stopping():
            time.sleep(0.01)
        return load(reader, row, stopping)

    monkeypatch.setattr(overview, "load", waits)
    with running(sqlite) as service:
        scrape(service)
        assert reading.wait(20)


def test_a_damaged_stream_is_counted_and_stops_nothing(sqlite, monkeypatch):
    with running(sqlite) as service:
        for name in ("good", "bad"):
            service.make(name)
            service.play(2, stream=name)
    load = overview.load

    def damaged(reader, row, stopping):
        row = row._replace(settings={"coverage": "much"}) if row.name == "bad" else row
        return load(reader, row, stopping)

    monkeypatch.setattr(overview, "load", damaged)
    with running(sqlite) as service:
        figures = scrape(service)
        assert figures["shortlist_streams_damaged"] == 1
        assert figures["shortlist_streams_unread"] == 0
        assert figures['shortlist_rounds_total{stream="good"}'] == 2


def test_replicas_say_the_same_of_streams(postgresql):
    with running(postgresql) as first, running(postgresql) as second:
        first.make()
        first.play(3)
        assert scrape(second)['shortlist_rounds_total{stream="docs"}'] == 3  # not in its memory
        second.play(2)
        first.play(1)
        assert of_streams(scrape(second)) == of_streams(scrape(first))
        assert scrape(second)['shortlist_hits_total{stream="docs"}'] == 6  # in its memory, and behind


def test_workers_count_together(postgresql):
    """Whichever of them is asked: no counter goes back, and requests are counted once."""
    port = free_port()
    arguments = ["serve", "--database", postgresql, "--port", str(port), "--workers", "3"]
    child = subprocess.Popen([sys.executable, "-m", "shortlist", *arguments], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        with Client(url, "docs", retries=40) as client:
            client.create()
        seen = []
        for _ in range(12):
            with Client(url, "docs", retries=10) as other:  # a new connection each: any worker
                other.hit(other.propose([0.5]).round_id, 0)
            with httpx.Client(base_url=url, timeout=30) as http:
                seen.append(scrape(http))
        shown = 'shortlist_requests_total{method="POST",route="/v1/streams/{name}/rounds",status="201"}'
        for name in (shown, 'shortlist_rounds_total{stream="docs"}', "shortlist_commit_requests_count"):
            counts = [figures[name] for figures in seen]
            assert counts == sorted(counts), name
        assert seen[-1][shown] == seen[-1]['shortlist_rounds_total{stream="docs"}'] == 12
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def test_a_file_of_counts_that_is_being_created_is_tried_again(sqlite_service, tmp_path, monkeypatch):
    """prometheus_client creates it empty, and fills it a moment later."""
    folder, slept = tmp_path / "counts", []
    folder.mkdir()
    empty = folder / "counter_1.db"
    empty.touch()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
    monkeypatch.setattr(
        service_metrics.time, "sleep", lambda seconds: slept.append(seconds) or empty.unlink(missing_ok=True)
    )
    assert "shortlist_rounds_total" in sqlite_service.http.get("/metrics").text
    assert slept


def test_commits_that_fail_are_counted_and_logged_with_their_reason(sqlite_service, monkeypatch, caplog):
    def fail(*_):
        raise StoreUnavailable("the database did not accept this (disk full)")

    store = sqlite_service.engine.store
    with monkeypatch.context() as patch:
        patch.setattr(store, "append", fail)
        assert [sqlite_service.propose().status_code for _ in range(3)] == [503] * 3
    assert scrape(sqlite_service)["shortlist_commit_failures_total"] == 3
    logged = [record.getMessage() for record in caplog.records if "could not be stored" in record.getMessage()]
    assert logged == ["1 requests could not be stored: the database did not accept this (disk full)"]  # in a second


def scraped_until(service, condition):
    """Return the figures once they are as expected: retention runs beside the requests."""
    for _ in range(600):
        figures = scrape(service)
        if condition(figures):
            return figures
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_snapshots_and_retention(sqlite):
    started = time.time() - 1
    with running(sqlite, snapshot_every=10, expire_after=3600) as service:
        service.make()
        service.play(20)
        figures = scraped_until(service, lambda now: now["shortlist_last_retention_timestamp_seconds"] > started)
        assert figures["shortlist_last_snapshot_timestamp_seconds"] > started
        assert figures["shortlist_last_retention_timestamp_seconds"] > started
        assert figures["shortlist_snapshot_failures_total"] == figures["shortlist_retention_failures_total"] == 0
    with running(sqlite) as service:
        assert "shortlist_last_retention_timestamp_seconds" not in scrape(service)  # it was not asked for


def test_a_retention_that_fails_is_no_success(sqlite, monkeypatch):
    async def fail(*_):
        raise StoreUnavailable("away")

    with running(sqlite) as service:
        service.make()
    monkeypatch.setattr("shortlist.service.engine.retention.Retention.expire", fail)
    with running(sqlite, expire_after=3600) as service:
        figures = scraped_until(service, lambda now: now["shortlist_retention_failures_total"] > 0)
        assert figures["shortlist_last_retention_timestamp_seconds"] == 0


def test_snapshots_that_fail_are_counted(sqlite, monkeypatch):
    with running(sqlite, snapshot_every=10) as service:
        service.make()

        def fail(*_):
            raise StoreUnavailable("away")

        monkeypatch.setattr(service.engine.store, "save_snapshot", fail)
        service.play(10)
        figures = scrape(service)
        assert figures["shortlist_snapshot_failures_total"] > 0
        assert figures["shortlist_last_snapshot_timestamp_seconds"] == 0


def test_who_listens_and_what_waits(sqlite_service):
    assert scrape(sqlite_service)["shortlist_listeners"] == 0
    with sqlite_service.http.stream("GET", "/v1/streams/docs/live") as answer:
        parts = answer.iter_raw()  # held: it ends the response when it goes
        next(parts)
        with httpx.Client(base_url=sqlite_service.url, timeout=30) as other:
            figures = scrape(other)
    assert figures["shortlist_listeners"] == 1
    assert figures["shortlist_write_queue_length"] == 0


def test_how_old_the_keys_are(sqlite, keys):
    headers = {"Authorization": f"Bearer {keys['read']}"}
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:
        assert scrape(service, **headers)["shortlist_keys_age_seconds"] < 2
        assert scrape(service, **headers)["shortlist_keys_read_failures_total"] == 0
        keys["file"].path.write_text("broken")
        deadline = time.monotonic() + 20
        while (figures := scrape(service, **headers))["shortlist_keys_age_seconds"] < 2.1:
            assert time.monotonic() < deadline
            time.sleep(0.3)
        assert figures["shortlist_keys_read_failures_total"] >= 1
