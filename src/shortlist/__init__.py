"""Show a shortlist instead of everything, keep the right answer in it, learn the cut-off from clicks.

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
from shortlist.boundaries import (
    DKW,
    BetaBinomial,
    Binomial,
    Boundary,
    Calibrated,
    crossing_probability,
)
from shortlist.drift import DriftDetector
from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    ConflictingStream,
    DamagedFile,
    DamagedLog,
    DatabaseInUse,
    DuplicateIds,
    InvalidIds,
    InvalidInput,
    InvalidParameter,
    InvalidScores,
    MissingExtra,
    MissingFile,
    MissingScore,
    NewerDatabase,
    NewerFile,
    NoCandidates,
    NotAllowed,
    NotShown,
    RoundClosed,
    SaveFileError,
    ScorerChanged,
    ServiceError,
    ServiceUnavailable,
    ShortlistError,
    StoreUnavailable,
    UnknownRound,
    UnknownStream,
    UnwritableFile,
)
from shortlist.groups import GroupedShortlister
from shortlist.nested import NestedShortlister
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
from shortlist.shortlister import Shortlister, Shown

__version__ = "0.1.0"

if TYPE_CHECKING:
    from shortlist.client import AsyncClient, Client

#: What is imported when it is asked for: it needs an extra.
_LATER: Final = ("AsyncClient", "Client")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    try:
        from shortlist import client  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the client needs {error.name}, which is in an extra: pip install 'shortlist[client]'"
        ) from None
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
    "ConflictingAnswer",
    "ConflictingRound",
    "ConflictingStream",
    "ConformalPID",
    "ConservativeETC",
    "DamagedFile",
    "DamagedLog",
    "DatabaseInUse",
    "DriftDetector",
    "DtACI",
    "DuplicateIds",
    "ExploreThenCommit",
    "Greedy",
    "GroupedShortlister",
    "InvalidIds",
    "InvalidInput",
    "InvalidParameter",
    "InvalidScores",
    "MissingExtra",
    "MissingFile",
    "MissingScore",
    "NestedShortlister",
    "NewerDatabase",
    "NewerFile",
    "NoCandidates",
    "NotAllowed",
    "NotShown",
    "Oracle",
    "OrderStatistic",
    "Policy",
    "RoundClosed",
    "SaveFileError",
    "ScaleFreeOGD",
    "ScorerChanged",
    "ServiceError",
    "ServiceUnavailable",
    "ShortlistError",
    "Shortlister",
    "Shown",
    "StoreUnavailable",
    "ThresholdTracking",
    "UnknownRound",
    "UnknownStream",
    "UnwritableFile",
    "crossing_probability",
    "errors",
    "metrics",
    "replay",
    "scores",
]
