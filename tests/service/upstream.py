"""A small reranker to put behind the service: words in common, by length; and many ways not to answer."""

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Upstream", "overlap", "reranking"]


def overlap(query, document):
    """Return the share of a query's words that a document has."""
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", document.lower()))) / max(1, len(words))


class Upstream:
    """A reranker that runs, and what it was sent."""

    def __init__(self, url):
        self.url, self.how, self.requests, self.released = url, "well", [], threading.Event()

    def answer(self, body):
        """Return the results for a body."""
        scores = [overlap(body["query"], document) for document in body["documents"]]
        return [{"index": i, "relevance_score": value} for i, value in enumerate(scores)]


#: Answers that cannot be used.
BODIES = {
    "no json": b"<html>",
    "another form": b'[{"index": 0, "score": 1}]',
    "no number": b'{"results": [{"index": 0, "relevance_score": null}, {"index": 1, "relevance_score": 1}]}',
    "too few": b'{"results": [{"index": 0, "relevance_score": 1}]}',
    "one twice": b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}',
    "out of range": b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]}',
    "infinite": b'{"results": [{"index": 0, "relevance_score": 1e999}, {"index": 1, "relevance_score": 1}]}',
    "deep": b"[" * 100_000,
}


class Handler(BaseHTTPRequestHandler):
    """Answers as its server's `upstream` says."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two would wait for each other for 40 ms

    def log_message(self, *_):
        """Say nothing."""

    def do_POST(self):
        upstream = self.server.upstream
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        upstream.requests.append((self.path, dict(self.headers), body))
        if upstream.how == "hangs":
            upstream.released.wait(30)
        if upstream.how == "redirects":
            self.reply(307, b"", {"Location": f"{upstream.url}/elsewhere"})
        elif upstream.how == "large":
            self.reply(200, b" " * (5 * 2**20))
        elif upstream.how == "compressed":
            self.reply(200, b"\x1f\x8b", {"Content-Encoding": "gzip"})
        elif upstream.how == "fails":
            self.reply(500, b"secret words of the reranker")
        elif upstream.how in BODIES:
            self.reply(200, BODIES[upstream.how])
        else:
            self.reply(200, json.dumps({"results": upstream.answer(body)}).encode())

    def reply(self, status, content, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def reranking():
    """Run a reranker."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.upstream = upstream = Upstream(f"http://127.0.0.1:{server.server_address[1]}")
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # nobody may be waiting any more
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield upstream
    finally:
        upstream.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
