"""An address that returns embeddings; the local model is tested where torch is (tests/models)."""

import importlib.util
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from shortlist.errors import MissingExtra, ServiceUnavailable
from shortlist.integrations.tools import endpoint, local_model


@pytest.fixture(scope="module")
def address():
    """An address that speaks as OpenAI's and Ollama's do; texts with "fail" in them get an error."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bad = any("fail" in text for text in body["input"]) or self.headers["X-Key"] != "k" or body["model"] != "m"
            data = [{"embedding": [len(text), 1.0]} for text in body["input"]]
            answer = b"[]" if "odd" in body["input"] else json.dumps({"data": data}).encode()
            self.send_response(500 if bad else 200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_address(address):
    embed = endpoint(address, "m", headers={"X-Key": "k"})
    assert embed(["abc", "d"]).tolist() == [[3, 1], [1, 1]]
    with pytest.raises(ServiceUnavailable, match="gave no embeddings: TypeError"):
        embed(["odd"])
    with_key = endpoint(f"{address}?key=secret", "m", headers={"X-Key": "k"})
    with pytest.raises(ServiceUnavailable, match=r"^127\.0\.0\.1 gave no embeddings: status 500$"):  # and no key
        with_key(["fail"])
    with pytest.raises(ServiceUnavailable, match="gave no embeddings"):
        endpoint("http://127.0.0.1:9/none", timeout=1.0)(["x"])


def test_without_the_extra_it_is_named(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "sentence_transformers" else real(name, *rest)
    )
    with pytest.raises(MissingExtra, match=r"\[embeddings\]"):
        local_model("any")
