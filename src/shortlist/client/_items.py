"""Calls about items that annotators answer, without I/O: adding them, and taking them one by one."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from shortlist._validation import Member, plain_member
from shortlist.client._drafts import Draft, in_parts
from shortlist.client._exchange import Call, Request, error_of, results_of
from shortlist.errors import InvalidParameter, ShortlistError

if TYPE_CHECKING:
    from shortlist.client._protocol import Calls

#: The most rounds whose holders are remembered.
_HELD: Final = 1_000

__all__ = ["add_items", "correct", "give_back", "next_round", "queue", "renew"]


def add_items(calls: "Calls", items: Iterable[Mapping[str, Any]]) -> Call[list[ShortlistError | None]]:
    """Send items; return what was wrong with each, or None."""
    if isinstance(items, Mapping):
        raise InvalidParameter(f"items are {str(items)[:100]}; give a list of them, even of one")
    outcomes, bodies = list[ShortlistError | None](), list[dict[str, Any]]()
    for item in items:
        if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
            raise InvalidParameter(f"an item is {str(item)[:100]}; it needs an 'id', which is a string")
        try:
            bodies.append(_body(item, calls._scorer_version))
            outcomes.append(None)
        except ShortlistError as error:  # the others are added all the same
            outcomes.append(type(error)(f"item {item['id']}: {error}"))
    sent = iter([position for position, outcome in enumerate(outcomes) if outcome is None])
    for part in in_parts(bodies):
        reply = yield from calls._send(Request("POST", calls._path("items"), {"items": part}))
        for each in results_of(reply, len(part)):
            outcomes[next(sent)] = error_of(each["problem"]) if each.get("problem") else None
    return outcomes


def next_round(calls: "Calls", lease: float | None, annotator: str | None) -> Call[dict[str, Any] | None]:
    """Ask for something to answer."""
    body = {name: value for name, value in (("lease", lease), ("annotator", annotator)) if value is not None}
    # Not sent again: what was given out and not received comes back when its lease ends.
    reply: dict[str, Any] | None = yield from calls._send(Request("POST", calls._path("next"), body), repeatable=False)
    if reply is not None and "holder" in reply:
        calls.held[reply["round_id"]] = reply["holder"]
        while len(calls.held) > _HELD:
            calls.held.popitem(last=False)
    return reply


def renew(calls: "Calls", round_id: str, holder: str, lease: float | None) -> Call[float]:
    """Keep a round for longer."""
    body = {"holder": holder} if lease is None else {"holder": holder, "lease": lease}
    reply = yield from calls._send(Request("PUT", calls._path("rounds", round_id, "lease"), body))
    return float(reply["lease_until"])


def correct(calls: "Calls", round_id: str, label: Member | None, note: str | None) -> Call[None]:
    """Correct the label of an answered round."""
    body = {"label": None if label is None else plain_member(label), "note": note}
    yield from calls._send(Request("PUT", calls._path("labels", round_id), body))


def give_back(calls: "Calls", round_id: str, holder: str) -> Call[None]:
    """Give a round back."""
    holder = holder or calls.held.get(round_id, "")
    parameters = {"holder": holder} if holder else None
    calls.held.pop(round_id, None)
    yield from calls._send(Request("DELETE", calls._path("rounds", round_id, "lease"), parameters=parameters))


def queue(calls: "Calls") -> Call[dict[str, Any]]:
    """Ask what waits."""
    reply: dict[str, Any] = yield from calls._send(Request("GET", calls._path("items")))
    return reply


def _body(item: Mapping[str, Any], version: str | None) -> dict[str, Any]:
    """Return an item as it is sent: as it is, if it has candidates, or from what `propose` takes."""
    if "candidates" in item:
        return {"scorer_version": version, **item} if version is not None else dict(item)
    given = {name: value for name, value in item.items() if name not in ("id", "image")}
    body = Draft.of(given, version).body
    body["id"] = item["id"]
    del body["round_id"]
    return body | ({"image": item["image"]} if item.get("image") is not None else {})
