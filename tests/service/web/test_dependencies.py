"""What routes take from the app."""

import asyncio

import httpx
from fastapi import FastAPI, Response

from shortlist.service.web.dependencies import CurrentEngine, CurrentMetrics


def test_each_app_has_its_own():
    def make(number):
        app = FastAPI()
        app.state.engine, app.state.metrics = f"engine {number}", f"metrics {number}"

        @app.get("/")
        async def both(engine: CurrentEngine, metrics: CurrentMetrics) -> Response:
            return Response(f"{engine}, {metrics}")

        return app

    async def main():
        answers = []
        for app in (make(1), make(2)):
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as http:
                answers.append((await http.get("/")).text)
        return answers

    assert asyncio.run(main()) == ["engine 1, metrics 1", "engine 2, metrics 2"]
