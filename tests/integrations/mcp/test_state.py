"""What a gateway has learned, on disk: everything that an agent was told is there, in a folder of one process."""

import anyio
import pytest

from shortlist.errors import DamagedFile, FolderInUse, InvalidParameter, UnwritableFile
from shortlist.integrations.mcp import Gateway
from shortlist.integrations.mcp.state import kept_lister, saved_summary
from tests.integrations.mcp.servers import Source, make_tools
from tests.integrations.tools.given import searching

SETTINGS = {"coverage": 0.8, "score": "raw", "at_most": 2, "keep": 100}


def test_what_an_agent_was_told_is_on_disk(tmp_path):
    """Every list and every request for more; another process goes on from there. (Calls are in the log.)"""

    async def main():
        assert saved_summary(tmp_path) is None
        for start in range(3):
            with kept_lister(tmp_path, **SETTINGS) as (lister, save):
                assert lister.summary().rounds == 4 * start
                gateway = Gateway(Source(make_tools()), searching(lister, tools=()), save=save)
                for number in range(4):
                    found = await gateway.find_tools("x", "s")
                    assert saved_summary(tmp_path).rounds == 4 * start + number + 1
                    await gateway.more_tools(found.round)
                    assert saved_summary(tmp_path) == lister.summary()
                    await gateway.call_tool(found.round, "files__tool_1")
                gateway.search.end()
                save()
        assert saved_summary(tmp_path).hits == 12

    anyio.run(main)


def test_a_disk_that_is_full_for_a_while_stops_no_agent(tmp_path, caplog):
    async def main():
        with kept_lister(tmp_path, **SETTINGS) as (lister, save):
            full = [True]

            def saving():
                if full:
                    raise UnwritableFile("no space left on device")
                save()

            gateway = Gateway(Source(make_tools()), searching(lister, tools=()), save=saving)
            await gateway.call_tool((await gateway.find_tools("x", "s")).round, "files__tool_0")
            assert "could not be saved" in caplog.text
            assert saved_summary(tmp_path).rounds == 0
            full.clear()
            await gateway.find_tools("x", "s")
            assert (saved_summary(tmp_path).rounds, saved_summary(tmp_path).hits) == (2, 1)

    anyio.run(main)


def test_one_gateway_at_a_time(tmp_path):
    with (
        kept_lister(tmp_path, **SETTINGS),
        pytest.raises(FolderInUse, match="run one with --http, keep the state in the service"),
        kept_lister(tmp_path, **SETTINGS),
    ):
        pass
    with kept_lister(tmp_path, **SETTINGS):
        pass  # it was released


def test_settings_that_may_change_do_and_others_are_refused(tmp_path):
    with kept_lister(tmp_path, **SETTINGS):
        pass
    with kept_lister(tmp_path, **SETTINGS | {"at_least": 2}) as (lister, _):
        assert lister.settings.at_least == 2
    with pytest.raises(InvalidParameter, match="was learned with keep 100, and the settings say 50"):
        kept_lister(tmp_path, **SETTINGS | {"keep": 50}).__enter__()


def test_what_cannot_be_read_or_written_is_named(tmp_path):
    with kept_lister(tmp_path, **SETTINGS):
        pass
    path = tmp_path / "lister.json"
    path.write_text(path.read_text().replace("0.8", "0.7", 1))
    with pytest.raises(DamagedFile, match=r"lister\.json"):
        kept_lister(tmp_path, **SETTINGS).__enter__()
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFile, match="cannot be used for the state"):
        kept_lister(tmp_path / "file", **SETTINGS).__enter__()
