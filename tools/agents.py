"""Measure the gateway for agents: ``make measure NAME=agents``, or ``python tools/agents.py``.

First as it is used: five MCP servers that are processes and one at an address, 60 tools, 500 scripted tasks, with
``shortlist mcp`` as a process between them and the agent. On the way one server dies, one is slow, one changes its
tools, and the gateway is killed in the middle of a call and started again. Then 5,000 tasks in one process, beside
what a reader does today: all tools, or the best ten by BM25. Writes benchmarks/agents.json and the tables of
docs/how-to/too-many-tools.md.
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
import anyio
import numpy as np
from agents_pages import FILE, write_page
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult

import shortlist
from shortlist.integrations.mcp import Gateway, Ranking, Tool
from shortlist.integrations.mcp.config import DEFAULTS
from shortlist.integrations.mcp.search_log import RoundLog, report
from shortlist.integrations.mcp.state import kept_lister, saved_summary

TASKS, LONG, LAST, TOP = 500, 5_000, 1_000, 10
HTTP: Final = "web"
#: What happens before which task.
MAIL_DIES, MAIL_IS_BACK, DATA_IS_SLOW, KILLED, CODE_CHANGES = 100, 150, 200, 250, 300
#: Of agents who see the right tool, how many call it; of the others, how many ask for more, or know its name.
CALLS, ASKS, KNOWS = 0.9, 0.5, 0.1
SETTINGS: Final[dict[str, Any]] = {"at_most": TOP, "timeout": 2, "start_timeout": 60, "refresh": 1, "wait": 30}


class Agent:
    """An agent that finds, asks for more, calls, and keeps count of what was acknowledged."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.searches = self.answered = self.again = self.failed = 0
        self.seconds: list[float] = []
        self.offered: list[int] = []

    async def work(self, client: Client, task: world.Task) -> None:
        """Do one task."""
        started = time.monotonic()
        answer = await client.call_tool("find_tools", {"task": task.text})
        self.seconds.append(time.monotonic() - started)
        reply: dict[str, Any] = answer.structured_content or {}
        self.searches += 1
        self.offered.append(len(reply["tools"]) + reply["hidden"])
        number, choice = reply["round"], self.rng.random()
        if _has(reply, task.right):
            calls = choice < CALLS
        else:
            calls = choice < KNOWS
            while reply["hidden"] and choice > 1 - ASKS and not calls:
                reply = (await client.call_tool("more_tools", {"round": number})).structured_content or {}
                calls = _has(reply, task.right)
        if calls:
            await self.call(client, number, task.right)
            if self.rng.random() < 0.2:  # the next step of the same task
                await self.call(client, number, task.right, first=False)

    async def call(self, client: Client, number: str, name: str, *, first: bool = True) -> None:
        """Call a tool, and take note of what the gateway said."""
        answer = await client.call_tool("call_tool", {"round": number, "name": name, "arguments": {}})
        text = getattr(answer.content[0], "text", "")
        if "there is no tool" in text:
            return  # it has disappeared: not forwarded, and not counted
        self.failed += answer.is_error
        self.answered += first
        self.again += not first


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
            before = saved_summary(folder / "tools.state")
            in_flight = await _killed(client, config, agent)
        (folder / "data.slow").unlink()
        between = saved_summary(folder / "tools.state")
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
    return _figures(folder, agent, before, between)


async def _all_there(client: Client) -> None:
    """Wait until the gateway has all tools."""
    reply = (await client.call_tool("find_tools", {"task": "anything"})).structured_content or {}
    if len(reply["tools"]) + reply["hidden"] != len(world.ids()):
        raise RuntimeError("a server did not start")


def _figures(folder: Path, agent: Agent, before: Any, between: Any) -> dict[str, Any]:
    summary, log = saved_summary(folder / "tools.state"), folder / "tools.state" / "log.jsonl"
    assert summary is not None  # noqa: S101 - it has learned
    everything, last = report(log), report(log, last=200)
    windows = {
        "all available": range(MAIL_DIES),
        "mail is dead": range(MAIL_DIES, MAIL_IS_BACK),
        "data takes a minute": range(DATA_IS_SLOW, KILLED),
        "after the kill": range(KILLED, CODE_CHANGES),
        "code has changed": range(CODE_CHANGES, TASKS),
    }
    return {
        "tasks": TASKS,
        "tools": len(world.ids()),
        "tools_shown": everything.listed / everything.rounds,
        "tools_shown_last_200": last.listed / last.rounds,
        "explored": everything.explored,
        "explored_last_200": last.explored,
        "hits": everything.hits,
        "misses": everything.misses,
        "again": everything.again,
        "failed": agent.failed,
        "tokens_all": everything.tokens_all / everything.rounds,
        "tokens_saved": 1 - everything.tokens_listed / everything.tokens_all,
        "tokens_saved_last_200": 1 - last.tokens_listed / last.tokens_all,
        "acknowledged": {"rounds": agent.searches, "answers": agent.answered},
        "on_disk": {"rounds": summary.rounds, "answers": summary.hits + summary.misses},
        "answers_at_the_kill": [before.hits + before.misses, between.hits + between.misses],
        "windows": {
            name: {
                "tools": sorted({agent.offered[i] for i in window}),
                "slowest_find_ms": round(1000 * max(agent.seconds[i] for i in window)),
            }
            for name, window in windows.items()
        },
    }


class _Here:
    """The tools of the simulation, in this process."""

    def __init__(self) -> None:
        self._tools = [
            Tool(server, each.name, each.description or "", each.input_schema)
            for server in world.SERVERS
            for each in world.descriptions(server)
        ]

    def tools(self) -> list[Tool]:
        return self._tools

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:  # noqa: ARG002 - nothing to do
        return CallToolResult(content=[])


async def _long(seed: int, **settings: Any) -> dict[str, Any]:
    """Return lengths and coverage of 5,000 lists."""
    options = {**DEFAULTS} | settings
    lister, rng, here = shortlist.Shortlister(**options), np.random.default_rng(seed), _Here()
    gateway = Gateway(here, lister)
    sizes, covered, tokens = [], [], []
    for task in world.draw(LONG, seed):
        listed = await gateway.find_tools(task.text)
        has = any(tool.name == task.right for tool in listed.tools)
        sizes.append(len(listed.tools))
        covered.append(has)
        tokens.append(sum(tool.tokens for tool in listed.tools))
        choice = rng.random()
        if choice < (CALLS if has else KNOWS + ASKS):
            await gateway.call_tool(listed.round, task.right)
    every = sum(tool.tokens for tool in here.tools())
    cut = np.array(sizes) < len(here.tools())
    return {
        "first_cut": int(np.argmax(cut)),
        "first": float(np.mean(sizes[:TASKS])),
        "last": float(np.mean(sizes[-LAST:])),
        "last_cut": float(np.mean(np.array(sizes)[-LAST:][cut[-LAST:]])),
        "coverage_cut": float(np.mean(np.array(covered)[cut])),
        "coverage_last": float(np.mean(covered[-LAST:])),
        "saved_first": 1 - float(np.mean(tokens[:TASKS])) / every,
        "saved_last": 1 - float(np.mean(tokens[-LAST:])) / every,
    }


async def _shadow(folder: Path) -> list[str]:
    """Return what ``shortlist mcp --summary`` says after 500 tasks in shadow mode."""
    log, rng = RoundLog(folder / "log.jsonl"), np.random.default_rng(0)
    with kept_lister(folder, **DEFAULTS) as (lister, save):
        gateway = Gateway(_Here(), lister, shadow=True, log=log, save=save)
        for task in world.draw(TASKS):
            listed = await gateway.find_tools(task.text)
            if rng.random() < CALLS:
                await gateway.call_tool(listed.round, task.right)
    log.close()
    return [*report(folder / "log.jsonl").lines(), f"waiting for {lister.summary().waiting_for}"]


async def _ranks(seed: int) -> dict[str, Any]:
    """Return how often the best ten by BM25 have the right tool, and how many it takes for nine in ten."""
    here, ranking, ranks = _Here(), Ranking(), []
    names = [tool.name for tool in here.tools()]
    for task in world.draw(LONG, seed):
        scores = await ranking.scores(task.text, here.tools())
        order = np.argsort(-scores, kind="stable").tolist()
        ranks.append(order.index(names.index(task.right)))
    places = np.array(ranks)
    return {
        "coverage_top": float((places < TOP).mean()),
        "smallest_k": int(np.quantile(places, 0.9, method="inverted_cdf")) + 1,
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def _measure() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        figures["processes"] = await _processes(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        figures["shadow"] = await _shadow(Path(folder))
    runs = range(5)
    figures["long"] = {
        name: [await _long(seed, **settings) for seed in runs]
        for name, settings in {"default": {}, "at_most": {"at_most": TOP}}.items()
    }
    figures["top"] = [await _ranks(seed) for seed in runs]
    return figures


if __name__ == "__main__":
    measured = anyio.run(_measure)
    FILE.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print(write_page(measured))
