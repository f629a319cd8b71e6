"""Measure the search for tools: ``make measure NAME=agents ARGS=FOLDER``.

First as it is used: five MCP servers that are processes and one at an address, 120 tools, 500 scripted tasks, with
``shortlist mcp`` as a process between them and the agent. On the way one server dies, one is slow, one changes its
tools, and the gateway is killed in the middle of a call and started again. Then agents that say nothing, tasks that are
worded differently from one on, and conversations of two subtasks, in one process; and real requests
(`agents_requests`), for which FOLDER has the data: without it those figures stay as they are. Writes
benchmarks/agents.json and the tables of docs/how-to/too-many-tools.md. Five minutes.
"""

import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import agent_world as world
import agents_requests
import anyio
import numpy as np
from agents_pages import FILE, write_page
from mcp import Client, MCPError, StdioServerParameters

from shortlist.integrations.mcp.search_log import read_log
from shortlist.integrations.mcp.state import saved_summary
from shortlist.integrations.tools import SearchFigures, Tool, ToolShortlist

TASKS, TOP, WINDOW, RUNS = 500, 10, 50, 5
HTTP: Final = "web"
#: What happens before which task.
MAIL_DIES, MAIL_IS_BACK, DATA_IS_SLOW, KILLED, CODE_CHANGES = 100, 150, 200, 250, 300
#: Of agents who see the right tool, how many call it; of the others, how many search again in plainer words, ask for
#: more, or know its name.
CALLS, AGAIN, ASKS, KNOWS = 0.9, 0.3, 0.2, 0.1
SETTINGS: Final[dict[str, Any]] = {"timeout": 2, "start_timeout": 60, "refresh": 1, "wait": 30}
#: After this task, in the runs with another wording; how tasks are worded before it, and after.
SHIFT: Final = 300
PLAIN: Final = (0.9, 0.1, 0.0)
SHIFTED: Final = (0.4, 0.3, 0.3)


class Agent:
    """An agent that finds, searches again, asks for more, calls, and keeps count of what was acknowledged."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.searches = self.calls = self.failed = 0
        self.seconds: list[float] = []
        self.offered: list[int] = []
        self.shown: list[int] = []
        self.tokens: list[int] = []
        self.named: set[str] = set()

    async def find(self, client: Client, text: str) -> dict[str, Any]:
        """Search for tools."""
        started = time.monotonic()
        answer = await client.call_tool("find_tools", {"task": text})
        self.seconds.append(time.monotonic() - started)
        reply: dict[str, Any] = answer.structured_content or {}
        self.searches += 1
        self.offered.append(len(reply["tools"]) + reply["hidden"])
        self.shown.append(len(reply["tools"]))
        self.tokens.append(len(json.dumps(reply["tools"])) // 4)
        self.named |= set(reply.get("unavailable", ()))
        return reply

    async def work(self, client: Client, task: world.Task) -> None:
        """Do one task."""
        reply, choice = await self.find(client, task.text), self.rng.random()
        number = reply["round"]
        if _has(reply, task.right):
            calls = choice < CALLS
        elif choice < KNOWS:
            calls = True
        elif choice < KNOWS + AGAIN:
            reply = await self.find(client, task.plain)
            number, calls = reply["round"], _has(reply, task.right)
        elif choice < KNOWS + AGAIN + ASKS:
            reply = (await client.call_tool("more_tools", {"round": number})).structured_content or {}
            calls = _has(reply, task.right)
        else:
            calls = False
        if calls:
            await self.call(client, number, task.right)

    async def call(self, client: Client, number: str, name: str) -> None:
        """Call a tool, and take note of what the gateway said."""
        answer = await client.call_tool("call_tool", {"round": number, "name": name, "arguments": {}})
        if "there is no tool" in getattr(answer.content[0], "text", ""):
            return  # it has disappeared: not forwarded, and not counted
        self.failed += answer.is_error
        self.calls += 1


def _has(reply: dict[str, Any], name: str) -> bool:
    return any(tool["name"] == name for tool in reply["tools"])


def _config(folder: Path, port: int) -> Path:
    """Write the settings: five processes, and one address."""
    program, control = str(Path(world.__file__)), {"WORLD_CONTROL": str(folder)}
    servers: dict[str, Any] = {
        name: {"command": sys.executable, "args": [program, name], "env": control}
        for name in world.SERVERS
        if name != HTTP
    }
    servers[HTTP] = {"url": f"http://127.0.0.1:{port}/mcp"}
    path = folder / "tools.json"
    path.write_text(json.dumps({"mcpServers": servers, "shortlist": SETTINGS}))
    return path


@asynccontextmanager
async def _gateway(config: Path) -> AsyncIterator[Client]:
    command = f'echo $$ > {config}.pid; exec "{sys.executable}" -m shortlist mcp {config}'
    async with Client(StdioServerParameters(command="/bin/sh", args=["-c", command], env=dict(os.environ))) as client:
        yield client


async def _killed(client: Client, config: Path, agent: Agent) -> str:
    """Kill the gateway while a call is on its way; return the round of that call."""
    reply = (await client.call_tool("find_tools", {"task": "Describe the table of sales"})).structured_content or {}
    agent.searches += 1
    agent.calls += 1  # made again after the restart
    process = int(await anyio.Path(f"{config}.pid").read_text())
    number = str(reply["round"])

    async def call() -> None:
        try:
            await client.call_tool("call_tool", {"round": number, "name": "data__describe_table", "arguments": {}})
        except MCPError:
            return
        raise AssertionError("the call was answered: the gateway was not killed in time")

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await anyio.sleep(0.5)
        os.kill(process, signal.SIGKILL)
    return number


async def _processes(folder: Path) -> dict[str, Any]:
    """Run the scenario with processes, and return its figures."""
    port = _free_port()
    config, agent, tasks = _config(folder, port), Agent(1), world.draw(TASKS, 3)
    environment = os.environ | {"WORLD_CONTROL": str(folder)}
    address = await anyio.open_process(
        [sys.executable, str(Path(world.__file__)), HTTP, str(port)], env=environment, stdout=None, stderr=None
    )
    try:
        async with _gateway(config) as client:
            await _all_there(client)
            agent.searches += 1
            for number in range(KILLED):
                if number == MAIL_DIES:
                    (folder / "mail.down").touch()
                    await anyio.sleep(1)
                elif number == MAIL_IS_BACK:
                    (folder / "mail.down").unlink()
                    await anyio.sleep(10)  # the pause before the next try grows while it is dead
                elif number == DATA_IS_SLOW:
                    (folder / "data.slow").write_text("60")
                await agent.work(client, tasks[number])
            in_flight = await _killed(client, config, agent)
        (folder / "data.slow").unlink()
        async with _gateway(config) as client:
            await agent.call(client, in_flight, "data__describe_table")
            for number in range(KILLED, TASKS):
                if number == CODE_CHANGES:
                    (folder / "code.changed").touch()
                    await anyio.sleep(1)
                await agent.work(client, tasks[number])
    finally:
        address.terminate()
        await address.wait()
        await address.aclose()
    return _figures(folder, agent)


async def _all_there(client: Client) -> None:
    """Wait until the gateway has all tools."""
    reply = (await client.call_tool("find_tools", {"task": "anything"})).structured_content or {}
    if len(reply["tools"]) + reply["hidden"] != len(world.ids()):
        raise RuntimeError("a server did not start")


def _figures(folder: Path, agent: Agent) -> dict[str, Any]:
    summary, log = saved_summary(folder / "tools.state"), folder / "tools.state" / "log.jsonl"
    assert summary is not None  # noqa: S101 - it has learned
    figures = SearchFigures.of(read_log(log))
    starts = {
        "all available": 0,
        "mail is dead": MAIL_DIES,
        "data takes a minute": DATA_IS_SLOW,
        "after the kill": KILLED,
        "code has changed": CODE_CHANGES,
    }
    ends = (MAIL_DIES, MAIL_IS_BACK, KILLED, CODE_CHANGES, TASKS)
    scale = len(agent.seconds) / TASKS  # some tasks have two searches
    windows = {}
    for (name, start), end in zip(starts.items(), ends, strict=True):
        part = slice(int(start * scale), int(end * scale))
        windows[name] = {
            "tools": sorted(set(agent.offered[part])),
            "slowest_find_ms": round(1000 * max(agent.seconds[part])),
        }
    return {
        "tasks": TASKS,
        "tools": len(world.ids()),
        "most": max(agent.shown),
        "shown": [float(np.mean(agent.shown[i : i + WINDOW])) for i in range(0, len(agent.shown) - WINDOW + 1, WINDOW)],
        "tokens": [
            float(np.mean(agent.tokens[i : i + WINDOW])) for i in range(0, len(agent.tokens) - WINDOW + 1, WINDOW)
        ],
        "tokens_all": figures.tokens_all / figures.searches,
        "outcomes": {name: getattr(figures, name) for name in ("hits", "found_later", "silent", "open", "uncounted")},
        "named": sorted({line.partition(":")[0] for line in agent.named}),
        "acknowledged": {"searches": agent.searches, "calls": agent.calls, "failed": agent.failed},
        "on_disk": {"searches": summary.rounds, "calls": figures.calls},
        "windows": windows,
    }


def _tools() -> list[Tool]:
    """Return the tools of the simulation as the gateway has them."""
    return [
        Tool(f"{server}__{each.name}", each.description or "", each.input_schema, server, each.name)
        for server in world.SERVERS
        for each in world.descriptions(server)
    ]


def _session(search: ToolShortlist, number: int, task: world.Task) -> tuple[int, bool]:
    """Search, and call what is right if it is there; return how many were shown, and if the right one was."""
    names = search.search(task.text, session=str(number))
    has = task.right in names
    if has:
        search.called(task.right, session=str(number))
    search.end(str(number))
    return len(names), has


def _silent(seed: int) -> dict[str, Any]:
    """Agents that call what they see, and say nothing otherwise; from task 300 on they word tasks differently."""
    search = ToolShortlist(_tools())
    tasks = [*world.draw(SHIFT, seed, PLAIN), *world.draw(TASKS, seed + 100, SHIFTED)]
    rows = [_session(search, i, task) for i, task in enumerate(tasks)]
    lengths, covered = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    best = np.array([_best_ten(search, task) for task in tasks])
    figures = search.summary()
    return {
        "most": int(lengths.max()),
        "lengths": [float(lengths[i : i + WINDOW].mean()) for i in range(0, len(rows), WINDOW)],
        "covered": [float(covered[i : i + WINDOW].mean()) for i in range(0, len(rows), WINDOW)],
        "best_ten": [float(best[i : i + WINDOW].mean()) for i in range(0, len(rows), WINDOW)],
        "true": float(covered.mean()),
        "between": [figures.hits / len(rows), (figures.hits + figures.silent + figures.open) / len(rows)],
        "silent": figures.silent,
        "lines": figures.lines(),
    }


def _best_ten(search: ToolShortlist, task: world.Task) -> bool:
    """Return whether the ten best by words have the right tool."""
    tools = _tools()
    best = np.argsort(-search.scores(task.text, tools)["bm25"], kind="stable")[:TOP]
    return task.right in {tools[i].name for i in best}


def _subtasks(seed: int) -> dict[str, Any]:
    """Conversations of two subtasks: each search has its own call, or is followed by one in plainer words."""
    search = ToolShortlist(_tools())
    searched = had = 0
    tasks = world.draw(2 * TASKS, seed)
    for number in range(TASKS):
        session = str(number)
        for task in tasks[2 * number : 2 * number + 2]:
            for text in (task.text, task.plain):
                searched += 1
                names = search.search(text, session=session)
                if task.right in names:
                    had += 1
                    search.called(task.right, session=session)
                    break
        search.end(session)
    figures = search.summary()
    return {
        "conversations": TASKS,
        "searches": searched,
        "had": had,
        "hits": figures.hits,
        "found_later": figures.found_later,
        "silent": figures.silent + figures.open,
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def _measure(folder: Path | None) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        figures["processes"] = await _processes(Path(temporary))
    figures["silent"] = [_silent(seed) for seed in range(RUNS)]
    figures["subtasks"] = [_subtasks(seed) for seed in range(RUNS)]
    if folder is not None:
        figures["requests"] = agents_requests.measure(folder)
    return figures


if __name__ == "__main__":
    measured = anyio.run(_measure, Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    FILE.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print(write_page(measured))
