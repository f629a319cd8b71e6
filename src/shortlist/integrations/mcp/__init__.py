"""MCP: the tools of many servers behind three, for agents that have too many.

``shortlist mcp CONFIG`` runs it; this module is for a gateway of your own, over tools that need not be MCP's.
"""

from shortlist.errors import needs_extra

needs_extra("the gateway for agents", "mcp", "mcp")

from shortlist.integrations.mcp.gateway import Found, Gateway, ToolSource
from shortlist.integrations.mcp.tool_server import create_server

__all__ = ["Found", "Gateway", "ToolSource", "create_server"]
