"""The policies, one file each; ``base.py`` holds the protocol, ``registry.py`` the list of all, ``naming.py`` names."""

from typing import Any

from shortlist import boundaries
from shortlist.errors import InvalidParameter
from shortlist.policies import registry
from shortlist.policies.base import MISS, Policy, State
from shortlist.policies.loading import load_policy_class
from shortlist.policies.naming import make_policy, policy_entry, policy_label, policy_name
from shortlist.policies.order_statistic import OrderStatisticState
from shortlist.policies.registry import *  # noqa: F403 - a new policy is named in one file, the registry

__all__ = [
    "MISS",
    "OrderStatisticState",
    "Policy",
    "State",
    "load_policy_class",
    "make_policy",
    "policy_entry",
    "policy_from_dict",
    "policy_label",
    "policy_name",
]
__all__ += registry.__all__


def policy_from_dict(data: dict[str, Any], policy: Policy | None = None) -> Policy:
    """Return the policy that its `to_dict` described.

    Parameters
    ----------
    data
        What `to_dict` returned.
    policy
        A policy of your own, returned if the kind is not one of this package's. It must match `data`.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    InvalidParameter
        If the kind is unknown and `policy` is not the policy described.

    Examples
    --------
    >>> policy_from_dict({"kind": "anytime", "coverage": 0.9, "delta": 0.01})
    AnytimeSPS(coverage=0.9, window=True, delta=0.01)
    """
    parameters = dict(data)
    kind = parameters.pop("kind", None)
    if kind not in registry.POLICIES:
        return _own(data, kind, policy)
    if isinstance(parameters.get("boundary"), dict):
        parameters["boundary"] = _boundary(parameters["boundary"])
    return registry.POLICIES[kind](**parameters)


def _own(data: dict[str, Any], kind: Any, policy: Policy | None) -> Policy:
    """Return the user's own policy, if it is the one described."""
    if policy is None:
        raise InvalidParameter(
            f"policy kind is {kind!r}; it must be one of {', '.join(registry.POLICIES)}, or your own policy must be "
            "passed as policy="
        )
    if policy.to_dict() != data:
        raise InvalidParameter(f"policy is {policy.to_dict()}, but {data} is described; pass the same policy")
    return policy


def _boundary(data: dict[str, Any]) -> boundaries.Boundary:
    parameters = dict(data)
    kind = parameters.pop("kind", None)
    kinds = [name for name in boundaries.__all__ if name[0].isupper() and name != "Boundary"]
    if kind not in kinds:
        raise InvalidParameter(f"boundary kind is {kind!r}; it must be one of {', '.join(kinds)}")
    if isinstance(parameters.get("boundary"), dict):
        parameters["boundary"] = _boundary(parameters["boundary"])
    boundary: boundaries.Boundary = getattr(boundaries, kind)(**parameters)
    return boundary
