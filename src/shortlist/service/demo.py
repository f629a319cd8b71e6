"""The demo: service, page and a corpus that is on every machine, with nothing to configure.

The corpus is the documentation of Python's own standard library. A question is compared with every function and
class by its words (BM25) and by its letters (trigrams, which forgive a typo), and the best of both are the candidates,
each with the scores of the searches that found it. Simulated users ask for functions in a few words of their
documentation, and the same questions go to two streams: short from the first list on, and with the guarantee about
every list. Your own questions go to a third, which has learned from labeled questions of the same kind: a warm start.
"""

import asyncio
import contextlib
import importlib
import inspect
import logging
import math
import re
import sys
import threading
import warnings
import webbrowser
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from fastapi import Body, FastAPI, Request, Response
from sklearn.feature_extraction.text import TfidfVectorizer

from shortlist._bm25 import BM25
from shortlist._validation import Array
from shortlist.errors import ConflictingStream, ShortlistError
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.web import create_app
from shortlist.service.web.pages import STATIC, add_page
from shortlist.service.web.serializers import answerable_view, as_json

__all__ = ["ASKED", "EVERY_LIST", "SIMULATED", "Corpus", "SearchResults", "create_demo"]

_log = logging.getLogger("shortlist.service")

#: The streams of the demo.
ASKED: Final = "python-docs"
SIMULATED: Final = "simulated-users"
EVERY_LIST: Final = "simulated-users-every-list"
#: How many candidates each search returns.
_CANDIDATES: Final = 30
#: How many labeled questions `ASKED` learns from before its first list.
_LABELED: Final = 200
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


class SearchResults(NamedTuple):
    """What two searches found: functions and classes, their scores (NaN where a search did not return one), texts."""

    names: list[str]
    scores: dict[str, list[float]]
    texts: list[str | None]
    #: The lowest score that a search returned, where it may have left something out.
    bounds: dict[str, float]


class Corpus:
    """The functions and classes of the standard library, each with the first lines of its documentation."""

    def __init__(self) -> None:
        with warnings.catch_warnings(action="ignore"):  # of modules that warn when they are looked at
            documented = dict(_documented())
        self.names = sorted(documented)
        self.texts = [documented[name] for name in self.names]
        words = [f"{_spaced(name)} {_spaced(name)} {text}" for name, text in zip(self.names, self.texts, strict=True)]
        self._bm25 = BM25(words)
        self._letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
        self._trigrams = self._letters.fit_transform(words)

    def search(self, question: str) -> SearchResults:
        """Return the candidates for a question, with the scores of the searches that found them."""
        spaced = _spaced(question)
        similarity = (self._trigrams @ self._letters.transform([spaced]).T).toarray().ravel()
        scores = {"bm25": _best(self._bm25.scores(spaced)), "letters": _best(similarity)}
        places = sorted(set().union(*scores.values()))
        return SearchResults(
            [self.names[i] for i in places],
            {name: [best.get(i, math.nan) for i in places] for name, best in scores.items()},
            [self.texts[i] for i in places],
            {name: min(best.values()) for name, best in scores.items() if len(best) == _CANDIDATES},
        )

    def ask(self, rng: np.random.Generator) -> tuple[str, str]:
        """Return a user's question and the function it is about: a few words, with a typo in one."""
        position = int(rng.integers(len(self.names)))
        words = re.findall(r"[A-Za-z]+", f"{_spaced(self.names[position])} {self.texts[position]}")
        picked = sorted(rng.choice(len(words), size=min(len(words), int(rng.integers(3, 7))), replace=False))
        said = [words[i].lower() for i in picked]
        typo = int(rng.integers(len(said)))
        gap = int(rng.integers(len(said[typo])))
        said[typo] = said[typo][:gap] + said[typo][gap + 1 :]
        return " ".join(filter(None, said)), self.names[position]

    def labeled(self) -> tuple[list[list[list[float | None]]], list[int], list[str]]:
        """Return lists whose right candidate is known, as a warm start takes them, and the names of the scorers."""
        rng, lists, right, scorers = np.random.default_rng(0), [], [], list[str]()
        for _ in range(_LABELED):
            question, name = self.ask(rng)
            results = self.search(question)
            scorers = list(results.scores)
            rows = zip(*results.scores.values(), strict=True)
            lists.append([[None if math.isnan(score) else score for score in row] for row in rows])
            right.append(results.names.index(name) if name in results.names else -1)
        return lists, right, scorers


def _best(scores: Array) -> dict[int, float]:
    """Return the best results of a search, by position; only those with a positive score."""
    order = np.argsort(-scores, kind="stable")[:_CANDIDATES]
    return {int(i): round(float(scores[i]), 6) for i in order if scores[i] > 0}


def _documented() -> list[tuple[str, str]]:
    documented: dict[str, str] = {}
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
            _take(documented, f"{name}.{member}".removeprefix("builtins."), item)
    for kind in _TYPES:
        for member, item in vars(kind).items():
            if not member.startswith("_"):
                _take(documented, f"{kind.__name__}.{member}", item)
    return list(documented.items())


def _take(documented: dict[str, str], name: str, item: Any) -> None:
    text = inspect.getdoc(item) or ""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    lines = [
        part
        for part in paragraphs
        if len(part) > 15 and not re.match(rf"{name.rsplit('.', maxsplit=1)[-1]}\(.*\) ->", part)
    ]
    if lines:
        documented[name] = lines[0][:300]


def _spaced(name: str) -> str:
    """Return a name in words: readLines and read_lines are both read lines."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[._]", " ", name)


class _Users:
    """Simulated users: they know which function they look for."""

    def __init__(self, engine: Engine, corpus: Corpus) -> None:
        self._engine, self._corpus = engine, corpus
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
                _log.warning("the simulated users wait: %s", error)
                await asyncio.sleep(1.0)

    async def _work(self) -> None:
        rng = np.random.default_rng()
        while True:
            question, right = self._corpus.ask(rng)
            results = self._corpus.search(question)
            for stream in (SIMULATED, EVERY_LIST):
                logged, _ = await self._engine.propose(
                    stream, results.names, results.scores, question=question, texts=results.texts
                )
                answer = ("hit", right) if right in logged.members else ("miss",)
                await self._engine.answer(stream, logged.shown.round_id, *answer)
            await asyncio.sleep(0.02)


def create_demo(address: str, *, simulate: bool = True, allowed_hosts: Sequence[str] = ()) -> FastAPI:
    """Return the app with the demo in it.

    Parameters
    ----------
    address
        The database.
    simulate
        Whether the simulated users start at once.
    allowed_hosts
        As in `create_app`.
    """
    corpus = Corpus()
    streams = {
        ASKED: StreamSettings.of(coverage=0.9, at_least=1),
        SIMULATED: StreamSettings.of(coverage=0.9),
        EVERY_LIST: StreamSettings.of(coverage=0.9, delta=0.01, on_drift="report"),
    }
    app = create_app(address, allowed_hosts=allowed_hosts)
    serve = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with serve(app):
            engine: Engine = app.state.engine
            for name, settings in streams.items():
                with contextlib.suppress(ConflictingStream):  # of an earlier run, with another version of Python
                    await engine.create_stream(name, settings)
                    if name == ASKED and not (await engine.summary(name)).events:
                        await engine.warm_start(name, *corpus.labeled())
            users = app.state.users = _Users(engine, corpus)
            users.switch(simulate)
            yield
            await users.stop()

    app.router.lifespan_context = lifespan
    add_page(app, "/page/demo", STATIC / "demo.html")

    @app.post("/v1/demo/ask", include_in_schema=False)
    async def ask(
        request: Request, question: Annotated[str, Body(embed=True, min_length=1, max_length=500)]
    ) -> Response:
        """Find candidates for a question, and show a shortlist of them."""
        engine: Engine = request.app.state.engine
        results = corpus.search(question)
        logged, _ = await engine.propose(
            ASKED,
            results.names,
            results.scores,
            question=question,
            texts=results.texts,
            truncated_below=results.bounds or None,
            allow_empty=True,
        )
        shown, text, _ = await engine.history.round(ASKED, logged.shown.round_id)
        return as_json({"round": answerable_view(shown, text)})

    @app.get("/v1/demo/users", include_in_schema=False)
    async def users(request: Request) -> Response:
        """Say whether users are simulated."""
        return as_json({"on": request.app.state.users.busy})

    @app.put("/v1/demo/users", include_in_schema=False)
    async def switch_users(request: Request, on: Annotated[bool, Body(embed=True)]) -> Response:
        """Simulate users, or stop."""
        request.app.state.users.switch(on)
        return as_json({"on": on})

    return app


def open_browser(url: str) -> None:
    """Open the page in a browser, if standard output is a terminal."""
    if sys.stdout.isatty():
        threading.Timer(1.0, webbrowser.open, [url]).start()


def default_file() -> Path:
    """Return where the demo keeps its log."""
    import platformdirs  # noqa: PLC0415 - only where no address is given

    return Path(platformdirs.user_data_dir("shortlist", appauthor=False)) / "demo.db"
