"""The command `items`, with a service and without."""

import json

import pytest

from tests.cli.command import refused, shortlist
from tests.service.running import running

ITEM = {"candidates": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.2}]}


@pytest.fixture
def service(tmp_path):
    with running(f"sqlite:///{tmp_path}/log.db") as service:
        service.make("images")
        yield service


def test_items_from_a_file_twice_are_once(service, tmp_path):
    (tmp_path / "items.jsonl").write_text("\n".join(json.dumps({"id": f"i{n}", **ITEM}) for n in range(3)) + "\n\n")
    (tmp_path / "items.json").write_text(json.dumps([{"id": f"i{n}", **ITEM} for n in range(4)]))
    for file in ("items.jsonl", "items.json"):
        done = shortlist("items", "add", "images", file, "--url", service.url, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "4 items in stream images" in done.stderr
    counted = shortlist("items", "count", "images", "--url", service.url, cwd=tmp_path)
    assert counted.stdout.split()[:4] == ["waiting", "4", "open", "0"]


def test_each_line_that_is_refused_is_named_and_the_others_are_stored(service, tmp_path):
    twice = {"id": "twice", "candidates": [{"id": "a", "score": 0.9}, {"id": "a", "score": 0.2}]}
    lines = [json.dumps({"id": f"i{n}", **ITEM}) for n in range(600)]
    lines[3] = json.dumps(twice)
    lines[550] = '{"id": "text", "candidates": [{"id": "a", "score": "high"}]}'
    lines[551] = '{"id": "nan", "candidates": [{"id": "a", "score": NaN}]}'
    lines += ["{", '{"id": 5}', '{"id": "none"}', "5"]
    (tmp_path / "items.jsonl").write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())  # as Windows writes it
    done = shortlist("items", "add", "images", "items.jsonl", "--url", service.url, cwd=tmp_path)
    assert done.returncode == 1
    for message in (
        "line 4 (twice): ",
        'line 551 (text): candidates[0].score is "high": it should be a number',
        "line 552: NaN is not JSON",
        "line 601: not JSON",
        "line 602: id is 5; it must be a string",
        "line 603 (none): candidates is missing",
        "line 604: not an item",
        "597 items in stream images, 7 refused",
    ):
        assert message in done.stderr, done.stderr
    assert service.http.get("/v1/streams/images/items").json()["waiting"] == 597


@pytest.mark.parametrize(("content", "message"), [(None, "cannot be read"), (b"\xff\xfe", "is not UTF-8 text")])
def test_files_that_cannot_be(tmp_path, content, message):
    if content is not None:
        (tmp_path / "items.jsonl").write_bytes(content)
    refused(shortlist("items", "add", "images", "items.jsonl", cwd=tmp_path), message)
