"""The command line as a user meets it: exit status, one line of error, no traceback."""

import pytest

from tests.cli.command import refused, shortlist


def test_version_and_help():
    assert shortlist("--version").stdout.startswith("shortlist 0.")
    help_text = shortlist("--help").stdout
    for command in ("reproduce", "replay"):
        assert command in help_text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "log.csv", "--colunm", "x"), "no such option: --colunm"),
        (("replay",), "missing argument 'files'; see shortlist replay --help"),
        (("nope",), "no such command 'nope'; see shortlist --help"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path):
    refused(shortlist(*arguments, cwd=tmp_path), message)
