"""The log: what it remembers over a restart, and the figures that come of it."""

import json

import pytest

from shortlist.errors import UnwritableFile
from shortlist.integrations.mcp.search_log import RoundLog, report


def fill(path, keep=1000):
    """Three rounds: one cut and expanded, one explored, one in shadow."""
    log = RoundLog(path, keep)
    log.add("find", "0", 0, of=10, first=["a"], rest=[], explored=False, all_tokens=100, tokens=10)
    log.add("more", "0", 0, shown=["b", "c"], tokens=20)
    log.add("call", "0", 0, tool="c", counted="measured miss")
    log.add("call", "0", 0, tool="a", counted="again")
    log.add("find", "1", 1, of=10, first=list("abcdefghij"), rest=[], explored=True, all_tokens=100, tokens=100)
    log.add("call", "1", 1, tool="j", counted="hit")
    log.add("find", "2", 2, of=10, first=["a", "b"], rest=list("cdefghij"), explored=False, all_tokens=100, tokens=20)
    log.add("call", "2", 2, tool="b", counted="hit")
    log.add("call", "none", None, tool="b", counted="not counted")
    return log


def test_the_figures(tmp_path):
    fill(tmp_path / "log.jsonl").close()
    figures = report(tmp_path / "log.jsonl")
    assert (figures.rounds, figures.explored, figures.expanded) == (3, 1, 1)
    assert (figures.tools, figures.listed, figures.shown) == (30, 13, 23)
    assert (figures.tokens_all, figures.tokens_listed, figures.tokens_shown) == (300, 130, 230)
    assert (figures.hits, figures.misses, figures.absent, figures.again, figures.uncounted) == (2, 1, 0, 1, 1)
    assert (figures.cut_hits, figures.cut_misses) == (1, 1)
    assert figures.lines()[1] == "4.3 of 10.0 tools per list, 57% of about 100 tokens of schemas left out"
    assert "of 2 lists that left tools out, 1 had it" in figures.lines()[2]
    last = report(tmp_path / "log.jsonl", last=1)
    assert (last.rounds, last.hits, last.misses, last.uncounted) == (1, 1, 0, 0)


def test_a_log_that_is_not_there(tmp_path):
    assert report(tmp_path / "none.jsonl").lines() == ["no agent has looked for tools yet"]
    assert RoundLog().get("0") is None


def test_rounds_are_remembered_over_a_restart(tmp_path):
    path = tmp_path / "folder" / "log.jsonl"
    fill(path).close()
    with path.open("a") as file:
        file.write('{"do":"call","round":"2","to')  # the process ended here
    log = RoundLog(path)
    expanded, explored = log.get("0"), log.get("1")
    assert expanded is not None
    assert (expanded.first, expanded.shown, expanded.called) == (frozenset("a"), set("abc"), "c")
    assert explored is not None
    assert (explored.round_id, explored.called) == (1, "j")
    log.add("call", "2", 2, tool="x", counted="again")
    log.close()
    lines = path.read_text().splitlines()
    assert json.loads(lines[-1])["tool"] == "x"  # on a line of its own
    assert report(path).again == 2


def test_old_rounds_are_forgotten(tmp_path):
    log = fill(tmp_path / "log.jsonl", keep=2)
    assert log.get("0") is None
    assert log.get("2") is not None
    log.close()
    log.add("find", "3", 3, of=1, first=["a"], rest=[])  # closed: remembered, not written
    assert '"3"' not in (tmp_path / "log.jsonl").read_text()


def test_no_word_of_an_agent_is_in_it(tmp_path):
    fill(tmp_path / "log.jsonl").close()
    keys = {key for line in (tmp_path / "log.jsonl").read_text().splitlines() for key in json.loads(line)}
    assert not keys & {"task", "arguments"}


def test_a_path_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFile, match="cannot be used for the log"):
        RoundLog(tmp_path / "file" / "log.jsonl")


@pytest.mark.parametrize(
    "line", [b'{"do": "find"}', b'{"do": "find", "round": "1", "first": []}', b'{"do": "call"}', b"\xff"]
)
def test_a_line_that_was_changed_is_left_out(line, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(line + b"\n")
    RoundLog(path).close()
    assert report(path).rounds == 0


def test_lists_shown_without_a_lister_each_have_their_own_figures(tmp_path):
    log = RoundLog(tmp_path / "log.jsonl")
    for count in (2, 4):
        names = [f"t{i}" for i in range(count)]
        log.add("find", "none", first=names, rest=[], of=count, explored=False, all_tokens=count, tokens=count)
    log.close()
    figures = report(tmp_path / "log.jsonl")
    assert (figures.rounds, figures.tools, figures.listed) == (2, 6, 6)
