"""The tables and figures of the field suite."""

from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter


def test_the_command_writes_tables_and_figures(tmp_path):
    words = ["reproduce", "--suite", "field", "--tasks", "auctions,tools", "--rounds", "600", "--runs", "2"]
    done = CliRunner().invoke(app, [*words, "--jobs", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {"field.csv", "field.md", "field-misses.png", "field-shifts.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    page = (tmp_path / "field.md").read_text()
    for heading in ("### Auctions, adversary", "### Tools, slow drift", "### Tools: all shifts"):
        assert f"{heading}\n" in page
    section = page.split("### Tools, slow drift\n")[1].split("\n### ")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "|" in line]
    columns = {(line[0], line[1]): line for line in lines[2:]}
    assert lines[0][2:6] == ["coverage", "worst 100 rounds", "worst 500 rounds", "worst 2,000 rounds"]
    assert columns["Shortlister", "learned"][7] == ""  # its regret is on another score
    assert columns["Fixed top-k", "raw"][7:] == ["", ""]
    assert columns["SAOCP", "raw"][7] != ""
    wrong = CliRunner().invoke(app, ["reproduce", "--suite", "fields", "--out", str(tmp_path)])
    assert isinstance(wrong.exception, InvalidParameter)
