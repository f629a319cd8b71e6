"""The OpenAPI document is true: schemathesis finds nothing that it does not say."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.rounds.summary import ErrorBudget

ROOT = Path(__file__).parents[3]


def fuzz(service, examples):
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"{service.url}/openapi.json",
        "--exclude-path-regex=/live$",  # never ends; tested in routes/test_streams.py
        "--exclude-checks=positive_data_acceptance,negative_data_rejection",  # schemathesis_checks.py takes their place
        f"--max-examples={examples}",
        "--seed=1",
        "--request-timeout=20",
        "--workers=1",  # two threads at once trip over each other in CPython 3.11's `ast.parse`
    ]
    env = os.environ | {"SCHEMATHESIS_HOOKS": "tests.service.schemathesis_checks", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    assert "API Links:" in done.stdout
    return done.stdout


def test_the_document_is_true(sqlite_service):
    """On PostgreSQL too, and at length, in `make soak`."""
    fuzz(sqlite_service, 10)
    assert sqlite_service.http.get("/healthz").status_code == 200


@pytest.mark.soak
def test_the_document_is_true_at_length(service):
    print(fuzz(service, 500)[-1500:])


def test_every_route_has_its_problems_declared(service):
    document = service.http.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if path.startswith("/v1/"):
                assert {"422", "503"} <= set(operation["responses"]), (method, path)
                assert operation["operationId"], (method, path)
    links = document["paths"]["/v1/streams"]["post"]["responses"]["201"]["links"]
    assert links["propose"]["operationId"] == "propose"


def test_the_error_budget_is_in_the_document(service):
    schemas = service.http.get("/openapi.json").json()["components"]["schemas"]
    setting = schemas["NewStream"]["properties"]["miss_budget"]
    assert setting["default"] == "auto"
    assert {"type": "integer", "minimum": 1, "maximum": 1_000_000} in setting["anyOf"]
    assert {"type": "null"} in setting["anyOf"]
    reference = {"$ref": "#/components/schemas/ErrorBudget"}
    assert schemas["StreamSummary"]["properties"]["error_budget"]["anyOf"] == [reference, {"type": "null"}]
    assert set(schemas["ErrorBudget"]["required"]) == {each.name for each in dataclasses.fields(ErrorBudget)}
    for name in ("StreamSummary", "ErrorBudget", "Drift", "NewStream", "Changes"):
        assert [key for key, each in schemas[name]["properties"].items() if not each.get("description")] == [], name
    assert {"added", "reached"} <= set(schemas["RoundShown"]["required"]) & set(schemas["RoundView"]["required"])
