"""MCP: the tools of many servers behind three, for agents that have too many.

``shortlist mcp CONFIG`` runs it; here are its parts, for a gateway of your own.
"""

from shortlist.errors import needs_extra

needs_extra("the gateway for agents", "mcp", "mcp")

from shortlist.integrations.mcp.config import (
    Config,
    Embeddings,
    HttpServer,
    Server,
    ServiceStream,
    StdioServer,
    read_config,
)
from shortlist.integrations.mcp.gateway import Found, Gateway, ToolSource
from shortlist.integrations.mcp.log import Report, RoundLog, report
from shortlist.integrations.mcp.ranking import Ranking, Ranks, make_embed
from shortlist.integrations.mcp.remote import RemoteLister
from shortlist.integrations.mcp.server import create_server, opened, serve_http, serve_stdio
from shortlist.integrations.mcp.state import SavedLister, copied_lister, saved_summary
from shortlist.integrations.mcp.tools import Tool
from shortlist.integrations.mcp.upstream import Upstream, Upstreams

__all__ = [
    "Config",
    "Embeddings",
    "Found",
    "Gateway",
    "HttpServer",
    "Ranking",
    "Ranks",
    "RemoteLister",
    "Report",
    "RoundLog",
    "SavedLister",
    "Server",
    "ServiceStream",
    "StdioServer",
    "Tool",
    "ToolSource",
    "Upstream",
    "Upstreams",
    "copied_lister",
    "create_server",
    "make_embed",
    "opened",
    "read_config",
    "report",
    "saved_summary",
    "serve_http",
    "serve_stdio",
]
