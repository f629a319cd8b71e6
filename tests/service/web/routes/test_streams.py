"""Streams: listed, and watched live."""

import concurrent.futures
import json
import threading

from shortlist.service.store import Reader
from tests.service.running import running
from tests.service.web.checks import problem


def test_live_tells_of_changes_until_the_stream_is_gone(service):
    service.make()
    summaries = []
    first, second = threading.Event(), threading.Event()

    def listen():
        with service.http.stream("GET", "/v1/streams/docs/live") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                if line.startswith('data: {"name"'):
                    summaries.append(json.loads(line.removeprefix("data: ")))
                    (first if len(summaries) == 1 else second).set()
        return True

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        listening = pool.submit(listen)
        assert first.wait(20)
        assert summaries[0]["rounds"] == 0
        service.propose()
        assert second.wait(20)
        assert summaries[-1]["rounds"] == 1
        service.http.delete("/v1/streams/docs")
        assert listening.result(20)
    problem(service.http.get("/v1/streams/docs/live"), 404, "unknown-stream")


def test_pages_of_streams_do_not_end_early(sqlite, monkeypatch):
    with running(sqlite) as service:
        for i in range(6):
            service.make(f"s{i}")
        with service.engine.store.reading() as reader:
            rows = reader.streams()
        service.http.delete("/v1/streams/s1")  # and yet it is on the page: it goes while that is being made

        def before_it_went(_reader, after, limit):
            return [row for row in rows if row.name > after][:limit]

        monkeypatch.setattr(Reader, "streams", before_it_went)
        found, after = [], ""
        while after is not None:
            page = service.http.get("/v1/streams", params={"after": after, "limit": 2}).json()
            found += [stream["name"] for stream in page["streams"]]
            after = page["next"]
        assert found == ["s0", "s2", "s3", "s4", "s5"]
