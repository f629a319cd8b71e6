"""What the paper leaves open, and the ways to read it.

A statement about a baseline is about one reading of it. Where the paper does not say which one it ran, every reading is
run here, and a verdict says under which of them a statement holds:

- ACI's levels: what happens at the levels 0 and 1 (`shortlist.ACI`); and its step: chosen by regret, or either end of
  its grid;
- DLR's start: "a conservative threshold" in the paper, which is 0, or -1, or -10, from where its steps do not lead to 0
  within 10,000 rounds;
- the exploration m of both ETCs: chosen by regret from a grid, or any value of that grid;
- auctions of "the same type of items": all bids pooled, or those on one item.
"""

import dataclasses
from collections.abc import Iterator
from typing import Final

from shortlist.lab.spec import Spec
from shortlist.lab.tasks import AUCTION_ITEMS
from shortlist.policies import PAPER, policy_label

__all__ = ["OPEN", "reading_label", "reading_specs", "readings_of"]

#: The policies that can be read in several ways: their names, the first as elsewhere in the results.
OPEN: Final[dict[str, tuple[str, ...]]] = {
    "aci": ("aci", "aci@levels=clipped", "aci@levels=hits"),
    "dlr": ("dlr", "dlr@start=-1", "dlr@start=-10"),
    "etc": ("etc",),
    "conservative-etc": ("conservative-etc",),
}

#: What the first reading of each is.
_FIRST: Final = {
    "aci": "ACI's levels open",
    "dlr": "DLR from 0",
    "etc": "ETC's m chosen by regret",
    "conservative-etc": "Con-ETC's m chosen by regret",
}
_OTHERS: Final = {
    "aci@levels=clipped": "ACI's levels clipped",
    "aci@levels=hits": "ACI's level moved on hits only",
    "dlr@start=-1": "DLR from -1",
    "dlr@start=-10": "DLR from -10",
}


def _all(spec: Spec, key: str) -> tuple[str, ...]:
    explored = spec.etc_shares if key in ("etc", "conservative-etc") else ()
    steps = dict.fromkeys((min(spec.aci_steps), max(spec.aci_steps))) if key == "aci" else ()
    further = [f"{key}@explore={share:g}" for share in explored] + [f"{key}@step={step:g}" for step in steps]
    return (*OPEN.get(key, (key,)), *further)


def readings_of(spec: Spec, key: str) -> tuple[str, ...]:
    """Return the policies that stand for one of the paper: its readings, or those that were asked for.

    >>> readings_of(Spec(), "dlr"), readings_of(Spec(policies=("aci@0.128", "greedy")), "aci")
    (('dlr', 'dlr@start=-1', 'dlr@start=-10'), ('aci@0.128',))
    """
    asked = tuple(name for name in spec.policies if name.partition("@")[0] == key)
    if key.startswith("anytime"):
        return (key,) if key in spec.policies else ()
    return (*_all(spec, key), *(name for name in asked if name not in _all(spec, key))) if key in asked else asked


def reading_label(name: str) -> str:
    """Return a reading in words.

    >>> reading_label("aci"), reading_label("etc@explore=0.01"), reading_label("dlr@start=-3")
    ("ACI's levels open", "ETC's m = 0.01 T", 'DLR, start = -3')
    """
    if name in _FIRST:
        return _FIRST[name]
    if name in _OTHERS:
        return _OTHERS[name]
    key, _, value = name.partition("@explore=")
    if value and key in _FIRST:
        return f"{policy_label(key)}'s m = {value} T"
    return f"ACI's step {name.removeprefix('aci@step=')}" if name.startswith("aci@step=") else policy_label(name)


def reading_specs(spec: Spec) -> Iterator[Spec]:
    """Yield the further experiments that an experiment's claims are judged on: other readings, and auctions by item."""
    others = tuple(
        name for key in OPEN if key in spec.policies for name in _all(spec, key)[1:] if name not in spec.policies
    )
    if others:
        yield dataclasses.replace(spec, policies=others, sources=())
    if spec.scores is None and "auctions" in spec.tasks and spec.item is None and others:
        for item in AUCTION_ITEMS:
            policies = tuple(name for name in spec.policies if name in PAPER) + others
            yield dataclasses.replace(spec, tasks=("auctions",), policies=policies, sources=(), item=item)
