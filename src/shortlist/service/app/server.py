"""Running the app: uvicorn, and a stop that ends live streams before it waits for requests."""

import asyncio
import gc
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

__all__ = ["run"]


class _Server(uvicorn.Server):
    """Ends server-sent events when it is told to stop: they would never end by themselves."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        # What is there now stays; looking through it again and again costs the collector a tenth of a second.
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        engine = getattr(self._app.state, "engine", None)
        if engine is not None:
            self._loop.call_soon_threadsafe(engine.end_changes)

    @property
    def _app(self) -> FastAPI:
        app = self.config.app
        assert isinstance(app, FastAPI)  # noqa: S101 - for the type checker
        return app


def run(app: FastAPI, *, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve an app until a signal says stop."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=10,
        server_header=False,
    )
    _Server(config).run()
