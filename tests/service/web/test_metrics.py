"""What Prometheus reads."""

import re


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
