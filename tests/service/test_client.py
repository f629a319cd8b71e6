"""The client: the verbs of a lister, safe to repeat, with errors that are the errors."""

import asyncio
import functools
import threading
import time

import httpx
import numpy as np
import pytest

import shortlist
from shortlist import AsyncClient, Client
from tests.service.playing import tables
from tests.service.running import free_port, running


def test_it_has_the_verbs_of_a_lister(service):
    client = Client(service.url, "docs", timeout=30)
    assert client.create(coverage=0.9, patience=50)["settings"]["patience"] == 50
    lister = shortlist.Shortlister(coverage=0.9, patience=50)  # both learn the score from the first 30 picks
    rng = np.random.default_rng(0)
    for i in range(150):
        scores = rng.random(10)
        right = int(rng.choice(10, p=scores**6 / sum(scores**6)))
        shown, mine = client.propose(scores), lister.propose(scores)
        assert (shown.members, shown.scores, shown.threshold) == (mine.members, mine.scores, mine.threshold)
        verb = "hit" if right in shown.members else "miss"
        if i % 30 == 29:
            verb = "skip" if i % 60 == 29 else "absent"
        for each, round_id in ((client, shown.round_id), (lister, mine.round_id)):
            getattr(each, verb)(round_id, *([np.int64(right)] if verb == "hit" else []))
    assert client.threshold == lister.threshold > 0
    assert client.summary()["hits"] == lister.summary()["hits"]
    page = client.rounds(limit=3)
    assert len(page["rounds"]) == 3
    client.delete()
    with pytest.raises(shortlist.errors.UnknownStream):
        client.summary()
    client.close()


def test_more_and_changed_settings_as_with_a_lister(service, constants):
    """Lists, what more is shown of them, and what is learned from that: the same to the last bit."""
    constants(picks=10)
    with Client(service.url, "docs", timeout=30) as client:
        client.create(coverage=0.9, at_most=3)
        lister = shortlist.Shortlister(coverage=0.9, at_most=3)
        rng = np.random.default_rng(0)
        for i in range(160):
            if i == 120:
                assert client.configure(at_most=5)["settings"]["at_most"] == 5
                lister.configure(at_most=5)
            scores = rng.random(10)
            right = int(rng.choice(10, p=scores**6 / sum(scores**6)))
            shown, mine = client.propose(scores), lister.propose(scores)
            assert shown.members == mine.members
            seen = list(shown.members)
            for count in (2, None):
                if right in seen or i % 5 == 0:
                    break
                more, own = client.more(shown.round_id, count, shown=len(seen)), lister.more(mine.round_id, count)
                assert (more.members, more.left, more.truncated) == (own.members, own.left, own.truncated)
                seen += more.members
            client.reveal(shown.round_id, right)
            lister.reveal(mine.round_id, right)
        summary, other = client.summary(), lister.summary()
        assert client.threshold == lister.threshold > 0
        for name in ("hits", "misses", "expanded", "found_after_more"):
            assert summary[name] == other[name] > 0
        with pytest.raises(shortlist.errors.RoundClosed):
            client.more(shown.round_id)
        with pytest.raises(shortlist.errors.InvalidParameter, match="whose guarantee is the error budget"):
            client.configure(miss_budget=None)


def test_several_scorers_as_with_a_lister_and_the_score_they_gave_as_a_setting(sqlite, constants):
    constants(picks=40)
    with running(sqlite) as service, Client(service.url, "hybrid", timeout=30) as client:
        client.create(coverage=0.9)
        lister = shortlist.Shortlister(coverage=0.9)
        for scores, right in tables(130):
            bounds = {"bm25": 1.0}
            shown, mine = client.propose(scores, truncated_below=bounds), lister.propose(scores, truncated_below=bounds)
            assert (shown.members, shown.threshold, shown.truncated) == (mine.members, mine.threshold, mine.truncated)
            assert np.array_equal(shown.scores, mine.scores, equal_nan=True)
            for each, round_id in ((client, shown.round_id), (lister, mine.round_id)):
                each.reveal(round_id, right)
        assert client.summary()["scorers"] == lister.summary()["scorers"]
        with pytest.raises(shortlist.errors.InvalidScores, match="the scores are of 'recency'"):
            client.propose({"recency": [0.5]})
        with Client(service.url, "other") as other:
            assert other.create(score=lister.learned)["settings"]["score"]["scorers"] == list(lister.learned.scorers)


def test_an_error_is_the_error_it_was(service):
    with Client(service.url, "docs") as client:
        client.create()
        shown = client.propose([0.2, 0.1], ids=["a", "b"], texts=["A", None], question="?")
        client.hit(shown.round_id, "a")
        client.hit(shown.round_id, "a")
        for error, call in (
            (shortlist.errors.ConflictingAnswer, lambda: client.miss(shown.round_id)),
            (shortlist.errors.ConflictingStream, lambda: client.create(coverage=0.5)),
            (shortlist.errors.ConflictingRound, lambda: client.propose([1.0], round_id=shown.round_id)),
            (shortlist.errors.UnknownRound, lambda: client.miss("nothing")),
            (shortlist.errors.UnknownRound, lambda: client.miss(3)),
            (shortlist.errors.InvalidScores, lambda: client.propose([float("nan")])),
            (shortlist.errors.DuplicateIds, lambda: client.propose([1, 2], ids=["a", "a"])),
            (shortlist.errors.InvalidParameter, lambda: client.propose([1, 2], texts=["a"])),
            (shortlist.InvalidInput, lambda: client.propose([1, 2], round_id="a/b")),
            (shortlist.InvalidInput, lambda: client.create(coverage=7)),
            (shortlist.errors.NotShown, lambda: client.hit(client.propose([1]).round_id, "z")),
            (shortlist.errors.InvalidParameter, lambda: Client("nowhere", "docs")),
        ):
            with pytest.raises(error):
                call()
        problems = client.answer_many([(shown.round_id, {"hit": "a"}), (shown.round_id, {"miss": True})])
        assert problems[0] is None
        assert isinstance(problems[1], shortlist.errors.ConflictingAnswer)


def test_the_async_twin_does_the_same(service):
    async def main():
        async with AsyncClient(service.url, "docs") as client:
            await client.create()
            shown = await asyncio.gather(*(client.propose([0.1, 0.9], ids=["a", "b"]) for _ in range(20)))
            await asyncio.gather(*(client.hit(each.round_id, "b") for each in shown[:10]))
            await client.miss(shown[10].round_id)
            await client.skip(shown[11].round_id)
            await client.absent(shown[12].round_id)
            assert await client.answer_many([(shown[13].round_id, {"miss": True})]) == [None]
            (again,) = await client.propose_many(
                [{"scores": [0.1, 0.9], "ids": ["a", "b"], "round_id": shown[14].round_id}]
            )
            assert again == shown[14]
            summary = await client.summary()
            assert (summary["hits"], summary["misses"], summary["open"]) == (10, 2, 6)
            assert len((await client.rounds(only_open=True))["rounds"]) == 6
            with pytest.raises(shortlist.errors.ConflictingAnswer):
                await client.hit(shown[10].round_id, "a")
            await client.configure(at_most=1)
            last = await client.propose([0.1, 0.9], ids=["a", "b"])
            assert (await client.more(last.round_id, shown=1)).members == ("a",)
            await client.hit(last.round_id, "a")
            assert (await client.summary())["found_after_more"] == 1
            await client.delete()

    asyncio.run(main())


class Flaky(httpx.BaseTransport):
    """Loses answers after they were given, and refuses now and then: the worst that a network does."""

    def __init__(self):
        self.real = httpx.HTTPTransport()
        self.count = 0

    def handle_request(self, request):
        self.count += 1
        if self.count % 4 == 1:
            return httpx.Response(503, headers={"Retry-After": "0"}, json={"detail": "busy"})
        answer = self.real.handle_request(request)
        if self.count % 4 == 2:
            answer.read()
            raise httpx.ReadTimeout("lost on the way back")
        return answer

    def close(self):
        self.real.close()


def test_what_is_tried_again_counts_once(service, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(httpx, "Client", functools.partial(httpx.Client, transport=Flaky()))
    client = Client(service.url, "docs", retries=10)
    client.create()
    for _ in range(20):
        shown = client.propose([0.1, 0.9])
        client.hit(shown.round_id, 1)
    summary = client.summary()
    assert (summary["rounds"], summary["hits"], summary["events"]) == (20, 20, 41)  # and a fit at 15 picks
    client.delete()  # the first try is lost after it was done; the second finds nothing, and that is fine
    client.close()


def test_a_service_that_is_not_there_is_said_so(monkeypatch):
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with (
        Client(f"http://127.0.0.1:{free_port()}", "docs", retries=6) as client,
        pytest.raises(shortlist.errors.ServiceUnavailable, match=r"cannot be reached .* is the service running there"),
    ):
        client.summary()
    assert len(pauses) == 6
    assert all(pause <= 5.0 for pause in pauses)
    assert pauses[-1] > pauses[0]


def test_it_rides_out_a_restart(sqlite):
    port = free_port()
    done = []

    def work():
        with Client(f"http://127.0.0.1:{port}", "docs", retries=30) as client:
            client.create()
            for _ in range(60):
                client.hit(client.propose([0.5]).round_id, 0)
            done.append(client.summary()["hits"])

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(2):
        with running(sqlite, port=port):
            thread.join(0.4)
    with running(sqlite, port=port):
        thread.join(60)
    assert done == [60]


def test_the_client_escapes_names(service):
    service.make("docs")
    for name in ("docs?tmp", "docs#old", "../streams/docs", "docs/"):
        with Client(service.url, name) as client, pytest.raises(shortlist.ShortlistError):
            client.delete()
    for name in ("", ".", ".."):
        with pytest.raises(shortlist.errors.InvalidParameter):
            Client(service.url, name)
    assert service.http.get("/v1/streams/docs").status_code == 200


def test_many_lists_are_as_many_alone(sqlite):
    with running(sqlite) as service, Client(service.url, "docs") as client:
        client.create(score="raw")
        alone = client.propose({"dense": [0.1, 0.9]}, ids=["a", "b"], round_id="r0")
        rounds = [{"scores": {"dense": [0.1, 0.9]}, "ids": ["a", "b"], "round_id": f"r{i}"} for i in range(3)]
        many = client.propose_many([*rounds, {"scores": {"dense": [0.3]}, "ids": ["a"], "round_id": "r1"}])
        assert many[0] == alone
        assert [each.round_id for each in many[:3]] == ["r0", "r1", "r2"]
        assert isinstance(many[3], shortlist.errors.ConflictingRound)
        assert client.answer_many((each.round_id, {"hit": "b"}) for each in many[:3]) == [None] * 3


def test_many_answers_are_sent_in_parts(sqlite):
    with running(sqlite) as service, Client(service.url, "docs") as client:
        client.create()
        problems = client.answer_many((f"r{i}", {"miss": True}) for i in range(1500))
        assert len(problems) == 1500
        assert all(isinstance(each, shortlist.errors.UnknownRound) for each in problems)
