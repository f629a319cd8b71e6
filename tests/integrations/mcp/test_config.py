"""What ``shortlist mcp`` reads, and what it says about what it cannot use."""

import json

import pytest

from shortlist.errors import InvalidParameter, MissingFile
from shortlist.integrations.mcp.config import HttpServer, StdioServer, read_config
from shortlist.integrations.tools.searches import DEFAULTS

STDIO = {"command": "npx", "args": ["-y", "server"]}


def written(folder, document):
    path = folder / "tools.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_a_file_of_a_client_is_taken_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKEN", "secret")
    servers = {
        "files": STDIO | {"env": {"KEY": "${TOKEN}"}, "type": "stdio", "autoApprove": ["x"], "timeout": 5},
        "tickets": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
        "old": {"command": "x", "disabled": True},
    }
    config = read_config(written(tmp_path, {"mcpServers": servers, "theme": "dark"}))
    files, tickets = config.servers
    assert files == StdioServer(name="files", command="npx", args=("-y", "server"), env={"KEY": "secret"}, timeout=5.0)
    assert tickets == HttpServer(
        name="tickets", url="https://example.com/mcp", headers={"Authorization": "Bearer secret"}
    )
    assert config.settings == DEFAULTS
    assert (config.always, config.state) == ((), tmp_path / "tools.state")


def test_the_key_of_other_clients_is_known_too(tmp_path):
    assert len(read_config(written(tmp_path, {"servers": {"a": STDIO}})).servers) == 1


def test_our_section(tmp_path):
    section = {
        "coverage": 0.95,
        "at_most": 12,
        "shadow": False,
        "always": ["a__read"],
        "state": "learned",
        "service": {"url": "http://127.0.0.1:8000", "stream": "agents", "api_key": "k"},
        "embeddings": {"local": "model"},
        "more_count": 5,
        "timeout": 7,
        "start_timeout": 8,
        "refresh": 9,
        "wait": 2,
    }
    (tmp_path / "model").mkdir()
    config = read_config(written(tmp_path, {"mcpServers": {"a": STDIO | {"timeout": 1}}, "shortlist": section}))
    (server,) = config.servers
    assert (server.timeout, server.start_timeout, server.refresh) == (1.0, 8.0, 9.0)
    assert config.settings["at_most"] == 12
    assert config.always == ("a__read",)
    assert config.state == tmp_path / "learned"
    assert config.service is not None
    assert config.service.stream == "agents"
    assert config.embeddings is not None
    assert config.embeddings.local == str(tmp_path / "model")
    assert (config.more_count, config.wait) == (5, 2.0)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "is not JSON"),
        ([], "has no servers"),
        ({}, "has no servers"),
        ({"mcpServers": {}}, "has no servers"),
        ({"mcpServers": {"a": 1}}, "a is 1; it must be an object"),
        ({"mcpServers": {"a": {}}}, "a has neither a command nor a url"),
        ({"mcpServers": {"a": {"command": ""}}}, "a.command is ''"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "args is 'y'; it must be a list"),
        ({"mcpServers": {"a": {"command": "x", "args": [1]}}}, "a.args is 1"),
        ({"mcpServers": {"a": {"command": "x", "env": {"K": 1}}}}, "a.env.K is 1"),
        ({"mcpServers": {"a": {"command": "x", "timeout": 0}}}, "a.timeout is 0"),
        ({"mcpServers": {"a": {"url": "ftp://x"}}}, "a.url is 'ftp://x'; it must start with http"),
        ({"mcpServers": {"a": {"url": "http://x", "type": "sse"}}}, "server-sent events"),
        ({"mcpServers": {"a__b": STDIO}}, "server 'a__b': a name has"),
        ({"mcpServers": {"a_": STDIO}}, "server 'a_': a name has"),  # a___b would be a's _b as well
        ({"mcpServers": {"a": STDIO}, "shortlist": {"keep": "all"}}, "keep is 'all'"),
        ({"mcpServers": {"a b": STDIO}}, "server 'a b': a name has"),
        ({"mcpServers": {"a": {"command": "x", "disabled": True}}}, "all servers in .* are disabled"),
        ({"mcpServers": {"a": STDIO | {"env": {"K": "${NONE_SUCH}"}}}}, "mcpServers.a.env.K needs the environment"),
        ({"mcpServers": {"a": STDIO}, "shortlist": 3}, "shortlist is 3; it must be an object"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"covrage": 0.9}}, "shortlist has no setting 'covrage'"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"shadow": True}}, "shadow shows every tool, and a prompt has no"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"explore_share": "auto"}}, "explore_share shows every tool now"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"at_most": None}}, "the lister has no at_most"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"at_most": 0}}, "at_most is 0"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"always": "a__b"}}, "always is 'a__b'; it must be a list of names"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"more_count": 0}}, "more_count"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"service": {}}}, "service has no url"),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"service": {"url": "http://x", "key": 1}}}, "service has no sett"),
        (
            {"mcpServers": {"a": STDIO}, "shortlist": {"embeddings": {}}},
            'embeddings must have either a "url" or a "local" model',
        ),
        ({"mcpServers": {"a": STDIO}, "shortlist": {"embeddings": {"local": 3}}}, "embeddings.local is 3"),
    ],
)
def test_what_cannot_be_used_is_named(document, message, tmp_path):
    with pytest.raises(InvalidParameter, match=message):
        read_config(written(tmp_path, document))


def test_a_gateway_that_would_start_itself_is_refused(tmp_path, monkeypatch):
    """As when the client's file is copied after shortlist was put into it."""
    path = tmp_path / "config.json"
    (tmp_path / "other").mkdir()

    def of(*args, **more):
        return {"mcpServers": {"files": STDIO, "shortlist": {"command": "shortlist", "args": list(args), **more}}}

    monkeypatch.chdir(tmp_path)
    for document in (
        of("mcp", str(path)),
        of("mcp", "config.json"),
        of("-m", "shortlist", "mcp", "../config.json", cwd="other"),
    ):
        path.write_text(json.dumps(document))
        with pytest.raises(InvalidParameter, match="server shortlist is this gateway with this same file"):
            read_config(path)
    for document in (of("mcp", "other.json"), of("--config", "config.json"), of("mcp")):
        path.write_text(json.dumps(document))
        assert len(read_config(path).servers) == 2


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MissingFile, match="there is no such file"):
        read_config(tmp_path / "none.json")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_config(tmp_path)
