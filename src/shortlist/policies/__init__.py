"""The policies, one file each. ``base.py`` holds the protocol and its contract in words."""

from typing import Any, Final

from shortlist import boundaries
from shortlist.errors import InvalidParameter
from shortlist.policies.aci import ACI
from shortlist.policies.anytime import AnytimeSPS
from shortlist.policies.base import MISS, Policy, State
from shortlist.policies.dlr import DLR
from shortlist.policies.etc import ConservativeETC, ExploreThenCommit
from shortlist.policies.faci import DtACI
from shortlist.policies.greedy import Greedy
from shortlist.policies.mvp import MVP
from shortlist.policies.oracle import Oracle
from shortlist.policies.order_statistic import OrderStatistic, OrderStatisticState
from shortlist.policies.pid import ConformalPID
from shortlist.policies.saocp import SAOCP
from shortlist.policies.scale_free import ScaleFreeOGD
from shortlist.policies.sps import SPS
from shortlist.policies.tracking import ThresholdTracking

__all__ = [
    "ACI",
    "DLR",
    "MISS",
    "MVP",
    "POLICIES",
    "SAOCP",
    "SPS",
    "AnytimeSPS",
    "ConformalPID",
    "ConservativeETC",
    "DtACI",
    "ExploreThenCommit",
    "Greedy",
    "Oracle",
    "OrderStatistic",
    "OrderStatisticState",
    "Policy",
    "ScaleFreeOGD",
    "State",
    "ThresholdTracking",
    "policy_from_dict",
]

POLICIES: Final[dict[str, type[Policy]]] = {
    policy.key: policy
    for policy in (
        SPS,
        AnytimeSPS,
        Greedy,
        ACI,
        DLR,
        ExploreThenCommit,
        ConservativeETC,
        Oracle,
        OrderStatistic,
        DtACI,
        SAOCP,
        ScaleFreeOGD,
        ConformalPID,
        MVP,
        ThresholdTracking,
    )
}
"""Every policy by its key: its name in files, and for those of the paper on the command line."""


def policy_from_dict(data: dict[str, Any], policy: Policy | None = None) -> Policy:
    """Return the policy that its `to_dict` described.

    Parameters
    ----------
    data
        What `to_dict` returned.

    Examples
    --------
    >>> policy_from_dict({"kind": "anytime", "coverage": 0.9, "delta": 0.05})
    AnytimeSPS(coverage=0.9, window=True, delta=0.05)
    """
    parameters = dict(data)
    kind = parameters.pop("kind", None)
    if kind not in POLICIES and policy is not None:
        return policy
    if kind not in POLICIES:
        raise InvalidParameter(f"policy kind is {kind!r}; it must be one of {', '.join(POLICIES)}")
    if isinstance(parameters.get("boundary"), dict):
        parameters["boundary"] = _boundary(parameters["boundary"])
    return POLICIES[kind](**parameters)


def _boundary(data: dict[str, Any]) -> boundaries.Boundary:
    parameters = dict(data)
    kind = parameters.pop("kind", None)
    known = [name for name in boundaries.__all__ if name[0].isupper() and name != "Boundary"]
    if kind not in known:
        raise InvalidParameter(f"boundary kind is {kind!r}; it must be one of {', '.join(known)}")
    if isinstance(parameters.get("boundary"), dict):
        parameters["boundary"] = _boundary(parameters["boundary"])
    boundary: boundaries.Boundary = getattr(boundaries, kind)(**parameters)
    return boundary
