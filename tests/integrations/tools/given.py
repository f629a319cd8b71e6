"""Searches over tools whose scores are given."""

import numpy as np

from shortlist.integrations.tools import Tool, ToolShortlist

NAMES = [f"tool_{i}" for i in range(4)]


class Given(ToolShortlist):
    """A search whose scores are given, list by list; the last one stays."""

    lists = ((4.0, 3.0, 2.0, 1.0),)

    def scores(self, query, tools):
        scores, *rest = self.lists
        self.lists = rest or [scores]
        return {"bm25": np.asarray(scores, dtype=float)[: len(tools)]}


def searching(lister, *lists, tools=None, **options):
    """Return a search over four tools, or others, with given scores."""
    found = Given([Tool(name) for name in NAMES] if tools is None else tools, lister, **options)
    found.lists = lists or found.lists
    return found
