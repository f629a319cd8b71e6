"""What each call to the service does, without a service: requests, pauses, results and errors."""

import math

import httpx2
import numpy as np
import pytest

from shortlist import SPS, errors
from shortlist.client._exchange import Request
from shortlist.client._protocol import Calls
from shortlist.scores import Learned, Raw, Relative
from tests.client.network import problem, shown


class Dry(Calls):
    """Calls that are driven by hand: a script of answers in, requests and pauses out."""

    def _connect(self):
        self.did, self.headers = [], self._settings["headers"]

    def _run(self, call, *script):
        answers, answer = list(script), None
        try:
            while True:
                step = call.send(answer)
                self.did.append(step)
                answer = answers.pop(0) if isinstance(step, Request) else None
        except StopIteration as done:
            assert not answers
            return done.value

    def propose(self, scores, *script, ids=None, texts=None, **more):
        names = ("question", "truncated_below", "scorer_version", "round_id", "allow_empty")
        return self._run(self._propose(scores, ids, texts, **{name: more.get(name) for name in names}), *script)

    def create(self, *script, **settings):
        return self._run(self._create(0.9, settings), *script)

    def answer(self, round_id, answer, *script):
        return self._run(self._answer(round_id, answer), *script)

    def reveal(self, round_id, right, *script):
        return self._run(self._reveal(round_id, right), *script)

    def more(self, round_id, count, shown, *script):
        return self._run(self._more(round_id, count, shown), *script)

    def configure(self, changes, *script):
        return self._run(self._configure(changes), *script)

    def propose_many(self, rounds, *script):
        return self._run(self._propose_many(rounds), *script)

    def answer_many(self, answers, *script):
        return self._run(self._answer_many(answers), *script)

    def summary(self, *script):
        return self._run(self._summary(), *script)

    def delete(self, *script):
        return self._run(self._delete(), *script)

    @property
    def requests(self):
        return [step for step in self.did if isinstance(step, Request)]

    @property
    def pauses(self):
        return [step for step in self.did if isinstance(step, float)]


@pytest.fixture
def dry():
    return Dry("http://host:8000/", "my docs", retries=3)


DONE = httpx2.Response(204)
LOST = httpx2.ReadTimeout("lost")


def test_a_list_is_sent_with_a_name_that_is_chosen_here(dry):
    made = dry.propose([0.2, 0.9], shown("x", [1, 0], 0.1), question="?", texts=["A", None])
    assert (made.members, made.scores, made.threshold, made.candidates) == ((1, 0), (0.9, 0.2), 0.1, 2)
    (request,) = dry.requests
    assert (request.method, request.path) == ("POST", "/v1/streams/my%20docs/rounds")
    assert request.json["candidates"] == [{"id": 0, "score": 0.2, "text": "A"}, {"id": 1, "score": 0.9, "text": None}]
    assert len(request.json["round_id"]) == 32
    assert set(request.json) == {"candidates", "round_id", "question"}  # what says nothing is left out


@pytest.mark.parametrize(
    "scores",
    [
        {"bm25": [7.0, math.nan], "dense": np.array([0.25, 0.5])},
        {"bm25": [7.0, None], "dense": (0.25, 0.5)},
    ],
    ids=["arrays", "lists"],
)
def test_several_scores_are_sent_by_name(dry, scores):
    made = dry.propose(scores, shown("x", ["b", "a"], 0.1), ids=["a", "b"], truncated_below={"bm25": 7})
    (request,) = dry.requests
    assert request.json["candidates"] == [
        {"id": "a", "scores": {"bm25": 7.0, "dense": 0.25}},
        {"id": "b", "scores": {"bm25": None, "dense": 0.5}},
    ]
    assert request.json["truncated_below"] == {"bm25": 7.0}
    assert made.scores[1] == (7.0, 0.25)
    assert math.isnan(made.scores[0][0])
    assert made.scores[0][1] == 0.5


def test_tables_of_any_kind_are_sent_by_name(dry):
    pd = pytest.importorskip("pandas")
    dry.propose(pd.DataFrame({"bm25": [7.0, None], "dense": [0.25, 0.5]}), shown("x", [0]))
    dry.propose({"bm25": [7.0]}, shown("x", [0]), truncated_below=7.0)
    dry.propose(np.array([7.0, 3.0]), shown("x", [0]), truncated_below=3.0)
    frame, named, plain = (request.json for request in dry.requests)
    assert [each["scores"] for each in frame["candidates"]] == [
        {"bm25": 7.0, "dense": 0.25},
        {"bm25": None, "dense": 0.5},
    ]
    assert named["candidates"] == [{"id": 0, "scores": {"bm25": 7.0}}]
    assert named["truncated_below"] == {"bm25": 7.0}
    assert plain["candidates"] == [{"id": 0, "score": 7.0}, {"id": 1, "score": 3.0}]
    assert plain["truncated_below"] == 3.0


def test_a_score_that_is_an_object_is_sent_with_its_parameters(dry):
    learned = Learned(("bm25", "dense"), (1.0, 2.0), (0.5, 0.25), rounds=100)
    for score in (learned, Relative(0.3), Raw(), "auto", {"kind": "relative"}):
        dry.create(httpx2.Response(201, json={}), score=score)
    sent = [request.json["score"] for request in dry.requests]
    assert sent[0].items() >= {"kind": "learned", "scorers": ("bm25", "dense"), "rounds": 100}.items()
    assert Learned(**{name: value for name, value in sent[0].items() if name != "kind"}) == learned
    assert sent[1:] == [{"kind": "relative", "temperature": 0.3}, {"kind": "raw"}, "auto", {"kind": "relative"}]


def test_null_is_minus_infinity(dry):
    assert dry.propose([0.5], shown("x", [0], None)).threshold == -math.inf
    assert dry.summary(httpx2.Response(200, json={"threshold": None}))["threshold"] == -math.inf


def test_every_try_sends_the_same_request(dry):
    """So a list that was taken, and whose answer was lost on the way back, is the same list."""
    busy = httpx2.Response(503, json={"detail": "busy"})
    dry.propose([0.5], LOST, busy, shown("x", [0]))
    assert len(dry.requests) == 3
    assert len({repr(request) for request in dry.requests}) == 1
    assert len(dry.pauses) == 2


def test_pauses_grow_and_a_pause_that_is_asked_for_is_kept(dry):
    with pytest.raises(errors.ServiceUnavailable, match=r"http://host:8000 cannot be reached \(ReadTimeout: lost\)"):
        dry.summary(LOST, LOST, LOST, LOST)
    assert len(dry.requests) == 4  # the first, and three retries
    for pause, longest in zip(dry.pauses, (0.1, 0.2, 0.4), strict=True):
        assert longest / 2 <= pause <= longest
    asked = Dry("http://host", "docs", retries=1)
    later = httpx2.Response(429, headers={"Retry-After": "2"})
    asked.summary(later, httpx2.Response(200, json={"threshold": 0.5}))
    assert 1.0 <= asked.pauses[0] <= 2.0


@pytest.mark.parametrize("asked", ["-5", "nan", "inf", "1e400", "soon", ""])
def test_a_pause_that_cannot_be_kept_is_chosen_here(dry, asked):
    later = httpx2.Response(503, headers={"Retry-After": asked})
    assert dry.propose([0.5], later, shown("r", [0])).members == (0,)
    assert 0 < dry.pauses[0] <= 0.1


@pytest.mark.parametrize(
    "stranger", [[1], None, "x", {}, {"round_id": "r"}, shown("r", ["z"]).json(), {"results": []}, {"results": [1]}]
)
def test_the_answer_of_a_stranger_is_no_answer(stranger):
    """Such as that of a proxy: a search page is shown everything all the same."""
    for status in (200, 207):
        answer = httpx2.Response(status, json=stranger)
        dry = Dry("http://host:8000/", "docs", retries=0)
        with pytest.raises(errors.ServiceError, match="not a response of this service"):
            dry.propose([0.5], answer)
        with pytest.raises(errors.ServiceError, match="not a response of this service"):
            dry.propose_many([{"scores": [0.5]}], answer)
        with pytest.raises(errors.ServiceError, match="not a response of this service"):
            dry.answer_many([("r", {"hit": 0})], answer)
        safe = Dry("http://host:8000/", "docs", retries=0, fallback="everything")
        assert safe.propose([0.1, 0.9], answer).fallback
        assert [each.fallback for each in safe.propose_many([{"scores": [0.5]}], answer)] == [True]


def test_what_is_answered_with_later_too_often_is_said(dry):
    with pytest.raises(errors.ServiceUnavailable, match="answers 503: the disk is full"):
        dry.summary(*[problem(503, detail="the disk is full")] * 4)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (problem(409, "conflicting-answer", "another"), errors.ConflictingAnswer, "another"),
        (problem(404, "unknown-round", "round x"), errors.UnknownRound, "round x"),
        (problem(404, "unknown-stream", "stream y"), errors.UnknownStream, "stream y"),
        (problem(422, "invalid-scores", "nan"), errors.InvalidScores, "nan"),
        (problem(401), errors.NotAllowed, "needs a valid key"),
        (problem(403, detail="scope"), errors.NotAllowed, "scope"),
        (problem(413, detail="too large"), errors.InvalidInput, "too large"),
        (problem(500, detail="oops"), errors.ServiceError, "500: oops"),
        (problem(409, "of-a-later-version", "new"), errors.ServiceError, "409: new"),
        (httpx2.Response(404, text="<html>nginx</html>"), errors.ServiceError, "not a response of this service"),
    ],
)
def test_an_error_is_the_error_it_was_and_is_not_tried_again(dry, answer, error, words):
    with pytest.raises(error, match=words):
        dry.answer("x", {"miss": True}, answer)
    assert len(dry.did) == 1


def test_the_right_answer_is_a_hit_or_else_a_miss(dry):
    dry.reveal("x", "a", DONE)
    dry.reveal("x", "b", problem(422, "not-shown"), DONE)
    dry.reveal("x", None, DONE)
    assert [request.json for request in dry.requests] == [{"hit": "a"}, {"hit": "b"}, {"miss": True}, {"miss": True}]
    with pytest.raises(errors.ConflictingAnswer):  # it was answered otherwise: neither a hit nor a miss
        dry.reveal("x", "a", *[problem(409, "conflicting-answer")] * 2)
    with pytest.raises(errors.UnknownRound):
        dry.reveal("x", "a", problem(404, "unknown-round"))


MORE = {"round_id": "x", "members": ["c", "d"], "left": 3, "truncated": True}


def test_more_of_a_list_is_asked_for_again_only_if_that_changes_nothing(dry):
    """Who does not say how much it has could miss what an answer that was lost had in it."""
    made = dry.more("x", 2, 4, LOST, problem(503), httpx2.Response(200, json=MORE))
    assert (made.round_id, made.members, made.left, made.truncated, made.scores) == ("x", ("c", "d"), 3, True, ())
    assert {(step.method, step.path, str(step.json)) for step in dry.requests} == {
        ("POST", "/v1/streams/my%20docs/rounds/x/more", "{'count': 2, 'shown': 4}")
    }
    assert len(dry.requests) == 3
    with pytest.raises(errors.ServiceUnavailable, match="cannot be reached"):
        dry.more("x", 2, None, LOST)
    dry.more("x", None, None, httpx2.Response(200, json=MORE))
    assert [request.json for request in dry.requests[3:]] == [{"count": 2}, {}]


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [(404, "unknown-round", errors.UnknownRound), (410, "round-closed", errors.RoundClosed)],
)
def test_more_of_a_list_that_is_not_open(dry, status, kind, error):
    with pytest.raises(error):
        dry.more("x", None, 0, problem(status, kind))
    assert len(dry.did) == 1


def test_a_policy_that_is_an_object_is_sent_as_a_stream_takes_it(dry):
    dry.create(httpx2.Response(201, json={}), policy=SPS(0.9, horizon=500))
    assert dry.requests[-1].json["policy"] == {"kind": "sps", "horizon": 500}
    with pytest.raises(errors.InvalidParameter, match="give both the same coverage"):
        dry.create(policy=SPS(0.8, horizon=500))


def test_a_list_is_not_a_round_id(dry):
    listed = dry.propose([0.5], shown("x", [0]))
    with pytest.raises(errors.UnknownRound, match="pass its round_id"):
        dry.answer(listed, {"miss": True})


def test_settings_are_changed(dry):
    summary = {"threshold": None, "settings": {"at_most": 5, "miss_budget": None}}
    changed = dry.configure({"at_most": 5, "miss_budget": None}, LOST, httpx2.Response(200, json=summary))
    assert changed.settings == summary["settings"]
    assert {(step.method, step.path) for step in dry.requests} == {("PATCH", "/v1/streams/my%20docs")}
    assert [step.json for step in dry.requests] == [{"at_most": 5, "miss_budget": None}] * 2


def test_many_answers_go_a_thousand_at_a_time(dry):
    answers = [(str(i), {"hit": i}) for i in range(1500)]
    wrong = {"problem": {"type": "urn:shortlist:problem:not-shown", "detail": "no", "status": 422}}
    first = httpx2.Response(200, json={"results": [{}] * 999 + [wrong]})
    found = dry.answer_many(answers, first, httpx2.Response(200, json={"results": [{}] * 500}))
    assert [len(request.json["answers"]) for request in dry.requests] == [1000, 500]
    assert [i for i, error in enumerate(found) if error] == [999]
    assert isinstance(found[999], errors.NotShown)


def result(round_id, *members):
    return {
        "round_id": round_id,
        "threshold": None,
        "members": list(members),
        "reached": len(members),
        "truncated": False,
        "added": 0,
        "explored": False,
        "comparable": [0.5],
        "kept": 1,
    }


def test_many_lists_are_sent_in_parts(dry):
    """A thousand at most, or a megabyte, and one that is larger alone."""
    rounds = [{"scores": [0.5], "ids": ["a"], "round_id": f"r{i}"} for i in range(1002)]
    rounds[1001] |= {"texts": ["x" * 1_500_000]}
    wrong = {"round_id": "r1", "status": 409, "problem": {"type": "urn:shortlist:problem:conflicting-round"}}
    first = [result("r0", "a"), wrong, *(result(f"r{i}", "a") for i in range(2, 1000))]
    replies = [first, [result("r1000", "a")], [result("r1001", "a")]]
    found = dry.propose_many(rounds, *(httpx2.Response(207, json={"results": each}) for each in replies))
    assert [len(request.json["rounds"]) for request in dry.requests] == [1000, 1, 1]
    assert {request.path for request in dry.requests} == {"/v1/streams/my%20docs/rounds%3Abatch"}
    assert isinstance(found[1], errors.ConflictingRound)
    assert [each.round_id for each in found if not isinstance(each, Exception)] == [
        f"r{i}" for i in range(1002) if i != 1
    ]
    assert (found[0].members, found[0].scores, found[0].threshold) == (("a",), (0.5,), -math.inf)


def test_many_lists_are_shown_without_the_service_too():
    dry = Dry("http://host:8000/", "docs", retries=0, fallback="everything")
    found = dry.propose_many([{"scores": [0.1, 0.9]}, {"scores": [0.5]}], LOST)
    assert [each.members for each in found] == [(1, 0), (0,)]
    assert all(each.fallback for each in found)
    with pytest.raises(errors.ServiceUnavailable):
        Dry("http://host:8000/", "docs", retries=0).propose_many([{"scores": [0.5]}], LOST)


def test_many_lists_wait_for_a_service_that_is_away_only_once():
    """Those that it has cut stay; the others are not sent, and are taken back like any that are."""
    dry = Dry("http://host:8000/", "docs", retries=0, fallback="everything")
    rounds = [{"scores": [0.5], "texts": ["x" * 600_000], "round_id": f"r{i}"} for i in range(4)]
    found = dry.propose_many(rounds, httpx2.Response(207, json={"results": [result("r0", 0)]}), LOST)
    assert [each.fallback for each in found] == [False, True, True, True]
    assert len(dry.requests) == 2
    found = dry.propose_many(rounds[:1], httpx2.Response(207, json={"results": [result("r0", 0)]}), DONE)
    assert (found[0].fallback, dry.requests[-1].method, dry.requests[-1].path) == (
        False,
        "DELETE",
        "/v1/streams/docs/rounds/r1",
    )


def test_a_deletion_whose_answer_was_lost_is_done(dry):
    dry.delete(LOST, problem(404, "unknown-stream"))
    with pytest.raises(errors.UnknownStream):
        dry.delete(problem(404, "unknown-stream"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("localhost:8000", "docs"), "url is 'localhost:8000'; it must be the service's address"),
        ((None, "docs"), "url is None"),
        (("http://host", ""), "stream is ''; it must be the name of a stream"),
        (("http://host", ".."), r"stream is '\.\.'"),
    ],
)
def test_bad_addresses_are_named(arguments, message):
    with pytest.raises(errors.InvalidParameter, match=message):
        Dry(*arguments)


def test_what_cannot_be_sent_is_not_sent(dry):
    for error, call in (
        (errors.InvalidScores, lambda: dry.propose([math.nan])),
        (errors.InvalidScores, lambda: dry.propose({"bm25": [1.0], "dense": [math.inf]})),
        (errors.InvalidScores, lambda: dry.propose({"bm25": [math.nan], "dense": [None]})),
        (errors.InvalidScores, lambda: dry.propose({"bm25": [1.0, 2.0], "dense": [0.5]})),
        (errors.InvalidParameter, lambda: dry.propose({"bm25": [1.0], "dense": [0.5]}, ids=[0], truncated_below=1.0)),
        (
            errors.InvalidParameter,
            lambda: dry.propose({"a": [1.0], "b": [0.5]}, ids=[0], truncated_below={"x": 1.0}),
        ),
        (errors.InvalidScores, lambda: dry.propose({"doc1": [1.0], "doc2": [0.5]})),
        (errors.NoCandidates, lambda: dry.propose([])),
        (errors.InvalidIds, lambda: dry.propose([0.5], ids=["a", "b"])),
        (errors.InvalidParameter, lambda: dry.propose([0.5], texts=["a", "b"])),
        (errors.InvalidParameter, lambda: dry.propose([0.5], truncated_below=math.inf)),
        (errors.UnknownRound, lambda: dry.answer("..", {"miss": True})),
        (errors.UnknownRound, lambda: dry.answer(3, {"miss": True})),
        (errors.UnknownRound, lambda: dry.more("..", None, None)),
    ):
        with pytest.raises(error):
            call()
    assert dry.did == []


def test_names_are_quoted():
    dry = Dry("http://host", "a/b?c")
    dry.answer("r/1", {"skip": True}, DONE)
    assert dry.requests[0].path == "/v1/streams/a%2Fb%3Fc/rounds/r%2F1/feedback"
    assert repr(dry) == "<Dry http://host stream a/b?c>"


@pytest.mark.parametrize("key", ["", "  ", "sl_a b", "sl_\x00", "schlüssel", 5])
def test_what_cannot_be_a_key_is_refused_at_once_and_never_quoted(key):
    """Sent as it is, it would look like a service that is away, and the message would have the key in it."""
    with pytest.raises(errors.InvalidParameter, match="api_key is not a key") as refused:
        Dry("http://x", "docs", key, fallback="everything")
    assert str(key).strip() == "" or str(key) not in str(refused.value)


def test_white_space_around_a_key_does_not_matter():
    assert Dry("http://x", "docs", " sl_k\n").headers == {"Authorization": "Bearer sl_k"}


def test_the_holder_of_a_lost_lease_is_forgotten():
    calls = Dry("http://x", "docs")
    calls.held["r"] = "h"
    lost = problem(409, "lease-lost")
    with pytest.raises(errors.LeaseLost):
        calls.answer("r", {"hit": "a"}, lost)
    calls.answer("r", {"hit": "a"}, httpx2.Response(200, json={}))
    assert [request.json for request in calls.did] == [{"holder": "h", "hit": "a"}, {"hit": "a"}]
