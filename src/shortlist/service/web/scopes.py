"""Which key a request needs: none for what is public, else one with the scope of its route.

A route that is not listed here needs a key with the scope `admin`.
"""

import re
from typing import Final

from starlette.routing import Match
from starlette.types import Scope

__all__ = ["PUBLIC", "PUBLIC_FOLDERS", "SCOPES", "is_public", "scope_of"]

#: Paths that answer without a key, and folders of such paths.
PUBLIC: Final = ("/healthz", "/readyz", "/openapi.json", "/", "/favicon.ico")
PUBLIC_FOLDERS: Final = ("/static/", "/page/")
#: The scope that each operation needs; all others need `admin`.
SCOPES: Final = {
    "propose": "propose",
    "propose_many": "propose",
    "rerank": "propose",
    "rerank_v1": "propose",
    "withdraw": "propose",
    "add_items": "propose",
    "remove_item": "propose",
    **dict.fromkeys(("get_queue", "next", "renew_lease", "give_back"), "feedback"),
    "correct_label": "review",
    "more": "feedback",
    "answer": "feedback",
    "answer_many": "feedback",
    **dict.fromkeys(("list_streams", "get_stream", "live", "get_rounds", "get_round", "get_series"), "read"),
    **dict.fromkeys(("export", "get_labels", "get_classes", "metrics"), "read"),
}

#: Match a path that answers without a key. One expression: every request asks.
is_public: Final = re.compile(
    "|".join([*map(re.escape, PUBLIC), *(re.escape(folder) + ".*" for folder in PUBLIC_FOLDERS)]), re.DOTALL
).fullmatch


def scope_of(scope: Scope) -> str:
    """Return the scope that a request's route needs, whatever its streams and rounds are called."""
    for route in scope["app"].routes:
        if route.matches(scope)[0] is Match.FULL:
            return SCOPES.get(getattr(route, "operation_id", None) or "", "admin")
    return "admin"
