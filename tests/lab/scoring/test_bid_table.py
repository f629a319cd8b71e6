"""A CSV of bids to the table that the auctions draw from."""

import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.lab.tasks import read_bids, task_from_file


def test_bids_by_any_name(tmp_path):
    source, out = tmp_path / "bids.csv", tmp_path / "table.csv"
    source.write_text("what;price\nxbox;10.5\npalm;3\nxbox;10.5\nxbox;7\n")
    result = CliRunner().invoke(
        app,
        ["score", "auctions", str(source), "--bid", "price", "--item", "what", "--separator", ";", "--out", str(out)],
    )
    assert result.exit_code == 0, result.output
    assert "4 bids counted" in result.output
    assert read_bids(out).values.tolist() == [3.0, 7.0, 10.5]
    assert read_bids(out, item="xbox").counts.tolist() == [1, 2]
    assert task_from_file(out).population[0].tolist() == [3.0, 7.0, 10.5]
    done = CliRunner().invoke(
        app, ["reproduce", "--scores", str(out), "--rounds", "200", "--runs", "2", "--out", str(tmp_path / "r")]
    )
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "there is no column 'bid'; there are: a, b"),
        ("bid\nx\n", "line 2 has the bid 'x'"),
        ("bid\n", "no bids"),
    ],
)
def test_wrong_bids_are_named(tmp_path, text, message):
    source = tmp_path / "bids.csv"
    source.write_text(text)
    result = CliRunner().invoke(app, ["score", "auctions", str(source), "--out", str(tmp_path / "o.csv")])
    assert message in str(result.exception)


def test_bids_are_not_written_over_themselves(tmp_path):
    source = tmp_path / "bids.csv"
    source.write_text("bid\n1\n")
    result = CliRunner().invoke(app, ["score", "auctions", str(source), "--out", str(source)])
    assert "is the file that the bids are read from" in str(result.exception)
    assert source.read_text() == "bid\n1\n"
