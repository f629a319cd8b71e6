"""Searches over tools whose scores are given."""

import numpy as np

from shortlist.integrations.tools import Tool, ToolShortlist

NAMES = [f"tool_{i}" for i in range(4)]


class Given:
    """A ranking whose scores are given, list by list; the last one stays."""

    scorers = ("bm25",)

    def __init__(self, *lists):
        self.lists = list(lists)

    def scores(self, task, tools):
        scores = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        return {"bm25": np.asarray(scores, dtype=float)[: len(tools)]}


def searching(lister, *lists, tools=None, **options):
    """Return a search over four tools, or others, with given scores."""
    found = ToolShortlist([Tool(name) for name in NAMES] if tools is None else tools, lister, **options)
    found._ranking = Given(*(lists or [(4.0, 3.0, 2.0, 1.0)]))
    return found
