"""Every example runs, offline, and ends in what it promises."""

import importlib
import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest

from shortlist.integrations.citations import read_citations

EXAMPLES = Path(__file__).parents[1] / "examples"
FRAMEWORKS = ["langchain", "llama_index", "haystack"]
#: What others import, and those that are tried in this process below.
ELSEWHERE = {
    "built_in.py",
    "corpora.py",
    "citations.py",
    "agent.py",
    "agent_tools.py",
    "tools_fastmcp.py",
    "tools_pydantic_ai.py",
    *(f"hybrid_{name}.py" for name in FRAMEWORKS),
}
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in ELSEWHERE)


#: The adapters have tests of their own; the examples beyond the first are for `make soak`.
@pytest.mark.parametrize("name", [SCRIPTS[0], *(pytest.param(name, marks=pytest.mark.soak) for name in SCRIPTS[1:])])
def test_it_runs(name, tmp_path):
    more = ["--questions", "300"] if name == "retrieval_service.py" else []
    command = [sys.executable, str(EXAMPLES / name), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    if name == "retrieval_service.py":
        assert "in the end" in done.stdout
        return
    shown = {line.split()[0].strip(","): float(line.split()[-1].rstrip("%")) for line in done.stdout.splitlines()[1:]}
    assert shown["shortlist"] < shown["top-k"]
    assert shown["coverage"] >= 90.0
    page = (EXAMPLES.parent / "docs" / "how-to" / "integrations.md").read_text()
    assert (
        f"| {shown['shortlist']:.2f} (coverage {shown['coverage']:.1f} %" in page
    )  # what it prints is what the page says


def test_an_agent_is_shown_fewer_tools(tmp_path):
    """Six servers of its own, and lists that get shorter, as the page prints them."""
    command = [sys.executable, str(EXAMPLES / "agent.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    page = (EXAMPLES.parent / "docs" / "how-to" / "too-many-tools.md").read_text()
    assert f"```text\n{done.stdout}```" in page
    assert not list(tmp_path.iterdir())


def example(name, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module(name)


@pytest.fixture
def corpus(monkeypatch):
    """Sixty passages of made-up words, and questions that share some words with theirs."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{a}{b}" for a in "abcdefghijklmnop" for b in "qrstuvwxyz"])
    texts = {f"p{i}": " ".join(rng.choice(words, size=25)) for i in range(60)}
    questions = [(" ".join(rng.choice(text.split(), size=4)), name) for name, text in texts.items()]
    return example("corpora", monkeypatch).Corpus(texts, questions, coverage=0.8, size=20)


@pytest.mark.parametrize(
    "framework", ["langchain", *(pytest.param(name, marks=pytest.mark.soak) for name in FRAMEWORKS[1:])]
)
def test_hybrid_search(framework, corpus, monkeypatch, capsys):
    """Each framework's own BM25 and vector store: lists of both get short, and the right passage stays in them."""
    outcome = example(f"hybrid_{framework}", monkeypatch).run(corpus, 260)
    outcome.report(framework)
    assert "auto, both searches" in capsys.readouterr().out
    found = outcome.figures()
    print(found)
    assert found["auto"] < 0.2 * len(corpus.texts)
    assert found["auto_coverage"] >= 0.8
    assert found["top_k_coverage"] >= found["auto_coverage"]


def test_what_hybrid_search_measured_is_on_the_page():
    """`make measure NAME=hybrid` writes the table; here it is written again from its figures."""
    hybrid = importlib.import_module("hybrid")
    figures = json.loads(hybrid.FILE.read_text())
    assert figures["rounds"] == 2000
    assert f"<!-- frameworks -->\n{hybrid.table(figures)}\n<!-- end frameworks -->" in hybrid.PAGE.read_text()


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(ELSEWHERE - {"built_in.py", "corpora.py"}))
def test_it_runs_as_it_is(name, tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    print(done.stdout)


def test_two_hundred_answers_of_which_forty_are_awkward(corpus, monkeypatch, capsys):
    citations = example("citations", monkeypatch)
    assert len(citations.AWKWARD) == 40
    for each in citations.AWKWARD:
        values = citations.numbers(2, 5)
        found = read_citations(citations.filled(each.answer, values), list("abcde"))
        assert found.answer == each.becomes.split(",")[0], each
        wanted = {"hit": "b", "hit, both needed": "bc", "hit, all needed": "abc"}.get(each.becomes, found.cited)
        assert tuple(wanted) == found.cited, each
    page = (EXAMPLES.parent / "docs" / "how-to" / "citations.md").read_text()
    assert citations.table() in page
    citations.run(corpus, 200, None, "")
    out = capsys.readouterr().out.rstrip()
    counts = {
        kind: [int(n) for n in rest.split()] for kind, rest in re.findall(r"^(plain|awkward)(.*)$", out, re.MULTILINE)
    }
    assert (sum(counts["plain"]), sum(counts["awkward"])) == (160, 40)
    assert counts["awkward"] == [30, 2, 8]
    assert counts["plain"][2] == 0
    assert re.search(r"^awkward.*$", out, re.MULTILINE)[0] in page  # what it prints is what the page says


class Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible service that cites the first passage."""

    asked = []  # noqa: RUF012 - shared on purpose

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, self.headers.get("Authorization"), body))
        reply = json.dumps({"choices": [{"message": {"role": "assistant", "content": "It is so [1]."}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *arguments):
        pass


def test_citations_of_any_service(corpus, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with HTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/v1/"
            example("citations", monkeypatch).run(corpus, 3, url, "small")
        finally:
            server.shutdown()
            thread.join()
    path, key, body = Model.asked[0]
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer a key", "small")
    assert "[1] " in body["messages"][1]["content"]
    assert re.search(r"^small +3 +0 +0$", capsys.readouterr().out, re.MULTILINE)


def outputs(notebook):
    """What each cell of a notebook prints or returns, as text; what is printed may come in several parts."""
    texts = [
        "".join(
            each["text"] if each["output_type"] == "stream" else each["data"]["text/plain"]
            for each in cell.get("outputs", [])
            if each["output_type"] != "display_data"
        )
        for cell in notebook.cells
    ]
    return [text for text in texts if text]


@pytest.mark.filterwarnings("ignore")  # of the notebook's machinery
def test_the_notebook_runs_and_says_what_it_said(tmp_path):
    """In nine cells; what each prints or returns is what the file has, and a summary is a table."""
    stored = nbformat.read(EXAMPLES / "own_scores.ipynb", as_version=4)
    again = nbformat.reads(nbformat.writes(stored), as_version=4)
    for cell in again.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    nbclient.NotebookClient(again, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert len(stored.cells) == 9
    assert outputs(again) == outputs(stored)
    assert len(outputs(again)) == 4
    shown = [each.get("data", {}) for cell in again.cells for each in cell.get("outputs", [])]
    assert ["text/html" in each for each in shown].count(True) == 1
    assert ["image/png" in each for each in shown].count(True) == 1
