"""Three tools instead of many: what an agent is shown and told, and where its calls go."""

import logging

import anyio
import pytest
from mcp import MCPError

import shortlist
from shortlist.errors import InvalidParameter, ServiceUnavailable, UnwritableFile
from shortlist.integrations.mcp import Found, Gateway
from shortlist.integrations.tools import Tool
from tests.integrations.mcp.servers import Source, make_tools
from tests.integrations.tools.given import searching

NAMES = [f"files__tool_{i}" for i in range(4)]


def cutting(at_most=2, **settings):
    """A lister that shows the best two from the first round on."""
    options = {"coverage": 0.9, "score": "raw", "at_most": at_most} | settings
    return shortlist.Shortlister(**options)


def make(lister=None, count=4, **options):
    source = Source(make_tools(count))
    return Gateway(source, searching(cutting() if lister is None else lister, tools=()), **options), source


def test_a_list_has_schemas_a_round_and_what_to_do_next():
    async def main():
        gateway, source = make()
        found = await gateway.find_tools("the thing")
        assert found.to_dict() == {
            "round": "0000000000-0",
            "tools": [tool.entry for tool in source.present[:2]],
            "hidden": 2,
            "next": "Call one with call_tool(round, name, arguments). If none of them fits, call more_tools(round): "
            "2 more are hidden.",
        }
        result = await gateway.call_tool("0000000000-0", NAMES[1], {"path": "x"})
        assert source.calls == [(NAMES[1], {"path": "x"})]
        assert result.content[0].text == "files__tool_1 is done"

    anyio.run(main)


@pytest.mark.parametrize(
    ("count", "hidden", "following"),
    [
        (1, 0, "Call one with"),
        (1, 3, "If none of them fits"),
        (0, 3, "No tool fits well"),
        (0, 0, "There are no others"),
    ],
)
def test_what_an_agent_is_told_to_do_next(count, hidden, following):
    assert following in Found("0000000000-0", make_tools(count), hidden).to_dict()["next"]


def test_calls_are_counted_and_forwarded():
    """A retry, a failure, one after more, one that was not shown, one that was no candidate."""

    async def main():
        gateway, source = make(lister := cutting(), more_count=1)
        search = gateway.search
        await gateway.find_tools("x", "s")
        await gateway.call_tool("0000000000-0", NAMES[0], {"path": "fail"})
        await gateway.call_tool("0000000000-0", NAMES[1])
        await gateway.call_tool("0000000000-0", NAMES[1])
        await gateway.find_tools("x", "s")
        more = await gateway.more_tools("0000000000-1")
        assert ([tool.name for tool in more.tools], more.hidden) == ([NAMES[2]], 1)
        await gateway.call_tool("0000000000-1", NAMES[2])
        await gateway.find_tools("x", "s")
        await gateway.call_tool("0000000000-2", NAMES[3])
        await gateway.find_tools("x", "s")
        source.present.append(Tool("new__one", "", {}, "new", "one"))
        await gateway.call_tool("0000000000-3", "new__one")
        search.end()
        assert len(source.calls) == 6
        figures = search.summary()
        assert (figures.hits, figures.found_later, figures.open) == (1, 2, 1)
        assert (figures.calls, figures.failed, figures.apart) == (6, 1, 1)
        assert (lister.summary().hits, lister.summary().misses) == (1, 2)

    anyio.run(main)


def test_a_server_that_fails_is_a_failed_call():
    class Fails(Source):
        async def call(self, tool, arguments):
            raise (ServiceUnavailable("away") if tool.name == NAMES[0] else MCPError(-32602, "no such path"))

    async def main():
        gateway = Gateway(Fails(make_tools()), searching(cutting(), tools=()))
        found = await gateway.find_tools("x")
        for name, error in ((NAMES[0], ServiceUnavailable), (NAMES[1], MCPError)):
            with pytest.raises(error):
                await gateway.call_tool(found.round, name)
        assert gateway.search.summary().failed == 2

    anyio.run(main)


def test_calls_at_the_same_time_all_count():
    async def main():
        gateway, source = make(lister := cutting(), save=lambda: None)
        found = await gateway.find_tools("x")
        async with anyio.create_task_group() as group:
            for name in NAMES[:2]:
                group.start_soon(gateway.call_tool, found.round, name)
        gateway.search.end()
        assert len(source.calls) == 2
        assert lister.summary().hits == 1

    anyio.run(main)


def test_tools_that_are_always_on_are_not_searched_for_and_stay_while_their_server_is_away():
    async def main():
        gateway, source = make(always=[NAMES[0], "files__none"])
        assert gateway.has_always
        found = await gateway.find_tools("x", "s")
        assert [tool.name for tool in found.tools] == NAMES[1:3]
        assert [tool.name for tool in gateway.always_on()] == NAMES[:1]
        await gateway.call_always(NAMES[0], {"path": "x"})
        await gateway.call_tool(found.round, NAMES[0])  # in the way of the others
        assert [name for name, _ in source.calls] == NAMES[:1] * 2
        assert gateway.search.summary().calls == 0
        source.present.clear()
        assert [tool.name for tool in gateway.always_on()] == NAMES[:1]
        with pytest.raises(InvalidParameter, match="there is no tool"):
            await gateway.call_always(NAMES[0])

    anyio.run(main)


def test_tools_that_no_word_of_the_task_is_in_are_said_to_be_arbitrary():
    async def main():
        gateway, _ = make()
        gateway.search.lists = [[1.0] * 4]
        assert "No tool has a word of this task" in (await gateway.find_tools("qwertz")).to_dict()["next"]

    anyio.run(main)


def test_servers_that_are_away_are_named():
    async def main():
        gateway, source = make()
        source.away = ["mail: it closed the connection"]
        reply = (await gateway.find_tools("x")).to_dict()
        assert reply["unavailable"] == ["mail: it closed the connection"]
        with pytest.raises(InvalidParameter, match=r"\(unavailable: mail: it closed the connection\)"):
            await gateway.call_tool(reply["round"], "mail__send")
        source.present.clear()
        with pytest.raises(InvalidParameter, match=r"no tools at the moment \(mail: it closed"):
            await gateway.find_tools("x")

    anyio.run(main)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("0000000000-0", "files__none"), "there is no tool 'files__none' at the moment: its server is unavailable"),
        (("0000000000-0", NAMES[0], 3), "arguments is 3; it must be an object"),
        (("0000000000-0", NAMES[0], "{"), "arguments is '{'; it must be an object"),
        (("7", NAMES[0]), "round '7' is unknown; call find_tools first"),
        (("", NAMES[0]), "round '' is unknown"),
        (("0000000000-0", "same"), "there is no tool 'same' at the moment"),
        (("0000000000-0", "tool_1"), "there is no tool 'tool_1' at the moment"),
    ],
)
def test_calls_that_cannot_be_made_are_named_and_not_counted(call, message):
    async def main():
        gateway, source = make()
        await gateway.find_tools("x")
        source.present += [Tool("a__same", "", {}, "a", "same"), Tool("b__same", "", {}, "b", "same")]
        with pytest.raises(InvalidParameter, match=message):
            await gateway.call_tool(*call)
        assert not source.calls
        assert gateway.search.summary().calls == 0

    anyio.run(main)


def test_what_models_write_instead():
    """Arguments as a text."""

    async def main():
        gateway, source = make()
        await gateway.find_tools("x")
        await gateway.call_tool("0000000000-0", NAMES[1], '{"path": "x"}')
        assert source.calls == [(NAMES[1], {"path": "x"})]

    anyio.run(main)


def test_a_server_never_receives_what_was_meant_for_another():
    """One that is not trusted names its tool like another server's; that one dies, and its calls go nowhere."""

    async def main():
        gateway, source = make()
        found = await gateway.find_tools("x")
        source.present = [Tool(f"evil__{found.tools[0].name}", "", {}, "evil", found.tools[0].name)]
        with pytest.raises(InvalidParameter, match="pass on a name exactly as it returns it"):
            await gateway.call_tool("0000000000-0", found.tools[0].name, {"secret": "x"})
        assert not source.calls

    anyio.run(main)


def test_without_tools_a_task_or_a_search_it_says_so():
    async def main():
        gateway, source = make()
        for task in ("", "  ", None):
            with pytest.raises(InvalidParameter, match="say in a sentence"):
                await gateway.find_tools(task)
        with pytest.raises(InvalidParameter, match="round '5' is unknown"):
            await gateway.more_tools("5")
        source.present.clear()
        with pytest.raises(InvalidParameter, match="there are no tools at the moment; try again shortly"):
            await gateway.find_tools("x")

    anyio.run(main)


def test_a_full_disk_stops_no_agent(caplog):
    def full():
        raise UnwritableFile("no space left on device")

    async def main():
        gateway, source = make(save=full)
        found = await gateway.find_tools("x")
        await gateway.call_tool(found.round, NAMES[0])
        assert len(source.calls) == 1

    with caplog.at_level(logging.WARNING, "shortlist.mcp"):
        anyio.run(main)
    assert "could not be saved" in caplog.text
