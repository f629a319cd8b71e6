"""The commands, known before the command line's own dependencies are: what each does, and which extra it needs."""

from typing import Final, NamedTuple

__all__ = ["COMMANDS", "Command", "overview"]


class Command(NamedTuple):
    """A command."""

    summary: str
    #: The extra that installs what it needs.
    extra: str


COMMANDS: Final = {
    "reproduce": Command("Run the paper's experiments, on three tasks.", "experiments"),
    "replay": Command("Show what a policy would have done on your log.", "experiments"),
    "threshold": Command("Turn labeled examples into a score_threshold.", "experiments"),
    "serve": Command("Run the service.", "service"),
    "verify": Command("Rebuild every stream from its log and compare.", "service"),
    "export": Command("Write a stream's log, or its labels, to a file.", "service"),
    "backup": Command("Copy a SQLite database while the service runs.", "service"),
    "restore": Command("Restore a SQLite database from a backup.", "service"),
    "expire": Command("Close old rounds, or erase their texts.", "service"),
    "demo": Command("Run a demo, with nothing to configure.", "service"),
    "mcp": Command("Put many MCP tools behind three, for agents.", "mcp"),
    "score": Command("Turn raw data and a model into a score file.", "experiments"),
    "items": Command("Add items to be labeled, and count them.", "service"),
    "keys": Command("Create, list and revoke API keys.", "service"),
}


def overview() -> str:
    """Return the help of a command line whose dependencies are not installed."""
    rows = "\n".join(f"  {name:<10} {command.summary}" for name, command in COMMANDS.items())
    return f"Usage: shortlist [--help] [--version] COMMAND ...\n\nCommands:\n{rows}\n"
