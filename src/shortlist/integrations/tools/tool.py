"""A tool: its name, what it does, and how much of a prompt it takes."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from shortlist.errors import InvalidParameter

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
#: Where frameworks and APIs keep the schema of a tool's arguments.
_SCHEMAS: Final = ("input_schema", "parameters_json_schema", "parameters", "inputSchema")


@dataclass(frozen=True)
class Tool:
    """A tool that an agent may call.

    Parameters
    ----------
    name
        Its name, as the agent calls it.
    description
        What it does.
    input_schema
        The JSON schema of its arguments.
    server
        The server that has it, for a gateway.
    upstream_name
        The server's own name for it.
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=dict)
    server: str = ""
    upstream_name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not isinstance(self.description, str):
            raise InvalidParameter(f"{self.name!r} is no tool: its name and its description are strings")

    @classmethod
    def of(cls, tool: Any) -> "Tool":
        """Return a tool given in another shape.

        Parameters
        ----------
        tool
            A `Tool`, a tool of Pydantic AI, FastMCP or MCP, or a mapping as LLM APIs take it: ``{"name":
            ..., "description": ..., "input_schema": ...}``, also inside ``{"type": "function", "function": ...}``.

        Returns
        -------
        Tool
            The tool.

        Raises
        ------
        InvalidParameter
            If it has no name.

        Examples
        --------
        >>> Tool.of({"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}})
        Tool(name='refund', description='', input_schema={'type': 'object'}, server='', upstream_name='')
        """
        if isinstance(tool, cls):
            return tool
        inner = tool.get("function") if isinstance(tool, Mapping) else None
        source: Any = inner if isinstance(inner, Mapping) else tool

        def value(key: str) -> Any:
            return source.get(key) if isinstance(source, Mapping) else getattr(source, key, None)

        name, description = value("name"), value("description")
        if not isinstance(name, str) or not name:
            raise InvalidParameter(f"{str(tool)[:80]} is no tool: give it a name, a description and a schema")
        schema = next((each for each in map(value, _SCHEMAS) if isinstance(each, Mapping)), {})
        return cls(name, description if isinstance(description, str) else "", dict(schema))

    @cached_property
    def entry(self) -> dict[str, Any]:
        """What an agent sees of it."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    @cached_property
    def tokens(self) -> int:
        """The approximate number of tokens of `entry`."""
        try:
            text = json.dumps(self.entry, separators=(",", ":"), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"[:200]
            raise InvalidParameter(f"the schema of tool {self.name!r} cannot be written as JSON ({reason})") from None
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    @cached_property
    def text(self) -> str:
        """Its words, for search: its name twice, because that says most; its description; its parameters."""
        parameters = " ".join(_schema_texts(self.input_schema))
        return words_of(f"{self.name} {self.upstream_name or self.name} {self.description} {parameters}")

    def is_named_in(self, task: str) -> bool:
        """Return whether a text has its exact name.

        A name that could be a plain word, such as ``search``, is one only in quotes, or if it is the whole text.

        Parameters
        ----------
        task
            The text.

        Returns
        -------
        bool
            Whether it has.

        Examples
        --------
        >>> tool = Tool("files__read_file", upstream_name="read_file")
        >>> tool.is_named_in("call read_file on a.txt"), tool.is_named_in("read the file a.txt")
        (True, False)
        """
        return any(_names(name, task) for name in {self.name, self.upstream_name} - {""})


def _names(name: str, text: str) -> bool:
    if name not in text:
        return False
    quoted = name.isalpha() and name[1:] == name[1:].lower()
    before, after = (r"[`'\"]", r"[`'\"]") if quoted else (r"(?<![\w-])", r"(?![\w-])")
    return text.strip() == name or re.search(f"{before}{re.escape(name)}{after}", text) is not None


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
