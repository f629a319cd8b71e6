"""A list as its user sees it."""

from shortlist.rounds.shown import Shown
from tests.cutting import cut_at


def test_a_list_is_complete_if_every_candidate_is_in_it():
    assert Shown(0, 0.5, ("a", "b"), (0.9, 0.7), candidates=2, reached=2).complete
    assert not Shown(0, 0.5, ("a",), (0.9,), candidates=2, reached=1).complete
    assert Shown(0, 0.5, (), (), candidates=0, reached=0).complete


def test_the_first_reached_members_are_those_at_the_threshold():
    shown = cut_at(0.5, at_least=3).propose([0.4, 0.5, 0.9, 0.1], ids=["a", "b", "c", "d"])
    assert shown.members[: shown.reached] == ("c", "b")
    assert shown.members[shown.reached :] == ("a",)
    assert shown.scores == (0.9, 0.5, 0.4)
    assert (shown.candidates, shown.threshold, shown.complete, shown.truncated) == (4, 0.5, False, False)
