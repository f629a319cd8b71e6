"""The policies, one file each; ``base.py`` holds the protocol, ``registry.py`` the list of all, ``naming.py`` names.

What most programs do not need is imported when it is first used.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from shortlist.policies.anytime import AnytimeSPS
from shortlist.policies.base import MISS, Policy, State
from shortlist.policies.order_statistic import OrderStatistic, OrderStatisticState
from shortlist.policies.product_limit import ProductLimit, ProductLimitState

if TYPE_CHECKING:
    from shortlist.policies import registry
    from shortlist.policies.naming import make_policy, policy_entry, policy_from_dict, policy_label, policy_name
    from shortlist.policies.policy_files import load_policy_class
    from shortlist.policies.registry import *  # noqa: F403 - a new policy is named in one file, the registry

    __all__ = [
        "MISS",
        "AnytimeSPS",
        "OrderStatistic",
        "OrderStatisticState",
        "Policy",
        "ProductLimit",
        "ProductLimitState",
        "State",
        "load_policy_class",
        "make_policy",
        "policy_entry",
        "policy_from_dict",
        "policy_label",
        "policy_name",
    ]
    __all__ += registry.__all__


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    policy_files, naming, registry = (
        importlib.import_module(f"shortlist.policies.{module}") for module in ("policy_files", "naming", "registry")
    )
    if name == "__all__":
        own = ["MISS", "OrderStatisticState", "Policy", "ProductLimitState", "State", "load_policy_class"]
        return sorted({*own, *naming.__all__, *registry.__all__})
    for module in (registry, naming, policy_files):
        if name in module.__all__:
            value = globals()[name] = getattr(module, name)
            return value
    if f"shortlist.policies.{name}" in sys.modules:  # the registry imports the modules of all policies
        return sys.modules[f"shortlist.policies.{name}"]
    raise AttributeError(f"module 'shortlist.policies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
