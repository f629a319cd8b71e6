"""What a server offers, made safe for a prompt: names cleaned, and limits on how much one server may take of it.

A server may be hostile, or only careless. Its names and descriptions go to agents, so control characters, escape codes
and characters that change the direction of text are dropped, and a tool or a server that takes too much is left out.
"""

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from shortlist.integrations.tools import Tool

__all__ = ["Offered", "cleaned"]

#: The most tools of one server, and the most characters of a name, a description and a schema; and of all of them.
_TOOLS, _NAME, _DESCRIPTION, _SCHEMA, _ALL = 2_000, 128, 4_000, 32_000, 4_000_000
#: What a name may not have.
_UNUSUAL: Final = re.compile(r"[^\w.:/-]+")
#: The categories of characters that a description may not have: control, format, surrogates, private use.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co"})


class Offered(NamedTuple):
    """A tool as a server describes it."""

    name: str
    description: str
    schema: dict[str, Any]


def cleaned(server: str, offered: Iterable[Offered]) -> tuple[tuple[Tool, ...], list[str]]:
    """Return the tools of a server, for agents, and why others were left out.

    Parameters
    ----------
    server
        The server's name.
    offered
        What it offers.

    Returns
    -------
    tuple
        The tools, and one line for each kind of reason.
    """
    tools: dict[str, Tool] = {}
    total, too_large, same_name, beyond = 0, list[str](), 0, 0
    for each in offered:
        if len(tools) >= _TOOLS or total > _ALL:
            beyond += 1
            continue
        size = _size_of(each.schema)
        name = f"{server}__{_UNUSUAL.sub('_', unicodedata.normalize('NFC', each.name))[:_NAME]}"
        if size is None or size > _SCHEMA:
            too_large.append(name)
        elif name in tools:
            same_name += 1
        else:
            description = _visible(each.description[: 2 * _DESCRIPTION])[:_DESCRIPTION]
            total += size + len(description)
            tools[name] = Tool(name, description, _readable(each.schema), server, each.name)
    reasons = []
    if too_large:
        some = ", ".join(too_large[:3]) + (" and others" if len(too_large) > 3 else "")
        reasons.append(f"{len(too_large)} tools are left out, their schemas have over {_SCHEMA:,} characters: {some}")
    if same_name:
        reasons.append(f"{same_name} tools are left out: their names are the same as others' once cleaned")
    if beyond:
        reasons.append(f"{beyond} tools are left out: it has over {_TOOLS:,}, or over {_ALL:,} characters in all")
    return tuple(tools.values()), reasons


def _size_of(schema: dict[str, Any]) -> int | None:
    """Return the size of a schema as JSON; None if it cannot be written, because it is nested too deeply."""
    try:
        return len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False))
    except (RecursionError, ValueError):
        return None


def _readable(value: Any) -> Any:
    """Return a schema without invisible characters; names of parameters stay, because calls need them."""
    if isinstance(value, dict):
        return {key: _readable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_readable(each) for each in value]
    return _visible(value) if isinstance(value, str) else value


def _visible(text: str) -> str:
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _INVISIBLE)
