"""A tool's name, its words and its size."""

import json

from shortlist.integrations.mcp.tools import CHARACTERS_PER_TOKEN, Tool, words_of

SCHEMA = {
    "type": "object",
    "properties": {
        "order": {
            "type": "object",
            "properties": {"sortKey": {"description": "column to sort by", "enum": ["price", "age"]}},
        },
        "lines": {"type": "array", "items": {"type": "object", "properties": {"quantity": {}}}},
        "odd": True,
    },
}


def test_words():
    assert words_of("createHTTPServer") == "create http server"
    assert words_of("the list of pull-requests") == "list pull request"
    assert words_of("Größe der Straße, 2 Maße") == "größe der straße 2 maße"
    assert words_of("status address analysis bus") == "status address analysis bus"  # no plural
    assert words_of("") == ""


def test_its_words_are_of_name_description_and_parameters():
    words = Tool("shop", "listOrders", "Orders of a customer.", SCHEMA).text.split()
    assert words[:5] == ["shop", "list", "order", "list", "order"]
    assert {"customer", "sort", "key", "column", "price", "age", "quantity", "odd"} <= set(words)


def test_schemas_of_any_shape_are_read():
    deep = {"properties": {"a": {"properties": {"b": {"properties": {"c": {"properties": {"d": {"properties": {
        "e": {"properties": {"f": {}}}}}}}}}}}}}  # fmt: skip
    words = Tool("s", "t", "", deep).text.split()
    assert "e" in words
    assert "f" not in words
    for schema in ({}, {"properties": []}, {"properties": {"a": {"enum": 3, "items": "x"}}}):
        assert Tool("s", "t", "", schema).text.startswith("s t t")


def test_what_agents_are_shown_and_how_much_it_is():
    tool = Tool("shop", "list", "Lists.", {"type": "object"})
    assert tool.entry == {"name": "shop__list", "description": "Lists.", "input_schema": {"type": "object"}}
    length = len(json.dumps(tool.entry, separators=(",", ":")))
    assert tool.tokens * CHARACTERS_PER_TOKEN - length in range(CHARACTERS_PER_TOKEN)
