"""What people hold: a shortlister, one with groups, one with several coverages."""

from shortlist.listers.grouped import GroupedShortlister, GroupShown
from shortlist.listers.nested import NestedShortlister, NestedShown
from shortlist.listers.protocol import Lister
from shortlist.listers.shortlister import Shortlister

__all__ = ["GroupShown", "GroupedShortlister", "Lister", "NestedShortlister", "NestedShown", "Shortlister"]
