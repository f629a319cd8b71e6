"""The linter of words to avoid, and the list of what users can see."""

import house_words
import pytest
import visible_strings
from house_words import Entry, Finding, entries, judge, names, words

from tests.docs.pages import ROOT

TEXT = """The threshold stands still, and the promise holds for every round.
A round counts
as low; 2,000 requests a second are told anew.
"""


def found(path, text):
    return sorted(finding.word for finding in words(path, text))


def test_planted_words_are_reported():
    assert found("docs/a.md", TEXT) == ["a ... (for each)", "anew", "promise", "stands still", "told"]
    assert found("docs/a.md", "It holds for ever, in another world; it counts as low.") == [
        "counts as low",
        "for ever",
        "world",
    ]
    assert found("docs/a.md", "Normalise the colours of labelled data.") == ["British spelling"] * 3
    (finding,) = words("docs/a.md", "one\nlearnt\n")
    assert (finding.line, finding.word, finding.instead) == (2, "learnt", "learned")
    assert str(finding) == "docs/a.md:2: learnt: learnt (write: learned)"


def test_words_that_only_look_alike_are_not():
    for text in ("for every round", "await new Promise((go) => go())", "aria-labelledby", "a real-world task", "color"):
        assert found("src/a.js", text) == [], text


def test_people_are_users_in_the_reference_only():
    assert found("src/shortlist/a.py", "what people pick") == ["people"]
    assert found("docs/a.md", "what people pick") == []
    assert found("src/shortlist/service/static/a.html", "what people pick") == []


def test_names_are_reported_where_they_are_bound():
    text = """
def check(known, *, place=1):
    self.found = [made for made in known]
    for wanted, (told, other) in pairs:
        print(found.made, place)
    with open(path) as found: pass
"""
    lines = [(finding.word.split()[0], finding.line) for finding in names("a.py", text)]
    assert sorted(lines) == [
        ("found", 3),
        ("found", 6),
        ("known", 2),
        ("made", 3),
        ("place", 2),
        ("told", 4),
        ("wanted", 4),
    ]


def test_what_is_allowed_is_not_reported_and_entries_that_allow_nothing_are():
    promise, told = (
        Finding("docs/a.md", 1, "promise", "we promise", ""),
        Finding("src/b.py", 2, "told", "told of it", ""),
    )
    allowed = [
        Entry("docs/*", "promise", "we promise", "a quotation"),
        Entry("docs/*", "told", "*", "in the other folder"),
        Entry("tests/*", "*", "*", "a room"),
    ]
    assert judge([promise, told], allowed) == ([told], [allowed[1]])
    assert judge([promise, told], []) == ([promise, told], [])


def test_every_entry_has_a_reason():
    assert entries("# nothing\n\n") == []
    assert all(entry.reason for entry in entries(house_words.ALLOWED.read_text()))
    for line in ("docs/a.md | promise | we promise", "docs/a.md | promise | we promise | "):
        with pytest.raises(ValueError, match="line 1 of the allow-list"):
            entries(line)


def test_no_word_is_left_outside_of_the_allow_list():
    refused, idle = judge(house_words.findings(), entries(house_words.ALLOWED.read_text()))
    assert not refused, "\n".join(map(str, refused))
    assert not idle, idle


def test_what_users_see_is_listed():
    text = '''
"""A module."""
def show(name: str):
    """Show it."""
    def inner():
        """Hidden."""
    print("two words", name)
    raise ValueError(f"{name!r} is wrong; give another")
def _private():
    """Private."""
option = Option(help="What it does.")
'''
    listed = [(each.kind, each.text) for each in visible_strings.python("a.py", text)]
    assert listed == [
        ("docstring", "A module."),
        ("docstring", "Show it."),
        ("printed", "two words"),
        ("raised", "{name} is wrong; give another"),
        ("help", "What it does."),
    ]
    everything = [each.text for each in visible_strings.python("a.py", text, everything=True)]
    assert {"Hidden.", "Private."} <= set(everything)
    paths = ["src/shortlist/errors.py", "docs/glossary.md", "src/shortlist/service/static/demo.html"]
    assert all(list(visible_strings.visible(ROOT / path)) for path in paths)
