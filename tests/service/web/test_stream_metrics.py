"""What Prometheus reads of streams."""

from shortlist.service.web import stream_metrics
from tests.service.running import running
from tests.service.web.test_service_metrics import scrape


def test_of_too_many_streams_the_first_are_shown(sqlite, monkeypatch):
    monkeypatch.setattr(stream_metrics, "MOST_STREAMS", 3)
    monkeypatch.setattr("shortlist.service.web.service_metrics.MOST_STREAMS", 3)
    with running(sqlite) as service:
        for name in "edcba":
            service.make(name)
        figures = scrape(service)
        shown = {name for name in figures if name.startswith("shortlist_rounds_total")}
        assert shown == {f'shortlist_rounds_total{{stream="{name}"}}' for name in "edc"}
        assert (figures["shortlist_streams"], figures["shortlist_streams_not_shown"]) == (5, 2)
        for name in "ab":
            service.play(1, stream=name)
        assert {name for name in scrape(service) if name.startswith("shortlist_rounds_total")} == shown
