"""Answers that may still be corrected."""

from shortlist.rounds.events import Answered, Corrected, Hit, Miss, Skip
from shortlist.rounds.holding import Holding


def test_an_answer_is_final_when_so_many_more_have_come():
    holding = Holding(2)
    assert holding.take(Miss("a")) is None
    assert holding.take(Skip("b")) is None
    assert holding.has("a")
    assert holding.take(Miss("c")) == Miss("a")
    assert not holding.has("a")
    assert list(holding.answers) == ["b", "c"]


def test_a_correction_takes_the_place_of_the_answer():
    holding = Holding(2)
    for name in "ab":
        holding.take(Miss(name))
    right = Hit("a", 3, 0.5)
    holding.correct(Corrected("a", Answered.of(right)))
    holding.correct(Corrected("z", Answered.of(right)))  # it is final already: nothing to replace
    assert holding.take(Skip("c")) == right
    assert [each.event for each in holding.answers.values()] == [Miss("b"), Skip("c")]


def test_what_is_final_when_later_ones_have_come():
    holding = Holding(2)
    for name in "ab":
        holding.take(Miss(name))
    assert [holding.has("a", later) for later in (0, 1)] == [True, False]
    assert [holding.has("b", later) for later in (0, 1, 2)] == [True, True, False]
    assert not Holding(0).has("a")


def test_what_takes_effect_is_known_before():
    holding = Holding(1)
    assert holding.effect(Miss("a")) is None
    holding.take(Miss("a"))
    assert holding.effect(Skip("b")) == Miss("a")
    assert list(holding.answers) == ["a"]  # nothing has changed
    assert Holding(0).effect(Skip("b")) == Skip("b")
