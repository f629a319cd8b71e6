"""The tables and figures of the field suite."""

from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter


def test_the_command_writes_tables_and_figures(tmp_path):
    words = ["reproduce", "--suite", "field", "--tasks", "auctions", "--rounds", "600", "--runs", "2", "--jobs", "1"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {"field.csv", "field.md", "field-misses.png", "field-worlds.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert "### Auctions, adversary" in (tmp_path / "field.md").read_text()
    wrong = CliRunner().invoke(app, ["reproduce", "--suite", "fields", "--out", str(tmp_path)])
    assert isinstance(wrong.exception, InvalidParameter)
