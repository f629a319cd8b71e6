"""Tools and servers for tests: in this process, and as small processes of their own."""

import sys
from contextlib import asynccontextmanager

import anyio
from mcp.types import CallToolResult, TextContent

from shortlist.integrations.mcp.config import StdioServer
from shortlist.integrations.mcp.upstream import Upstreams
from shortlist.integrations.tools import Tool

#: A server of the protocol's handshake era, which most are; without the SDK, so that it starts at once.
SCRIPT = """
import json, os, sys, time
from pathlib import Path

state = Path(sys.argv[1])
slow = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
time.sleep(slow)
names = ["read_file", "write_file"]

def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": "old", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        send({"id": number, "result": result})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        tools = [{"name": name, "description": name.replace("_", " "), "inputSchema": schema} for name in names]
        page = int(params.get("cursor", 0))
        result = {"tools": tools[page : page + 1]}
        if page + 1 < len(tools):
            result["nextCursor"] = str(page + 1)
        send({"id": number, "result": result})
    elif method == "tools/call":
        with state.open("a") as file:
            file.write(params["name"] + "\\n")
        path = params.get("arguments", {}).get("path", "")
        if path == "die":
            os._exit(3)
        if path == "junk":
            print("a secret that is no message", flush=True)
        if path == "hang":
            continue
        if path == "busy":
            time.sleep(1.5)
        if path == "pid":
            path = str(os.getpid())
        if path == "change":
            names[:] = ["read_file", "delete_file"]
            send({"method": "notifications/tools/list_changed"})
        if path == "refuse":
            send({"id": number, "error": {"code": -32602, "message": "no such path"}})
            continue
        error = path == "fail"
        send({"id": number, "result": {"content": [{"type": "text", "text": f"read {path}"}], "isError": error}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
"""


def process(folder, name="files", slow=None, **settings):
    """Return a server that is a process; what is called is written to a file called like it."""
    script = folder / "server.py"
    script.write_text(SCRIPT)
    words = (str(script), str(folder / name), *(() if slow is None else (str(slow),)))
    return StdioServer(name=name, command=sys.executable, args=words, **settings)


@asynccontextmanager
async def connected(*servers):
    """Connect to servers, and wait until each was tried."""
    async with Upstreams(servers).running() as upstreams:
        await upstreams.ready(20)
        yield upstreams


async def until(condition, seconds=15.0):
    """Wait for something to become true."""
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is in another process
            await anyio.sleep(0.01)


def make_tools(count=4, server="files"):
    return [
        Tool(f"{server}__tool_{i}", f"does the thing number {i}", {"type": "object"}, server, f"tool_{i}")
        for i in range(count)
    ]


class Source:
    """Tools that are functions of nothing."""

    def __init__(self, tools):
        self.present = list(tools)
        self.calls = []
        self.away = []

    def tools(self):
        return self.present

    def unavailable(self):
        return self.away

    async def call(self, tool, arguments):
        self.calls.append((tool.name, arguments))
        if arguments.get("path") == "fail":
            return CallToolResult(content=[], is_error=True)
        return CallToolResult(content=[TextContent(type="text", text=f"{tool.name} is done")])
