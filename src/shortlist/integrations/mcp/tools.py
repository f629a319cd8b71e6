"""A tool of the gateway: its server, what it does, and how much of a prompt it takes."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

__all__ = ["CHARACTERS_PER_TOKEN", "Tool", "words_of"]

#: An estimate without a model's own tokenizer: the characters per token of English and JSON.
CHARACTERS_PER_TOKEN: Final = 4
#: Where a name such as ``listPullRequests`` or ``HTTPServer`` has a seam; and words, of any alphabet.
_SEAM: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W_]+")
#: English stop words, which say nothing about what a tool does.
_EMPTY: Final = frozenset(
    re.findall(
        r"\w+",
        """a about all an and any are as at be been by can did do does for from had has have how i if in into is it its
        me my of on or our so some that the their them then there these they this those to use used using want was we
        what when where which who whose will with would you your""",
    )
)
#: How deep a schema is read.
_DEEPEST: Final = 4


@dataclass(frozen=True)
class Tool:
    """A tool of a server behind the gateway.

    Parameters
    ----------
    server
        The server's name.
    tool
        The server's name for it.
    description
        The server's description of it.
    input_schema
        The JSON schema of its arguments.
    """

    server: str
    tool: str
    description: str
    input_schema: dict[str, Any]

    @cached_property
    def name(self) -> str:
        """Its name for agents: two servers may have tools of the same name."""
        return f"{self.server}__{self.tool}"

    @cached_property
    def entry(self) -> dict[str, Any]:
        """What an agent sees of it."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    @cached_property
    def tokens(self) -> int:
        """The approximate number of tokens of `entry`."""
        return -(-len(json.dumps(self.entry, separators=(",", ":"), ensure_ascii=False)) // CHARACTERS_PER_TOKEN)

    @cached_property
    def text(self) -> str:
        """Its words, for search: its name twice, because that says most; its description; its parameters."""
        parameters = " ".join(_schema_texts(self.input_schema))
        return words_of(f"{self.name} {self.tool} {self.description} {parameters}")


def words_of(text: str) -> str:
    """Return the words of a text without stop words, in lower case and in the singular.

    >>> words_of("listPullRequests(repo_name): what is in the repository")
    'list pull request repo name repository'
    """
    words = (word.lower() for word in _WORD.findall(_SEAM.sub(" ", text)))
    return " ".join(_singular(word) for word in words if word not in _EMPTY)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _schema_texts(schema: Any, depth: int = 0) -> Iterator[str]:
    """Yield the names and descriptions of parameters, and the values they may take."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        yield str(name)
        if isinstance(inner, dict):
            yield str(inner.get("description", ""))
            choices = inner.get("enum")
            yield from (str(each) for each in choices) if isinstance(choices, list) else ()
            yield from _schema_texts(inner, depth + 1)
            yield from _schema_texts(inner.get("items"), depth + 1)
