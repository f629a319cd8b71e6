"""Items that wait for annotators: adding them, and giving them out one by one."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from shortlist.errors import ShortlistError
from shortlist.service.engine import Engine
from shortlist.service.engine.item_opening import Item
from shortlist.service.web import item_replies, item_requests
from shortlist.service.web.body_route import BodyRoute
from shortlist.service.web.dependencies import CurrentEngine, CurrentKey, annotator_of, only_answers
from shortlist.service.web.fields import ANNOTATOR, RoundPath, StreamPath
from shortlist.service.web.problems import EVERYWHERE, responses
from shortlist.service.web.routes.batches import refused
from shortlist.service.web.serializers import as_json, next_view

__all__ = ["router"]


async def _add(engine: Engine, name: str, items: Sequence[item_requests.NewItem]) -> list[dict[str, Any]]:
    """Add items; return the result of each."""
    results: list[dict[str, Any]] = [{} for _ in items]
    good = dict[int, Item]()
    for position, each in enumerate(items):
        try:
            good[position] = each.item()
        except ShortlistError as error:
            results[position] = refused(error, id=each.id)
    outcomes = await engine.labeling.add(name, list(good.values()))
    for position, outcome in zip(good, outcomes, strict=True):
        each = items[position]
        if isinstance(outcome, ShortlistError):
            results[position] = refused(outcome, id=each.id)
        else:
            results[position] = {"id": each.id, "status": 201 if outcome else 200}
    return results


router = APIRouter(route_class=BodyRoute, responses=EVERYWHERE)


@router.post(
    "/v1/streams/{name}/items",
    operation_id="add_items",
    status_code=207,
    response_model=item_replies.ItemResults,
    responses=responses(404, 409),
)
async def add_items(engine: CurrentEngine, name: StreamPath, body: item_requests.NewItems) -> Response:
    """Add items for annotators to answer; each is accepted or refused on its own, and no list is cut yet.

    At most 1,000 per request; any number may wait.
    """
    await engine.require(name)
    return as_json({"results": await _add(engine, name, body.items)}, 207)


@router.get(
    "/v1/streams/{name}/items",
    operation_id="get_queue",
    response_model=item_replies.QueueView,
    responses=responses(404),
)
async def get_queue(
    engine: CurrentEngine,
    key: CurrentKey,
    name: StreamPath,
    annotator: Annotated[str | None, Query(pattern=ANNOTATOR, description="Who asks.")] = None,
) -> Response:
    """Return how many items wait, and what annotators need to know."""
    view = await engine.labeling.view(name, annotator_of(key, annotator))
    return as_json(view | {"reads": key is None or key.may("read")})


@router.delete(
    "/v1/streams/{name}/items",
    operation_id="clear_items",
    response_model=item_replies.Cleared,
    responses=responses(404),
)
async def clear_items(engine: CurrentEngine, name: StreamPath) -> Response:
    """Remove all items that nobody has opened yet, and those that were refused. Rounds stay."""
    return as_json({"removed": await engine.labeling.clear(name)})


@router.delete(
    "/v1/streams/{name}/items/{round_id}",
    operation_id="remove_item",
    status_code=204,
    responses=responses(404, 409),
)
async def remove_item(engine: CurrentEngine, name: StreamPath, round_id: RoundPath) -> Response:
    """Remove an item that nobody has opened yet; 409 if it has already become a round."""
    await engine.labeling.remove(name, round_id)
    return Response(status_code=204)


@router.post(
    "/v1/streams/{name}/next",
    operation_id="next",
    response_model=item_replies.NextRound,
    responses={**responses(404, 409), 204: {"description": "Nothing waits."}},
)
async def take_next(
    engine: CurrentEngine, key: CurrentKey, name: StreamPath, body: item_requests.NextAsked
) -> Response:
    """Lease something to answer: nobody else is given it until the lease ends.

    A round that somebody has left open comes first, with the list that it had; otherwise the next item is drawn at
    random from those that wait, and its list is cut now. A key that can only answer may hold 20 rounds of a
    stream at a time.
    """
    held = await engine.labeling.take(name, body.lease, key.id if key is not None and only_answers(key) else None)
    if held is None:
        return Response(status_code=204)
    shown, text, _ = await engine.history.round(name, held.round_id)
    return as_json(next_view(held, shown, text))


@router.put(
    "/v1/streams/{name}/rounds/{round_id}/lease",
    operation_id="renew_lease",
    response_model=item_replies.LeaseView,
    responses=responses(404, 409, 410),
)
async def renew_lease(
    engine: CurrentEngine, name: StreamPath, round_id: RoundPath, body: item_requests.LeaseRenewed
) -> Response:
    """Renew a lease; 409 if somebody else has the round by now, 410 if it was answered."""
    held = await engine.labeling.renew(name, round_id, body.holder, body.lease)
    return as_json({"round_id": held.round_id, "holder": held.holder, "lease_until": held.until})


@router.delete(
    "/v1/streams/{name}/rounds/{round_id}/lease",
    operation_id="give_back",
    status_code=204,
    responses=responses(404, 409, 410),
)
async def give_back(
    engine: CurrentEngine,
    key: CurrentKey,
    name: StreamPath,
    round_id: RoundPath,
    holder: Annotated[
        str,
        Query(
            max_length=100,
            description="As `next` returned it: refused if you no longer hold the round. A key that can only answer "
            "needs it.",
        ),
    ] = "",
) -> Response:
    """Give a round back: it stays open with the same list, for somebody else, or for later."""
    await engine.labeling.give_back(name, round_id, holder, only_answers=only_answers(key))
    return Response(status_code=204)
