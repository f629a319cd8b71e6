"""Write the reference of the Python API as a page that can be read in the repository: ``make reference``.

The site has the same, with links; this page is for readers of the repository. What it lists is what the site's pages
list (``::: shortlist.Shortlister``), in their order.
"""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = ROOT / "docs" / "reference"
FILE: Final = PAGES / "api.md"
ORDER: Final = ("listers", "policies", "boundaries", "scores", "replay", "logs", "lab", "clients", "adapters", "errors")


def resolve(path: str) -> Any:
    """Return the object of a dotted path."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            item: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for name in parts[length:]:
            item = getattr(item, name)
        return item
    raise ImportError(path)


def signature(item: Any) -> str:
    """Return how something is called; nothing where that is unknown."""
    try:
        return re.sub(r"\bat 0x[0-9a-f]+", "", str(inspect.signature(item)))
    except (TypeError, ValueError):
        return ""


def entry(name: str, item: Any, level: int, seen: dict[str, str]) -> str:
    """Return a name with its signature and docstring; of a class, with its public methods, each of them once."""
    lines = [f"{'#' * level} `{name}`", "", "```text"]
    if callable(item):
        lines += [f"{name}{signature(item)}", ""]
    lines += [(inspect.getdoc(item) or "").replace("```", "'''"), "```", ""]
    if inspect.isclass(item) and not issubclass(item, BaseException):
        again = []
        for method, function in inspect.getmembers(item):
            own = inspect.isfunction(function) or inspect.ismethod(function)
            if not own or method.startswith("_") or not (function.__module__ or "").startswith("shortlist"):
                continue
            full = f"{name}.{method}"
            first = seen.setdefault(f"{signature(function)} {inspect.getdoc(function)}", full)
            if first == full:
                lines.append(entry(full, function, level + 1, seen))
            else:
                again.append(f"`{method}` (see `{first}`)")
        if again:
            lines += [f"Also: {', '.join(again)}.", ""]
    return "\n".join(lines)


def page() -> str:
    """Return the page."""
    about = "Written by `make reference` from the docstrings; the site has the same, with links."
    parts = ["# The Python API", "", about, ""]
    seen: dict[str, str] = {}
    for name in ORDER:
        text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        title = re.search(r"^# (.*)$", text, re.MULTILINE)
        parts += [f"## {title[1] if title else name}", ""]
        for path in re.findall(r"^::: ([\w.]+)", text, flags=re.MULTILINE):
            item = resolve(path)
            if not inspect.ismodule(item):
                parts.append(entry(path.rpartition(".")[2], item, 3, seen))
                continue
            public = getattr(item, "__all__", [])
            parts += [entry(f"{path.rpartition('.')[2]}.{each}", getattr(item, each), 3, seen) for each in public]
    text = re.sub(r"[ \t]+$", "", "\n".join(parts), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    print(FILE.relative_to(ROOT))
