"""The settings file of ``shortlist mcp CONFIG``: the file that MCP clients use, with a section of ours.

{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"]},
    "tickets": {"url": "https://tickets.example.com/mcp", "headers": {"Authorization": "Bearer ${TICKETS_TOKEN}"}}
  },
  "shortlist": {"coverage": 0.9, "at_most": 10, "always": ["files__read_file"]}
}

``${NAME}`` in a string is the environment variable of that name. Relative paths start at the file's folder.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from shortlist._validation import check_count, check_number
from shortlist.errors import InvalidParameter, MissingFile, ShortlistError, needs_extra
from shortlist.integrations.tools.searches import DEFAULTS, ToolShortlist
from shortlist.listers.shortlister import Shortlister
from shortlist.rounds.settings import SETTINGS

__all__ = ["Config", "Embeddings", "HttpServer", "Server", "ServiceStream", "StdioServer", "read_config"]

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?(\w+)\}")
#: The keys under which clients list their servers.
_SERVERS: Final = ("mcpServers", "servers")
#: Why the file cannot have some of a lister's settings.
_REFUSED: Final[Mapping[str, str]] = {
    "shadow": "shows every tool, and a prompt has no room for that: start with at_most 10, and read --summary",
    "explore_share": "shows every tool now and then, and a prompt has no room for that: later searches and calls tell "
    "what a list missed",
}
#: A lister's settings that the file may have.
_LISTER: Final = ("coverage", "delta", *(name for name in SETTINGS if name not in _REFUSED))
_OURS: Final = ("always", "state", "service", "embeddings", "more_count", "timeout", "start_timeout", "refresh", "wait")


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server behind the gateway.

    Parameters
    ----------
    name
        Its name in the file.
    timeout
        The maximum duration of a call, in seconds.
    start_timeout
        The maximum time to start and list its tools, in seconds.
    refresh
        Seconds between two refreshes of its tools, besides those that it requests.
    """

    name: str
    timeout: float = 60.0
    start_timeout: float = 30.0
    refresh: float = 30.0


@dataclass(frozen=True, kw_only=True)
class StdioServer(Server):
    """A server that the gateway starts as a process.

    Parameters
    ----------
    command, args, env, cwd
        The command to run, its arguments, additional environment variables, and its working folder.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None


@dataclass(frozen=True, kw_only=True)
class HttpServer(Server):
    """A server at an address (streamable HTTP).

    Parameters
    ----------
    url, headers
        Its address, and headers to send with each request.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ServiceStream:
    """A stream of a running service that stores the rounds.

    Parameters
    ----------
    url, stream, api_key
        As for `shortlist.Client`.
    deadline
        The seconds within which a list is shown, whatever the service does.
    """

    url: str
    stream: str = "tools"
    api_key: str | None = None
    deadline: float = 2.0


@dataclass(frozen=True, kw_only=True)
class Embeddings:
    """A second scorer besides BM25: the cosine between the embeddings of task and tool.

    Parameters
    ----------
    url, model, headers
        An address that takes ``{"model": ..., "input": [texts]}`` and returns ``{"data": [{"embedding": [...]}]}``.
    local
        Or a model on this machine: its name for sentence-transformers, or a folder with one.
    timeout
        Seconds to wait for a response from `url`.
    """

    url: str | None = None
    model: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    local: str | None = None
    timeout: float = 5.0


@dataclass(frozen=True, kw_only=True)
class Config:
    """The checked settings of a gateway.

    Parameters
    ----------
    servers
        The servers behind it, in the order of the file.
    settings
        The settings of the lister: `coverage`, `at_most`, ...
    always
        Tools that agents have all the time, beside the three of the gateway.
    state
        The folder for what is learned, and for the log.
    service
        A stream that stores the rounds instead of that folder.
    embeddings
        A second scorer.
    more_count
        How many tools `more_tools` adds.
    wait
        Seconds after the start during which requests wait for servers that are starting.
    """

    servers: tuple[Server, ...]
    state: Path
    settings: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    always: tuple[str, ...] = ()
    service: ServiceStream | None = None
    embeddings: Embeddings | None = None
    more_count: int = 10
    wait: float = 5.0


def read_config(path: str | os.PathLike[str]) -> Config:
    """Return the settings in a file, or raise.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InvalidParameter
        If it is not JSON, or a value in it cannot be used.
    """
    source = Path(path).absolute()
    try:
        document = json.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFile(f"{path}: there is no such file; copy your MCP client's file there") from None
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidParameter(f"{path} is not JSON: {error}") from None
    document = _filled(document, "")
    servers = next((document[key] for key in _SERVERS if key in document), None) if isinstance(document, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise InvalidParameter(f'{path} has no servers; it must have {{"mcpServers": {{"name": {{"command": ...}}}}}}')
    section = _object(document.get("shortlist", {}), "shortlist")
    for key, why in _REFUSED.items():
        if section.get(key):
            raise InvalidParameter(f"{path}: {key} {why}")
    section = {key: value for key, value in section.items() if key not in _REFUSED}
    _check_keys(section, (*_LISTER, *_OURS), "shortlist")
    folder = source.parent
    times = ("timeout", "start_timeout", "refresh")
    shared: dict[str, float] = {key: _seconds(section[key], key) for key in times if key in section}
    listed = [_server(name, server, shared, source) for name, server in servers.items() if not _is_off(server)]
    if not listed:
        raise InvalidParameter(f"all servers in {path} are disabled; there is nothing to find tools in")
    state = section.get("state", f"{source.stem}.state")
    settings = {**DEFAULTS} | {key: section[key] for key in _LISTER if key in section}
    try:
        ToolShortlist(lister=Shortlister(**settings))
    except ShortlistError as error:
        raise InvalidParameter(f"{path}: {error}") from None
    if "service" in section:
        needs_extra("a gateway with a service", "client", "httpx2")
    return Config(
        servers=tuple(listed),
        settings=settings,
        always=_names(section.get("always", []), "always"),
        state=folder / _text(state, "state"),
        service=None if "service" not in section else _service(_object(section["service"], "service")),
        embeddings=None if "embeddings" not in section else _embeddings(section["embeddings"], folder),
        more_count=check_count("more_count", section.get("more_count", 10)),
        wait=_seconds(section.get("wait", 5.0), "wait"),
    )


def _server(name: str, server: Any, shared: dict[str, float], source: Path) -> Server:
    server = _object(server, name)
    if not re.fullmatch(r"[\w.-]+", name) or "__" in name or name.endswith("_"):
        raise InvalidParameter(
            f"server {name!r}: a name has letters, digits, dots, hyphens and single underscores, none at its end; "
            "tools are called name__tool"
        )
    times = shared | {
        key: _seconds(server[key], f"{name}.{key}") for key in ("timeout", "start_timeout") if key in server
    }
    if "command" in server:
        args = server.get("args", [])
        if not isinstance(args, list):
            raise InvalidParameter(f"server {name}: args is {args!r}; it must be a list of strings")
        stdio = StdioServer(
            name=name,
            command=_text(server["command"], f"{name}.command"),
            args=tuple(_text(each, f"{name}.args") for each in args),
            env=_texts(server.get("env", {}), f"{name}.env"),
            cwd=source.parent / _text(server["cwd"], f"{name}.cwd") if "cwd" in server else None,
            **times,
        )
        if _starts(stdio, source):
            raise InvalidParameter(
                f"server {name} is this gateway with this same file, {source}: it would start itself endlessly; "
                "remove it here, and keep it only in your client's file"
            )
        return stdio
    if "url" not in server:
        raise InvalidParameter(f"server {name} has neither a command nor a url; give it one of them")
    if server.get("type") == "sse":
        raise InvalidParameter(f"server {name} uses server-sent events, which MCP has dropped; use its HTTP address")
    url = _address(server["url"], f"{name}.url")
    return HttpServer(name=name, url=url, headers=_texts(server.get("headers", {}), f"{name}.headers"), **times)


def _starts(server: StdioServer, source: Path) -> bool:
    """Whether a server is a gateway with the file that lists it."""
    folder = server.cwd or Path.cwd()
    after = zip(server.args, server.args[1:], strict=False)
    return any(word == "mcp" and (folder / file).resolve() == source.resolve() for word, file in after)


def _service(section: dict[str, Any]) -> ServiceStream:
    _check_keys(section, ("url", "stream", "api_key", "deadline"), "service")
    if "url" not in section:
        raise InvalidParameter('service has no url; give it one, such as "http://127.0.0.1:8000"')
    return ServiceStream(
        url=_address(section["url"], "service.url"),
        stream=_text(section.get("stream", "tools"), "service.stream"),
        api_key=_text(section["api_key"], "service.api_key") if "api_key" in section else None,
        deadline=_seconds(section.get("deadline", 2.0), "service.deadline"),
    )


def _embeddings(section: Any, folder: Path) -> Embeddings:
    section = _object(section, "embeddings")
    _check_keys(section, ("url", "model", "headers", "local", "timeout"), "embeddings")
    if ("url" in section) == ("local" in section):
        raise InvalidParameter('embeddings must have either a "url" or a "local" model, such as "all-MiniLM-L6-v2"')
    timeout = _seconds(section.get("timeout", 5.0), "embeddings.timeout")
    if "local" in section:
        local = _text(section["local"], "embeddings.local")
        here = folder / local
        return Embeddings(local=str(here) if here.is_dir() else local, timeout=timeout)
    return Embeddings(
        url=_address(section["url"], "embeddings.url"),
        model=_text(section["model"], "embeddings.model") if "model" in section else None,
        headers=_texts(section.get("headers", {}), "embeddings.headers"),
        timeout=timeout,
    )


def _filled(value: Any, where: str) -> Any:
    """Return a value with environment variables substituted."""
    if isinstance(value, dict):
        return {key: _filled(each, f"{where}.{key}".lstrip(".")) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, where) for each in value]
    if not isinstance(value, str):
        return value
    for name in _VARIABLE.findall(value):
        if name not in os.environ:
            raise InvalidParameter(f"{where} needs the environment variable {name}, which is not set")
    return _VARIABLE.sub(lambda match: os.environ[match[1]], value)


def _is_off(server: Any) -> bool:
    return isinstance(server, dict) and server.get("disabled") is True


def _check_keys(section: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in section:
        if key not in allowed:
            raise InvalidParameter(f"{where} has no setting {key!r}; it has {', '.join(allowed)}")


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidParameter(f"{where} is {value!r}; it must be an object: {{...}}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidParameter(f"{where} is {value!r}; it must be a string, not empty")
    return value


def _texts(value: Any, where: str) -> dict[str, str]:
    return {key: _text(each, f"{where}.{key}") for key, each in _object(value, where).items()}


def _address(value: Any, where: str) -> str:
    text = _text(value, where)
    if not text.startswith(("http://", "https://")):
        raise InvalidParameter(f"{where} is {text!r}; it must start with http:// or https://")
    return text


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidParameter(f'{where} is {value!r}; it must be a list of names, such as ["files__read_file"]')
    return tuple(_text(each, where) for each in value)


def _seconds(value: Any, where: str) -> float:
    seconds = check_number(where, value, "a number of seconds above 0")
    if seconds <= 0:
        raise InvalidParameter(f"{where} is {value!r}; it must be a number of seconds above 0")
    return seconds
