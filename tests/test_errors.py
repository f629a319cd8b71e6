"""The tree of errors, and what it says of an extra that is missing."""

import json

import pytest

import shortlist
from shortlist.errors import ConflictingAnswer, InvalidInput, MissingExtra, all_errors, needs_extra, problem_name


def test_every_exception_derives_from_the_root_and_stands_in_the_tree():
    for name in shortlist.errors.__all__:
        error = getattr(shortlist.errors, name)
        assert issubclass(error, shortlist.ShortlistError)
        assert name in (shortlist.errors.__doc__ or "")
    roots = [name for name in shortlist.__all__ if name in shortlist.errors.__all__]
    assert roots == ["InvalidInput", "ShortlistError"]


def test_what_people_catch():
    """Errors of input are ValueErrors, files that are missing FileNotFoundErrors, extras ImportErrors."""
    errors = shortlist.errors
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(errors.MissingFile, FileNotFoundError)
    assert issubclass(errors.UnwritableFile, OSError)
    assert issubclass(MissingExtra, ImportError)
    for kind in all_errors():
        assert not issubclass(kind, errors.ServiceError) or not issubclass(kind, ValueError)


def test_every_error_has_a_name_of_its_own_over_http():
    names = [problem_name(kind) for kind in all_errors()]
    assert len(set(names)) == len(names) == len(shortlist.errors.__all__)
    assert problem_name(ConflictingAnswer) == "conflicting-answer"


def test_an_extra_that_is_missing_is_named_and_nothing_is_imported():
    needs_extra("this", "nothing", "math", "json")
    with pytest.raises(MissingExtra, match=r"this needs no_such_module, .*pip install '.*\[fast\]'"):
        needs_extra("this", "fast", "math", "no_such_module")


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ({"url": "file:///somewhere/shortlist", "dir_info": {}}, "pip install '/somewhere/shortlist[service]'"),
        (
            {"url": "file:///somewhere/shortlist.whl", "archive_info": {}},
            "pip install 'shortlist[service] @ file:///somewhere/shortlist.whl'",
        ),
        (None, "pip install 'shortlist[service]'"),
    ],
)
def test_the_command_that_installs_an_extra_is_for_where_the_package_came_from(monkeypatch, source, command):
    class Installed:
        def read_text(self, _name):
            return None if source is None else json.dumps(source)

    monkeypatch.setattr("shortlist.errors.__file__", "/env/lib/python3/site-packages/shortlist/errors.py")
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    with pytest.raises(MissingExtra) as raised:
        needs_extra("the service", "service", "no_such_module")
    assert str(raised.value).endswith(command)
