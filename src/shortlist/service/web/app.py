"""The app: the routes behind the gate, and an engine for as long as it runs."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

import shortlist
from shortlist.errors import InvalidParameter
from shortlist.service.engine import Engine
from shortlist.service.keys import KeyFile
from shortlist.service.reranker import Reranker, RerankerSettings
from shortlist.service.web import pages
from shortlist.service.web.gate import BODY_LIMIT, Gate
from shortlist.service.web.hosts import Hosts
from shortlist.service.web.problems import EVERYWHERE, handle_problems
from shortlist.service.web.routes import (
    batches,
    items,
    labels,
    log,
    operations,
    rerank,
    retention,
    rounds,
    streams,
    warm_start,
)
from shortlist.service.web.server import before_shutdown
from shortlist.service.web.service_metrics import Metrics

__all__ = ["create_app"]

_log = logging.getLogger("shortlist.service")


def create_app(
    address: str,
    *,
    keys: KeyFile | None = None,
    allowed_hosts: Sequence[str] = (),
    image_hosts: Sequence[str] = (),
    allowed_origins: Sequence[str] = (),
    body_limit: int = BODY_LIMIT,
    expire_after: float | None = None,
    erase_texts_after: float | None = None,
    reranker: RerankerSettings | None = None,
    **settings: Any,
) -> FastAPI:
    """Return the app of the database at an address.

    Parameters
    ----------
    address
        ``sqlite:///file`` or ``postgresql://...``.
    keys
        The keys that are accepted; None accepts every request for this machine.
    allowed_hosts
        Host names accepted where there are no keys, besides localhost and addresses.
    image_hosts
        From where pages may show pictures, such as ``https://pictures.example.org``; from nowhere, if left out.
    allowed_origins
        The pages of other servers that browsers may call this service from, such as ``https://shop.example.org``.
    body_limit
        The size of the largest body, in bytes.
    expire_after
        Close rounds that have waited for an answer for this many seconds.
    erase_texts_after
        Erase questions and texts after this many seconds.
    reranker
        The reranker behind `rerank`; without one documents are scored by BM25 alone.
    settings
        Of the engine.
    """
    for each in allowed_origins:
        if re.fullmatch(r"https?://[a-z0-9.-]+(:\d+)?", each) is None:
            raise InvalidParameter(
                f"allowed origin {each!r} is none; give scheme and host as browsers send them, in lower case and "
                "without a path: https://shop.example.org"
            )
    metrics = Metrics(keys, retains=expire_after is not None or erase_texts_after is not None)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Engine.open(
            address, observe=metrics.commit, notice=metrics.notice, observe_fit=metrics.fit, **settings
        ) as engine:
            app.state.engine = engine
            app.state.reranker = None if reranker is None else Reranker(reranker)
            hourly = asyncio.create_task(_retain(engine, metrics, expire_after, erase_texts_after))
            with before_shutdown(engine.prepare_shutdown):
                yield
            hourly.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await hourly
            if app.state.reranker is not None:
                await app.state.reranker.close()

    # The routes themselves and not `include_router`, which would match every request twice. They are tried in
    # this order: those of rounds are the busy ones.
    topics = (rounds, batches, items, rerank, log, streams, warm_start, labels, retention, operations, pages)
    app = FastAPI(
        title="shortlist",
        version=shortlist.__version__,
        summary="Shortlists that keep the right answer, with a cutoff learned from what users pick.",
        lifespan=lifespan,
        routes=[route for topic in topics for route in topic.router.routes],
        docs_url=None,  # its scripts come from elsewhere
        redoc_url=None,
        responses=EVERYWHERE,
    )
    app.state.metrics, app.state.keys = metrics, keys
    app.state.image_hosts = tuple(image_hosts)
    app.add_middleware(
        Gate,
        keys=keys,
        hosts=Hosts(allowed_hosts, allowed_origins),
        body_limit=body_limit,
        metrics=metrics,
    )
    if allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(allowed_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
            expose_headers=["X-Request-Id"],
        )
    handle_problems(app)
    return app


async def _retain(engine: Engine, metrics: Metrics, expire_after: float | None, erase_after: float | None) -> None:
    """Close old rounds and erase old texts, once per hour."""
    while expire_after is not None or erase_after is not None:
        try:
            metrics.retained(await engine.retention.retain(expire_after, erase_after))
        except Exception:  # noqa: BLE001 - the next hour is another chance
            _log.exception("retention has to wait")
            metrics.retained(1)
        await asyncio.sleep(3600)
