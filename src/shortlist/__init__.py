"""Show a shortlist instead of everything, keep the right answer in it, and learn the cutoff from clicks.

>>> import shortlist
>>> lister = shortlist.Shortlister(coverage=0.9)
>>> shown = lister.propose([0.2, 0.9, 0.4], ids=["a", "b", "c"])
>>> shown.members
('b', 'c', 'a')
>>> lister.hit(shown.round_id, "b")
"""

from typing import TYPE_CHECKING, Any, Final

from shortlist import errors, metrics, scores
from shortlist._replay import replay
from shortlist.boundaries import DKW, BetaBinomial, Binomial, Boundary, Calibrated, crossing_probability
from shortlist.drift import DriftDetector
from shortlist.errors import InvalidInput, ShortlistError
from shortlist.listers import GroupedShortlister, Lister, Shortlister
from shortlist.logs import rescore, threshold_from_labels
from shortlist.policies import (
    ACI,
    DLR,
    MVP,
    SAOCP,
    SPS,
    AnytimeSPS,
    ConformalPID,
    ConservativeETC,
    DtACI,
    ExploreThenCommit,
    Greedy,
    Oracle,
    OrderStatistic,
    Policy,
    ScaleFreeOGD,
    ThresholdTracking,
)
from shortlist.rounds.shown import More, Shown
from shortlist.rounds.summary import Summary

__version__ = "0.1.0"

if TYPE_CHECKING:
    from shortlist.client import AsyncClient, Client

_LATER: Final = ("AsyncClient", "Client")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    errors.needs_extra("the client", "client", "httpx")
    from shortlist import client  # noqa: PLC0415 - needs an extra

    return getattr(client, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "ACI",
    "DKW",
    "DLR",
    "MVP",
    "SAOCP",
    "SPS",
    "AnytimeSPS",
    "AsyncClient",
    "BetaBinomial",
    "Binomial",
    "Boundary",
    "Calibrated",
    "Client",
    "ConformalPID",
    "ConservativeETC",
    "DriftDetector",
    "DtACI",
    "ExploreThenCommit",
    "Greedy",
    "GroupedShortlister",
    "InvalidInput",
    "Lister",
    "More",
    "Oracle",
    "OrderStatistic",
    "Policy",
    "ScaleFreeOGD",
    "ShortlistError",
    "Shortlister",
    "Shown",
    "Summary",
    "ThresholdTracking",
    "crossing_probability",
    "errors",
    "metrics",
    "replay",
    "rescore",
    "scores",
    "threshold_from_labels",
]
