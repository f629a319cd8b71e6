"""Logs are JSON, one object per line."""

import json
import logging

from shortlist.service.web import log_format


def test_logs_are_json(capsys):
    root, ours = logging.getLogger(), logging.getLogger("shortlist.access")
    before = root.handlers[:], root.level, ours.level
    try:
        log_format.configure(access=True)
        ours.info("request", extra={"payload": {"request_id": "mine-1", "status": 200}})
        try:
            int("a bug")
        except ValueError:
            logging.getLogger("shortlist.service").exception("it failed")
    finally:
        root.handlers[:], root.level, ours.level = before
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert lines[0]["request_id"] == "mine-1"
    assert "ValueError" in lines[1]["trace"]
