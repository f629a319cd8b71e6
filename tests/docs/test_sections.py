"""Every public function and method has the sections of numpy's docstrings that it has something to say in."""

import ast
import importlib
import inspect
import re
import textwrap

MODULES = [
    "shortlist",
    "shortlist.boundaries",
    "shortlist.client",
    "shortlist.drift",
    "shortlist.errors",
    "shortlist.integrations.citations",
    "shortlist.integrations.haystack",
    "shortlist.integrations.langchain",
    "shortlist.integrations.llama_index",
    "shortlist.integrations.mcp",
    "shortlist.integrations.sklearn",
    "shortlist.integrations.tools",
    "shortlist.lab.tasks",
    "shortlist.logs",
    "shortlist.metrics",
    "shortlist.policies",
    "shortlist.scores",
]


def callables():
    """Yield the public functions, and the public methods of the public classes, each once, with its full name."""
    seen = set()
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            item = getattr(module, name)
            if inspect.isclass(item):
                listed = [(f"{item.__qualname__}.{each}", method) for each, method in methods(item)]
            else:
                listed = [(name, item)] if inspect.isfunction(item) else []
            for full, function in listed:
                if function not in seen:
                    seen.add(function)
                    yield f"{function.__module__}: {full}", function


def methods(kind):
    """Yield the public methods that classes of ours define, private bases included; no properties."""
    for base in inspect.getmro(kind):
        if not base.__module__.startswith("shortlist"):
            continue
        for name, member in vars(base).items():
            function = getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(function) and function.__name__ == name:
                yield name, function


def raises(function):
    """Return whether a function raises something itself, not in a function inside of it."""
    body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body
    while body:
        node = body.pop()
        if isinstance(node, ast.Raise) and node.exc is not None and "NotImplemented" not in ast.unparse(node.exc):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            body += ast.iter_child_nodes(node)
    return False


def missing(function):
    """Return the sections that a function's docstring lacks."""
    words = inspect.getdoc(function) or ""
    if re.search(rf"see `Boundary\.{function.__name__}`", words):
        return []  # what all boundaries share is documented once, in their base class
    signature = inspect.signature(function)
    returned = signature.return_annotation
    needed = {
        "Parameters": any(name not in ("self", "cls") for name in signature.parameters),
        "Returns": returned not in (None, "None", inspect.Signature.empty),
        "Raises": raises(function),
    }
    present = {
        line for line, rule in zip(words.splitlines(), words.splitlines()[1:], strict=False) if set(rule) == {"-"}
    }
    if "Yields" in present:
        present.add("Returns")
    return [section for section, need in needed.items() if need and section not in present]


def test_every_public_function_has_its_sections():
    listed = dict(callables())
    assert len(listed) > 150
    without = {name: lacking for name, function in listed.items() if (lacking := missing(function))}
    assert not without, "\n".join(f"{name} lacks {', '.join(lacking)}" for name, lacking in without.items())


def test_a_missing_section_is_noticed():
    """Negative control: each section once, and functions that need none."""

    def add(left: int, right: int) -> int:
        """Add."""
        if left > right:
            raise ValueError
        return left + right

    def said(left: int) -> int:
        """Say it.

        Parameters
        ----------
        left
            A number.

        Returns
        -------
        int
            Another.
        """
        return left

    def outer() -> None:
        def inner():
            raise ValueError

        inner()

    assert missing(add) == ["Parameters", "Returns", "Raises"]
    assert missing(said) == []
    assert missing(outer) == []
