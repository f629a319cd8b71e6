"""A stream in memory: the fold of its events.

`apply` is the only way in which a stream changes, and it looks at nothing but the event: each carries
the threshold and the epoch of its list, and what was made of its scores, so that the same log gives
the same bits on any machine. What is only shown to people (`series`) is folded beside it: if that
fails, the charts start again and the stream goes on.
"""

import logging
import math
from typing import Any, Final

import numpy as np

from shortlist import savefile
from shortlist.cutter import Cut, Cutter
from shortlist.service.engine.series import Series
from shortlist.service.engine.settings import Settings
from shortlist.service.store import Event, Snapshot, StreamRow

__all__ = ["STATE_VERSION", "Stream", "cut_from_body", "cut_to_body", "from_json", "to_json"]

_log = logging.getLogger("shortlist.service")

#: Raised when the state changes its form: older snapshots are then not used, and the log is.
STATE_VERSION: Final = 4
_COUNTED: Final = {"hit": "hits", "miss": "misses", "skip": "skipped", "absent": "absent", "expired": "expired"}


class Stream:
    """The state of one stream after its last folded event."""

    def __init__(self, row: StreamRow) -> None:
        self.id, self.name, self.created = row.id, row.name, row.created
        self.settings = Settings(**row.settings)
        #: The number of the last event in it.
        self.number = 0
        self.cutter = self.settings.cutter()
        #: The rounds without an answer, oldest first, each with the number of its first event.
        self.open: dict[str, int] = {}
        self.counts = {"hits": 0, "misses": 0, "skipped": 0, "absent": 0, "expired": 0}
        self.series = Series()
        #: How often the charts had to start again, because an event could not be drawn.
        self.charts_dropped = 0
        #: The version of the scorer: as set, or that of the first round. All rounds name the same one, or none does.
        self.scorer_version = self.settings.scorer_version
        #: Whether it was deleted while somebody still holds it.
        self.deleted = False
        #: When something last happened.
        self.last_at: float | None = None

    def apply(self, event: Event) -> None:
        """Take the next event."""
        if event.number != self.number + 1:
            raise ValueError(f"event {event.number} of stream {self.name} does not follow {self.number}")
        name, body = event.round_id, event.body
        if event.kind == "shown":
            self.cutter.show(name, cut_from_body(body))
            self.open[name] = event.number
            self.scorer_version = body.get("scorer_version") if event.number == 1 else self.scorer_version
        else:
            del self.open[name]
            kind = _kind(event)
            self.counts[_COUNTED[kind]] += 1
            if kind == "hit":
                made = {int(i): value for i, value in body["made"].items()}
                self.cutter.hit(name, made, beyond=body["beyond"], complete=body["complete"])
            elif kind == "miss":
                self.cutter.miss(name, truncated=body["truncated"], complete=body["complete"])
            elif kind == "absent":
                self.cutter.withdraw(name)
            else:
                self.cutter.silence(name)
        self.number, self.last_at = event.number, event.at
        try:
            self._chart(event)
        except Exception:  # noqa: BLE001 - a picture must not be able to destroy what it is a picture of
            _log.exception("the charts of stream %s start again: event %s cannot be drawn", self.name, event.number)
            self.series = Series()
            self.charts_dropped += 1

    def _chart(self, event: Event) -> None:
        """Take the event into the stream's history."""
        body, learner = event.body, self.cutter.leader
        if event.kind == "shown":
            length = body["reached"] if self.settings.shadow else len(body["positions"])
            self.series.show(length, len(body["ids"]))
        else:
            self.series.answer(_kind(event))
            if event.kind == "hit":
                leader = self.cutter.chooser.leader
                self.series.chosen.add(leader, body["made"][str(leader)])
        level = None if learner.detector is None else learner.detector.level(learner.drift)
        self.series.mark(event.at, learner.threshold, level)

    def snapshot(self) -> Snapshot:
        """Return the state as text, the same bits for the same events."""
        state = {
            "cutter": self.cutter.to_dict(),
            "open": list(self.open.items()),
            "counts": self.counts,
            "scorer_version": self.scorer_version,
            "last_at": self.last_at,
            "series": self.series.to_dict(),
            "charts_dropped": self.charts_dropped,
        }
        return Snapshot(self.number, STATE_VERSION, savefile.to_text(state))

    def restore(self, snapshot: Snapshot) -> None:
        """Go to the state of a snapshot."""
        state = savefile.from_text(snapshot.state)
        self.cutter = Cutter.from_dict(state["cutter"])
        self.open = dict(state["open"])
        self.counts = state["counts"]
        self.scorer_version = state["scorer_version"]
        self.last_at = state["last_at"]
        self.series = Series.from_dict(state["series"])
        self.charts_dropped = state["charts_dropped"]
        self.number = snapshot.number

    def figures(self) -> dict[str, Any]:
        """Return the figures that change with every event: cheap, for many streams at once."""
        hits, answered = self.counts["hits"], self.counts["hits"] + self.counts["misses"]
        return {
            "name": self.name,
            "events": self.number,
            "last_event": self.last_at,
            "rounds": self.cutter.rounds,
            **self.counts,
            "open": len(self.open),
            "coverage_target": self.settings.coverage,
            "coverage_seen": hits / answered if answered else None,
            "coverage_interval": list(wilson(hits, answered)) if answered else None,
            **self.series.recent(),
            **self.cutter.figures(),
        }

    def summary(self) -> dict[str, Any]:
        """Return all there is to tell, as plain data: settings, figures, and what is waited for."""
        return {
            **self.figures(),
            "created": self.created,
            "settings": self.settings.to_dict(),
            "scorer_version": self.scorer_version,
            "spark": self.series.spark(),
            **self.cutter.summary(),
        }


def _kind(event: Event) -> str:
    """Return what an answer counts as: absent, where nobody can have looked through everything, is a miss."""
    return "miss" if event.kind == "absent" and not event.body["believed"] else event.kind


def wilson(hits: int, of: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    >>> [round(end, 4) for end in wilson(90, 100)]
    [0.8256, 0.9448]
    """
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / of + spread / of / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def to_json(threshold: float) -> float | None:
    """Return a threshold as JSON has it: -inf is null."""
    return None if threshold == -math.inf else threshold


def from_json(threshold: float | None) -> float:
    """Return the threshold that JSON had."""
    return -math.inf if threshold is None else threshold


def cut_to_body(cut: Cut, ids: list[Any], values: np.ndarray) -> dict[str, Any]:
    """Return a decision as the body of an event: everything that was looked at, and what came of it."""
    return {
        "ids": ids,
        "scores": values.tolist(),
        "made": {str(i): made.tolist() for i, made in cut.comparable.items() if made is not values},
        "threshold": to_json(cut.threshold),
        "leader": cut.leader,
        "thresholds": {str(i): to_json(threshold) for i, threshold in cut.thresholds.items()},
        "epoch": cut.epoch,
        "positions": cut.positions.tolist(),
        "reached": cut.reached,
        "truncated": cut.truncated,
    }


def cut_from_body(body: dict[str, Any]) -> Cut:
    """Return the decision that an event's body tells of."""
    made = body["made"]
    return Cut(
        positions=np.array(body["positions"], dtype=np.intp),
        reached=body["reached"],
        truncated=body["truncated"],
        threshold=from_json(body["threshold"]),
        leader=body["leader"],
        epoch=body["epoch"],
        thresholds={int(i): from_json(threshold) for i, threshold in body["thresholds"].items()},
        comparable={int(i): np.asarray(made.get(i, body["scores"])) for i in body["thresholds"]},
    )
