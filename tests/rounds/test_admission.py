"""Which answers are taken, and which change nothing."""

import pytest

from shortlist import Shortlister
from shortlist.errors import (
    ConflictingAnswer,
    NotShown,
    RoundClosed,
    UnknownRound,
)
from shortlist.rounds.admission import admit, answer_of
from shortlist.rounds.events import Absent, Answer, Expired, Hit, Listed, Miss, Skip
from tests.listers.inside import everything
from tests.listers.playing import teach


def test_the_same_answer_twice_changes_nothing():
    lister = Shortlister()
    answers = [("hit", 1), ("miss", None), ("skip", None), ("absent", None)]
    rounds = [lister.propose([0.3, 0.6]).round_id for _ in answers]

    def give(round_id, verb, member):
        method = getattr(lister, verb)
        return method(round_id) if member is None else method(round_id, member)

    for round_id, (verb, member) in zip(rounds, answers, strict=True):
        give(round_id, verb, member)
    before = everything(lister)
    for round_id, (verb, member) in zip(rounds, answers, strict=True):
        give(round_id, verb, member)
        assert everything(lister) == before
        for other, other_member in [*answers, ("hit", 0)]:
            if (other, other_member) != (verb, member):
                with pytest.raises(ConflictingAnswer, match=f"round {round_id} was already answered"):
                    give(round_id, other, other_member)
                assert everything(lister) == before


BAD_ANSWERS = [
    (lambda lister, last: lister.hit(last, 5), NotShown, "candidate 5 was not in the list of round "),
    (lambda lister, last: lister.hit(last, "0"), NotShown, "candidate '0' was not in the list"),
    (lambda lister, last: lister.hit(last, True), NotShown, "candidate True was not in the list"),
    (lambda lister, last: lister.hit(last, 1.0), NotShown, "candidate 1.0 was not in the list"),
    (lambda lister, last: lister.hit(last, {0}), NotShown, "candidate {0} was not in the list"),
    (lambda lister, last: lister.hit(f"{last}7", 0), UnknownRound, "1007 was never shown by this lister"),
    (lambda lister, _: lister.miss(Shortlister().propose([0.5]).round_id), UnknownRound, "-0 was never shown by this"),
    (lambda lister, _: lister.miss(-1), UnknownRound, "round id is -1"),
    (lambda lister, _: lister.skip("first"), UnknownRound, "round id is 'first'"),
    (lambda lister, _: lister.absent(None), UnknownRound, "round id is None"),
    (lambda lister, _: lister.miss(100.0), UnknownRound, "round id is 100.0"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD_ANSWERS)
def test_bad_answers_are_named_and_change_nothing(call, error, message):
    lister = teach(Shortlister(), 100)
    last = lister.propose([0.5, 0.6]).round_id
    before = everything(lister)
    with pytest.raises(error) as caught:
        call(lister, last)
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert everything(lister) == before


@pytest.mark.parametrize("cause", ["at_most", "the search", "nothing found"])
def test_absent_is_a_miss_where_nobody_has_seen_everything(cause):
    lister = Shortlister(0.9, score="raw", at_most=2 if cause == "at_most" else None)
    below = 0.1 if cause == "the search" else None
    scores = [] if cause == "nothing found" else [0.1, 0.2, 0.3]
    shown = lister.propose(scores, truncated_below=below, allow_empty=True)
    lister.absent(shown.round_id)
    lister.absent(shown.round_id)  # twice is once
    summary = lister.summary()
    assert (summary["absent"], summary["misses"], summary["counted"], summary["coverage_seen"]) == (0, 1, 1, 0.0)
    whole = lister.propose([0.1, 0.2])
    lister.absent(whole.round_id)
    assert (lister.summary()["absent"], lister.summary()["counted"]) == (1, 1)


LISTED = Listed(7, ["a", "b", "c"], [0.2, 0.9, 0.5], [1, 2], 0.6, 0, 1, truncated=True, comparable=[1.9, 1.5])


def test_an_answer_is_an_event_that_says_all_that_its_effect_depends_on():
    assert admit(LISTED, "b") == Hit(7, "b", 1.9)
    assert admit(LISTED, "c") == Hit(7, "c", 1.5)
    assert admit(LISTED._replace(fit=0), "c") == Hit(7, "c", 1.5, position=2)  # to learn from
    assert admit(LISTED, Answer.MISS) == Miss(7, truncated=True)
    assert admit(LISTED, Answer.ABSENT) == Absent(7, believed=False, truncated=True)
    assert admit(LISTED, Answer.SKIP) == Skip(7)
    assert admit(LISTED, Answer.EXPIRED) == Expired(7)


def test_an_event_says_what_its_list_was_to_the_error_budget():
    page = LISTED._replace(asked=3)
    assert admit(page, Answer.MISS) == Miss(7, truncated=True, paged=True)
    every = LISTED._replace(positions=[1, 2, 0], comparable=[1.9, 1.5, 1.2], truncated=False)
    assert admit(every, Answer.MISS) == Miss(7, everything=True)
    assert admit(every, Answer.ABSENT) == Absent(7, everything=True)
    assert admit(every, "a") == Hit(7, "a", 1.2)
    shadow = every._replace(complete=True, reached=2)  # it would have had two members
    assert admit(shadow, "c") == Hit(7, "c", 1.5, complete=True)
    assert admit(shadow, "a") == Hit(7, "a", 1.2, missed=True, complete=True)
    assert admit(shadow, Answer.MISS) == Miss(7, complete=True)
    assert admit(shadow._replace(reached=3), Answer.MISS) == Miss(7, complete=True, everything=True)


def test_an_event_is_the_answer_that_it_was():
    for answer in ("b", *Answer):
        assert answer_of(admit(LISTED, answer)) == answer


def test_a_round_that_has_expired_is_closed():
    assert admit(None, Answer.EXPIRED, "b", name=7) is None  # it had its answer
    assert admit(None, "b", "b", name=7) is None
    with pytest.raises(RoundClosed, match="round 7 is closed: it expired before its answer arrived"):
        admit(None, "b", Answer.EXPIRED, name=7)
    with pytest.raises(ConflictingAnswer, match="round 7 was already answered hit 'miss'; it cannot be answered miss"):
        admit(None, Answer.MISS, "miss", name=7)
