"""The log: what is written, and what is read back."""

import json
import os

import pytest

from shortlist.errors import UnwritableFile
from shortlist.integrations.mcp.search_log import SearchLog, read_log
from tests.integrations.tools.given import NAMES, searching
from tests.integrations.tools.test_searches import Recorder


def work(path, task="a secret"):
    """Search, ask for more, call."""
    log = SearchLog(path)
    tools = searching(Recorder(), on_event=log.add)
    tools.search(task)
    tools.more(count=1)
    tools.called(NAMES[2])
    tools.search(task)
    log.close()
    return tools


def test_events_are_read_back(tmp_path):
    path = tmp_path / "folder" / "log.jsonl"
    tools = work(path)
    events = list(read_log(path))
    assert [event["do"] for event in events] == ["find", "more", "call", "answer", "find"]
    assert tools.summary() == type(tools.summary()).of(events)
    assert "secret" not in path.read_text()  # no word of an agent is in it


def test_a_line_that_was_cut_off_stays_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    work(path)
    with path.open("a") as file:
        file.write('{"do":"call","search":"2","to')  # the process ended here
    log = SearchLog(path)
    log.add({"do": "call", "search": "2", "tool": "x", "failed": False, "reported": False, "counts": True})
    log.close()
    assert json.loads(path.read_text().splitlines()[-1])["tool"] == "x"
    assert len(list(read_log(path))) == 6


def test_after_a_full_disk_lines_stand_alone(tmp_path, monkeypatch):
    log = SearchLog(tmp_path / "log.jsonl")
    event = {"do": "more", "search": "0", "names": [], "tokens": 0, "again": False}
    write = os.write
    log.add(event)
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:10]))
    log.add(event)
    monkeypatch.setattr(os, "write", write)
    log.add(event)
    log.add(event)
    log.close()
    assert len(list(read_log(tmp_path / "log.jsonl"))) == 3


def test_a_log_that_is_not_there(tmp_path):
    assert list(read_log(tmp_path / "none.jsonl")) == []


def test_a_path_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFile, match="cannot be used for the log"):
        SearchLog(tmp_path / "file" / "log.jsonl")


@pytest.mark.parametrize(
    "line", [b'{"do": "find"}', b'{"do": "find", "search": "1", "names": []}', b'{"do": "call"}', b"\xff", b"3"]
)
def test_a_line_that_was_changed_is_left_out(line, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(line + b"\n")
    SearchLog(path).close()
    assert list(read_log(path)) == []
