"""The pages: static files, served with a content security policy that loads nothing from elsewhere but pictures.

They hold no data; they request it as any other client would. Charts are drawn by Plotly, whose script
comes from its own Python package.
"""

import hashlib
from pathlib import Path
from typing import Final

import plotly
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

__all__ = ["STATIC", "add_page", "router"]

STATIC: Final = Path(__file__).parents[1] / "static"
_PLOTLY: Final = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Nothing from elsewhere but pictures of hosts that are allowed, no script in the page, no eval. Plotly sets styles on
#: its elements.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src {images}; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


_FILES: Final = {path.name: path for path in STATIC.iterdir()} | {"plotly.min.js": _PLOTLY}

router = APIRouter(include_in_schema=False)


def _file(request: Request, path: Path) -> Response:
    """Return a file; the browser asks again whether it has changed."""
    stat = path.stat()
    tag = '"' + hashlib.sha256(f"{stat.st_mtime_ns}-{stat.st_size}".encode()).hexdigest()[:16] + '"'
    images = " ".join(("'self'", "data:", "blob:", *request.app.state.image_hosts))
    policy = _POLICY.format(images=images)
    headers = {**_HEADERS, "Content-Security-Policy": policy, "ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=_KINDS[path.suffix], headers=headers)


def add_page(router: FastAPI | APIRouter, path: str, file: Path) -> None:
    """Serve a page at a path."""

    @router.get(path, include_in_schema=False)
    async def page(request: Request) -> Response:
        return _file(request, file)


add_page(router, "/", STATIC / "overview.html")
add_page(router, "/page/start", STATIC / "start.html")
add_page(router, "/page/streams/{name}", STATIC / "stream.html")
add_page(router, "/page/streams/{name}/answer", STATIC / "answer.html")
add_page(router, "/favicon.ico", STATIC / "icon.svg")


@router.get("/static/{name}")
async def static(request: Request, name: str) -> Response:
    """Return a file that the pages need."""
    if name not in _FILES:
        raise HTTPException(404, "there is no such file")
    return _file(request, _FILES[name])
