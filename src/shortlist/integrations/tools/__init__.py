"""A search for tools, for agents that have too many: ten at the most, fewer as calls come in."""

from shortlist.integrations.tools.embeddings import endpoint, local_model
from shortlist.integrations.tools.figures import SearchFigures
from shortlist.integrations.tools.searches import ToolSearch, ToolShortlist
from shortlist.integrations.tools.tool import Tool

__all__ = ["SearchFigures", "Tool", "ToolSearch", "ToolShortlist", "endpoint", "local_model"]
