"""Rounds and summaries as JSON."""

import math

from shortlist.service.web.serializers import as_json


def test_what_is_infinite_is_null():
    assert as_json({"threshold": -math.inf, "spark": [0.5, -math.inf]}).body == b'{"threshold":null,"spark":[0.5,null]}'
    assert as_json({"text": "é"}, 201).status_code == 201


def test_a_round_says_why_each_candidate_was_shown(sqlite_service):
    sqlite_service.make("short", at_most=1)
    sqlite_service.propose(stream="short", round_id="r1")
    found = sqlite_service.http.get("/v1/streams/short/rounds/r1").json()
    assert [(each["id"], each["shown"]) for each in found["candidates"]] == [("a", False), ("b", True)]
    why = "the score is being learned: everything is shown"
    assert [each["why"] for each in found["candidates"]] == [f"{why}; hidden because of at_most", why]
    sqlite_service.make("raw", score="raw")
    sqlite_service.propose(stream="raw", round_id="r1")
    found = sqlite_service.http.get("/v1/streams/raw/rounds/r1").json()
    assert {each["why"] for each in found["candidates"]} == {"no threshold yet: everything is shown"}


def test_a_round_says_what_was_shown_when_more_was_asked_for(sqlite_service):
    sqlite_service.make("raw", score="raw", delta=0.01, miss_budget=5)
    candidates = [(f"d{i}", 0.9 - 0.05 * i) for i in range(10)]
    for i in range(84):
        sqlite_service.propose(candidates, stream="raw", round_id=f"r{i}")
        sqlite_service.answer(f"r{i}", {"hit": "d0"} if i < 80 else {"miss": True}, stream="raw")
    shown = sqlite_service.propose(candidates, stream="raw", round_id="last").json()
    assert (shown["reached"], shown["added"]) == (1, len(shown["members"]) - 1)
    assert 0 < shown["added"] < 9
    sqlite_service.http.post("/v1/streams/raw/rounds/last/more", json={})
    found = sqlite_service.http.get("/v1/streams/raw/rounds/last").json()
    assert (found["first"], found["explored"]) == (len(shown["members"]), False)
    assert found["members"] == [f"d{i}" for i in range(10)]
    added = [f"{0.9 - 0.05 * i:.4g} is below the threshold 0.9; added by the error budget" for i in range(1, 10)]
    later = ["shown when more of the list was asked for"] * 9
    assert [each["why"] for each in found["candidates"]] == [
        "0.9 reaches the threshold 0.9",
        *added[: shown["added"]],
        *later[shown["added"] :],
    ]


def test_a_round_that_was_explored_says_so(sqlite_service):
    sqlite_service.make("clicks", score="raw", explore_share="auto")
    candidates = [(f"d{i}", 0.9 - 0.05 * i) for i in range(12)]
    shown = [sqlite_service.propose(candidates, stream="clicks", round_id=f"r{i}").json() for i in range(60)]
    assert {each["explored"] for each in shown} == {False, True}
    best = "no threshold yet: the best 10 are shown"
    for each in shown:
        found = sqlite_service.http.get(f"/v1/streams/clicks/rounds/{each['round_id']}").json()
        assert (found["explored"], found["members"]) == (each["explored"], each["members"])
        whys = [candidate["why"] for candidate in found["candidates"]]
        if each["explored"]:
            assert set(whys) == {"explored: everything is shown, in random order"}
        else:
            assert whys == [best] * 10 + [f"{best}, and it is not among them"] * 2


def test_why_a_short_list_is_what_it_is(sqlite_service):
    """From the first list on, before any fit of the score and behind it."""
    candidates = [(f"d{i}", 0.9 - 0.05 * i) for i in range(12)]
    for i in range(40):
        sqlite_service.propose(candidates, round_id=f"r{i}")
        sqlite_service.answer(f"r{i}", {"hit": f"d{i % 3}"})

    def whys(name):
        found = sqlite_service.http.get(f"/v1/streams/docs/rounds/{name}").json()
        return found, [each["why"] for each in found["candidates"]]

    assert whys("r0")[1][0] == "no threshold yet: the best 10 are shown"
    assert whys("r0")[1][11] == "no threshold yet: the best 10 are shown, and it is not among them"
    for name in ("r12", "r39"):
        found, said = whys(name)
        assert found["member_count"] < 10
        assert all(("reaches the threshold" in why) == (i < found["member_count"]) for i, why in enumerate(said))


def shown_by_budget(service, stream, **settings):
    """Spend an error budget of 3, and return the next round of ten candidates, in the log and as it was shown."""
    service.make(stream, score="raw", miss_budget=3, **settings)
    candidates = [(f"d{i}", 0.9 - 0.05 * i) for i in range(10)]
    for i in range(83):
        service.propose(candidates, stream=stream, round_id=f"r{i}")
        service.answer(f"r{i}", {"hit": "d0"} if i < 80 else {"miss": True}, stream=stream)
    shown = service.propose(candidates, stream=stream, round_id="last").json()
    return service.http.get(f"/v1/streams/{stream}/rounds/last").json(), shown


def test_a_round_says_what_the_error_budget_added(sqlite_service):
    """What reaches the threshold, what is always shown, what was added, and what was hidden: each has its reason."""
    found, shown = shown_by_budget(sqlite_service, "longer", at_least=2, at_most=9)
    assert (shown["reached"], shown["added"], len(shown["members"])) == (1, 7, 9)
    assert (found["reached"], found["added"]) == (1, 7)
    below = "is below the threshold 0.9"
    assert [each["why"] for each in found["candidates"]] == [
        "0.9 reaches the threshold 0.9",
        f"0.85 {below}; shown because of at_least",
        *(f"{0.9 - 0.05 * i:.4g} {below}; added by the error budget" for i in range(2, 9)),
        f"0.45 {below}",
    ]


def test_in_shadow_mode_a_round_says_what_the_error_budget_would_have_added(sqlite_service):
    sqlite_service.make("shadow", score="raw", miss_budget=3, shadow=True)
    candidates = [(f"d{i}", 0.9 - 0.05 * i) for i in range(10)]
    for i in range(82):
        sqlite_service.propose(candidates, stream="shadow", round_id=f"r{i}")
        sqlite_service.answer(f"r{i}", {"hit": "d0" if i < 80 else "d9"}, stream="shadow")
    shown = sqlite_service.propose(candidates, stream="shadow", round_id="last").json()
    assert len(shown["members"]) == 10
    assert 0 < shown["added"] == shown["reached"] - 1 < 9
    found = sqlite_service.http.get("/v1/streams/shadow/rounds/last").json()
    would = [each["id"] for each in found["candidates"] if each["why"].endswith("the error budget would have added it")]
    assert would == shown["members"][1 : shown["reached"]]
