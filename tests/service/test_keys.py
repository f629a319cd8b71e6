"""Keys: who gets in, over every route there is; and what the file of keys gives away: nothing."""

import json
import subprocess
import sys
import time

import pytest
from fastapi.routing import APIRoute

from shortlist import AsyncClient, Client, InvalidParameter, NotAllowed
from shortlist.service.keys import SCOPES, KeyFile
from shortlist.service.web import create_app
from shortlist.service.web.scopes import is_public, scope_of
from tests.service.running import running

#: The scope that each route needs. A new route must be entered here, or the test fails.
NEEDED = {
    "create_stream": "admin",
    "list_streams": "read",
    "get_stream": "read",
    "delete_stream": "admin",
    "live": "read",
    "propose": "propose",
    "get_rounds": "read",
    "get_round": "read",
    "answer": "feedback",
    "answer_many": "feedback",
    "expire": "admin",
    "erase_texts": "admin",
    "get_series": "read",
    "export": "read",
    "metrics": "read",
}
#: What answers without a key.
OPEN = {"healthz", "readyz"}


@pytest.fixture
def keys(tmp_path):
    file = KeyFile(tmp_path / "keys.json")
    return {scope: file.create(scope, [scope]) for scope in SCOPES} | {"file": file}


@pytest.fixture
def guarded(sqlite, keys):
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:
        yield service


def routes(app):
    """Return all routes but the pages, which are open and hold no data."""
    return [route for route in app.routes if isinstance(route, APIRoute) and not is_public(route.path)] + [
        route for route in app.routes if isinstance(route, APIRoute) and route.operation_id in OPEN
    ]


def call(service, route, key=None):
    path = route.path.format(name="docs", round_id="r1")
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    (method,) = route.methods
    return service.http.request(method, path, headers=headers, json={} if method in ("POST", "PUT") else None)


def test_every_route_is_in_the_table(guarded):
    assert {route.operation_id for route in routes(guarded.app)} == set(NEEDED) | OPEN


def test_every_route_needs_its_key(guarded, keys):
    revoked = keys["file"].create("gone", SCOPES)
    keys["file"].revoke(revoked.split("_")[1])
    for route in routes(guarded.app):
        if route.operation_id in OPEN:
            assert call(guarded, route).status_code == 200
            continue
        for wrong in (None, "nonsense", revoked, keys["admin"][:-1] + "!", keys["admin"].replace("sl_", "sk_")):
            answer = call(guarded, route, wrong)
            assert answer.status_code == 401, (route.path, wrong)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.headers["content-type"] == "application/problem+json"
        needed = NEEDED[route.operation_id]
        for scope in SCOPES:
            status = call(guarded, route, keys[scope]).status_code
            if scope in (needed, "admin"):
                assert status not in (401, 403), (route.path, scope)
            else:
                assert status == 403, (route.path, scope)


def test_other_paths_need_a_key_too(guarded, keys):
    for path in ("/v1/nothing", "/admin", "/metrics", "/docs", "/redoc", "/healthz/", "/V1/streams"):
        assert guarded.http.get(path).status_code == 401, path
    assert guarded.http.get("/openapi.json").status_code == 200
    assert not is_public("/v1/streams")
    for method, path in (("GET", "/something/new"), ("PATCH", "/v1/streams/a")):
        scope = {"type": "http", "method": method, "path": path, "app": guarded.app, "headers": []}
        assert scope_of(scope) == "admin"
    for header in ("Basic abc", "Bearer", f"bearer  {keys['read']}"):
        answer = guarded.http.get("/v1/streams", headers={"Authorization": header})
        assert answer.status_code == (200 if keys["read"] in header else 401), header


def test_a_revoked_key_is_out_within_seconds(guarded, keys):
    key = keys["file"].create("brief", ["read"])
    time.sleep(1.1)  # the service looks at the file once a second
    assert guarded.http.get("/v1/streams", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    keys["file"].revoke(key.split("_")[1])
    time.sleep(1.1)
    assert guarded.http.get("/v1/streams", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_the_clients_and_the_live_stream_work_with_keys(guarded, keys):
    with Client(guarded.url, "docs", keys["admin"]) as client:
        client.create()
    with Client(guarded.url, "docs", keys["propose"]) as client:
        shown = client.propose([0.5], ids=["a"])
        with pytest.raises(NotAllowed, match="it needs the scope feedback"):
            client.hit(shown.round_id, "a")
    with Client(guarded.url, "docs", keys["feedback"]) as client:
        client.hit(shown.round_id, "a")
    with Client(guarded.url, "docs") as client, pytest.raises(NotAllowed):
        client.summary()
    headers = {"Authorization": f"Bearer {keys['read']}"}
    with guarded.http.stream("GET", "/v1/streams/docs/live", headers=headers) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("event:")) == "event: stream"
    assert AsyncClient(guarded.url, "docs", keys["read"])._settings["headers"] == headers


def test_the_file_gives_no_key_away(keys):
    text = keys["file"].path.read_text()
    for scope in SCOPES:
        assert keys[scope] not in text
        assert keys[scope].split("_", 2)[2] not in text
    assert keys["file"].path.stat().st_mode & 0o077 == 0
    assert len({keys[scope] for scope in SCOPES}) == len(SCOPES)


def test_a_file_of_keys_that_disappears_lets_nobody_new_in(guarded, keys):
    headers = {"Authorization": f"Bearer {keys['read']}"}
    assert guarded.http.get("/v1/streams", headers=headers).status_code == 200
    keys["file"].path.write_text("broken")
    time.sleep(1.1)
    assert guarded.http.get("/v1/streams", headers=headers).status_code == 200
    assert guarded.http.get("/v1/streams").status_code == 401


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "write"]])
def test_scopes_that_cannot_be(tmp_path, scopes):
    with pytest.raises(InvalidParameter, match="propose, feedback, read, admin"):
        KeyFile(tmp_path / "keys.json").create("me", scopes)
    assert not (tmp_path / "keys.json").exists()


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


def shortlist(*arguments, cwd=None):
    command = [sys.executable, "-m", "shortlist", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_the_commands(tmp_path):
    made = shortlist("keys", "create", "search box", "--scopes", "propose,read", cwd=tmp_path)
    key = made.stdout.strip()
    assert key.startswith("sl_")
    listed = shortlist("keys", "list", cwd=tmp_path).stdout
    assert "search box" in listed
    assert key not in listed
    number = key.split("_")[1]
    assert "is revoked" in shortlist("keys", "revoke", number, cwd=tmp_path).stdout
    content = json.loads((tmp_path / "shortlist-keys.json").read_text())["content"]
    assert content["keys"][0]["revoked"] is not None
    for wrong, message in (
        (("keys", "revoke", "000000000000"), "there is no key '000000000000'"),
        (("keys", "create", "me", "--scopes", "all"), "name some of propose, feedback, read, admin"),
        (("keys", "list", "--file", "nowhere.json"), "there is no such file"),
        (("serve", "--host", "0.0.0.0"), "there are no keys"),
        (("serve", "--workers", "2", "--database", f"sqlite:///{tmp_path}/a.db"), "a SQLite file has one writer"),
        (("serve", "--api-key-file", "nowhere.json"), "there is no such file"),
        (("serve", "--expire-after", "soon", "--database", f"sqlite:///{tmp_path}/a.db"), "write 90s, 30m, 12h or 7d"),
        (("expire", "docs", "--older-than", "x"), "write 90s, 30m, 12h or 7d"),
    ):
        done = shortlist(*wrong, cwd=tmp_path)
        assert done.returncode == 2, (wrong, done.stderr)
        assert message in done.stderr, wrong
        assert done.stderr.count("\n") == 1, wrong


def test_the_app_without_keys_lets_everybody_in(sqlite):
    assert create_app(sqlite).title == "shortlist"
    with running(sqlite) as service:
        assert service.http.get("/v1/streams").status_code == 200
