"""Every block of code in README and docs is tried.

Python runs as it stands, and what it prints is what the page says that it prints: the block of text that follows it.
A command runs for real if it needs nothing but a folder and ends by itself; one that serves, or needs a cluster, a
model or torch, is read by its own parser.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

import shortlist
from shortlist.cli import app
from shortlist.integrations.mcp.config import read_config
from shortlist.lab.tasks import write_scores
from tests.docs.pages import PAGES, ROOT, blocks, lines
from tests.service.conftest import start_postgresql
from tests.service.running import running

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
LOCAL = re.compile(r"(?:127\.0\.0\.1|localhost):8000")
#: The database of a page that has one of its own.
POSTGRESQL = "postgresql://localhost/docs"
#: Commands that are not ours, and do something outside of the folder.
ELSEWHERE = {"createdb", "pg_dump", "pg_restore"}
#: What makes a long command short; of an option that is given twice the last one counts.
SHORT = {"reproduce": ["--rounds", "200", "--runs", "2", "--jobs", "1"]}


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what a reader has at hand: a score file, a log, logs in Parquet."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("SHORTLIST_DATABASE", f"sqlite:///{tmp_path}/log.db")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    candidates = rng.normal(size=(300, 20)).astype(np.float32)
    write_scores("mine.npz", candidates[:, 0], candidates, name="mine", source="made up")
    Path("log.csv").write_text("true_score\n" + "\n".join(f"{score:.4f}" for score in rng.random(300)) + "\n")
    Path("logs").mkdir()
    for part in range(2):
        table = {"customer": ["a", "b"] * 100, "at": np.arange(200) + 200 * part, "true_score": rng.random(200)}
        pq.write_table(pa.table(table), f"logs/{part}.parquet")
    return tmp_path


@pytest.mark.soak
@pytest.mark.parametrize("page", [page for page in PAGES if "shortlist reproduce" in page.read_text()], ids=name_of)
def test_whole_experiments_on_the_page_run(page, folder, capsys):
    """With few rounds: the command line's own tests run the same options in one process."""
    play(page, folder, capsys, experiments=True)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_the_code_on_the_page_runs(page, folder, capsys):
    """From top to bottom, in one folder, with a service where the page has one."""
    play(page, folder, capsys)


def play(page, folder, capsys, *, experiments=False):
    """Run all code of a page, and compare what it prints; of experiments only the options are read otherwise."""
    needs_service = any(LOCAL.search(block.text) for block in blocks(page) if block.language == "python")
    with contextlib.ExitStack() as stack:
        stack.enter_context(mpl.rc_context())
        service = stack.enter_context(running(f"sqlite:///{folder}/service.db")) if needs_service else None
        database = stack.enter_context(postgresql(folder)) if uses(page, POSTGRESQL) else POSTGRESQL
        namespace: dict[str, object] = {"__name__": "page"}
        for block, said in statements(page):
            text = (block.text if service is None else at(service, block.text)).replace(POSTGRESQL, database)
            if block.language == "python":
                saved = re.match(r"# (\w+\.py)\n", text)
                if saved:  # a block that begins with the name of a file is that file
                    Path(saved[1]).write_text(text)
                capsys.readouterr()
                exec(compile(text, str(page), "exec"), namespace)
                assert capsys.readouterr().out.rstrip() == said, "this block prints something else than the page says"
            elif block.language == "sh":
                for line in lines(block):
                    run(line, experiments=experiments)
            elif block.language == "json":
                if "mcpServers" in json.loads(text):
                    Path("settings.json").write_text(text)
                    assert read_config("settings.json").servers
            else:
                # what is to be cited, test_citation reads
                assert block.language in ("text", "bibtex"), f"a block in {block.language or 'no language'}"
        plt.close("all")
        for made in namespace.values():
            if isinstance(made, shortlist.Client):
                made.close()


def uses(page, word):
    """Whether the Python of a page has a word in it."""
    return any(word in block.text for block in blocks(page) if block.language == "python")


@contextlib.contextmanager
def postgresql(folder):
    """Run a PostgreSQL server for a page, and yield its address."""
    server = start_postgresql(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def statements(page):
    """Return each block with what the page says that it prints: the text right behind it, if Python prints anything."""
    found = blocks(page)
    for block, following in zip(found, [*found[1:], None], strict=False):
        prints = block.language == "python" and re.search(r"^\s*print\(", block.text, flags=re.MULTILINE)
        said = prints and following is not None and following.language == "text"
        yield block, following.text.rstrip() if said else ""


def test_how_many_outputs_are_compared():
    """Every block that prints is followed by what it prints; one without it fails above."""
    said = [text for page in PAGES for block, text in statements(page) if text]
    print(f"{len(said)} printed outputs on {len(PAGES)} pages are compared")
    assert len(said) >= 20


def test_an_output_that_is_not_what_the_page_says_is_noticed(tmp_path):
    """Negative control: the page is read as a reader reads it."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n\n```python\nx = 1\n```\n\n```text\nno output\n```\n"
    )
    (first, said), _, (_, nothing), _ = statements(page)
    assert (eval(first.text.removeprefix("print")), said, nothing) == (42, "41", "")


def calls(page):
    return [
        line for block in blocks(page) if block.language == "sh" for line in lines(block) if line.startswith("curl ")
    ]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here: the pages' calls with it are not tested")
@pytest.mark.parametrize("page", [page for page in PAGES if calls(page)], ids=name_of)
def test_the_calls_on_the_page_are_answered(page, tmp_path):
    """One after the other, against a running service; the README's with what they must say."""
    answers = []
    with running(f"sqlite:///{tmp_path}/log.db") as service:
        for line in calls(page):
            command = [*shlex.split(at(service, line)), "-sS", "--fail"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == (28 if "-N" in command else 0), (line, done.stderr)  # a live one is ended by -m
            answers.append(done.stdout)
    if page.name == "README.md":
        made, shown, taken, stream, live = answers
        assert json.loads(made)["name"] == "docs"
        assert json.loads(shown)["members"] == ["faq-2", "faq-7"]
        assert json.loads(taken)["answer"] == {"hit": "faq-2"}
        assert json.loads(stream)["hits"] == 1
        assert "event: stream" in live


def at(service, text):
    """Return a text with the address of this service in it."""
    return LOCAL.sub(f"127.0.0.1:{service.port}", text)


def run(line, *, experiments=False):
    """Run a command, if that is cheap and stays in this folder; otherwise let its own parser judge it."""
    words = shlex.split(line)
    if words[:3] == ["shortlist", "keys", "revoke"]:  # the page cannot know the id that was given out here
        found = re.search(r'"id":\s*"(\w+)"', Path(words[-1]).read_text())
        assert found
        words[3] = found[1]
    if words[:2] == ["pip", "install"]:
        for extras in re.findall(r"\[([\w,-]+)\]", line):
            assert set(extras.split(",")) <= set(EXTRAS), line
    elif words[0] == "make":
        assert {word for word in words[1:] if "=" not in word} <= TARGETS, line
    elif words[0] == "curl":
        pass  # a test of its own, above
    elif words[0] == "shortlist":
        parse(words[1:])
        if runs_here(words[1:]) and (experiments or words[1] != "reproduce" or "--list" in words):
            command = [sys.executable, "-m", "shortlist", *words[1:], *SHORT.get(words[1], [])]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (line, done.stderr[-2000:])
    elif words[0] == "python":
        assert (ROOT / words[1]).parts[-2] == "examples", line  # run in test_examples.py
        assert (ROOT / words[1]).exists(), line
    elif words[0] == "dask":
        done = subprocess.run(["dask", words[1], "--help"], capture_output=True, text=True, check=True, env=with_us())
        assert all(word in done.stdout for word in words[2:] if word.startswith("--")), line
    else:
        assert words[0] in ELSEWHERE, f"nobody knows how to test: {line}"


def parse(words):
    """Let the command's own parser read the words; it raises what a user would see."""
    command = typer.main.get_command(app)
    for depth, word in enumerate(words):
        if not hasattr(command, "commands"):
            command.make_context(word, list(words[depth:])).close()
            return
        command = command.commands[word]
    command.make_context(words[-1], []).close()


def runs_here(words):
    """Whether a command needs nothing but this folder, and ends by itself."""
    if (
        words[0] in ("serve", "demo", "score", "verify", "export", "backup", "restore", "expire", "mcp", "items")
        or "--scheduler" in words
    ):
        return False
    return not (
        words[0] == "reproduce" and "--scores" in words and not Path(words[words.index("--scores") + 1]).exists()
    )


def with_us():
    """Return an environment in which commands of this environment are found first."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_a_command_with_a_wrong_option_is_noticed():
    """Negative control: the parser that judges the pages is the real one."""
    for line in ("shortlist replay log.csv --colunm x", "make tset", "pip install '.[servce]'", "curlx localhost"):
        with pytest.raises(Exception):  # noqa: B017, PT011 - each has its own
            run(line)
