"""Rounds in a stream of the service, which may be unavailable when the gateway starts, and at any time after that."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import shortlist
from shortlist._validation import Member
from shortlist.errors import ConflictingStream, ServiceUnavailable
from shortlist.integrations.mcp.config import ServiceStream
from shortlist.rounds.settings import CONFIGURABLE, Options

__all__ = ["RemoteLister"]

_log = logging.getLogger("shortlist.mcp")


class RemoteLister:
    """A `shortlist.Client` whose stream is created once the service is available.

    Parameters
    ----------
    service
        The address and name of the stream.
    settings
        The settings of the stream. If it exists, settings that may change at any time are changed; the others must be
        those it was created with.

    Raises
    ------
    ConflictingStream
        If it was created with other settings.
    NotAllowed
        If the key is missing or wrong.
    """

    def __init__(self, service: ServiceStream, **settings: Any) -> None:
        address = service.url, service.stream, service.api_key
        self._client = shortlist.Client(*address, deadline=service.deadline, fallback="everything")
        # No waiting while it is unavailable: an agent is at the other end.
        self._quick = shortlist.Client(*address, timeout=service.deadline, retries=0)
        self._settings = _complete(settings)
        self._is_created = False
        try:
            self._create()
        except ServiceUnavailable as error:
            _log.warning("every tool is shown until the service is available: %s", error)
        except BaseException:
            self.close()
            raise

    def _create(self) -> None:
        """Create the stream, or update the settings that may change."""
        if self._is_created:
            return
        try:
            self._quick.create(**self._settings)
        except ConflictingStream:
            current = self._quick.summary()["settings"]
            changes = {name: value for name, value in self._settings.items() if current[name] != value}
            if not changes.keys() <= set(CONFIGURABLE):
                raise
            if changes:
                self._quick.configure(**changes)
        self._is_created = True

    def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
    ) -> Any:
        """Open a round and return its shortlist; everything, if the service is unavailable or slow."""
        self._create()
        return self._client.propose(scores, ids, truncated_below=truncated_below, allow_empty=allow_empty)

    def more(self, round_id: Any, count: int | None = None) -> Any:
        """Show more of a list."""
        return self._client.more(round_id, count)

    def hit(self, round_id: Any, member: Member) -> None:
        """Take the answer "this one"."""
        self._client.hit(round_id, member)

    def miss(self, round_id: Any) -> None:
        """Take the answer "not in this list"."""
        self._client.miss(round_id)

    def skip(self, round_id: Any) -> None:
        """Record that no answer will come."""
        self._client.skip(round_id)

    def absent(self, round_id: Any) -> None:
        """Take the answer "no candidate is right"."""
        self._client.absent(round_id)

    def reveal(self, round_id: Any, right: Member | None) -> None:
        """Take the right answer, shown or not."""
        self._client.reveal(round_id, right)

    def summary(self) -> Any:
        """Return a summary of all rounds so far."""
        return self._client.summary()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._quick.close()


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """Return all settings of a stream, checked, with defaults filled in."""
    checked = shortlist.Shortlister(**given).settings
    names = Options.__dataclass_fields__.keys() - {"keep", "score", "shadow"}
    settings = {name: getattr(checked, name) for name in sorted(names)}
    policy = {"kind": "anytime", "delta": given.get("delta", 0.01)}
    return settings | {"coverage": given.get("coverage", 0.9), "score": given.get("score", "auto"), "policy": policy}
