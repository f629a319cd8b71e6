"""What routes take from the app: the engine and the metrics."""

from typing import Annotated

from fastapi import Depends, Request

from shortlist.service.engine import Engine
from shortlist.service.web.metrics import Metrics

__all__ = ["CurrentEngine", "CurrentMetrics"]

# Coroutines, although they await nothing: FastAPI would run plain functions in a thread of its pool.


async def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


CurrentEngine = Annotated[Engine, Depends(_engine)]
CurrentMetrics = Annotated[Metrics, Depends(_metrics)]
