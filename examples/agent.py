"""An agent with 120 tools behind three: `shortlist mcp` in front of six small servers, offline.

Run: python examples/agent.py [--tasks 300]

Needs the extra mcp. The servers of `examples/tools.json` do nothing but answer; your own MCP servers stand in such a
file. The agent is scripted: it asks for tools, calls the right one if the list has it, and asks for more otherwise.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

CONFIG = Path(__file__).with_name("tools.json")
TOOLS = CONFIG.parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
from agent_world import draw  # noqa: E402


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call one of the three tools."""
    return (await client.call_tool(tool, arguments)).structured_content or {}


async def work(client: Client, task: str, right: str) -> int:
    """Do a task with the right tool; return how many were in its list."""
    reply = await ask(client, "find_tools", task=task)
    names = [tool["name"] for tool in reply["tools"]]
    if right not in names:
        await ask(client, "more_tools", round=reply["round"])
    await ask(client, "call_tool", round=reply["round"], name=right, arguments={})
    return len(names)


def copied(folder: Path) -> Path:
    """Return a copy of the file in another folder, where what is learned is kept too."""
    content = json.loads(CONFIG.read_text())
    for server in content["mcpServers"].values():
        server |= {"command": sys.executable, "cwd": str(TOOLS)}
    path = folder / CONFIG.name
    path.write_text(json.dumps(content))
    return path


async def main(config: Path, tasks: int) -> None:
    """Do tasks, and print how many tools were shown."""
    gateway = StdioServerParameters(command=sys.executable, args=["-m", "shortlist", "mcp", str(config)])
    async with Client(gateway) as client:
        lengths = []
        for number, task in enumerate(draw(tasks), start=1):
            lengths.append(await work(client, task.text, task.right))
            if number % 100 == 0:
                print(f"tasks {number - 99:>3} to {number:>3}: {mean(lengths[-100:]):4.1f} of 120 tools per task")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(main, copied(Path(folder)), options.tasks)
