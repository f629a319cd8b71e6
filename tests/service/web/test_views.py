"""Rounds and summaries as JSON."""

import math

from shortlist.service.web.views import as_json


def test_what_is_infinite_is_null():
    assert as_json({"threshold": -math.inf, "spark": [0.5, -math.inf]}).body == b'{"threshold":null,"spark":[0.5,null]}'
    assert as_json({"text": "é"}, 201).status_code == 201


def test_a_round_says_why_each_candidate_was_shown(sqlite_service):
    sqlite_service.make("short", at_most=1)
    sqlite_service.propose(stream="short", round_id="r1")
    found = sqlite_service.http.get("/v1/streams/short/rounds/r1").json()
    assert [(each["id"], each["shown"]) for each in found["candidates"]] == [("a", False), ("b", True)]
    why = "the score is being learned: everything is shown"
    assert [each["why"] for each in found["candidates"]] == [f"{why}; hidden because no more may be shown", why]
    sqlite_service.make("raw", score="raw")
    sqlite_service.propose(stream="raw", round_id="r1")
    found = sqlite_service.http.get("/v1/streams/raw/rounds/r1").json()
    assert {each["why"] for each in found["candidates"]} == {"no threshold yet: everything is shown"}
