"""Label Studio: a model backend that offers shortlists of choices.

Run: python examples/label_studio_backend.py

With --serve it listens on port 9090 for a real Label Studio: add http://127.0.0.1:9090 as a model there.
Without, it plays Label Studio's part itself, with the requests that Label Studio sends.
"""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import httpx
import uvicorn
from built_in import before_and_after, questions

from shortlist import Shortlister
from shortlist.integrations.label_studio import create_backend

CONFIG = '<View><Text name="text" value="$text"/><Choices name="passage" toName="text"/></View>'


def score(data: Mapping[str, Any]) -> dict[str, float]:
    """Score the choices of a task; your model stands here."""
    scores, _ = questions()[data["question"]]
    return {f"passage {i}": value for i, value in enumerate(scores.tolist())}


async def play() -> None:
    """Ask for predictions and send annotations, as Label Studio does."""
    app = create_backend(Shortlister(coverage=0.9, score="relative"), score)
    shown, hits = [], []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://backend") as http:
        await http.post("/setup", json={"project": "1", "schema": CONFIG})
        for number, (_, right) in enumerate(questions()):
            task = {"id": number, "data": {"question": number, "text": "a question"}}
            told = (await http.post("/predict", json={"tasks": [task]})).json()
            choices = told["results"][0]["result"][0]["value"]["choices"]
            region = {
                "from_name": "passage",
                "to_name": "text",
                "type": "choices",
                "value": {"choices": [f"passage {right}"]},
            }
            annotation = {"id": number, "result": [region]}
            await http.post("/webhook", json={"action": "ANNOTATION_CREATED", "task": task, "annotation": annotation})
            shown.append(len(choices))
            hits.append(f"passage {right}" in choices)
    before_and_after("Label Studio", shown, hits)


if __name__ == "__main__":
    if "--serve" in sys.argv:
        uvicorn.run(create_backend(Shortlister(coverage=0.9, score="relative"), score), port=9090)
    else:
        asyncio.run(play())
