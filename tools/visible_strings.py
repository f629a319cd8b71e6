"""List every string that a user can see, to be read line by line.

Docstrings, help texts, messages that are raised or printed, descriptions of the OpenAPI document, the text of pages
and the prose of the docs; each with its file and line. Private docstrings are left out unless ``--all`` is given.

    python tools/visible_strings.py src/shortlist/rounds docs/faq.md
"""

import ast
import html.parser
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SUFFIXES = (".py", ".md", ".html", ".js")

#: Arguments whose strings are shown, whatever is called.
SHOWN_ARGUMENTS = {"help", "description", "title", "summary", "epilog", "short_help", "label", "ylabel", "xlabel"}
#: Calls whose strings are shown, by the last part of their names.
SHOWING_CALLS = {"print", "echo", "secho", "warn", "warning", "info", "error", "add_argument", "fail", "append"}
SHOWN_ATTRIBUTES = {"title", "alt", "aria-label", "placeholder"}


class Visible(NamedTuple):
    """A string that a user can see."""

    path: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.text}"


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _docstrings(tree: ast.AST, *, hidden: bool, everything: bool) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module, a class or a function, and of what is in it."""
    if isinstance(tree, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        text = ast.get_docstring(tree)
        if text and (everything or not hidden):
            yield tree.body[0].lineno, text
    for node in ast.iter_child_nodes(tree):
        inner = (
            hidden or isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef) or _private(getattr(node, "name", ""))
        )
        yield from _docstrings(node, hidden=inner, everything=everything)


def _part(node: ast.expr) -> str:
    """Return a part of an f-string: its text, or the expression that is filled in."""
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings in an expression; what an f-string fills in is shown as its source, in braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (_part(part) for part in node.values)
        yield node.lineno, "".join(parts)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _shown(node: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Yield the strings that a statement or a call shows: line, kind, text."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        yield from ((line, "raised", words) for line, words in _strings(node.exc))
    elif isinstance(node, ast.Call):
        if _called(node) in SHOWING_CALLS:
            yield from ((line, "printed", words) for each in node.args for line, words in _strings(each))
        for keyword in node.keywords:
            if keyword.arg in SHOWN_ARGUMENTS:
                yield from ((line, keyword.arg, words) for line, words in _strings(keyword.value))
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) and node.value is not None:
        yield from ((line, "value", words) for line, words in _strings(node.value) if words.count(" ") > 1)


def python(path: str, text: str, *, everything: bool = False) -> Iterator[Visible]:
    r"""Yield what a module shows: docstrings, messages, help texts.

    >>> [v.text for v in python("a.py", 'def f():\n    raise ValueError(f"no {x}")')]
    ['no {x}']
    """
    tree = ast.parse(text)
    for line, words in _docstrings(tree, hidden=False, everything=everything):
        yield Visible(path, line, "docstring", words)
    listed: dict[tuple[int, str], str] = {}
    for line, kind, words in (each for node in ast.walk(tree) for each in _shown(node)):
        if kind != "value" or (line, words) not in listed:
            listed[line, words] = kind
    for (line, words), kind in sorted(listed.items()):
        if re.search(r"[a-z]{2}", words):
            yield Visible(path, line, kind, words)


class _Page(html.parser.HTMLParser):
    """The text nodes of a page, and the attributes that are read out or shown."""

    def __init__(self) -> None:
        super().__init__()
        self.strings: list[tuple[int, str, str]] = []
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the attributes that are shown."""
        self._silent = tag if tag in ("script", "style") else ""
        for name, value in attrs:
            if name in SHOWN_ATTRIBUTES and value:
                self.strings.append((self.getpos()[0], name, value))

    def handle_endtag(self, tag: str) -> None:
        """Listen again after a script."""
        if tag == self._silent:
            self._silent = ""

    def handle_data(self, data: str) -> None:
        """Take a text node."""
        if data.strip() and not self._silent:
            self.strings.append((self.getpos()[0], "text", " ".join(data.split())))


def page(path: str, text: str) -> Iterator[Visible]:
    """Yield what a page of HTML shows.

    >>> [v.text for v in page("a.html", '<p title="b">c</p><script>d</script>')]
    ['b', 'c']
    """
    parser = _Page()
    parser.feed(text)
    for line, kind, words in parser.strings:
        yield Visible(path, line, kind, words)


def script(path: str, text: str) -> Iterator[Visible]:
    r"""Yield the strings of a script that have a space in them: sentences, not keys.

    >>> [v.text for v in script("a.js", "say('two words', \"key\")")]
    ['two words']
    """
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"(^|\s)//.*", "", line)
        for match in re.finditer(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`", code):
            words = next(group for group in match.groups() if group is not None)
            if " " in words.strip():
                yield Visible(path, number, "string", words)


def prose(path: str, text: str) -> Iterator[Visible]:
    r"""Yield the lines of a Markdown page, without its blocks of code.

    >>> [v.text for v in prose("a.md", "# A\n```sh\nls\n```\nb")]
    ['# A', 'b']
    """
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and line.strip():
            yield Visible(path, number, "prose", line)


def visible(file: Path, *, everything: bool = False) -> Iterator[Visible]:
    """Yield what a file shows to a user."""
    path, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from python(path, text, everything=everything)
    elif file.suffix in SUFFIXES:
        yield from {".md": prose, ".html": page, ".js": script}[file.suffix](path, text)


def main() -> None:
    """Print the strings of the files and folders that are named, or of the whole project."""
    tops = [each for each in sys.argv[1:] if each != "--all"] or ["src", "docs", "README.md", "CHANGELOG.md"]
    for top in map(ROOT.joinpath, tops):
        for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if file.suffix in SUFFIXES:
                for each in visible(file, everything="--all" in sys.argv):
                    print(each)


if __name__ == "__main__":
    main()
