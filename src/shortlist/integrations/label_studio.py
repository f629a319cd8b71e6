"""Label Studio: its ML-backend protocol, spoken by a small app of our own.

Candidate choices go out as predictions, annotations come in by webhook. Each task is a round; the first
annotation of a task is its answer, and a webhook that comes again counts once.

    app = create_backend(Shortlister(coverage=0.9), scorer)   # scorer: a task's data -> {choice: score}
    # uvicorn module:app --port 9090, and add http://127.0.0.1:9090 as a model in Label Studio
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from shortlist.errors import ConflictingAnswer, InvalidInput, MissingExtra, ShortlistError
from shortlist.integrations.offering import Found, Offering

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse
except ImportError:
    raise MissingExtra(
        "the Label Studio backend needs fastapi, which is in an extra: pip install 'shortlist[service]'"
    ) from None

__all__ = ["create_backend"]

_log = logging.getLogger("shortlist.label_studio")
#: How many tasks are remembered with their rounds.
_MOST: Final = 100_000

Scorer = Callable[[Mapping[str, Any]], Mapping[str, float]]


class _Backend:
    def __init__(self, lister: Any, scorer: Scorer, *, version: str) -> None:
        self.offering = Offering(lister)
        self.scorer, self.version = scorer, version
        # Which round a task is, and what was shown in it.
        self.rounds: OrderedDict[str, tuple[Any, tuple[Any, ...]]] = OrderedDict()
        self.tags: tuple[str, str] = ("choice", "text")
        self.lock = asyncio.Lock()

    def configure(self, config: str | None) -> None:
        """Read the names of the control and of the object that it is for."""
        if not config:
            return
        try:
            root = ET.fromstring(config)  # noqa: S314 - no entities are resolved; it comes from Label Studio
        except ET.ParseError as error:
            raise InvalidInput(f"the labelling configuration is not XML: {error}") from None
        control = root.find(".//Choices")
        if control is None:
            raise InvalidInput("the labelling configuration has no <Choices>; shortlist offers choices")
        self.tags = (control.get("name", "choice"), control.get("toName", "text"))

    async def predict(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return the shortlist of a task, as a prediction."""
        name = str(task.get("id"))
        async with self.lock:
            if name not in self.rounds:
                scores = await asyncio.to_thread(self.scorer, task.get("data", {}))
                found = Found(list(scores), list(scores.values()), more=False)
                shown, _ = await self.offering.offer_async(found, list(scores), question=_question(task))
                if shown is None:
                    raise InvalidInput(f"the scorer found no choice for task {name}")
                self.rounds[name] = (shown.round_id, shown.members)
                while len(self.rounds) > _MOST:
                    self.rounds.popitem(last=False)
            _, members = self.rounds[name]
        value = {"choices": [str(member) for member in members]}
        region = {"from_name": self.tags[0], "to_name": self.tags[1], "type": "choices", "value": value}
        return {"result": [region], "score": 1.0, "model_version": self.version}

    async def learn(self, body: Mapping[str, Any]) -> str:
        """Take an annotation; say what came of it."""
        if body.get("action") not in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED"):
            return "ignored: not an annotation"
        name = str((body.get("task") or {}).get("id"))
        if name not in self.rounds:
            return "ignored: this task was not shown"
        annotation = body.get("annotation") or {}
        round_id, members = self.rounds[name]
        picked = _picked(annotation, self.tags[0])
        try:
            if annotation.get("was_cancelled"):
                await self.offering.call_async("skip", round_id)
            elif picked in [str(member) for member in members]:
                member = next(member for member in members if str(member) == picked)
                await self.offering.call_async("hit", round_id, member)
            else:
                await self.offering.call_async("miss", round_id)
        except ConflictingAnswer:
            return "ignored: the task's first annotation counts"
        return "learnt"


def create_backend(lister: Any, scorer: Scorer, *, version: str = "shortlist") -> FastAPI:
    """Return an app that Label Studio takes for a model.

    Parameters
    ----------
    lister
        A Shortlister, or a Client or AsyncClient of the service.
    scorer
        From a task's data to a score for each choice.
    version
        The model's version as Label Studio shows it.
    """
    backend = _Backend(lister, scorer, version=version)
    app = FastAPI(title="shortlist for Label Studio", docs_url=None, redoc_url=None)
    app.state.backend = backend

    @app.exception_handler(ShortlistError)
    def _refused(_request: Request, error: ShortlistError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, status_code=400)

    @app.get("/")
    @app.get("/health")
    async def health() -> dict[str, Any]:
        """Say that the backend is up."""
        return {"status": "UP", "model_class": "shortlist", "model_version": version}

    @app.post("/setup")
    async def setup(request: Request) -> dict[str, Any]:
        """Take the project's labelling configuration."""
        body = await _body(request)
        backend.configure(body.get("schema"))
        return {"model_version": version}

    @app.post("/predict")
    async def predict(request: Request) -> dict[str, Any]:
        """Return the shortlist of each task."""
        body = await _body(request)
        backend.configure(body.get("label_config"))
        tasks = body.get("tasks") or []
        return {"results": [await backend.predict(task) for task in tasks], "model_version": version}

    @app.post("/webhook", status_code=201)
    async def webhook(request: Request) -> dict[str, Any]:
        """Take an annotation."""
        return {"result": await backend.learn(await _body(request))}

    return app


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = await request.json()
    except ValueError:
        raise InvalidInput("the body is not JSON") from None
    if not isinstance(body, dict):
        raise InvalidInput("the body is not a JSON object")
    return body


def _picked(annotation: Mapping[str, Any], control: str) -> str | None:
    """Return the choice of an annotation."""
    for region in annotation.get("result") or []:
        choices = (region.get("value") or {}).get("choices") or []
        if region.get("type") == "choices" and region.get("from_name") == control and choices:
            return str(choices[0])
    return None


def _question(task: Mapping[str, Any]) -> str | None:
    """Return the first text of a task's data."""
    return next((value[:20_000] for value in (task.get("data") or {}).values() if isinstance(value, str)), None)
