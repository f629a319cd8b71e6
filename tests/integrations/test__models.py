"""What is wrong with the settings of a model, in words of our own."""

import pytest
from pydantic import BaseModel, field_validator

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.integrations._models import checked_settings


class Model(BaseModel):
    """A model with settings that pydantic checks, and one that checks itself."""

    size: int = 3
    name: str

    def __init__(self, **settings):
        with checked_settings(Model, settings, ("name",)):
            super().__init__(**settings)

    @field_validator("name")
    @classmethod
    def check(cls, name):
        if name == "ours":
            raise InvalidScores("as it was raised")
        return name


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"name": "x", "k": 5}, InvalidParameter, "Model has no setting 'k'; its settings are size, name"),
        ({}, InvalidParameter, "Model needs 'name'; its settings are size, name"),
        ({"name": "ours"}, InvalidScores, "^as it was raised$"),
        ({"name": "x", "size": "many"}, InvalidParameter, "size of a Model is 'many': Input should be a valid integer"),
    ],
)
def test_each_is_said_without_pydantic(settings, error, message):
    with pytest.raises(error, match=message):
        Model(**settings)
    assert Model(name="x").size == 3
