"""Show a shortlist instead of everything, keep the right answer in it, and learn the cutoff from clicks.

>>> import shortlist
>>> lister = shortlist.Shortlister(coverage=0.9)
>>> shown = lister.propose([0.2, 0.9, 0.4], ids=["a", "b", "c"])
>>> shown.members
('b', 'c', 'a')
>>> lister.hit(shown.round_id, "b")
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from shortlist import errors, metrics, scores
    from shortlist._replay import replay
    from shortlist.boundaries import DKW, BetaBinomial, Binomial, Boundary, Calibrated, crossing_probability
    from shortlist.client import AsyncClient, Client
    from shortlist.drift import DriftDetector
    from shortlist.errors import InvalidInput, ShortlistError
    from shortlist.listers.grouped import GroupedShortlister
    from shortlist.listers.protocol import Lister
    from shortlist.listers.shortlister import Shortlister
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
        ProductLimit,
        ScaleFreeOGD,
        ThresholdTracking,
    )
    from shortlist.rounds.shown import More, Shown
    from shortlist.rounds.summary import Summary

__version__ = "0.1.0"

#: The module that each public name is imported from, when it is first used: most programs need few of them.
_HOMES: Final = {
    "replay": "_replay",
    "DriftDetector": "drift",
    "Summary": "rounds.summary",
    **dict.fromkeys(("AsyncClient", "Client"), "client"),
    **dict.fromkeys(("InvalidInput", "ShortlistError"), "errors"),
    "GroupedShortlister": "listers.grouped",
    "Lister": "listers.protocol",
    "Shortlister": "listers.shortlister",
    **dict.fromkeys(("More", "Shown"), "rounds.shown"),
    **dict.fromkeys(("rescore", "threshold_from_labels"), "logs"),
    **dict.fromkeys(
        ("DKW", "BetaBinomial", "Binomial", "Boundary", "Calibrated", "crossing_probability"), "boundaries"
    ),
}
_MODULES: Final = ("boundaries", "drift", "errors", "listers", "logs", "metrics", "policies", "rounds", "scores")


def __getattr__(name: str) -> Any:
    if name not in __all__ and name not in _MODULES:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    home = _HOMES.get(name, "policies")
    if home == "client":
        from shortlist.errors import needs_extra  # noqa: PLC0415 - only here

        needs_extra("the client", "client", "httpx2")
    module = importlib.import_module(f"shortlist.{name if name in _MODULES else home}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
    "ProductLimit",
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
