"""What a server offers, for agents: names cleaned, and no more than a prompt can bear."""

import unicodedata

from shortlist.integrations.mcp.catalog import Offered, cleaned, notice


def names(*offered):
    tools, reasons = cleaned("s", [Offered(name, "", {}) for name in offered])
    return [tool.name for tool in tools], reasons


def test_usual_names_stay():
    usual = ["read_file", "repo/list-pulls", "calc.area", "größe", "a:b", "読む"]
    assert names(*usual) == ([f"s__{name}" for name in usual], [])


def test_names_without_escape_codes_directions_and_line_ends():
    odd = ["a\x1b[31mb", "c\u202ed", "e\nf", "g h", "x" * 5_000, "read\u3164\u115f\ufe0f"]
    listed, reasons = names(*odd)
    assert listed == ["s__a_31mb", "s__c_d", "s__e_f", "s__g_h", "s__" + "x" * 128, "s__read"]
    assert reasons == []
    tools, _ = cleaned("s", [Offered(odd[0], "", {})])
    assert tools[0].upstream_name == odd[0]  # as its server knows it


def test_two_that_look_alike():
    listed, reasons = names("a b", "a\u202eb", "a_b")
    assert listed == ["s__a_b"]
    assert reasons == ["2 tools are left out: their names are the same as others' once cleaned"]


def test_descriptions_and_schemas_are_readable():
    schema = {"properties": {"p\x1b": {"description": "one\u202etwo\x1b", "enum": ["a\x00", 3]}}}
    tools, _ = cleaned("s", [Offered("t", "line\nnext\u202e\x07" + "\u034f\ufe0f\u3164\u2800" + "y" * 9_000, schema)])
    assert tools[0].description == "line\nnext" + "y" * 1_991
    assert tools[0].input_schema == {"properties": {"p\x1b": {"description": "onetwo", "enum": ["a", 3]}}}


def test_too_many_tools():
    listed, reasons = names(*(f"t{i}" for i in range(20_000)))
    assert len(listed) == 2_000
    assert reasons == ["18000 tools are left out: it has over 2,000, or over 4,000,000 characters in all"]


def test_schemas_that_are_too_large_or_too_deep():
    wide = {"properties": {f"parameter_{i}": {"type": "string"} for i in range(100_000)}}
    deep = schema = {}
    for _ in range(100_000):
        schema["properties"] = schema = {}
    tools, reasons = cleaned("s", [Offered("wide", "", wide), Offered("deep", "", deep), Offered("fine", "", {})])
    assert [tool.name for tool in tools] == ["s__fine"]
    assert reasons == ["2 tools are left out, their names or schemas have over 16,000 characters: s__wide, s__deep"]


def test_too_much_in_all():
    schema = {"description": "z" * 15_000}
    tools, reasons = cleaned("s", [Offered(f"t{i}", "", schema) for i in range(400)])
    assert len(tools) == 267
    assert reasons[0].startswith("133 tools are left out")


def test_long_runs_of_marks_are_cut_before_they_are_composed(monkeypatch):
    """Composing 120,000 of them takes seconds. A name may not be long either."""
    compose, lengths = unicodedata.normalize, []
    monkeypatch.setattr(unicodedata, "normalize", lambda form, text: lengths.append(len(text)) or compose(form, text))
    listed, reasons = names("a" + "\u0315\u0300" * 3_000, "b" * 1_000_000, "a" + "\u0315\u0300" * 60_000)
    assert listed == ["s__à"]
    assert "2 tools are left out" in reasons[0]
    assert max(lengths) == 128


def test_what_a_server_says_about_itself():
    assert notice("a\x1b[31m\u202eb\nc") == "a[31mb c"
    assert len(notice("x" * 1_000_000)) == 203
