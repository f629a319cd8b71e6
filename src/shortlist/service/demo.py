"""The demo: service, page and a corpus that is on every machine, with nothing to configure.

The corpus is the documentation of Python's own standard library. A person types a question, its words
are compared with those of every function and class (TF-IDF), and the fifty most alike are the
candidates. Beside it, people are simulated on the retrieval scores that ship with the package, so that a
threshold is seen climbing at once.
"""

import asyncio
import contextlib
import importlib
import inspect
import logging
import re
import sys
import threading
import warnings
import webbrowser
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from fastapi import Body, FastAPI, Request, Response
from sklearn.feature_extraction.text import TfidfVectorizer

from shortlist.errors import ShortlistError
from shortlist.lab.tasks import data_file, read_scores
from shortlist.service.engine import Engine, Settings
from shortlist.service.web import create_app
from shortlist.service.web.pages import STATIC, add_page
from shortlist.service.web.views import as_json, round_view

__all__ = ["ASKED", "SIMULATED", "Corpus", "create_demo"]

_log = logging.getLogger("shortlist.service")

#: The streams of the demo.
ASKED: Final = "python-docs"
SIMULATED: Final = "simulated-people"
_CANDIDATES: Final = 50
#: Modules that import quickly and do nothing when they are imported.
_MODULES: Final = """
abc argparse array ast asyncio base64 bisect builtins bz2 calendar cmath collections collections.abc colorsys
concurrent.futures configparser contextlib copy csv ctypes dataclasses datetime decimal difflib dis
email.message enum fileinput fnmatch fractions ftplib functools gc getpass glob graphlib gzip hashlib heapq
hmac html html.parser http.client http.server imaplib inspect io ipaddress itertools json keyword linecache
locale logging lzma mailbox math mimetypes mmap multiprocessing netrc numbers operator os os.path pathlib pdb
pickle pkgutil platform plistlib poplib pprint profile pstats queue random re reprlib sched secrets select
selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 ssl stat statistics string struct
subprocess symtable sys sysconfig tarfile tempfile textwrap threading time timeit token tokenize trace
traceback tracemalloc types typing unicodedata unittest unittest.mock urllib.parse urllib.request
urllib.robotparser uuid venv warnings wave weakref xml.dom.minidom xml.etree.ElementTree zipfile zlib zoneinfo
"""
_TYPES: Final = (str, bytes, list, dict, set, tuple, int, float)


class Corpus:
    """The functions and classes of the standard library, each with the first lines of its documentation."""

    def __init__(self) -> None:
        with warnings.catch_warnings(action="ignore"):  # of modules that warn when they are looked at
            found = dict(_documented())
        self.names = sorted(found)
        self.texts = [found[name] for name in self.names]
        self._vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", ngram_range=(1, 2), min_df=1)
        words = [f"{_spaced(name)} {_spaced(name)} {text}" for name, text in zip(self.names, self.texts, strict=True)]
        self._matrix = self._vectorizer.fit_transform(words)

    def search(self, question: str) -> list[tuple[str, float, str]]:
        """Return the candidates for a question, best first: name, similarity, text."""
        similarity = (self._matrix @ self._vectorizer.transform([_spaced(question)]).T).toarray().ravel()
        best = np.argsort(-similarity, kind="stable")[:_CANDIDATES]
        return [(self.names[i], round(float(similarity[i]), 6), self.texts[i]) for i in best if similarity[i] > 0]


def _documented() -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for name in _MODULES.split():
        try:
            module = importlib.import_module(name)
        except ImportError:  # not on every system
            continue
        for member, item in vars(module).items():
            mine = getattr(item, "__module__", name) in (name, None, f"_{name}") or name in (
                "builtins",
                "math",
                "os.path",
            )
            if member.startswith("_") or not (callable(item) and (mine or inspect.isbuiltin(item))):
                continue
            _take(found, f"{name}.{member}".removeprefix("builtins."), item)
    for kind in _TYPES:
        for member, item in vars(kind).items():
            if not member.startswith("_"):
                _take(found, f"{kind.__name__}.{member}", item)
    return list(found.items())


def _take(found: dict[str, str], name: str, item: Any) -> None:
    text = inspect.getdoc(item) or ""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    lines = [
        part
        for part in paragraphs
        if len(part) > 15 and not re.match(rf"{name.rsplit('.', maxsplit=1)[-1]}\(.*\) ->", part)
    ]
    if lines:
        found[name] = lines[0][:300]


def _spaced(name: str) -> str:
    """Return a name in words: readLines and read_lines are both read lines."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[._]", " ", name)


class _People:
    """People who are not there: they know which passage of the shipped retrieval scores is right."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def switch(self, on: bool) -> None:
        if on and not self.busy:
            self._task = asyncio.create_task(self._go_on())
        elif not on and self._task is not None:
            self._task.cancel()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._task

    async def _go_on(self) -> None:
        """Work, and go on working when the service was busy."""
        while True:
            try:
                await self._work()
            except ShortlistError as error:
                _log.warning("the simulated people wait: %s", error)
                await asyncio.sleep(1.0)

    async def _work(self) -> None:
        scores = read_scores(data_file("retrieval.npz"))
        table = np.asarray(scores.candidate_scores, dtype=np.float64)
        true = np.asarray(scores.true_scores, dtype=np.float64)
        right = [int(np.flatnonzero(row == value)[0]) for row, value in zip(table, true, strict=True)]
        ids = [f"passage {i + 1}" for i in range(table.shape[1])]
        rng = np.random.default_rng()
        while True:
            row = int(rng.integers(len(table)))
            made, _ = await self._engine.propose(
                SIMULATED, ids, table[row].tolist(), question=f"SQuAD question {row + 1} (simulated)"
            )
            name, member = made.shown.round_id, ids[right[row]]
            if member in made.members:
                await self._engine.answer(SIMULATED, name, "hit", member)
            else:
                await self._engine.answer(SIMULATED, name, "miss")
            await asyncio.sleep(0.02)


def create_demo(address: str, *, simulate: bool = True, allowed_hosts: Sequence[str] = ()) -> FastAPI:
    """Return the app with the demo in it.

    Parameters
    ----------
    address
        The database.
    simulate
        Whether the simulated people begin at once.
    allowed_hosts
        As in `create_app`.
    """
    corpus = Corpus()
    app = create_app(address, allowed_hosts=allowed_hosts)
    serve = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with serve(app):
            engine: Engine = app.state.engine
            await engine.create_stream(ASKED, Settings(coverage=0.9, score="relative", at_least=1))
            await engine.create_stream(SIMULATED, Settings(coverage=0.9, score="relative", on_drift="report"))
            people = app.state.people = _People(engine)
            people.switch(simulate)
            yield
            await people.stop()

    app.router.lifespan_context = lifespan
    add_page(app, "/page/demo", STATIC / "demo.html")

    @app.post("/v1/demo/ask", include_in_schema=False)
    async def ask(
        request: Request, question: Annotated[str, Body(embed=True, min_length=1, max_length=500)]
    ) -> Response:
        """Find candidates for a question, and show a shortlist of them."""
        engine: Engine = request.app.state.engine
        results = corpus.search(question)
        scores = [score for _, score, _ in results]
        made, _ = await engine.propose(
            ASKED,
            [name for name, _, _ in results],
            scores,
            question=question,
            texts=[text for _, _, text in results],
            truncated_below=min(scores) if len(results) == _CANDIDATES else None,
            allow_empty=True,
        )
        return as_json({"round": round_view(*await engine.round(ASKED, made.shown.round_id))})

    @app.get("/v1/demo/people", include_in_schema=False)
    async def people(request: Request) -> Response:
        """Say whether people are simulated."""
        return as_json({"on": request.app.state.people.busy})

    @app.put("/v1/demo/people", include_in_schema=False)
    async def switch_people(request: Request, on: Annotated[bool, Body(embed=True)]) -> Response:
        """Simulate people, or stop."""
        request.app.state.people.switch(on)
        return as_json({"on": on})

    return app


def open_browser(url: str) -> None:
    """Show the page, where there is a screen to show it on."""
    if sys.stdout.isatty():
        threading.Timer(1.0, webbrowser.open, [url]).start()


def default_file() -> Path:
    """Return where the demo keeps its log."""
    import platformdirs  # noqa: PLC0415 - only where no address is given

    return Path(platformdirs.user_data_dir("shortlist", appauthor=False)) / "demo.db"
