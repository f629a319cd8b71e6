"""Labels and classes over HTTP."""

import csv
import io
import json

import pytest

from shortlist.service.keys import KeyFile
from shortlist.service.web import item_replies
from tests.service.running import running
from tests.service.web.checks import problem, strict


@pytest.fixture
def labeled(sqlite_service):
    """Three rounds: picked, picked after more, not found."""
    service = sqlite_service
    service.http.patch("/v1/streams/docs", json={"at_most": 1})
    for number, (answer, more) in enumerate([({"hit": "b"}, False), ({"hit": "a"}, True), ({"miss": True}, False)]):
        shown = service.propose(round_id=f"i{number}", question=f"question {number}").json()
        if more:
            service.http.post(f"/v1/streams/docs/rounds/i{number}/more", json={})
        assert service.answer(shown["round_id"], answer).status_code == 200
    return service


def test_a_training_set_in_three_kinds(labeled, tmp_path):
    answer = labeled.http.get("/v1/streams/docs/labels")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["item"], row["label"], row["how"]) for row in rows] == [
        ("i0", "b", "list"),
        ("i1", "a", "more"),
        ("i2", "", "not in list"),
    ]
    assert answer.headers["content-disposition"] == 'attachment; filename="docs-labels.csv"'
    lines = labeled.http.get("/v1/streams/docs/labels?format=jsonl").text.splitlines()
    assert [json.loads(line)["question"] for line in lines] == ["question 0", "question 1", "question 2"]
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "labels.parquet"
    file.write_bytes(labeled.http.get("/v1/streams/docs/labels?format=parquet").content)
    assert [row["label"] for row in parquet.read_table(file).to_pylist()] == ["b", "a", None]


def test_parquet_needs_its_library(labeled, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    answer = labeled.http.get("/v1/streams/docs/labels?format=parquet")
    assert "[experiments]'" in problem(answer, 501, "missing-extra")["detail"]


def test_classes_as_json_and_as_a_table(labeled):
    view = strict(item_replies.ClassViews).model_validate(labeled.http.get("/v1/streams/docs/classes").json())
    assert [(each.label, each.covered, each.missed) for each in view.classes] == [("a", 0, 1), ("b", 1, 0)]
    assert (view.class_count, view.unlabeled, view.hours[0].answers) == (2, 1, 3)
    short = labeled.http.get("/v1/streams/docs/classes?limit=1").json()
    assert (len(short["classes"]), short["class_count"]) == (1, 2)
    table = list(csv.DictReader(io.StringIO(labeled.http.get("/v1/streams/docs/classes?format=csv").text)))
    assert [(row["label"], row["missed"], float(row["coverage"])) for row in table] == [
        ("a", "1", 0.0),
        ("b", "0", 1.0),
    ]
    problem(labeled.http.get("/v1/streams/nowhere/classes"), 404, "unknown-stream")
    problem(labeled.http.get("/v1/streams/nowhere/labels"), 404, "unknown-stream")


def test_classes_have_their_names(sqlite_service):
    """The texts of the candidates: in the table of classes, in the training set, and not where they were erased."""
    service = sqlite_service
    names = {"c0": "Lesser Thrush", "c1": "Common Thrush", "c2": None}
    candidates = [{"id": label, "score": 0.5} | ({"text": text} if text else {}) for label, text in names.items()]
    for number, pick in enumerate(["c0", "c1", "c1", "c2"]):
        shown = service.http.post(
            "/v1/streams/docs/rounds", json={"round_id": f"i{number}", "candidates": candidates}
        ).json()
        assert service.answer(shown["round_id"], {"hit": pick}).status_code == 200
    classes = service.http.get("/v1/streams/docs/classes").json()["classes"]
    assert {each["label"]: each["text"] for each in classes} == names
    rows = list(csv.DictReader(io.StringIO(service.http.get("/v1/streams/docs/labels").text)))
    assert [row["label_text"] for row in rows] == ["Lesser Thrush", "Common Thrush", "Common Thrush", ""]
    table = list(csv.DictReader(io.StringIO(service.http.get("/v1/streams/docs/classes?format=csv").text)))
    assert {row["label"]: row["text"] or None for row in table} == names


def test_a_label_is_corrected_with_a_key_that_may_review(sqlite, keys):
    """An annotator's key may not; the training set says who did."""
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:

        def call(method, path, scope, body=None):
            headers = {"Authorization": f"Bearer {keys[scope]}"}
            return service.http.request(method, f"/v1/streams/docs{path}", json=body, headers=headers)

        headers = {"Authorization": f"Bearer {keys['admin']}"}
        service.http.post("/v1/streams", json={"name": "docs", "coverage": 0.9}, headers=headers)
        candidates = [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.1}]
        call("POST", "/rounds", "propose", {"round_id": "r", "candidates": candidates})
        problem(call("PUT", "/labels/r", "review", {"label": "b"}), 409, "conflicting-round")
        call("PUT", "/rounds/r/feedback", "feedback", {"hit": "a"})
        for scope in ("propose", "feedback", "read"):
            assert call("PUT", "/labels/r", scope, {"label": "b"}).status_code == 403
        answer = call("PUT", "/labels/r", "review", {"label": "b", "note": "a closer look"})
        assert strict(item_replies.CorrectionView).model_validate(answer.json()).reviewer == "review"
        (row,) = csv.DictReader(io.StringIO(call("GET", "/labels", "read").text))
        assert (row["label"], row["first_labels"]) == ("b", '["a"]')
        assert (row["corrected_by"], row["note"]) == ("review", "a closer look")
        problem(call("PUT", "/labels/r", "review", {"label": "z"}), 422, "not-shown")
        assert call("PUT", "/labels/r", "review", {"labl": "b"}).status_code == 422
        assert call("PUT", "/labels/none", "review", {"label": "b"}).status_code == 404
