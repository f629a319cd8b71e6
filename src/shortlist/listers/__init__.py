"""The listers: a shortlister, one with groups, one with several coverages."""

from shortlist.listers.grouped import GroupedShortlister, GroupedSummary, GroupShown
from shortlist.listers.nested import NestedShortlister, NestedShown, NestedSummary
from shortlist.listers.protocol import Lister
from shortlist.listers.shortlister import Shortlister

__all__ = [
    "GroupShown",
    "GroupedShortlister",
    "GroupedSummary",
    "Lister",
    "NestedShortlister",
    "NestedShown",
    "NestedSummary",
    "Shortlister",
]
