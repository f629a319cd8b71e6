"""What Prometheus reads."""

import re

import pytest


def test_what_prometheus_reads(service):
    service.make(on_drift="report")
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
    sqlite_service.play(3)
    assert 'shortlist_fit_picks{stream="docs"} 3.0' in sqlite_service.http.get("/metrics").text


def test_the_error_budget(sqlite_service):
    """What it holds, what is spent of it, how fast, and what it did; nothing where it is off."""
    sqlite_service.make("spent", score="raw", miss_budget=3)
    sqlite_service.make("off", score="raw", miss_budget=None)
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
