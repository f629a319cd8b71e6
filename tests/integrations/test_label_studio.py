"""Label Studio's ML-backend protocol, with requests as Label Studio sends them."""

import numpy as np
import pytest

from shortlist import Client, Shortlister
from shortlist.integrations.label_studio import create_backend
from tests.integrations.world import check, questions
from tests.service.running import running

CONFIG = """<View><Text name="text" value="$text"/>
<Choices name="sentiment" toName="text" choice="single"><Choice value="good"/><Choice value="bad"/></Choices></View>"""


def scorer(data):
    return data.get("scores", {"good": 0.8, "bad": 0.3, "neither": 0.1})


def task(number, **data):
    return {"id": number, "data": {"text": "a text", **data}, "project": 1, "annotations": [], "predictions": []}


def annotation(number, choice, action="ANNOTATION_CREATED", **more):
    value = {"value": {"choices": [choice]}, "from_name": "sentiment", "to_name": "text", "type": "choices"}
    result = [value] if choice else []
    return {
        "action": action,
        "task": task(number),
        "project": {"id": 1},
        "annotation": {"id": 77, "result": result, "was_cancelled": False, "task": number, **more},
    }


@pytest.fixture
def backend():
    with running(None, app=create_backend(Shortlister(coverage=0.9), scorer, version="v1")) as service:
        yield service


def test_the_protocol(backend):
    http = backend.http
    assert http.get("/health").json()["status"] == "UP"
    setup = {"project": "1.1700000000", "schema": CONFIG, "hostname": "http://localhost:8080", "access_token": "x"}
    assert http.post("/setup", json=setup).json() == {"model_version": "v1"}
    body = {
        "tasks": [task(1), task(2), task(3)],
        "project": "1.17",
        "label_config": CONFIG,
        "params": {"context": None},
    }
    results = http.post("/predict", json=body).json()["results"]
    assert results[0] == {
        "result": [
            {
                "from_name": "sentiment",
                "to_name": "text",
                "type": "choices",
                "value": {"choices": ["good", "bad", "neither"]},
            }
        ],
        "score": 1.0,
        "model_version": "v1",
    }
    assert http.post("/predict", json=body).json()["results"] == results  # the same round, not another
    lister = backend.app.state.backend.offering.lister
    assert lister.summary()["rounds"] == 3
    for _ in range(3):  # webhooks come again when Label Studio is not sure
        assert http.post("/webhook", json=annotation(1, "bad")).json() == {"result": "learnt"}
    assert http.post("/webhook", json=annotation(2, "something else")).json() == {"result": "learnt"}
    assert http.post("/webhook", json=annotation(3, None, was_cancelled=True)).json() == {"result": "learnt"}
    changed = http.post("/webhook", json=annotation(1, "good", "ANNOTATION_UPDATED")).json()
    assert changed == {"result": "ignored: the task's first annotation counts"}
    assert http.post("/webhook", json=annotation(9, "good")).json() == {"result": "ignored: this task was not shown"}
    assert http.post("/webhook", json={"action": "PROJECT_UPDATED"}).json()["result"].startswith("ignored")
    summary = lister.summary()
    assert (summary["hits"], summary["misses"], summary["skipped"], summary["open"]) == (1, 1, 1, 0)


def test_what_is_refused(backend):
    for path, body in (("/predict", b"nonsense"), ("/webhook", b"[]"), ("/setup", b'{"schema": "<View>"}')):
        answer = backend.http.post(path, content=body)
        assert answer.status_code == 400
        assert answer.json()["error"]
    answer = backend.http.post("/setup", json={"schema": "<View><Text name='a'/></View>"})
    assert "has no <Choices>" in answer.json()["error"]


def test_two_thousand_tasks():
    lister = Shortlister(coverage=0.9, score="relative")
    with running(None, app=create_backend(lister, scorer)) as service:
        service.http.post("/setup", json={"schema": CONFIG})
        shown, hits = [], []
        for number, (scores, right) in enumerate(questions()):
            given = {f"p{i}": float(score) for i, score in enumerate(scores)}
            answer = service.http.post("/predict", json={"tasks": [task(number, scores=given)]}).json()
            choices = answer["results"][0]["result"][0]["value"]["choices"]
            shown.append(len(choices))
            hits.append(f"p{right}" in choices)
            service.http.post("/webhook", json=annotation(number, f"p{right}"))
    check(shown, hits, "Label Studio")
    assert lister.summary()["misses"] == int(np.sum(~np.array(hits)))


def test_with_the_service(tmp_path):
    with running(f"sqlite:///{tmp_path}/log.db") as service, Client(service.url, "labels") as client:
        client.create()
        with running(None, app=create_backend(client, scorer)) as backend:
            backend.http.post("/setup", json={"schema": CONFIG})
            backend.http.post("/predict", json={"tasks": [task(1)]})
            assert backend.http.post("/webhook", json=annotation(1, "good")).json() == {"result": "learnt"}
        assert client.summary()["hits"] == 1
        assert client.rounds()["rounds"][0]["question"] == "a text"
