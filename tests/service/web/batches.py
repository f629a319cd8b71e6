"""Lists to send many of, and JSON lines."""

import json

__all__ = ["LINES", "LISTED", "post_lines", "rounds"]

LISTED = [{"id": "a", "score": 0.3}, {"id": "b", "score": 0.9}]
LINES = {"Content-Type": "application/jsonl"}


def rounds(count, start=0):
    return [{"round_id": f"r{i}", "candidates": LISTED} for i in range(start, start + count)]


def post_lines(service, path, items, **headers):
    """Send JSON lines; return the results."""
    content = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in items).encode()
    answer = service.http.post(f"/v1/streams/docs/{path}", content=content, headers=LINES | headers)
    assert answer.status_code == 207, answer.text
    assert answer.headers["content-type"] == "application/jsonl"
    return [json.loads(line) for line in answer.text.splitlines()]
