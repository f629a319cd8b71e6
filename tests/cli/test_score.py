"""The commands that make score files."""

import importlib.util

import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter, MissingExtra


def test_without_the_extra_it_is_named(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else real(name, *rest))
    for words in (["score", "images", "."], ["score", "retrieval", __file__]):
        result = CliRunner().invoke(app, words)
        assert isinstance(result.exception, MissingExtra), words
        assert "scoring with a model needs torch" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["images", ".", "--out", "scores.csv"], "out is scores.csv; the name of a score file must end in .npz"),
        (["images", ".", "--dtype", "float64"], "dtype is 'float64'; it must be float32 or float16"),
        (["images", ".", "--limit", "0"], "limit is 0; it must be at least 1"),
        (["images", "nowhere"], "nowhere: there is no such folder"),
        (
            ["images", ".", "--model", "efficientnet-lite0", "--revision", "main"],
            "efficientnet-lite0 has no revisions: drop it",
        ),
        (["retrieval", "."], ".: this is a folder; give a JSON file"),
        (["retrieval", "nowhere.json"], "nowhere.json: there is no such file"),
        (["retrieval", "here.json", "--negatives", "0"], "negatives is 0; it must be at least 1"),
        (["retrieval", "here.json", "--model", "bert"], "model is 'bert'; it must be dpr or minilm, or give --embed"),
        (["retrieval", "here.json", "--embed", "cat", "--question-model", "x"], "question-model and passage-model are"),
        (["auctions", "here.json", "--out", "table.npz"], "the name of a table of bids must end in .csv"),
        (["auctions", "here.json", "--separator", "::"], "separator is '::'; it must be one character"),
    ],
)
def test_what_is_wrong_is_said_before_a_model_is_loaded(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.json").write_text("[]")
    result = CliRunner().invoke(app, ["score", *words])
    assert isinstance(result.exception, InvalidParameter), result.output
    assert message in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["here.json"]
