"""Hosts, where there are no keys."""

import httpx
import pytest

from shortlist.errors import InvalidParameter
from shortlist.service.keys import KeyFile
from shortlist.service.web import create_app
from shortlist.service.web.hosts import Hosts
from tests.service.running import running

HOSTS = {
    "localhost": 200,
    "LOCALHOST:9": 200,
    "localhost.": 200,
    "127.0.0.1:8000": 200,
    "[::1]:8000": 200,
    "10.1.2.3": 200,
    "evil.example": 421,
    "evil.example:8000": 421,
    "localhost.evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "shortlist.internal": 421,
    "[::1]evil.example": 421,
    "localhost:evil.example": 421,
    ".": 421,
    "": 421,
}


def test_without_keys_a_page_of_another_name_gets_nothing(sqlite):
    """DNS rebinding: a page whose name is made to point here must not be answered as if it were ours."""
    with running(sqlite) as service:
        service.make()
        for host, status in HOSTS.items():
            for path in ("/v1/streams", "/", "/healthz", "/static/common.js"):
                assert service.http.get(path, headers={"Host": host}).status_code == status, (host, path)
        document = service.http.get("/v1/streams", headers={"Host": "evil.example"}).json()
        assert document["type"] == "urn:shortlist:problem:misdirected-request"
        assert "--allowed-host" in document["detail"]
        assert service.http.delete("/v1/streams/docs", headers={"Host": "evil.example"}).status_code == 421
        for origin in ("http://evil.example", "null", "http://[", "", f"http://127.0.0.1:{service.port + 1}"):
            headers = {"Origin": origin}
            assert service.http.delete("/v1/streams/docs", headers=headers).status_code == 403, origin
            assert service.http.post("/v1/streams", json={}, headers=headers).status_code == 403
        own = {"Origin": service.url}
        assert service.http.delete("/v1/streams/docs", headers=own).status_code == 204


def test_names_can_be_allowed_and_keys_do_not_need_them(sqlite, tmp_path):
    with running(sqlite, allowed_hosts=["Shortlist.internal"]) as service:
        assert service.http.get("/v1/streams", headers={"Host": "shortlist.internal:80"}).status_code == 200
        assert service.http.get("/v1/streams", headers={"Host": "evil.example"}).status_code == 421
        behind = {"Origin": "https://shortlist.internal"}  # a proxy that asks for us by our address
        assert service.http.post("/v1/streams", json={"name": "a", "coverage": 0.9}, headers=behind).status_code == 201
    keys = KeyFile(tmp_path / "keys.json")
    key = {"Authorization": f"Bearer {keys.create('me', ['admin'])}"}
    with running(sqlite, keys=KeyFile(keys.path)) as service:
        assert service.http.get("/v1/streams", headers={"Host": "any.example"} | key).status_code == 200
        assert service.http.get("/v1/streams", headers={"Host": "any.example"}).status_code == 401


def headers(*pairs, method="GET"):
    return {"method": method, "headers": [(name.encode(), value.encode()) for name, value in pairs]}


def test_a_request_names_one_host():
    hosts = Hosts(["shortlist.internal."])
    assert hosts.refusal(headers()) is None  # HTTP/1.0
    assert hosts.refusal(headers(("host", "localhost"))) is None
    for second in ("localhost", "evil.example"):
        refusal = hosts.refusal(headers(("host", "localhost"), ("host", second)))
        assert refusal.document["status"] == 421


def test_what_was_answered_before_is_answered_again():
    hosts = Hosts([])
    for _ in range(3):
        assert hosts.refusal(headers(("host", "127.0.0.1"))) is None
        assert hosts.refusal(headers(("host", "evil.example"))).document["status"] == 421


def test_reading_is_not_changing():
    hosts, foreign = Hosts([]), [("host", "localhost"), ("origin", "http://evil.example")]
    for method, refused in (("GET", False), ("HEAD", False), ("POST", True), ("PUT", True), ("DELETE", True)):
        assert (hosts.refusal(headers(*foreign, method=method)) is not None) is refused


ORIGIN = "https://shop.example.org"


@pytest.mark.parametrize("origin", ["*", "https://shop.example.org/", "https://Shop.example.org", "shop.example.org"])
def test_what_is_no_origin_is_refused(origin, tmp_path):
    with pytest.raises(InvalidParameter, match="give scheme and host as browsers send them"):
        create_app(f"sqlite:///{tmp_path}/log.db", allowed_origins=[origin])


@pytest.mark.parametrize("with_keys", [False, True])
def test_pages_of_an_allowed_origin_may_call_and_others_may_not(with_keys, tmp_path):
    """Browsers ask first (OPTIONS), without a key; only the exact origin is answered."""
    keys = KeyFile(tmp_path / "keys.json") if with_keys else None
    secret = keys.create("page", ["feedback", "read", "propose"]) if with_keys else None
    with running(f"sqlite:///{tmp_path}/log.db", keys=keys, allowed_origins=[ORIGIN]) as service:
        address = f"{service.url}/v1/streams/docs/rounds"
        asked = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        allowed = httpx.options(address, headers={"Origin": ORIGIN, **asked})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == ORIGIN
        assert "authorization" in allowed.headers["access-control-allow-headers"].lower()
        for other in ("https://shop.example.org:8443", "http://shop.example.org", "https://evil.example", "null"):
            refused = httpx.options(address, headers={"Origin": other, **asked})
            assert refused.status_code == 400
            assert "access-control-allow-origin" not in refused.headers
            answer = httpx.post(address, headers={"Origin": other}, json={})
            assert answer.status_code == (401 if with_keys else 403)
            assert "access-control-allow-origin" not in answer.headers
        headers = {"Origin": ORIGIN} | ({"Authorization": f"Bearer {secret}"} if with_keys else {})
        answer = httpx.get(f"{service.url}/v1/streams/none", headers=headers)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (404, ORIGIN)
        changed = httpx.post(address, headers=headers, json={"candidates": [{"id": "a", "score": 1}]})
        assert changed.status_code == 404  # there is no such stream: it was let in
