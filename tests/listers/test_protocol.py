"""What adapters need of a lister, and who has it."""

import inspect

import pytest

import shortlist
from shortlist import AsyncClient, Client, GroupedShortlister, Lister, Shortlister
from shortlist.errors import InvalidParameter
from shortlist.integrations._adapter import Adapter

VERBS = ("propose", "hit", "miss", "skip", "absent", "reveal", "summary")


@pytest.mark.parametrize("kind", [Shortlister, Client, AsyncClient])
def test_listers(kind):
    needed = {"url": "http://127.0.0.1:8000", "stream": "docs"} if "Client" in kind.__name__ else {}
    lister = kind(**needed)
    assert isinstance(lister, Lister)
    for verb in VERBS:
        assert callable(getattr(lister, verb))


@pytest.mark.parametrize("kind", [Shortlister, Client, AsyncClient])
@pytest.mark.parametrize("verb", VERBS)
def test_the_verbs_take_what_the_protocol_says(kind, verb):
    """By name and in this order; a client may take more."""
    expected = list(inspect.signature(getattr(Lister, verb)).parameters)
    taken = list(inspect.signature(getattr(kind, verb)).parameters)
    assert [name for name in taken if name in expected] == expected


def test_what_lacks_a_verb_is_none():
    class Mute:
        propose = hit = miss = skip = absent = reveal = Shortlister.propose

    assert not isinstance(Mute(), Lister)
    assert not isinstance("docs", Lister)


def test_a_grouped_shortlister_is_refused_by_adapters():
    """It has the verbs, but its `propose` needs a group, and an adapter has none to give."""
    with pytest.raises(InvalidParameter, match="use one adapter and one lister per group"):
        Adapter(GroupedShortlister())
    assert inspect.signature(GroupedShortlister.propose).parameters["group"].default is inspect.Parameter.empty


def test_it_is_public():
    assert shortlist.Lister is Lister
