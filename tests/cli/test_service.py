"""The commands of the service, as far as they go without one running."""

import importlib.util

import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.cli.service import duration
from shortlist.errors import InvalidParameter, MissingExtra, ShortlistError
from tests.cli.command import refused, shortlist


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("serve", "--port", "99999999"), "invalid value for '--port'"),
        (("serve", "--port"), "option '--port' requires an argument"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path):
    refused(shortlist(*arguments, cwd=tmp_path), message)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("30m", 1800.0), ("12h", 43200.0), ("7d", 604800.0), ("0.5h", 1800.0)]
)
def test_durations(text, seconds):
    assert duration("older_than", text) == seconds


@pytest.mark.parametrize("text", ["", "7", "7 days", "-1h", "1w", "h"])
def test_bad_durations_are_named(text):
    with pytest.raises(InvalidParameter, match=r"older_than is .*; write 90s, 30m, 12h or 7d"):
        duration("older_than", text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["serve", "--host", "0.0.0.0"], "which other machines can reach, and there are no keys"),
        (["serve", "--expire-after", "soon"], "expire_after is 'soon'; write 90s"),
        (["export", "docs", "--format", "xml"], "format is 'xml'; it must be jsonl or csv"),
        (
            ["export", "docs", "--labels", "--out", "l.xlsx"],
            "l.xlsx ends in .xlsx; it must end in .csv, .jsonl or .parquet",
        ),
        (["expire", "docs", "--older-than", "soon"], "older_than is 'soon'; write 90s"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_opened(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHORTLIST_DATABASE", f"sqlite:///{tmp_path}/log.db")
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, ShortlistError)
    assert message in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["serve"], ["verify"], ["export", "docs"], ["backup", "copy.db"], ["restore", "copy.db"], ["demo"]]
)
def test_without_the_extra_it_is_named(words, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "fastapi" else real(name, *rest)
    )
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, MissingExtra)
    assert "the service needs fastapi" in str(result.exception)
