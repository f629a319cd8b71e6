"""A tool's name, its words and its size."""

import json
from types import SimpleNamespace

import pytest

from shortlist.errors import InvalidParameter
from shortlist.integrations.tools.tool import CHARACTERS_PER_TOKEN, Tool, words_of

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
    words = Tool("shop__listOrders", "Orders of a customer.", SCHEMA, "shop", "listOrders").text.split()
    assert words[:5] == ["shop", "list", "order", "list", "order"]
    assert {"customer", "sort", "key", "column", "price", "age", "quantity", "odd"} <= set(words)


def test_schemas_of_any_shape_are_read():
    deep = {"properties": {"a": {"properties": {"b": {"properties": {"c": {"properties": {"d": {"properties": {
        "e": {"properties": {"f": {}}}}}}}}}}}}}  # fmt: skip
    words = Tool("t", "", deep).text.split()
    assert "e" in words
    assert "f" not in words
    for schema in ({}, {"properties": []}, {"properties": {"a": {"enum": 3, "items": "x"}}}):
        assert Tool("t", "", schema).text.startswith("t t")


def test_what_agents_are_shown_and_how_much_it_is():
    tool = Tool("shop__list", "Lists.", {"type": "object"})
    assert tool.entry == {"name": "shop__list", "description": "Lists.", "input_schema": {"type": "object"}}
    length = len(json.dumps(tool.entry, separators=(",", ":")))
    assert tool.tokens * CHARACTERS_PER_TOKEN - length in range(CHARACTERS_PER_TOKEN)


@pytest.mark.parametrize("key", ["input_schema", "parameters_json_schema", "parameters", "inputSchema"])
def test_shapes_of_frameworks_and_apis(key):
    expected = Tool("refund", "Refund it.", {"type": "object"})
    fields = {"name": "refund", "description": "Refund it.", key: {"type": "object"}}
    assert Tool.of(fields) == Tool.of(SimpleNamespace(**fields)) == expected
    assert Tool.of({"type": "function", "function": fields}) == expected
    assert Tool.of(expected) is expected
    assert Tool.of({"name": "refund", "description": None}) == Tool("refund")


@pytest.mark.parametrize("tool", [{}, {"name": ""}, {"name": 3}, "refund", None, {"function": {}}])
def test_what_is_no_tool(tool):
    with pytest.raises(InvalidParameter, match="is no tool: give it a name"):
        Tool.of(tool)


def test_schemas_that_are_no_json():
    cyclic = {}
    cyclic["properties"] = cyclic
    for schema in ({"a": {1, 2}}, {(1, 2): 3}, cyclic):
        with pytest.raises(InvalidParameter, match="the schema of tool 't' cannot be written as JSON"):
            _ = Tool("t", "", schema).tokens
    for name, description in ((1, ""), ("", ""), ("t", None)):
        with pytest.raises(InvalidParameter, match="is no tool"):
            Tool(name, description)


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("call files__read_file now", True),
        ("read_file on a.txt", True),
        ("use `read_file`.", True),
        ("git__read_file", False),
        ("read_files", False),
        ("read the file", False),
        ("un-read_file", False),
    ],
)
def test_exact_names(task, named):
    assert Tool("files__read_file", "", {}, "files", "read_file").is_named_in(task) is named


@pytest.mark.parametrize(
    ("task", "named"), [("search for files", False), ("the tool 'search'", True), ("search", True), ("research", False)]
)
def test_a_name_that_is_a_plain_word(task, named):
    assert Tool("search").is_named_in(task) is named
    assert Tool("Search").is_named_in(task.replace("search", "Search")) is named
