"""The commands that make score files."""

import importlib.util

from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import MissingExtra


def test_without_the_extra_it_is_named(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else real(name, *rest))
    for words in (["score", "images", "."], ["score", "retrieval", __file__]):
        result = CliRunner().invoke(app, words)
        assert isinstance(result.exception, MissingExtra), words
        assert "scoring with a model needs torch" in str(result.exception)
