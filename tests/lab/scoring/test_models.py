"""Where a model's files are, as far as names go; tests/models loads real ones."""

import pytest

from shortlist.errors import InvalidParameter
from shortlist.lab.scoring.models import resolve


def test_models_that_are_not_there_are_named(tmp_path):
    with pytest.raises(InvalidParameter, match="there is no such folder"):
        resolve("./no-such-model")
    with pytest.raises(InvalidParameter, match=r"has no config.json"):
        resolve(str(tmp_path))
