"""For those who run the service: liveness, readiness, metrics."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

import shortlist
from shortlist.service.web.dependencies import CurrentEngine, CurrentMetrics
from shortlist.service.web.problems import EVERYWHERE
from shortlist.service.web.serializers import as_json

__all__ = ["router"]

router = APIRouter(responses=EVERYWHERE)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", operation_id="healthz", response_model=dict[str, str])
async def healthz() -> Response:
    """Say that the process is alive."""
    return as_json({"status": "ok", "version": shortlist.__version__})


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", operation_id="readyz", response_model=dict[str, str | int])
async def readyz(engine: CurrentEngine) -> Response:
    """Say whether requests can be served: the database answers and takes writes; and how many fits are computed."""
    await engine.check()
    return as_json({"status": "ready", "fits_waiting": engine.fits_waiting})


@router.get(
    "/metrics",
    operation_id="metrics",
    response_class=PlainTextResponse,
    responses={200: {"description": "For Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def prometheus(engine: CurrentEngine, metrics: CurrentMetrics) -> Response:
    """Return metrics in the format of Prometheus."""
    return Response(await metrics.page(engine), media_type="text/plain; version=0.0.4")
