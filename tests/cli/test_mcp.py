"""The gateway as a process: as MCP clients start it, and killed in the middle."""

import contextlib
import importlib.util
import json
import os
import random
import signal
import socket
import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter, MissingExtra
from shortlist.integrations.mcp.search_log import read_log
from shortlist.integrations.mcp.state import saved_summary
from shortlist.integrations.tools import SearchFigures
from tests.cli.command import refused, shortlist
from tests.integrations.mcp.servers import process, until
from tests.service.running import free_port


def written(folder, **section):
    """Return a file of settings with one server that is a process."""
    server = process(folder)
    servers = {"files": {"command": server.command, "args": list(server.args)}}
    path = folder / "tools.json"
    path.write_text(json.dumps({"mcpServers": servers, "shortlist": section}))
    return path


def gateway(config, *words):
    """Return how a client starts the gateway; its number is written beside the settings."""
    command = f'echo $$ > {config}.pid; exec "{sys.executable}" -m shortlist mcp {config} {" ".join(words)}'
    return StdioServerParameters(command="/bin/sh", args=["-c", command], env=dict(os.environ))


def figures_of(folder):
    return SearchFigures.of(read_log(folder / "tools.state" / "log.jsonl"))


def kill(config):
    os.kill(int(Path(f"{config}.pid").read_text()), signal.SIGKILL)


def test_killed_in_the_middle_of_a_call_nothing_is_lost_and_nothing_counts_twice(tmp_path):
    """Ten searches, of which the last is killed between its call and the result; then the same call again."""
    config = written(tmp_path)

    async def call(client, number, path):
        arguments = {"round": number, "name": "files__read_file", "arguments": {"path": path}}
        return await client.call_tool("call_tool", arguments)

    async def find(client):
        return (await client.call_tool("find_tools", {"task": "read a file"})).structured_content["round"]

    async def hang(client, number):
        with pytest.raises(MCPError):
            await call(client, number, "hang")

    async def main():
        async with Client(gateway(config)) as client:
            for _ in range(9):
                await call(client, await find(client), "x")
            last = await find(client)
            async with anyio.create_task_group() as group:
                group.start_soon(hang, client, last)
                await until(lambda: (tmp_path / "files").read_text().count("\n") == 10)  # the server has the call
                kill(config)
        async with Client(gateway(config)) as client:
            assert (await call(client, last, "x")).content[0].text == "read x"
            following = await find(client)
            assert (last.partition("-")[2], following.partition("-")[2]) == ("9", "10")

    anyio.run(main)
    summary = saved_summary(tmp_path / "tools.state")
    assert (summary.rounds, summary.hits, summary.misses) == (11, 10, 0)
    figures = figures_of(tmp_path)
    assert (figures.searches, figures.hits, figures.calls, figures.apart) == (11, 10, 11, 1)


@pytest.mark.soak
def test_killed_at_any_moment(tmp_path):
    """Thirty kills at random moments; a call whose answer did not come is made again, as an agent would."""
    config, rng = written(tmp_path), random.Random(5)
    done, open_call = {"found": 0, "called": 0}, []

    async def work(client):
        while True:
            if not open_call:
                found = (await client.call_tool("find_tools", {"task": "read a file"})).structured_content
                done["found"] += 1
                open_call.append(found["round"])
            arguments = {"round": open_call[0], "name": "files__write_file", "arguments": {"path": "x"}}
            assert not (await client.call_tool("call_tool", arguments)).is_error
            done["called"] += 1
            open_call.clear()

    async def killed():
        await anyio.sleep(rng.uniform(0, 0.3))
        kill(config)

    async def main():
        for _ in range(30):
            with contextlib.suppress(ExceptionGroup, MCPError):
                async with Client(gateway(config)) as client, anyio.create_task_group() as group:
                    group.start_soon(work, client)
                    group.start_soon(killed)

    async def once_more():
        async with Client(gateway(config)) as client:
            await client.list_tools()

    anyio.run(main)
    anyio.run(once_more)  # what the last search led to is in the log
    summary = saved_summary(tmp_path / "tools.state")
    print(f"{done} acknowledged; on disk: {summary.rounds} lists, {summary.hits} calls")
    assert done["called"] > 100
    assert 0 <= summary.rounds - done["found"] <= 30  # a list whose answer was lost is looked for again
    assert 0 <= summary.hits - done["called"] <= 1  # one may be on disk whose answer was lost, and is not made again
    assert figures_of(tmp_path).hits == summary.hits
    assert summary.misses <= summary.rounds - done["found"]  # whose lists nobody got


def test_over_http(tmp_path):
    config, port = written(tmp_path), free_port()

    async def main():
        words = [sys.executable, "-m", "shortlist", "mcp", str(config), "--http", str(port)]
        with (tmp_path / "stderr").open("wb") as errors:
            running = await anyio.open_process(words, stdin=None, stderr=errors)
        try:
            with anyio.fail_after(60):
                while True:
                    try:
                        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                        break
                    except OSError:
                        await anyio.sleep(0.05)
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                found = (await client.call_tool("find_tools", {"task": "read a file"})).structured_content
                assert found["tools"][0]["name"] == "files__read_file"
                call = {"round": found["round"], "name": "files__read_file", "arguments": {"path": "junk"}}
                assert not (await client.call_tool("call_tool", call)).is_error
            async with httpx2.AsyncClient() as http:
                for header in ({"Host": "rebound.example:80"}, {"Origin": "http://page.example"}, {"Origin": "null"}):
                    reply = await http.post(f"http://127.0.0.1:{port}/mcp", headers=header, json={})
                    assert reply.status_code in (403, 421), header
        finally:
            running.terminate()
            await running.wait()
            await running.aclose()
        return running.returncode

    assert anyio.run(main) == 130  # ended as by Ctrl-C: its servers too
    assert figures_of(tmp_path).hits == 1
    errors = (tmp_path / "stderr").read_text()
    assert "Failed to parse" in errors  # what a server says that is no message, without the message
    assert "Traceback" not in errors
    assert "secret" not in errors


def test_errors_are_one_line(tmp_path):
    refused(shortlist("mcp", tmp_path / "none.json"), "there is no such file; copy your MCP client's file there")


@pytest.mark.parametrize(
    ("section", "message"),
    [({"covrage": 1}, "shortlist has no setting 'covrage'"), ({"coverage": 2}, "coverage is 2")],
)
def test_settings_that_are_wrong_are_named(section, message, tmp_path):
    result = CliRunner().invoke(app, ["mcp", str(written(tmp_path, **section))])
    assert isinstance(result.exception, InvalidParameter)
    assert message in str(result.exception)


def test_check_looks_at_settings_too(tmp_path):
    result = CliRunner().invoke(app, ["mcp", str(written(tmp_path, coverage=90)), "--check"])
    assert "coverage is 90; it must lie strictly between 0 and 1" in str(result.exception)


def test_a_port_that_is_taken(tmp_path, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(app, ["mcp", str(written(tmp_path)), "--http", str(port)])
    assert isinstance(result.exception, InvalidParameter)
    assert f"port {port} of 127.0.0.1 cannot be used" in str(result.exception)
    assert "tools at" not in result.output + capfd.readouterr().err


def test_check_names_servers_and_what_is_wrong_with_them(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    config = written(tmp_path, start_timeout=20)
    result = CliRunner().invoke(app, ["mcp", str(config), "--check"])
    assert result.exit_code == 0, result.output
    assert "files" in result.output
    assert "2 tools, about" in result.output
    document = json.loads(config.read_text())
    document["mcpServers"]["broken"] = {"command": "nonesuch"}
    config.write_text(json.dumps(document))
    result = CliRunner().invoke(app, ["mcp", str(config), "--check"])
    assert result.exit_code == 1
    assert "No such file or directory: 'nonesuch'" in result.output
    assert "1 of 2 servers unavailable" in result.output
    assert not (tmp_path / "tools.state").exists()  # it only looks


def test_summary_says_what_happened(tmp_path):
    config = written(tmp_path)
    assert "no agent has searched for tools yet" in CliRunner().invoke(app, ["mcp", str(config), "--summary"]).output

    async def main():
        async with Client(gateway(config)) as client:
            await client.call_tool("find_tools", {"task": "read a file"})

    anyio.run(main)
    output = CliRunner().invoke(app, ["mcp", str(config), "--summary"]).output
    assert output.startswith("1 searches: 2.0 of 2.0 tools per list")
    assert "waiting for" in output


def test_without_the_extra_it_is_named(monkeypatch, tmp_path):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "mcp" else real(name, *rest))
    result = CliRunner().invoke(app, ["mcp", str(written(tmp_path))])
    assert isinstance(result.exception, MissingExtra)
    assert str(result.exception).endswith("[mcp]'")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_the_client_keeps_standard_input_open(sent, tmp_path):
    """With its server; what a search led to is saved."""
    config = written(tmp_path)

    async def main():
        words = [sys.executable, "-m", "shortlist", "mcp", str(config)]
        running = await anyio.open_process(words, stderr=None)
        requests = [
            {
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "x", "version": "1"},
                },
            },
            {"method": "tools/call", "params": {"name": "find_tools", "arguments": {"task": "read a file"}}},
        ]
        try:
            for number, request in enumerate(requests):
                line = json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n"
                await running.stdin.send(line.encode())
                with anyio.fail_after(60):
                    assert b"error" not in (reply := await running.stdout.receive()), reply
            running.send_signal(sent)
            with anyio.fail_after(60):
                await running.wait()
        finally:
            if running.returncode is None:
                running.kill()
            await running.aclose()
        return running.returncode

    assert anyio.run(main) == 130
    assert figures_of(tmp_path).open == 1
    assert saved_summary(tmp_path / "tools.state").rounds == 1
