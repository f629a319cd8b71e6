"""Answers about items: every field says what it is."""

import pytest

from shortlist.service.web import item_replies


@pytest.mark.parametrize("name", item_replies.__all__)
def test_every_field_is_described(name):
    schema = getattr(item_replies, name).model_json_schema()
    for model in (schema, *schema.get("$defs", {}).values()):
        for field, details in model["properties"].items():
            assert details.get("description") or "$ref" in details or field == "problem", (name, field)
