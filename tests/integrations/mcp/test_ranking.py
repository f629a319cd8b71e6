"""Scores of tools for a task: by words, and by embeddings."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import anyio
import numpy as np
import pytest

from shortlist.errors import InvalidParameter, ServiceUnavailable
from shortlist.integrations.mcp import Ranking, Tool
from shortlist.integrations.mcp.config import Embeddings
from shortlist.integrations.mcp.ranking import make_embed

PATH = {"properties": {"path": {"description": "the folder"}}}
TOOLS = [
    Tool("files", "read", "Reads.", PATH),
    Tool("mail", "sendMessage", "Write to somebody.", {}),
    Tool("web", "weather", "Forecast for a place.", {}),
]


def scores(task, tools=TOOLS, ranking=None):
    return anyio.run((Ranking() if ranking is None else ranking).scores, task, tools)


@pytest.mark.parametrize(
    ("task", "best"), [("send a message", 1), ("which folder?", 0), ("forecasts", 2), ("MAIL somebody", 1)]
)
def test_words_of_names_descriptions_and_parameters_count(task, best):
    values = scores(task)
    assert int(values.argmax()) == best
    assert values[best] > sorted(values)[-2]


def test_other_tools_are_another_index():
    ranking = Ranking()
    assert len(scores("send", ranking=ranking)) == 3
    values = scores("send", [*TOOLS, Tool("fax", "send", "", {})], ranking)
    assert int(values.argmax()) == 3
    assert scores("nothing of the kind") == pytest.approx([0, 0, 0])


EMBED = """
calls = []

def embed(texts):
    calls.append(list(texts))
    return [[text.count("e"), text.count("a"), 1] for text in texts]

async def later(texts):
    return embed(texts)

def wrong(texts):
    return [[1.0]]

def raises(texts):
    raise KeyError("model")

def nan(texts):
    return [[float("nan")] for _ in texts]

value = 3
"""


def test_a_function_of_the_users_own(tmp_path):
    path = tmp_path / "embed.py"
    path.write_text(EMBED)
    for name in ("embed", "later"):
        ranking = Ranking(make_embed(Embeddings(function=f"{path}:{name}")))
        table = scores("a weather forecast", ranking=ranking)
        assert set(table) == {"bm25", "embedding"}
        rows = np.array([[t.count("e"), t.count("a"), 1] for t in [f"{x.name}: {x.description}" for x in TOOLS]])
        task = np.array([3, 3, 1])
        expected = rows @ task / np.linalg.norm(rows, axis=1) / np.linalg.norm(task)
        np.testing.assert_allclose(table["embedding"], expected)


def test_tools_are_embedded_once(tmp_path):
    seen = []

    async def embed(texts):
        seen.append(len(texts))
        return np.ones((len(texts), 2))

    ranking = Ranking(embed)
    many = [Tool("s", f"t{i}", "", {}) for i in range(70)]
    scores("x", many, ranking)
    scores("y", many, ranking)
    scores("z", [*many, Tool("s", "new", "", {})], ranking)
    assert seen == [64, 6, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["wrong", "raises", "nan"])
def test_a_function_that_fails_is_named(name, tmp_path):
    (tmp_path / "embed.py").write_text(EMBED)
    with pytest.raises(ServiceUnavailable, match="embed"):
        scores("x", ranking=Ranking(make_embed(Embeddings(function=f"{tmp_path / 'embed.py'}:{name}"))))


def test_a_function_that_is_not_there(tmp_path):
    (tmp_path / "embed.py").write_text(EMBED)
    (tmp_path / "broken.py").write_text("import nonesuch")
    for reference, message in (
        ("none.py:embed", "there is no file"),
        ("embed.py:none", "has no function none"),
        ("embed.py:value", "has no function value"),
        ("broken.py:embed", "cannot be imported"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            make_embed(Embeddings(function=f"{tmp_path}/{reference}"))


@pytest.fixture
def address():
    """An address that speaks as OpenAI's and Ollama's do; texts with "fail" in them get an error."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bad = any("fail" in text for text in body["input"]) or self.headers["X-Key"] != "k" or body["model"] != "m"
            data = [{"embedding": [len(text), 1.0]} for text in body["input"]]
            answer = json.dumps({"data": data}).encode()
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
    ranking = Ranking(make_embed(Embeddings(url=address, model="m", headers={"X-Key": "k"})))
    assert scores("send", ranking=ranking)["embedding"].shape == (3,)
    ranking = Ranking(make_embed(Embeddings(url=f"{address}?key=secret", model="m", headers={"X-Key": "k"})))
    with pytest.raises(ServiceUnavailable, match=r"^127\.0\.0\.1 gave no embeddings: status 500$"):  # and no key
        scores("fail", ranking=ranking)
    with pytest.raises(ServiceUnavailable, match="gave no embeddings"):
        scores("x", ranking=Ranking(make_embed(Embeddings(url="http://127.0.0.1:9/none"))))


def test_vectors_of_another_length_are_noticed():
    async def embed(texts):
        return np.ones((len(texts), 2 if len(texts) > 1 else 3))

    with pytest.raises(ServiceUnavailable, match="differ in length"):
        scores("x", ranking=Ranking(embed))


def test_vectors_of_another_length_are_noticed_also_among_tools_and_asked_for_again():
    lengths = [2, 2, 3, 3, 3, 3]

    async def embed(texts):
        return np.ones((len(texts), lengths.pop(0)))

    async def main():
        ranking = Ranking(embed)
        await ranking.scores("x", TOOLS[:1])
        with pytest.raises(ServiceUnavailable, match="differ in length"):
            await ranking.scores("x", TOOLS[:2])
        assert (await ranking.scores("x", TOOLS[:2]))["embedding"].shape == (2,)

    anyio.run(main)


def test_tasks_at_the_same_time_may_have_other_tools():
    """A server dies while another task waits for its embeddings."""
    waits = anyio.Event()

    async def embed(texts):
        if texts == ["slow"]:
            await waits.wait()
        return np.ones((len(texts), 2))

    async def main():
        ranking, shapes = Ranking(embed), []

        async def slow():
            shapes.append((await ranking.scores("slow", TOOLS))["embedding"].shape)

        async with anyio.create_task_group() as group:
            group.start_soon(slow)
            await anyio.wait_all_tasks_blocked()
            await ranking.scores("fast", TOOLS[:1])
            waits.set()
        assert shapes == [(len(TOOLS),)]

    anyio.run(main)
