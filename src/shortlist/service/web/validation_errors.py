"""What is wrong with a request, in words: which field, what was sent, and what it should be."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shortlist.service.web.fields import PATTERNS

__all__ = ["validation_errors"]

#: How pydantic says what it expected: "Input should be a valid number, unable to parse string as a number".
_EXPECTED: Final = re.compile(r"\w+ should (.*?)(?:, unable to parse .*)?", re.DOTALL)
#: How many characters of a value are repeated, and from which size on a number is not.
_MOST_SHOWN: Final = 40
_LARGE: Final = 10**18


def validation_errors(errors: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return what is wrong, as the rest of a sentence, by the field that it begins with."""
    by_field: dict[str, list[Mapping[str, Any]]] = {}
    for error in errors:
        by_field.setdefault(_where(error["loc"]), []).append(error)
    return {where: _what(alternatives) for where, alternatives in by_field.items()}


def _what(alternatives: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong with a field, of which each alternative was refused."""
    first = alternatives[0]
    if first["type"] == "missing":
        return " is missing"
    if first["type"] == "extra_forbidden":
        return " is not a field of this request: check its spelling"
    expected = [_EXPECTED.fullmatch(error["msg"]) for error in alternatives]
    if None in expected:
        return ": " + "; ".join(dict.fromkeys(error["msg"].removeprefix("Value error, ") for error in alternatives))
    requirements = list(dict.fromkeys(_plain(match[1]) for match in expected if match))
    if all(each.startswith("be ") for each in requirements):
        requirements = ["be " + " or ".join(each.removeprefix("be ") for each in requirements)]
    if "input" not in first:
        return f" should {' or '.join(requirements)}"
    return f" is {_shown(first['input'])}: it should {' or '.join(requirements)}"


def _plain(requirement: str) -> str:
    """Return what pydantic wants, in words for a caller who sends JSON."""
    if requirement == "be True":
        return "be true"
    for pattern, words in PATTERNS.items():
        requirement = requirement.replace(f"match pattern '{pattern}'", words)
    return re.sub(r"\ban? valid (?=(\w))", lambda match: "an " if match[1] in "aeiou" else "a ", requirement)


def _shown(value: Any) -> str:
    """Return a value as JSON has it, if it is short."""
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, str):
        shortened = value if len(value) <= _MOST_SHOWN else value[:_MOST_SHOWN] + "…"
        return json.dumps(shortened, ensure_ascii=False).encode("utf-8", "replace").decode()
    if isinstance(value, int) and abs(value) >= _LARGE:
        return "a very large number"
    return json.dumps(value, default=lambda other: type(other).__name__)


def _where(location: Sequence[Any]) -> str:
    """Return the location of an error in the notation of the body: candidates[3].score."""
    words = ""
    for part in location[1:] if len(location) > 1 else location:
        if isinstance(part, int):
            words += f"[{part}]"
        elif not re.search(r"[^A-Za-z0-9_]|^str$|^int$|^[A-Z]", part):  # else the name of an alternative
            words += f".{part}"
    return words.lstrip(".") or "body"
