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

__all__ = ["Offered", "cleaned", "notice", "visible"]

#: The most tools of one server, and the most characters of a name, a description and a schema; and of all of them.
_TOOLS, _NAME, _DESCRIPTION, _SCHEMA, _ALL = 2_000, 128, 2_000, 16_000, 4_000_000
#: The most characters of what a server says about itself, in a line for agents.
_NOTICE: Final = 200
#: The kinds of characters that names have, besides these.
_USUAL: Final = "_.:/-"
#: The categories of characters that no text may have: control, format, surrogates, private use, unassigned.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
#: Those that are letters, marks or symbols, and are not seen either: fillers, joiners, variation selectors, a blank.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


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
        name = f"{server}__{_name(each.name)}"
        if size is None or size > _SCHEMA or len(each.name) > _SCHEMA:
            too_large.append(name)
        elif name in tools:
            same_name += 1
        else:
            description = visible(each.description[: 2 * _DESCRIPTION])[:_DESCRIPTION]
            total += size + len(description) + len(each.name)
            tools[name] = Tool(name, description, _readable(each.schema), server, each.name)
    reasons = []
    if too_large:
        some = ", ".join(too_large[:3]) + (" and others" if len(too_large) > 3 else "")
        reasons.append(
            f"{len(too_large)} tools are left out, their names or schemas have over {_SCHEMA:,} characters: {some}"
        )
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


def _name(name: str) -> str:
    """Return a name of letters, digits and a few signs; cut first, because long runs of marks take long to compose."""
    composed = unicodedata.normalize("NFC", name[:_NAME])
    usual = (
        c if c in _USUAL or (unicodedata.category(c)[0] in "LN" and not _BLANK.match(c)) else " " for c in composed
    )
    return "_".join("".join(usual).split()) or "_"


def _readable(value: Any) -> Any:
    """Return a schema without invisible characters in what is read; names of parameters stay: calls need them."""
    if isinstance(value, dict):
        return {key: each if key == "required" else _readable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_readable(each) for each in value]
    return visible(value) if isinstance(value, str) else value


def visible(text: str) -> str:
    """Return a text without characters that are not seen: escape codes, directions, fillers.

    Parameters
    ----------
    text
        The text.

    Returns
    -------
    str
        What is seen of it.
    """
    return "".join(c for c in _BLANK.sub("", text) if c in "\n\t" or unicodedata.category(c) not in _INVISIBLE)


def notice(text: str) -> str:
    """Return what a server says about itself, an error for one, in a short line.

    Parameters
    ----------
    text
        What it says.

    Returns
    -------
    str
        The line.
    """
    line = " ".join(visible(text[: 10 * _NOTICE]).split())
    return line if len(line) <= _NOTICE else f"{line[:_NOTICE]}..."
