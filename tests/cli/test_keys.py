"""The command `keys`: make, list and revoke."""

import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter, MissingFile
from shortlist.service.keys import KeyFile


@pytest.fixture
def keys(tmp_path):
    """Run `shortlist keys` with a file of its own."""

    def run(*words):
        return CliRunner().invoke(app, ["keys", *words, "--file", str(tmp_path / "keys.json")], env={"COLUMNS": "200"})

    run.file = tmp_path / "keys.json"
    return run


def test_a_key_is_printed_once_and_kept_as_a_hash(keys):
    done = keys("create", "the search box", "--scopes", "propose, feedback")
    assert done.exit_code == 0, done.output
    key = done.stdout.splitlines()[0]
    assert key not in keys.file.read_text()
    found = KeyFile(keys.file).find(key)
    assert (found.name, found.scopes) == ("the search box", ("propose", "feedback"))
    shown = keys("list").stdout
    assert "the search box" in shown
    assert key not in shown


def test_a_revoked_key_is_worthless_and_listed_as_such(keys):
    key = keys("create", "[red]me").stdout.splitlines()[0]
    number = key.split("_")[1]
    assert keys("revoke", number).stdout == f"{number} ([red]me) is revoked\n"
    assert KeyFile(keys.file).find(key) is None
    row = next(line for line in keys("list").stdout.splitlines() if number in line)
    assert "[red]me" in row  # a name is no markup
    assert row.count(":") == 2  # made and revoked, each with its time


def test_what_cannot_be_is_named(keys):
    assert isinstance(keys("list").exception, MissingFile)
    done = keys("create", "me", "--scopes", "everything")
    assert isinstance(done.exception, InvalidParameter)
    assert "scopes are everything; name some of propose" in str(done.exception)
    keys("create", "me")
    assert "there is no key 'nobody'" in str(keys("revoke", "nobody").exception)
