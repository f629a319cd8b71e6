"""The page of metrics and the rules of alerts, against what a service exposes."""

import re

import pytest
import yaml

from shortlist.service.keys import KeyFile
from tests.docs.pages import ROOT
from tests.service.running import running

PAGE = (ROOT / "docs" / "how-to" / "metrics.md").read_text()
RULES = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text())["groups"][0]["rules"]
#: What a row names, and its last cell.
ROWS = dict(re.findall(r"^\| `(shortlist_\w+)` \|.*\| ([^|]*)\|$", PAGE, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def exposed(tmp_path_factory):
    """Return the kind of every metric of a service in which everything is on."""
    folder = tmp_path_factory.mktemp("metrics")
    key = KeyFile(folder / "keys.json").create("me", ["admin"])
    keys = KeyFile(folder / "keys.json")
    with running(f"sqlite:///{folder}/log.db", keys=keys, expire_after=3600) as service:
        service.http.headers["Authorization"] = f"Bearer {key}"
        service.make(on_drift="report", delta=0.01)
        page = service.http.get("/metrics").text
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, flags=re.MULTILINE))


def test_every_metric_is_in_the_table_and_no_other(exposed):
    assert set(ROWS) == set(exposed)


def test_every_alert_is_in_the_table_and_of_metrics_that_exist(exposed):
    series = set(exposed) | {f"{name}_bucket" for name, kind in exposed.items() if kind == "histogram"}
    for rule in RULES:
        assert set(re.findall(r"shortlist_\w+", rule["expr"])) <= series, rule["alert"]
        assert rule["annotations"]["summary"]
    named = {word for cell in ROWS.values() for word in re.findall(r"`([A-Z]\w+)`", cell)}
    assert named == {rule["alert"] for rule in RULES}
    for name, cell in ROWS.items():
        for alert in re.findall(r"`([A-Z]\w+)`", cell):
            rule = next(rule for rule in RULES if rule["alert"] == alert)
            assert name in rule["expr"], (name, alert)


def test_the_rules_on_the_page_of_the_service_are_those_of_the_file():
    page = (ROOT / "docs" / "how-to" / "service.md").read_text()
    shown = yaml.safe_load(re.search(r"```text\n(groups:.*?)```", page, flags=re.DOTALL)[1])["groups"][0]["rules"]
    assert shown == RULES[: len(shown)]


def test_counters_are_named_as_prometheus_wants_it(exposed):
    assert {name.endswith("_total") for name, kind in exposed.items() if kind == "counter"} == {True}
    assert not [name for name, kind in exposed.items() if kind != "counter" and name.endswith("_total")]
