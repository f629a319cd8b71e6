"""The pages: plain files, served as they are, with a policy that lets nothing else in.

They hold no data; they ask for it as any other program would. Charts are drawn by Plotly, whose script
comes from its own Python package.
"""

import hashlib
from pathlib import Path
from typing import Final

import plotly
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

__all__ = ["STATIC", "add_page", "add_pages"]

STATIC: Final = Path(__file__).parents[1] / "static"
_PLOTLY: Final = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Nothing from elsewhere, no script in the page, no eval. Plotly sets styles on its elements.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def _file(request: Request, path: Path) -> Response:
    """Return a file; the browser asks again whether it has changed."""
    found = path.stat()
    tag = '"' + hashlib.sha256(f"{found.st_mtime_ns}-{found.st_size}".encode()).hexdigest()[:16] + '"'
    headers = {**_HEADERS, "ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=_KINDS[path.suffix], headers=headers)


def add_page(app: FastAPI, path: str, file: Path) -> None:
    """Serve a page at a path."""

    @app.get(path, include_in_schema=False)
    async def page(request: Request) -> Response:
        return _file(request, file)


def add_pages(app: FastAPI) -> None:
    """Serve the pages and what they need."""
    add_page(app, "/", STATIC / "overview.html")
    add_page(app, "/page/streams/{name}", STATIC / "stream.html")
    add_page(app, "/page/streams/{name}/answer", STATIC / "answer.html")
    add_page(app, "/favicon.ico", STATIC / "icon.svg")
    files = {path.name: path for path in STATIC.iterdir()} | {"plotly.min.js": _PLOTLY}

    @app.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is no such file")
        return _file(request, files[name])
