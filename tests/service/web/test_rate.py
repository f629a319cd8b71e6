"""The rate of a key."""

from shortlist.service.web import rate
from tests.service.running import running


def test_the_rate_of_a_key(sqlite, keys):
    with running(sqlite, keys=keys["file"], rate=5) as service:
        headers = {"Authorization": f"Bearer {keys['read']}"}
        seen = [service.http.get("/v1/streams", headers=headers) for _ in range(40)]
        refused = [answer for answer in seen if answer.status_code == 429]
        assert refused
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        other = service.http.get("/v1/streams", headers={"Authorization": f"Bearer {keys['admin']}"})
        assert other.status_code == 200  # one key does not take another's share
        assert service.http.get("/healthz").status_code == 200


def test_tokens_come_back_with_time(monkeypatch):
    now = 100.0
    monkeypatch.setattr(rate.time, "monotonic", lambda: now)
    limit = rate.RateLimit(4)
    assert [limit.take("a") for _ in range(4)] == [0.0] * 4
    assert limit.take("a") == 0.25
    assert limit.take("b") == 0.0
    now += 0.25
    assert limit.take("a") == 0.0
    assert limit.take("a") > 0
    now += 1000  # no more than a second's worth
    assert sum(limit.take("a") == 0.0 for _ in range(10)) == 4


def test_senders_are_forgotten_in_their_order(monkeypatch):
    monkeypatch.setattr(rate, "_SENDERS", 2)
    monkeypatch.setattr(rate.time, "monotonic", lambda: 0.0)
    limit = rate.RateLimit(1)
    for sender in ("a", "b", "a", "c"):
        limit.take(sender)
    assert limit.take("a") > 0  # remembered; b was the oldest
    assert limit.take("b") == 0.0
