"""The rounds that a lister keeps."""

import copy
import functools
import json
import multiprocessing
import pickle

import numpy as np
import pytest

from shortlist import GroupedShortlister, Shortlister
from shortlist.errors import InvalidIds, RoundClosed, UnknownRound
from shortlist.listers._rounds import Rounds, check_right, scores_of
from shortlist.rounds.events import Listed


def a_list(number, ids=None):
    return Listed(number, ids, [0.1, 0.2], [1, 0], 0.0, 0, 2)


def test_rounds_are_found_by_their_id():
    rounds = Rounds(next_number=5, parts=[(0, "00000000aa"), (4, "00000000bb")])
    rounds.answers.extend([None, 1])  # 3 and 4 are kept
    assert rounds.oldest == 3
    assert [rounds.id_of(number) for number in range(5)] == [*(f"00000000aa-{i}" for i in range(4)), "00000000bb-4"]
    assert [rounds.number_of(rounds.id_of(number), 2) for number in (3, 4)] == [3, 4]
    with pytest.raises(RoundClosed, match="answers are taken from round 00000000aa-3 on"):
        rounds.number_of("00000000aa-2", 2)
    for wrong in ("00000000bb-5", "00000000bb-3", "00000000cc-4", "00000000aa-4", "00000000bb-04", "4", 4, True, None):
        with pytest.raises(UnknownRound):
            rounds.number_of(wrong, 2)


def ids(lister, count):
    return {lister.propose([0.5]).round_id for _ in range(count)}


def forked(connection, lister):
    connection.send(ids(lister, 3))


@pytest.mark.parametrize("make", [Shortlister, GroupedShortlister], ids=["one", "groups"])
def test_no_two_listers_give_the_same_id(make, tmp_path, monkeypatch):
    """Neither others, nor a copy, one that was pickled, one of the same file, or one in a forked process."""
    if make is not Shortlister:
        monkeypatch.setattr(GroupedShortlister, "propose", functools.partialmethod(GroupedShortlister.propose, group=1))
    lister = make()
    before = ids(lister, 3)
    lister.save(tmp_path / "lister.json")
    others = [make(), copy.deepcopy(lister), pickle.loads(pickle.dumps(lister))]
    others += [type(lister).load(tmp_path / "lister.json") for _ in range(2)]
    mine, theirs = multiprocessing.get_context("fork").Pipe()
    child = multiprocessing.get_context("fork").Process(target=forked, args=(theirs, lister))
    child.start()
    given = [before, mine.recv(), ids(lister, 3), *(ids(other, 3) for other in others)]
    child.join()
    assert len(set().union(*given)) == 3 * len(given)
    for other in others[1:]:
        for round_id in before:
            other.hit(round_id, 0)  # it has that round, too
        with pytest.raises(UnknownRound, match="was never shown by this lister: an answer must reach the lister"):
            other.hit(next(iter(given[2])), 0)


def test_scores_are_given_back_as_they_came():
    assert scores_of(np.array([0.5, 0.25]), [1, 0]) == (0.25, 0.5)
    assert scores_of(np.array([[0.5, 1.0], [0.25, 2.0]]), [1]) == ((0.25, 2.0),)


def test_what_cannot_have_been_a_candidate_is_refused():
    check_right(a_list(0), 1)
    check_right(a_list(0), None)
    check_right(a_list(0, ["a", "b"]), "elsewhere")
    with pytest.raises(InvalidIds, match="positions 0 to 1"):
        check_right(a_list(0), 2)
    with pytest.raises(InvalidIds, match="ids are like 'a'"):
        check_right(a_list(0, ["a", "b"]), 1)


def test_random_parts_of_rounds_long_gone_are_forgotten(monkeypatch, tmp_path):
    """A lister that is copied, or loaded from its file, again and again does not grow."""
    monkeypatch.setattr("shortlist.listers._rounds._OLD", 5)
    lister = Shortlister(0.9, score="raw", keep=3)
    for _ in range(50):
        last = lister.propose([0.1])
        lister.hit(last.round_id, 0)
        lister = copy.copy(lister)
    lister.save(tmp_path / "lister.json")
    content = json.loads((tmp_path / "lister.json").read_text())["content"]
    assert len(content["rounds"]["parts"]) < 15
    lister.hit(last.round_id, 0)  # it was answered: the same again changes nothing
