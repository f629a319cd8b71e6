"""The gateway as agents meet it: over MCP, in this process and as one of its own."""

import contextlib
import json
import logging

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPError

import shortlist
from shortlist.errors import InvalidParameter, ServiceUnavailable
from shortlist.integrations.mcp import Gateway, create_server
from shortlist.integrations.mcp.config import Config, Embeddings, ServiceStream
from shortlist.integrations.mcp.search_log import read_log
from shortlist.integrations.mcp.state import saved_summary
from shortlist.integrations.mcp.tool_server import opened
from shortlist.integrations.tools import SearchFigures
from tests.integrations.mcp.servers import Source, make_tools, process
from tests.integrations.tools.given import searching
from tests.service.running import running


def served(**options):
    """Return a server over tools that are functions, cut to two of four."""
    source = Source(make_tools())
    lister = shortlist.Shortlister(coverage=0.9, score="raw", at_most=2)
    gateway = Gateway(source, searching(lister, tools=()), **options)
    return create_server(gateway, ["files", "mail"], session="s"), source


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_three_tools(mode):
    async def main():
        server, source = served()
        async with Client(server, mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["find_tools", "more_tools", "call_tool"]
            assert "files, mail" in (listed[0].description or "")
            assert "find_tools" in (client.instructions or "")
            found = await client.call_tool("find_tools", {"task": "the thing"})
            assert found.structured_content == json.loads(found.content[0].text)
            assert found.structured_content["round"] == "0000000000-0"
            assert [each["name"] for each in found.structured_content["tools"]] == ["files__tool_0", "files__tool_1"]
            assert found.structured_content["tools"][0]["input_schema"] == {"type": "object"}
            more = await client.call_tool("more_tools", {"round": "0000000000-0"})
            assert [each["name"] for each in more.structured_content["tools"]] == ["files__tool_2", "files__tool_3"]
            arguments = {"round": "0000000000-0", "name": "files__tool_2", "arguments": {"path": "x"}}
            assert (await client.call_tool("call_tool", arguments)).content[0].text == "files__tool_2 is done"
            assert source.calls == [("files__tool_2", {"path": "x"})]

    anyio.run(main)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("find_tools", {}, "say in a sentence what you want to do"),
        ("more_tools", {"round": "5"}, "round '5' is unknown"),
        ("call_tool", {"round": "5", "name": "files__tool_0"}, "round '5' is unknown"),
        ("call_tool", {}, "there is no tool '' at the moment"),
        ("files__tool_0", {}, "there is no tool 'files__tool_0' here; use find_tools, then call_tool"),
    ],
)
def test_errors_are_told_to_the_agent(name, arguments, message):
    async def main():
        server, _ = served()
        async with Client(server) as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert message in result.content[0].text

    anyio.run(main)


def test_all_of_it_with_a_process_behind_it(tmp_path, caplog):
    """From settings to a call; then again, with what was learned; errors as the server has them."""

    async def main():
        config = Config(servers=(process(tmp_path),), state=tmp_path / "state")
        async with opened(config) as server, Client(server) as client:
            found = await client.call_tool("find_tools", {"task": "read a file"})
            assert found.structured_content["tools"][0]["name"] == "files__read_file"
            call = {"round": found.structured_content["round"], "name": "files__read_file"}
            result = await client.call_tool("call_tool", call | {"arguments": {"path": "x"}})
            assert result.content[0].text == "read x"
            assert (await client.call_tool("call_tool", call | {"arguments": {"path": "fail"}})).is_error
            with pytest.raises(MCPError, match="no such path"):
                await client.call_tool("call_tool", call | {"arguments": {"path": "refuse"}})
        async with opened(config) as server, Client(server) as client:
            call |= {"arguments": {"path": "die"}}
            await client.call_tool("find_tools", {"task": "x"})
            result = await client.call_tool("call_tool", call)
            assert result.is_error
            assert "closed the connection" in result.content[0].text
        figures = SearchFigures.of(read_log(tmp_path / "state" / "log.jsonl"))
        assert (figures.searches, figures.hits, figures.open) == (2, 1, 1)
        assert (figures.calls, figures.failed, figures.apart) == (4, 3, 1)  # the last one was in a round before
        summary = saved_summary(tmp_path / "state")
        assert (summary.rounds, summary.hits) == (2, 1)

    with caplog.at_level(logging.CRITICAL, "shortlist.mcp"):
        anyio.run(main)


def test_rounds_in_the_service(tmp_path, monkeypatch):
    """The stream has the answers; while the service is away lists are by words, and the agent's work goes on."""
    monkeypatch.undo()  # ids of the client's are random, too

    async def main(url, stop):
        config = Config(
            servers=(process(tmp_path),),
            state=tmp_path / "state",
            service=ServiceStream(url=url, stream="agents", deadline=1.0),
        )
        async with opened(config, "one") as server, Client(server) as client:
            found = (await client.call_tool("find_tools", {"task": "read a file"})).structured_content
            call = {"round": found["round"], "name": "files__write_file", "arguments": {"path": "x"}}
            assert not (await client.call_tool("call_tool", call)).is_error
            await client.call_tool("find_tools", {"task": "read a file"})
            stream = shortlist.Client(url, "agents")
            assert (stream.summary()["rounds"], stream.summary()["hits"]) == (2, 1)
            stream.close()
            await anyio.to_thread.run_sync(stop)
            found = (await client.call_tool("find_tools", {"task": "read a file"})).structured_content
            assert (found["tools"][0]["name"], len(found["tools"])) == ("files__read_file", 2)
            call |= {"round": found["round"]}
            assert not (await client.call_tool("call_tool", call)).is_error

    with contextlib.ExitStack() as stack:
        service = stack.enter_context(running(f"sqlite:///{tmp_path}/log.db"))
        anyio.run(main, service.url, stack.close)


def test_a_service_that_is_away_at_the_start_is_named(tmp_path):
    async def main():
        stream = ServiceStream(url="http://127.0.0.1:9", deadline=0.5)
        async with opened(Config(servers=(process(tmp_path),), state=tmp_path / "state", service=stream)):
            pass

    with pytest.raises(ServiceUnavailable):
        anyio.run(main)


def test_settings_that_do_not_fit_together_are_named(tmp_path):
    async def main():
        config = Config(
            servers=(process(tmp_path),), state=tmp_path / "s", settings={"explore_share": "auto", "at_most": 3}
        )
        async with opened(config):
            pass

    with pytest.raises(InvalidParameter, match="explore_share"):
        anyio.run(main)


def test_other_scorers_than_before_are_named(tmp_path):
    """Embeddings that are turned on later: what was learned does not know them."""

    async def main():
        config = Config(servers=(process(tmp_path),), state=tmp_path / "state")
        async with opened(config) as server, Client(server) as client:
            await client.call_tool("find_tools", {"task": "read a file"})
        later = Config(
            servers=(process(tmp_path),), state=tmp_path / "state", embeddings=Embeddings(url="http://127.0.0.1:9")
        )
        async with opened(later):
            pass

    with pytest.raises(InvalidParameter, match="was learned with other scorers: the scores are of 'bm25', 'embedding'"):
        anyio.run(main)


def test_a_tool_that_is_always_on_is_listed_and_called_by_its_name():
    async def main():
        server, source = served(always=["files__tool_3"])
        async with Client(server) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed == ["find_tools", "more_tools", "call_tool", "files__tool_3"]
            result = await client.call_tool("files__tool_3", {"path": "x"})
            assert result.content[0].text == "files__tool_3 is done"
            source.present.clear()
            assert len((await client.list_tools()).tools) == 4  # the prompt stays as it is

    anyio.run(main)
