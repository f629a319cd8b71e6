"""The listers: a shortlister, and one with groups."""

from shortlist.listers.grouped import GroupedShortlister, GroupedSummary, GroupShown
from shortlist.listers.protocol import Lister
from shortlist.listers.shortlister import Shortlister

__all__ = [
    "GroupShown",
    "GroupedShortlister",
    "GroupedSummary",
    "Lister",
    "Shortlister",
]
