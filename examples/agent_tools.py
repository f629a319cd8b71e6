"""What the examples of agent frameworks share: 120 tools that do nothing, and tasks for which one of them is right."""

import json
from collections.abc import Callable
from pathlib import Path

__all__ = ["TASKS", "make_functions"]

_WORLD = json.loads((Path(__file__).parents[1] / "tools" / "agent_world.json").read_text(encoding="utf-8"))
#: A task for each tool, in plain words or in others, and the name of the tool.
TASKS: dict[str, str] = {
    entry["tasks"][number % 2].format(x="the budget"): f"{server}__{name}"
    for server, tools in _WORLD.items()
    for number, (name, entry) in enumerate(tools.items())
}


def make_functions() -> list[tuple[str, str, Callable[[], str]]]:
    """Return the name of each tool, what it does, and a function."""
    return [
        (f"{server}__{name}", entry["description"], lambda: "done")
        for server, tools in _WORLD.items()
        for name, entry in tools.items()
    ]
