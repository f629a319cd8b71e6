"""Items over HTTP: added, given out one by one, kept and given back."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import quote

import pytest

from shortlist.service.engine.labeling_queue import MOST_LEASES
from shortlist.service.keys import KeyFile
from shortlist.service.web import item_replies
from tests.service.running import running
from tests.service.web.checks import problem, strict


def item(name, **more):
    listed = [{"id": "a", "score": 0.9, "text": "the first"}, {"id": "b", "score": 0.1}]
    return {"id": name, "candidates": listed, "question": f"which of {name}", **more}


def add(service, *names, **more):
    return service.http.post("/v1/streams/docs/items", json={"items": [item(name, **more) for name in names]})


def take(service, **body):
    return service.http.post("/v1/streams/docs/next", json=body)


def test_added_given_out_answered(service):
    service.make(guidelines="Be quick.")
    added = add(service, "i1", "i2", image="https://pictures.example.org/1.png")
    assert added.status_code == 207
    assert added.json() == {"results": [{"id": "i1", "status": 201}, {"id": "i2", "status": 201}]}
    given = take(service, lease=30, annotator="ann")
    body = strict(item_replies.NextRound).model_validate(given.json())
    assert (given.status_code, body.members, body.texts) == (200, ["a", "b"], ["the first", None])
    assert (body.question, body.image) == (f"which of {body.round_id}", "https://pictures.example.org/1.png")
    assert service.answer(body.round_id, {"hit": "a", "annotator": "ann"}).status_code == 200
    view = strict(item_replies.QueueView).model_validate(service.http.get("/v1/streams/docs/items").json())
    assert (view.waiting, view.open, view.held, view.answered) == (1, 0, 0, 1)
    assert view.guidelines == "Be quick."
    assert take(service).status_code == 200
    assert take(service).status_code == 204
    assert service.http.delete("/v1/streams/docs/items").json() == {"removed": 0}


def test_ids_that_need_care_in_paths(service):
    service.make()
    odd = ['=1+1,"x"', "two\nlines", "ä ö?#&%2F", "..."]
    assert [each["status"] for each in add(service, *odd).json()["results"]] == [201] * 4
    seen = set()
    while (given := take(service)).status_code == 200:
        body = given.json()
        seen.add(body["round_id"])
        path = f"/v1/streams/docs/rounds/{quote(body['round_id'], safe='')}"
        assert service.http.put(f"{path}/lease", json={"holder": body["holder"]}).status_code == 200
        assert service.http.put(f"{path}/feedback", json={"hit": "a"}).status_code == 200
        assert service.http.get(path).json()["answer"] == {"hit": "a"}
        problem(service.http.put(f"{path}/lease", json={"holder": body["holder"]}), 410, "round-closed")
    assert seen == set(odd)
    for wrong in (".", "..", "a/b", "", "x" * 129, "nul\x00"):
        problem(add(service, wrong), 422, "invalid-request")


def test_each_is_added_or_refused_on_its_own(sqlite_service):
    service = sqlite_service
    twice = item("twice") | {"candidates": [{"id": "a", "score": 1.0}, {"id": "a", "score": 0.5}]}
    both = item("both") | {"candidates": [{"id": "a", "score": 1.0}, {"id": "b", "scores": {"x": 0.5}}]}
    answer = service.http.post("/v1/streams/docs/items", json={"items": [item("good"), twice, both]})
    results = answer.json()["results"]
    assert [(each["id"], each["status"]) for each in results] == [("good", 201), ("twice", 422), ("both", 422)]
    assert results[1]["problem"]["type"].endswith("duplicate-ids")
    again = service.http.post("/v1/streams/docs/items", json={"items": [item("good"), item("good", question="who")]})
    assert [each["status"] for each in again.json()["results"]] == [200, 409]
    problem(service.http.post("/v1/streams/docs/items", json={"items": []}), 422, "invalid-request")
    problem(service.http.post("/v1/streams/nowhere/items", json={"items": [item("a")]}), 404, "unknown-stream")
    problem(add(service, "p", image="javascript:alert(1)"), 422, "invalid-request")


def test_one_item_is_removed(sqlite_service):
    add(sqlite_service, "i1", "i2")
    assert sqlite_service.http.delete("/v1/streams/docs/items/i1").status_code == 204
    problem(sqlite_service.http.delete("/v1/streams/docs/items/i1"), 404, "unknown-round")
    assert take(sqlite_service).json()["round_id"] == "i2"
    problem(sqlite_service.http.delete("/v1/streams/docs/items/i2"), 409, "conflicting-round")


def test_a_lease_is_lost_to_whoever_came_next(sqlite_service):
    service = sqlite_service
    add(service, "i1")
    first = take(service).json()
    path = "/v1/streams/docs/rounds/i1/lease"
    assert take(service).status_code == 204
    assert service.http.delete(path, params={"holder": first["holder"]}).status_code == 204
    second = take(service).json()
    assert second["round_id"] == "i1"
    assert second["members"] == first["members"]
    problem(service.http.put(path, json={"holder": first["holder"]}), 409, "lease-lost")
    problem(service.http.delete(path, params={"holder": first["holder"]}), 409, "lease-lost")
    assert service.http.put(path, json={"holder": second["holder"], "lease": 5}).status_code == 200
    problem(service.http.put("/v1/streams/docs/rounds/i9/lease", json={"holder": "h"}), 404, "unknown-round")
    problem(service.http.put(path, json={"holder": "h", "lease": 1e9}), 422, "invalid-request")


def test_an_answer_of_somebody_who_lost_the_lease_is_refused(sqlite_service):
    service = sqlite_service
    service.make("leased")
    path = "/v1/streams/leased"
    service.http.post(f"{path}/items", json={"items": [item("i1")]})
    first = service.http.post(f"{path}/next", json={}).json()
    service.http.delete(f"{path}/rounds/i1/lease")
    second = service.http.post(f"{path}/next", json={}).json()
    answer = f"{path}/rounds/i1/feedback"
    problem(service.http.put(answer, json={"hit": "a", "holder": first["holder"]}), 409, "lease-lost")
    for _ in range(2):  # the same again is no error
        assert service.http.put(answer, json={"hit": "b", "holder": second["holder"]}).status_code == 200
    problem(service.http.put(answer, json={"hit": "a", "holder": first["holder"]}), 409, "lease-lost")
    problem(service.http.put(answer, json={"hit": "a"}), 409, "conflicting-answer")  # the first one is final


def test_an_annotator_needs_no_more_than_feedback(sqlite, keys):
    """Whoever answers reads neither the log nor other streams; the name of the key is the annotator."""
    annotators = KeyFile(keys["file"].path)
    ann = annotators.create("ann", ["feedback"])
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:

        def call(method, path, key, **more):
            headers = {"Authorization": f"Bearer {key}"}
            return service.http.request(method, f"/v1/streams{path}", headers=headers, **more)

        made = {"name": "docs", "coverage": 0.9, "record_annotators": True}
        assert call("POST", "", keys["admin"], json=made).status_code == 201
        names = [f"i{number}" for number in range(3)]
        body = {"items": [item(name) for name in names]}
        assert call("POST", "/docs/items", ann, json=body).status_code == 403
        assert call("POST", "/docs/items", keys["propose"], json=body).status_code == 207
        for who, given in ((ann, {"hit": "a", "annotator": "bob"}), (keys["admin"], {"hit": "a", "annotator": "bob"})):
            taken = call("POST", "/docs/next", who, json={}).json()
            path, holder = f"/docs/rounds/{taken['round_id']}", {"holder": taken["holder"]}
            assert call("POST", f"{path}/more", who, json=holder).status_code == 200
            assert call("PUT", f"{path}/feedback", who, json=given | holder).status_code == 200
        assert call("GET", "/docs/items", ann).json()["yours"] == 1
        assert call("GET", "/docs/items?annotator=%00", keys["admin"]).status_code == 422
        signers = call("GET", "/docs/classes", keys["read"]).json()["annotators"]
        assert signers == [{"annotator": "ann", "answers": 1}, {"annotator": "bob", "answers": 1}]
        for path in ("/docs", "/docs/rounds", "/docs/export", "/docs/labels", "/docs/classes"):
            assert call("GET", path, ann).status_code == 403
        assert call("DELETE", "/docs/items", ann).status_code == 403


def test_only_who_gave_an_answer_gives_it_again(sqlite, keys):
    file = KeyFile(keys["file"].path)
    ann, bob = file.create("ann", ["feedback"]), file.create("bob", ["feedback"])
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:

        def call(method, path, key, **more):
            headers = {"Authorization": f"Bearer {key}"}
            return service.http.request(method, f"/v1/streams{path}", headers=headers, **more)

        made = {"name": "docs", "coverage": 0.9, "record_annotators": True}
        assert call("POST", "", keys["admin"], json=made).status_code == 201
        assert call("POST", "/docs/items", keys["admin"], json={"items": [item("i1")]}).status_code == 207
        holder = call("POST", "/docs/next", ann, json={}).json()["holder"]
        answer = "/docs/rounds/i1/feedback"
        assert call("PUT", answer, ann, json={"hit": "a", "holder": holder}).status_code == 200
        problem(call("PUT", answer, bob, json={"skip": True}), 409, "lease-lost")
        many = {"answers": [{"round_id": "i1", "skip": True}]}
        (result,) = call("POST", "/docs/feedback", bob, json=many).json()["results"]
        assert (result["status"], result["problem"]["type"]) == (409, "urn:shortlist:problem:lease-lost")
        assert call("PUT", answer, ann, json={"hit": "a"}).status_code == 200
        problem(call("PUT", answer, ann, json={"hit": "b"}), 409, "conflicting-answer")
        problem(call("PUT", answer, keys["admin"], json={"hit": "b"}), 409, "conflicting-answer")
        assert call("GET", "/docs/classes", keys["read"]).json()["annotators"] == [{"annotator": "ann", "answers": 1}]


class Team:
    """A service with keys, and annotators who can only answer."""

    def __init__(self, service, keys):
        self.service, self.keys = service, keys
        made = {"name": "docs", "coverage": 0.9}
        assert self.call("POST", "", "admin", json=made).status_code == 201

    def call(self, method, path, who, **more):
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        return self.service.http.request(method, f"/v1/streams{path}", headers=headers, **more)

    def add(self, count):
        body = {"items": [item(f"i{number}") for number in range(count)]}
        assert self.call("POST", "/docs/items", "admin", json=body).status_code == 207

    def take(self, who):
        return self.call("POST", "/docs/next", who, json={})

    def answer(self, who, round_id, many=False, **body):
        if not many:
            return self.call("PUT", f"/docs/rounds/{round_id}/feedback", who, json=body)
        return self.call("POST", "/docs/feedback", who, json={"answers": [{"round_id": round_id, **body}]})


@pytest.fixture
def team(sqlite, keys):
    file = KeyFile(keys["file"].path)
    people = {name: file.create(name, ["feedback"]) for name in ("ann", "bob")}
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:
        yield Team(service, {name: keys[name] for name in ("admin", "propose", "read")} | people)


def test_what_is_leased_to_another_can_neither_be_answered_nor_expanded_nor_given_back(team):
    """By a key that can only answer, on every route, with no holder or another's; a program is not bound."""
    team.add(2)
    mine, other = team.take("ann").json(), team.take("bob").json()
    path = f"/docs/rounds/{mine['round_id']}"
    for holder in ({}, {"holder": other["holder"]}):
        problem(team.answer("bob", mine["round_id"], hit="b", **holder), 409, "lease-lost")
        (result,) = team.answer("bob", mine["round_id"], many=True, hit="b", **holder).json()["results"]
        assert result["problem"]["type"].endswith("lease-lost")
        problem(team.call("POST", f"{path}/more", "bob", json=holder), 409, "lease-lost")
        problem(team.call("DELETE", f"{path}/lease", "bob", params=holder), 409, "lease-lost")
    assert team.take("bob").status_code == 204  # it is still Ann's
    assert team.answer("ann", mine["round_id"], hit="a", holder=mine["holder"]).status_code == 200
    assert team.answer("propose", other["round_id"], hit="a").status_code == 403  # it may not answer at all
    assert team.answer("admin", other["round_id"], hit="a").status_code == 200


def test_of_two_annotators_at_once_the_one_with_the_lease_is_counted(team):
    """200 races, half of them by the batch route: the answer that counts is that of the holder, and only that."""
    team.add(200)
    with ThreadPoolExecutor(2) as pool:
        for number in range(200):
            given = team.take("ann").json()
            many = bool(number % 2)
            rival = pool.submit(team.answer, "bob", given["round_id"], many, hit="b")
            own = pool.submit(team.answer, "ann", given["round_id"], many, hit="a", holder=given["holder"])
            statuses = [
                each.result().json()["results"][0]["status"] if many else each.result().status_code
                for each in (own, rival)
            ]
            assert statuses == [200, 409]
            shown = team.call("GET", f"/docs/rounds/{given['round_id']}", "read").json()
            assert shown["answer"] == {"hit": "a"}


def test_a_key_that_may_not_read_cannot_find_out_what_others_answered(team):
    """The right guess and the wrong one get the same refusal; who has answered may send it again, and is told."""
    team.add(1)
    given = team.take("ann").json()
    answered = partial(team.answer, "ann", given["round_id"], holder=given["holder"])
    assert answered(hit="a").status_code == 200
    refusals = []
    for guess in ({"hit": "a"}, {"hit": "b"}, {"miss": True}):
        for holder in ({}, {"holder": "made-up"}):
            refusals.append(team.answer("bob", given["round_id"], **guess, **holder).json())
            many = team.answer("bob", given["round_id"], many=True, **guess, **holder).json()
            refusals.append(many["results"][0]["problem"])
    assert len({json.dumps(refusal) for refusal in refusals}) == 1
    assert refusals[0]["type"].endswith("lease-lost")
    assert team.take("bob").status_code == 204  # which forgets leases that have ended, and not Ann's
    assert answered(hit="a").status_code == 200  # its response was lost
    assert answered(hit="b").json()["detail"] == "this round already has another answer, which is final"
    assert "was already answered hit 'a'" in team.answer("admin", given["round_id"], hit="b").json()["detail"]


def test_a_key_holds_so_many_rounds_and_no_more(team):
    team.add(MOST_LEASES + 2)
    held = [team.take("ann").json() for _ in range(MOST_LEASES)]
    told = problem(team.take("ann"), 409, "lease-lost")
    assert "already holds 20 rounds" in told["detail"]
    assert team.take("bob").status_code == 200  # others are not concerned
    assert team.answer("ann", held[0]["round_id"], hit="a", holder=held[0]["holder"]).status_code == 200
    assert team.take("ann").status_code == 200


def test_a_program_serves_many_annotators_with_one_key(team):
    team.add(MOST_LEASES + 2)
    assert [team.take("admin").status_code for _ in range(MOST_LEASES + 2)] == [200] * (MOST_LEASES + 2)


def test_a_lease_that_has_ended_is_not_renewed_beyond_the_limit(team, monkeypatch):
    team.add(2 * MOST_LEASES)
    clock = [time.time()]
    monkeypatch.setattr("shortlist.service.engine.labeling_queue.time.time", lambda: clock[0])
    monkeypatch.setattr("shortlist.service.engine.writer.time.time", lambda: clock[0])
    others = [team.take("bob").json() for _ in range(MOST_LEASES)]
    first = [team.take("ann").json() for _ in range(MOST_LEASES)]
    clock[0] += 1_000
    again = [team.take("ann").json() for _ in range(MOST_LEASES)]  # the oldest, which were Bob's
    assert {each["round_id"] for each in again} == {each["round_id"] for each in others}
    path, holder = f"/docs/rounds/{first[0]['round_id']}/lease", {"holder": first[0]["holder"]}
    problem(team.call("PUT", path, "ann", json=holder), 409, "lease-lost")
    own = f"/docs/rounds/{again[0]['round_id']}/lease"
    assert team.call("PUT", own, "ann", json={"holder": again[0]["holder"]}).status_code == 200  # it has not ended
    assert team.answer("ann", again[0]["round_id"], hit="a", holder=again[0]["holder"]).status_code == 200
    assert team.call("PUT", path, "ann", json=holder).status_code == 200  # there is room now
