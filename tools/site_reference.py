"""The reference of the command line, of HTTP and of further policies, written from the code."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from shortlist.cli import app
from shortlist.policies import REGISTRY
from shortlist.service.web import create_app

__all__ = ["command_line", "commands", "http", "other_policies"]


def other_policies(page: str) -> str:
    """Return a page with the policies of the registry that it does not name, where it has a mark for them."""
    names = [entry.policy.__name__ for entry in REGISTRY.values()]
    options = "    options: { heading_level: 3, members: false, inherited_members: false }\n"
    others = [f"::: shortlist.policies.{name}\n{options}" for name in names if f"::: shortlist.{name}\n" not in page]
    return page.replace("<!-- other policies -->", "\n".join(others))


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command as it is typed, with what answers it."""
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        for inner, answered_by in getattr(command, "commands", {"": command}).items():
            yield f"shortlist {name} {inner}".strip(), answered_by


def command_line() -> str:
    """Return the page of all commands and their options."""
    lines = [
        "# Command line",
        "",
        "Written from the commands themselves. `shortlist --version` prints the version, and `--help` behind any",
        "command prints what stands here. An error is one line on standard error and exit status 2; an interrupt",
        "is 130.",
    ]
    for typed, command in commands():
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        options = [param for param in command.params if param.param_type_name == "option"]
        usage = " ".join([typed, *(param.name.upper() for param in arguments), "[OPTIONS]" * bool(options)])
        lines += ["", f"## {typed}", "", _text(command.help), "", "```text", usage.strip(), "```", ""]
        rows = [(f"`{param.name.upper()}`", _text(param.help), "required") for param in arguments]
        rows += [(_names(param), _text(param.help), _default(param)) for param in options if param.name != "help"]
        lines += _table(("", "is", "default"), rows)
    return "\n".join(lines) + "\n"


def http() -> str:
    """Return the page of all routes, their parameters, bodies and answers."""
    with tempfile.TemporaryDirectory() as folder:
        schema = create_app(f"sqlite:///{Path(folder) / 'none.db'}").openapi()
    lines = [
        "# HTTP",
        "",
        "Written from the service's own OpenAPI document, which a running service has at `/openapi.json`. What each",
        "call is for: [the service](../how-to/service.md). Errors are problem documents (RFC 9457). Any call may be",
        "answered 400 (not JSON), 401 or 403 ([keys](../how-to/security.md)), 413 (too large), 422 (a value that is",
        "not allowed), 429 (too many requests) or 503 (the disk or the database; ask again); what else is possible",
        "stands with the call.",
        "",
        "## Calls",
    ]
    everywhere = {"400", "401", "403", "413", "422", "429", "503"}
    for path, operations in sorted(schema["paths"].items()):
        for method, operation in operations.items():
            lines += ["", f"### {method.upper()} {path}", "", _text(operation["description"]), ""]
            rows = [
                (f"`{param['name']}`", _kind(param["schema"]), _text(param["description"]), _given(param["schema"]))
                for param in operation.get("parameters", ())
                if param["in"] == "query"
            ]
            if rows:
                lines += _table(("query", "type", "is", "default"), rows)
            if "requestBody" in operation:
                body = next(iter(operation["requestBody"]["content"].values()))["schema"]
                lines += ["", f"Body: {_kind(body)}."]
            answers = [
                f"{status} {_answer(answer)}"
                for status, answer in operation["responses"].items()
                if status not in everywhere
            ]
            lines += ["", f"Answers: {'; '.join(answers)}."]
    lines += ["", "## Bodies"]
    for name, body in sorted(schema["components"]["schemas"].items()):
        if "properties" not in body:
            continue
        lines += ["", f"### {name}", "", _text(body.get("description", "")), ""]
        needed = set(body.get("required", ()))
        lines += _table(
            ("field", "type", "is", "default"),
            [
                (
                    f"`{field}`",
                    _kind(value),
                    _text(value.get("description", "")),
                    "required" if field in needed else _given(value),
                )
                for field, value in body["properties"].items()
            ],
        )
    return "\n".join(lines) + "\n"


def _names(param: Any) -> str:
    names = [*param.opts, *param.secondary_opts]
    variable = f" or the variable `{param.envvar}`" if param.envvar else ""
    return ", ".join(f"`{name}`" for name in names) + variable


def _default(param: Any) -> str:
    if param.required:
        return "required"
    return "" if param.default is None or param.default is False else f"`{param.default}`"


def _answer(answer: dict[str, Any]) -> str:
    kinds = [_kind(content["schema"]) for content in answer.get("content", {}).values() if content.get("schema")]
    return kinds[0] if kinds and kinds[0] else answer["description"].rstrip(".").lower()


def _kind(schema: dict[str, Any]) -> str:
    """Return what a value may be, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return " or ".join(f'`"{value}"`' for value in schema["enum"])
    if "const" in schema:
        return f"`{str(schema['const']).lower()}`"
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return " or ".join(_kind(one) for one in schema[either] if one.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}" if schema.get("items") else "list"
    lowest: Any = schema.get("minimum", schema.get("exclusiveMinimum"))
    highest: Any = schema.get("maximum", schema.get("exclusiveMaximum"))
    between = f", {lowest:g} to {highest:g}" if None not in (lowest, highest) and highest < 1e15 else ""
    longest = f", at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""
    return f"{schema.get('type', '')}{between}{longest}"


def _given(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return "" if value in (None, "") else f"`{value}`" if not isinstance(value, bool) else f"`{str(value).lower()}`"


def _text(words: str | None) -> str:
    """Return words on one line, with nothing that a table would take for its own."""
    return " ".join((words or "").split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
