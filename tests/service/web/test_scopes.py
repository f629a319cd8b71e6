"""Which key each route needs. A new route must be entered here, or a test fails."""

from fastapi.routing import APIRoute

from shortlist.service.keys import SCOPES, KeyFile
from shortlist.service.web.scopes import is_public, scope_of
from tests.service.running import running

#: The scope that each route needs.
NEEDED = {
    "add_items": "propose",
    "remove_item": "propose",
    "clear_items": "admin",
    "get_queue": "feedback",
    "next": "feedback",
    "renew_lease": "feedback",
    "give_back": "feedback",
    "get_labels": "read",
    "get_classes": "read",
    "correct_label": "review",
    "create_stream": "admin",
    "list_streams": "read",
    "get_stream": "read",
    "configure_stream": "admin",
    "warm_start": "admin",
    "restart": "admin",
    "delete_stream": "admin",
    "live": "read",
    "propose": "propose",
    "get_rounds": "read",
    "get_round": "read",
    "more": "feedback",
    "withdraw": "propose",
    "answer": "feedback",
    "answer_many": "feedback",
    "propose_many": "propose",
    "rerank": "propose",
    "rerank_v1": "propose",
    "expire": "admin",
    "erase_texts": "admin",
    "get_series": "read",
    "export": "read",
    "metrics": "read",
}


#: What answers without a key.
OPEN = {"healthz", "readyz"}


#: Names that are also the last part of some route.
RESERVED = [
    "feedback",
    "more",
    "rounds",
    "live",
    "texts",
    "warm-start",
    "restart",
    "expire",
    "export",
    "series",
    "streams",
    "metrics",
    "healthz",
]


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


def test_a_name_is_not_a_scope(sqlite, tmp_path):
    """Streams and rounds may be called like a route; what a key may do does not depend on it."""
    keys = KeyFile(tmp_path / "keys.json")
    made = {scope: {"Authorization": f"Bearer {keys.create(scope, [scope])}"} for scope in SCOPES}
    allowed = {
        ("GET", "/v1/streams/{name}"): "read",
        ("DELETE", "/v1/streams/{name}"): "admin",
        ("GET", "/v1/streams/{name}/rounds/{round_id}"): "read",
        ("GET", "/v1/streams/{name}/rounds"): "read",
        ("GET", "/v1/streams/{name}/export"): "read",
        ("DELETE", "/v1/streams/{name}/texts"): "admin",
        ("POST", "/v1/streams/{name}/expire"): "admin",
        ("POST", "/v1/streams/{name}/rounds"): "propose",
        ("POST", "/v1/streams/{name}/rounds/{round_id}/more"): "feedback",
        ("PATCH", "/v1/streams/{name}"): "admin",
        ("POST", "/v1/streams/{name}/feedback"): "feedback",
        ("PUT", "/v1/streams/{name}/rounds/{round_id}/feedback"): "feedback",
        ("PUT", "/v1/streams/{name}/{round_id}"): "admin",
        ("PATCH", "/v1/streams/{name}/feedback"): "admin",
        ("DELETE", "/v1/streams/{name}/feedback"): "admin",
        ("GET", "/v1/streams/{name}/feedback"): "admin",
    }
    with running(sqlite, keys=KeyFile(keys.path)) as service:
        for name in RESERVED:
            service.http.headers.update(made["admin"])
            service.make(name)
            assert service.propose(stream=name, round_id=name).status_code == 201
            for (method, path), needed in allowed.items():
                for scope in SCOPES:
                    if scope in (needed, "admin"):
                        continue
                    body = {} if method in ("POST", "PUT", "PATCH") else None
                    url = path.format(name=name, round_id=name)
                    answer = service.http.request(method, url, headers=made[scope], json=body)
                    assert answer.status_code == 403, (method, url, scope)
        assert len(service.http.get("/v1/streams").json()["streams"]) == len(RESERVED)  # nothing was deleted
