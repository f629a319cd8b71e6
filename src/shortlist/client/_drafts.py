"""Rounds as request bodies, and their distribution over requests."""

import inspect
import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from shortlist._validation import UNNAMED, Array, Member, Scorers, check_below, check_ids, check_table, index_of
from shortlist.errors import InvalidParameter, ServiceError
from shortlist.rounds.shown import Shown, from_null

__all__ = ["Draft", "in_parts"]

#: The most lists or answers in one request, and the most characters: the service accepts 2 MB.
_MOST: Final = 1_000
_CHARACTERS: Final = 1_000_000


class Draft:
    """A round before it is sent. The parameters are those of `Client.propose`, and the client's own `version`."""

    def __init__(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        texts: Sequence[str | None] | None = None,
        *,
        question: str | None = None,
        truncated_below: float | Mapping[str, float] | None = None,
        scorer_version: str | None = None,
        round_id: str | None = None,
        allow_empty: bool = False,
        version: str | None = None,
    ) -> None:
        ids = index_of(scores) if ids is None else ids
        named = ids is not None or texts is not None
        self.values, scorers = check_table(scores, allow_empty=bool(allow_empty), named=named)
        count = len(self.values)
        self.names: Sequence[Member] = list(range(count)) if ids is None else check_ids(ids, count)
        if texts is not None and len(texts) != count:
            raise InvalidParameter(f"there are {len(texts)} texts for {count} scores; give one for each")
        rows = _rows(self.values, scorers)
        candidates = [{"id": name, **row} for name, row in zip(self.names, rows, strict=True)]
        for candidate, text in zip(candidates, texts or (), strict=False):
            candidate["text"] = text
        self.round_id = str(round_id or uuid.uuid4().hex)
        more = {
            "question": question,
            "truncated_below": None if truncated_below is None else _bounds(truncated_below, scorers),
            "scorer_version": scorer_version or version,
            "allow_empty": allow_empty or None,  # left out of the body if it is the default
        }
        given = {name: value for name, value in more.items() if value is not None}
        self.body: dict[str, Any] = {"candidates": candidates, "round_id": self.round_id, **given}

    @classmethod
    def of(cls, parameters: Mapping[str, Any], version: str | None) -> "Draft":
        """Return the round of a mapping of parameters."""
        unknown = [name for name in parameters if name not in _PARAMETERS]
        if unknown or "scores" not in parameters:
            raise InvalidParameter(
                f"a round has {', '.join(map(repr, parameters)) or 'nothing'}; it must have 'scores', and may have "
                f"{', '.join(sorted(_PARAMETERS - {'scores'}))}"
            )
        return cls(**parameters, version=version)

    def shown(self, reply: dict[str, Any]) -> Shown:
        """Return the list as the service cut it."""
        rows = self.values.tolist()
        score = dict(zip(self.names, rows if self.values.ndim == 1 else map(tuple, rows), strict=True))
        try:
            return Shown(
                round_id=reply["round_id"],
                threshold=from_null(reply["threshold"]),
                members=tuple(reply["members"]),
                scores=tuple(score[member] for member in reply["members"]),
                candidates=len(rows),
                reached=reply["reached"],
                truncated=reply["truncated"],
                added=reply["added"],
                explored=reply["explored"],
                comparable=tuple(reply["comparable"]),
                kept=reply["kept"],
            )
        except (KeyError, TypeError):
            raise ServiceError(f"not a response of this service: {str(reply)[:200]}") from None


_PARAMETERS: Final = inspect.signature(Draft).parameters.keys() - {"version"}


def in_parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield items in parts that each fit in one request."""
    part, size = list[Any](), 0
    for item in items:
        more = len(json.dumps(item))
        if part and (len(part) == _MOST or size + more > _CHARACTERS):
            yield part
            part, size = [], 0
        part.append(item)
        size += more
    if part:
        yield part


def _rows(values: Array, scorers: Scorers) -> list[dict[str, Any]]:
    """Return the scores of each candidate for JSON: one, or one per scorer, null where it has none."""
    rows = values.tolist()
    if scorers == UNNAMED:
        return [{"score": score} for score in rows]
    if len(scorers) == 1:
        return [{"scores": {scorers[0]: score}} for score in rows]
    return [
        {"scores": {name: None if math.isnan(score) else score for name, score in zip(scorers, row, strict=True)}}
        for row in rows
    ]


def _bounds(bound: Any, scorers: Scorers) -> float | dict[str, float]:
    """Return the score below which a search left candidates out, for JSON: a number, or one per scorer that has one."""
    checked = check_below(bound, scorers)
    if scorers == UNNAMED and isinstance(checked, float):
        return checked
    each = checked if isinstance(checked, list) else [checked]
    return {name: number for name, number in zip(scorers, each, strict=True) if number is not None}
