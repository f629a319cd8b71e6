"""Classifiers, as far as it goes without torch; tests/models loads real ones."""

import importlib.util

import pytest

from shortlist.errors import MissingExtra
from shortlist.lab.scoring.classifiers import DEFAULT, LITE, load_classifier


@pytest.mark.parametrize("name", [DEFAULT, LITE])
@pytest.mark.parametrize("missing", ["torch", "transformers", "PIL"])
def test_without_the_extra_it_is_named_before_anything_is_fetched(name, missing, monkeypatch):
    real = importlib.util.find_spec

    def find(module, *rest):
        if module in ("torch", "transformers", "PIL"):
            return None if module == missing else importlib.util.spec_from_loader(module, None)
        return real(module, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    with pytest.raises(MissingExtra, match=rf"scoring with a model needs {missing}, .*\[models\]"):
        load_classifier(name)
