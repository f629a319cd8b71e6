"""The tests mirror the source, and look at it from outside.

A module ``src/shortlist/<path>/X.py`` has its tests in ``tests/<path>/test_X.py``; of a private module ``_X.py`` it is
``test__X.py``, with both underscores. ``__init__.py`` and ``__main__.py`` may have one, and need none.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "shortlist", ROOT / "tests"

#: Modules that no test of their own is for: Alembic runs them, and the tests of the store run Alembic.
UNTESTED = ("service/store/migrations/",)

#: Tests across modules: whole folders, and single files.
CROSSING = (
    "browser/",  # the pages in a browser
    "docs/",  # what the pages say is so
    "guarantees/",  # what the theory says is so
    "models/",  # real models, in an environment of their own
    "test_examples.py",
    "test_public.py",
    "test_tree.py",
    "service/test_rerank_clients.py",  # clients of the field
    "integrations/test_guarantee.py",  # every adapter
    "integrations/tools/test_frameworks.py",  # the packages of the field
    "integrations/test_haystack_hybrid.py",  # its own retrievers together
    "integrations/test_llama_index_hybrid.py",  # its own retrievers together
    "lab/test_cluster.py",  # every executor
    "lab/test_reproduction.py",  # the experiment against a prototype's figures
    "policies/test_contract.py",  # every policy
    "policies/test_field.py",  # the methods of the field, against each other
    "listers/test_verbs.py",  # what a lister and its groups share: numbered rounds, copies, threads
    "rounds/test_fold.py",  # a stream, fuzzed
    "rounds/test_pairs.py",  # every pair of settings, library and service
    "service/test_backup.py",
    "service/test_budget.py",  # the error budget through HTTP and crashes
    "service/test_client.py",  # the clients and a running service
    "service/test_commands.py",
    "service/test_conftest.py",
    "service/test_crash.py",
    "service/test_damaged_streams.py",  # one damaged stream and the others
    "service/test_disk.py",
    "service/test_fallback.py",  # the client and a service that hangs
    "service/test_fit_crash.py",  # ended in the middle of a fit
    "service/test_flipped_bytes.py",  # every byte of a database, and `verify`
    "service/test_fuzz.py",
    "service/test_labeling.py",  # a sorted file, drawn from and in order
    "service/test_load.py",
    "service/test_more.py",  # more of a list, and changed settings, through HTTP and crashes
    "service/test_replicas.py",
    "service/test_stop.py",
    "service/web/test_openapi.py",
)

#: How many times the tests may reach into what is private.
FEW = 10


def python_files(root):
    """Return the Python files of a tree, by their paths in it."""
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))


def mirrored(module):
    """Return where the tests of a module are.

    >>> mirrored("client/_sync.py")
    'client/test__sync.py'
    """
    path = Path(module)
    return path.with_name(f"test_{path.name}").as_posix()


def differences(modules, tests, crossing=(), untested=()):
    """Return the modules without tests, and the tests that are of no module."""
    wanted = {mirrored(module): module for module in modules if not module.startswith(tuple(untested))}
    present = {path for path in tests if Path(path).name.startswith("test_")}
    needed = {path for path, module in wanted.items() if Path(module).name not in ("__init__.py", "__main__.py")}
    without = sorted(wanted[path] for path in needed - present)
    of_none = sorted(path for path in present - set(wanted) if not path.startswith(tuple(crossing)))
    return without, of_none


def test_every_module_has_its_tests_and_every_test_its_module():
    without, of_none = differences(python_files(SOURCE), python_files(TESTS), CROSSING, UNTESTED)
    assert not without, f"modules without tests at the mirrored path: {', '.join(without)}"
    assert not of_none, f"tests that are of no module: {', '.join(of_none)}; move them, or name them in CROSSING"


def test_the_exceptions_exist():
    tests = python_files(TESTS)
    for exception in CROSSING:
        assert any(path.startswith(exception) for path in tests), exception
    for exception in UNTESTED:
        assert any(path.startswith(exception) for path in python_files(SOURCE)), exception


def test_a_tree_that_differs_is_noticed():
    """Negative control: a module without tests, tests without a module, and what is neither."""
    modules = ["a.py", "_b.py", "c/d.py", "c/__init__.py", "__main__.py", "c/old/run.py"]
    tests = ["test_a.py", "test__b.py", "c/test_d.py", "c/conftest.py", "c/__init__.py"]
    assert differences(modules, tests, untested=["c/old/"]) == ([], [])
    assert differences(modules, tests) == (["c/old/run.py"], [])
    assert differences(modules, tests[1:], untested=["c/old/"]) == (["a.py"], [])
    assert differences(modules, ["test_b.py", *tests], untested=["c/old/"]) == ([], ["test_b.py"])
    assert differences(modules, ["x/test_e.py", *tests], ["x/"], ["c/old/"]) == ([], [])
    assert differences(modules, ["c/test___init__.py", *tests], untested=["c/old/"]) == ([], [])
    assert differences([], tests) == ([], sorted(path for path in tests if "test_" in path))


def holds_a_test(path):
    """Return whether a module has a test in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
        for node in ast.walk(tree)
    )


def test_no_test_module_is_empty():
    for path in TESTS.rglob("test_*.py"):
        assert holds_a_test(path), path


#: Methods of named tuples, which only look private.
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE and name != "_"


def private_reaches(text):
    """Return the lines in which a module reaches into what is private, with what they reach for.

    That is an attribute with a leading underscore of anything but `self`, `cls` and modules, and a name with one that
    is imported from a module without one. Modules with one, such as `shortlist._files`, are tested like any other.
    """
    tree = ast.parse(text)
    own = {"self", "cls"}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            public = not any(is_private(part) for part in (node.module or "").split("."))
            names = [each.name for each in node.names if is_private(each.name) and public]
            found += [(node.lineno, name) for name in names if not is_module(node.module, name)]
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = ast.unparse(node.value)
            if owner not in own and owner != "super()" and not is_module(owner, node.attr):
                found.append((node.lineno, f"{owner}.{node.attr}"))
    return sorted(found)


def is_module(package, name):
    """Return whether a name of a package is one of the modules of shortlist."""
    folder, *rest = (package or "").split(".")
    return folder == "shortlist" and (SOURCE.joinpath(*rest) / f"{name}.py").is_file()


def test_few_tests_reach_into_what_is_private():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in sorted(TESTS.rglob("*.py"))
        for line, what in private_reaches(path.read_text(encoding="utf-8"))
    ]
    assert len(found) < FEW, "\n".join(["use what is public, or a save file (tests/listers/inside.py):", *found])


def test_a_private_reach_is_noticed():
    """Negative control: each kind once, and what only looks like one."""
    text = """
from shortlist.lab.lists import _race, list_rows
from shortlist._replay import _stamp
from shortlist import _files
import shortlist._validation

class Own:
    def test(self):
        self._mine = super()._theirs
        listed._replace(round_id=3)
        shortlist._validation.check_count
        for _ in lister._streams: client()._http.close()
        self.lister._rounds
        lister.__class__
"""
    expected = ["_race", "client()._http", "lister._streams", "self.lister._rounds"]
    assert sorted(what for _, what in private_reaches(text)) == expected
