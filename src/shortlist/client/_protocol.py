"""The calls to the service, without I/O.

A call is a generator: it yields requests and pauses, is sent responses and errors, and returns its
result. So it is written once, and `Client` and `AsyncClient` differ only in how they wait.
"""

import dataclasses
import math
import random
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import quote

import httpx2

from shortlist import errors
from shortlist._validation import (
    UNNAMED,
    Array,
    Member,
    check_lists,
    check_number,
    plain_member,
    plain_members,
)
from shortlist.client._drafts import Draft, in_parts
from shortlist.client._exchange import Call, Request, Result, asked_pause, error_of, problem_in, read, results_of
from shortlist.client._fallback import LateRounds, everything
from shortlist.errors import (
    ConflictingAnswer,
    InvalidParameter,
    LeaseLost,
    NotAllowed,
    NotShown,
    RoundClosed,
    ServiceError,
    ServiceUnavailable,
    ShortlistError,
)
from shortlist.rounds.shown import More, Shown
from shortlist.rounds.stream_summary import StreamSummary

__all__ = ["Call", "Calls", "Request", "Result"]

#: Status codes that mean "later".
_LATER: Final = (429, 502, 503, 504)
_LONGEST_PAUSE: Final = 5.0


class Calls:
    """The calls, without I/O."""

    def __init__(
        self,
        url: str,
        stream: str,
        api_key: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 5,
        deadline: float = 2.0,
        fallback: Literal["everything"] | None = None,
        scorer_version: str | None = None,
    ) -> None:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise InvalidParameter(f"url is {url!r}; it must be the service's address, such as http://127.0.0.1:8000")
        if not isinstance(stream, str) or not stream.strip("."):
            raise InvalidParameter(f"stream is {stream!r}; it must be the name of a stream")
        if fallback not in (None, "everything"):
            raise InvalidParameter(f'fallback is {fallback!r}; it must be "everything" or None')
        if api_key is not None:
            api_key = _checked_key(api_key)
        self._deadline = check_number("deadline", deadline, "a number of seconds above 0")
        if self._deadline <= 0:
            raise InvalidParameter(f"deadline is {deadline!r}; it must be a number of seconds above 0")
        self._fallback, self._timeout = fallback, timeout
        self._late = LateRounds()
        #: The holders of rounds that `next` gave, for the answers to them.
        self.held: OrderedDict[str, str] = OrderedDict()
        self.url, self.stream = url.rstrip("/"), stream
        self._retries = retries
        self._scorer_version = scorer_version
        self._settings: dict[str, Any] = {
            "base_url": self.url,
            "timeout": timeout,
            "headers": {} if api_key is None else {"Authorization": f"Bearer {api_key}"},
        }
        self._connect()

    def _connect(self) -> None:
        """Create the HTTP client."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url} stream {self.stream}>"

    def _path(self, *parts: str) -> str:
        return "/".join(("/v1/streams", *(quote(part, safe="") for part in (self.stream, *parts))))

    def _send(self, request: Request, *, repeatable: bool = True, deadline: float = math.inf) -> Call[Any]:
        """Send a request, with retries if it is `repeatable` and there is time; return its JSON."""
        pause, retries, end = 0.1, self._retries if repeatable else 0, time.monotonic() + deadline
        for attempt in range(retries + 1):
            left = end - time.monotonic()
            answer = yield request if left == math.inf else dataclasses.replace(request, timeout=max(left, 0.001))
            if isinstance(answer, httpx2.Response) and answer.status_code not in _LATER:
                return read(answer, repeated=attempt > 0 and request.method == "DELETE")
            wait = min(asked_pause(answer) or pause * random.uniform(0.5, 1.0), _LONGEST_PAUSE)
            if attempt == retries or time.monotonic() + wait >= end:
                break
            yield wait
            pause = min(2 * pause, _LONGEST_PAUSE)
        if isinstance(answer, httpx2.Response):
            problem = problem_in(answer)
            raise ServiceUnavailable(
                f"{self.url} answers {answer.status_code}: {problem.get('detail', 'try again later')}"
            )
        raise ServiceUnavailable(
            f"{self.url} cannot be reached ({type(answer).__name__}: {answer}); is the service running there?"
        )

    def _create(self, coverage: float, settings: dict[str, Any]) -> Call[StreamSummary]:
        body = {"name": self.stream, "coverage": coverage, **settings}
        if "score" in body:
            body["score"] = _plain_score(body["score"])
        if hasattr(body.get("policy"), "to_dict"):
            body["policy"] = _plain_policy(body["policy"], coverage)
        if self._scorer_version is not None:
            body.setdefault("scorer_version", self._scorer_version)
        return StreamSummary.from_json((yield from self._send(Request("POST", "/v1/streams", body))))

    def _propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None,
        texts: Sequence[str | None] | None,
        **more: Any,
    ) -> Call[Shown]:
        draft = Draft(scores, ids, texts, version=self._scorer_version, **more)
        request = Request("POST", self._path("rounds"), draft.body)
        if self._fallback is None:
            reply = yield from self._send(request)
        else:
            try:
                reply = yield from self._send(request, deadline=self._deadline)
                shown = draft.shown(reply)
            except NotAllowed:
                raise  # a wrong key is not a service that is away: complete lists would hide it for good
            except ServiceError:
                return self._everything(draft)
            yield from self._take_back()
            return shown
        return draft.shown(reply)

    def _everything(self, draft: Draft) -> Shown:
        """Return a list for a round without the service."""
        self._late.add(draft.round_id)
        return everything(draft.round_id, list(draft.names), draft.values)

    def _propose_many(self, rounds: Iterable[Mapping[str, Any]]) -> Call[list[Shown | ShortlistError]]:
        drafts = [Draft.of(each, self._scorer_version) for each in rounds]
        results: list[Shown | ShortlistError] = []
        deadline = math.inf if self._fallback is None else self._deadline
        for part in in_parts([draft.body for draft in drafts]):
            mine = drafts[len(results) : len(results) + len(part)]
            request = Request("POST", self._path("rounds:batch"), {"rounds": part})
            try:
                reply = yield from self._send(request, deadline=deadline)
                results += [
                    error_of(each["problem"]) if each.get("problem") else draft.shown(each)
                    for draft, each in zip(mine, results_of(reply, len(part)), strict=True)
                ]
            except ServiceError as error:
                if self._fallback is None or isinstance(error, NotAllowed):
                    raise
                # The others are not sent: each part would take just as long to fail.
                return results + [self._everything(draft) for draft in drafts[len(results) :]]
        if self._fallback is not None:
            yield from self._take_back()
        return results

    def _take_back(self) -> Call[None]:
        """Withdraw a round that was shown without the service, if one is due: it may have been stored after all."""
        round_id = self._late.next()
        if round_id is None:
            return
        answer = yield Request("DELETE", self._path("rounds", round_id), timeout=min(self._deadline, 1.0))
        gone = isinstance(answer, httpx2.Response) and answer.status_code in (204, 409, 410)
        self._late.tried(round_id, gone=gone)

    def _withdraw(self, round_id: Any) -> Call[None]:
        _check_round(round_id)
        if round_id not in self._late:
            yield from self._send(Request("DELETE", self._path("rounds", round_id)))

    def _more(self, round_id: Any, count: int | None, shown: int | None) -> Call[More]:
        _check_round(round_id)
        if round_id in self._late:
            return More(round_id, (), (), 0, truncated=False)  # all of it was shown
        given = (("count", count), ("shown", shown), ("holder", self.held.get(round_id)))
        body = {name: value for name, value in given if value is not None}
        request = Request("POST", self._path("rounds", round_id, "more"), body)
        reply = yield from self._send(request, repeatable=shown is not None)
        return More(reply["round_id"], tuple(reply["members"]), (), reply["left"], reply["truncated"])

    def _configure(self, changes: dict[str, Any]) -> Call[StreamSummary]:
        return StreamSummary.from_json((yield from self._send(Request("PATCH", self._path(), changes))))

    def _warm_start(self, lists: Any, right: Any) -> Call[StreamSummary]:
        tables, positions, scorers = check_lists(lists, right)
        body: dict[str, Any] = {
            "lists": [_nulls(each) for each in tables],
            "right": [_right(each) for each in positions],
        }
        if scorers != UNNAMED:
            body["scorers"] = list(scorers)
        return StreamSummary.from_json((yield from self._send(Request("POST", self._path("warm-start"), body))))

    def _restart(self, refit: bool) -> Call[StreamSummary]:
        # With the epoch that is to end, a retry changes nothing.
        before = yield from self._summary()
        body = {"refit": refit, "epoch": before.epoch}
        return StreamSummary.from_json((yield from self._send(Request("POST", self._path("restart"), body))))

    def _answer(self, round_id: Any, answer: dict[str, Any]) -> Call[None]:
        _check_round(round_id)
        if round_id in self._late:
            yield from self._take_back()
            return  # the service does not know it
        try:
            yield from self._send(
                Request("PUT", self._path("rounds", round_id, "feedback"), self._held(round_id) | answer)
            )
        except (LeaseLost, RoundClosed):
            self.held.pop(round_id, None)
            raise
        self.held.pop(round_id, None)

    def _held(self, round_id: Any) -> dict[str, str]:
        """Return the holder of a round, as a field of a request, if `next` gave the round."""
        return {"holder": self.held[round_id]} if round_id in self.held else {}

    def _reveal(self, round_id: Any, right: Member | None) -> Call[None]:
        if right is not None:
            try:
                yield from self._answer(round_id, {"hit": plain_member(right)})
            except (NotShown, ConflictingAnswer):
                pass  # not in the list; or already answered, and the miss below compares with that
            else:
                return
        yield from self._answer(round_id, {"miss": True})

    def _answer_many(self, answers: Iterable[tuple[Any, Mapping[str, Any]]]) -> Call[list[ShortlistError | None]]:
        listed = [
            {"round_id": round_id, **self._held(round_id)}
            | {kind: plain_members(value) for kind, value in answer.items()}
            for round_id, answer in answers
        ]
        outcomes: list[ShortlistError | None] = []
        for part in in_parts(listed):
            reply = yield from self._send(Request("POST", self._path("feedback"), {"answers": part}))
            results = results_of(reply, len(part))
            for each, result in zip(part, results, strict=True):
                outcomes.append(error_of(result["problem"]) if result.get("problem") else None)
                if outcomes[-1] is None or isinstance(outcomes[-1], (LeaseLost, RoundClosed)):
                    self.held.pop(each["round_id"], None)
        return outcomes

    def _summary(self) -> Call[StreamSummary]:
        return StreamSummary.from_json((yield from self._send(Request("GET", self._path()))))

    def _rounds(self, after: int, limit: int, only_open: bool) -> Call[dict[str, Any]]:
        parameters = {"after": after, "limit": limit, "open": "true" if only_open else "false"}
        page: dict[str, Any] = yield from self._send(Request("GET", self._path("rounds"), parameters=parameters))
        return page

    def _expire(self, older_than: float) -> Call[int]:
        reply = yield from self._send(Request("POST", self._path("expire"), {"older_than": older_than}))
        return int(reply["expired"])

    def _erase_texts(self, older_than: float) -> Call[int]:
        request = Request("DELETE", self._path("texts"), parameters={"older_than": older_than})
        reply = yield from self._send(request)
        return int(reply["erased"])

    def _log(self) -> Call[list[dict[str, Any]]]:
        rounds: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = yield from self._send(
                Request("GET", self._path("rounds"), parameters={"after": after, "limit": 200})
            )
            rounds += page["rounds"]
            after = page["next"]
        return rounds

    def _delete(self) -> Call[None]:
        yield from self._send(Request("DELETE", self._path()))


def _checked_key(api_key: Any) -> str:
    """Return a key without the white space that comes along when it is pasted, or raise without quoting it."""
    stripped = api_key.strip() if isinstance(api_key, str) else ""
    if not re.fullmatch(r"[!-~]+", stripped):
        raise InvalidParameter(
            "api_key is not a key: it is empty, or has characters that no key has; pass it as `shortlist keys create` "
            "printed it, or None"
        )
    return stripped


def _nulls(values: Array) -> list[Any]:
    """Return a list's scores for JSON: null where a scorer has none."""
    return [row if values.ndim == 1 else [None if math.isnan(one) else one for one in row] for row in values.tolist()]


def _right(positions: tuple[int, ...]) -> int | list[int]:
    """Return the right candidates of a labeled list, for JSON."""
    return -1 if not positions else positions[0] if len(positions) == 1 else list(positions)


def _check_round(round_id: Any) -> None:
    if isinstance(round_id, Shown):
        raise errors.UnknownRound("round id is a list that was shown; pass its round_id: shown.round_id")
    if not isinstance(round_id, str) or not round_id.strip("."):
        raise errors.UnknownRound(f"round id is {round_id!r}; it must be the round_id of a list that was shown")


def _plain_policy(policy: Any, coverage: float) -> dict[str, Any]:
    """Return a policy as a stream takes it: kind and parameters, without the coverage, which must be the stream's."""
    plain: dict[str, Any] = policy.to_dict()
    if plain.pop("coverage", coverage) != coverage:
        raise InvalidParameter(f"coverage is {coverage}, and policy is {policy!r}: give both the same coverage")
    plain.pop("window", None)
    return plain


def _plain_score(score: Any) -> Any:
    """Return an object of `shortlist.scores` as its kind and parameters; anything else as it is."""
    kind = getattr(score, "key", None)
    if isinstance(kind, str) and dataclasses.is_dataclass(score) and not isinstance(score, type):
        return {"kind": kind, **dataclasses.asdict(score)}
    return score
