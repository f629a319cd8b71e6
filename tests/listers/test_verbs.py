"""What all listers share: rounds that are numbered and kept, copies, threads."""

import copy
import dataclasses
import enum
import pickle
import sys
import threading
from typing import ClassVar

import numpy as np
import pytest

import shortlist
from shortlist import SPS, AnytimeSPS, Oracle, Shortlister
from shortlist.errors import (
    ConflictingAnswer,
    InvalidIds,
    InvalidParameter,
    InvalidScores,
    MissingPolicy,
    NoCandidates,
    NotShown,
    RoundClosed,
    UnknownRound,
)
from tests.listers.inside import everything, policy_state
from tests.listers.playing import both_guarantees, both_scores, teach


def test_expired_rounds_are_closed_for_good():
    lister = Shortlister(0.9, score="raw", patience=1000)
    shown = [lister.propose([0.5, 0.6]) for _ in range(50)]
    for item in shown[::2]:
        lister.hit(item.round_id, 1)
    assert lister.summary()["counted"] == 1
    assert lister.expire(before=shown[40].round_id) == 20
    assert lister.summary()["counted"] == 41  # round 40 was answered, 41 is open
    assert lister.summary()["expired"] == 20
    assert lister.expire(before=shown[40].round_id) == 0
    for round_id in (shown[1].round_id, shown[2].round_id):
        with pytest.raises(RoundClosed, match=f"round {round_id} is closed"):
            lister.hit(round_id, 1)
    lister.hit(shown[41].round_id, 1)
    assert lister.expire() == 4  # all that are open
    assert lister.summary()["open"] == 0
    with pytest.raises(UnknownRound, match="round id is -1"):
        lister.expire(before=-1)


class Color(str, enum.Enum):  # noqa: UP042 - the kind whose str() is not its value
    RED = "red"


def test_members_of_any_string_or_integer_kind_are_plain(tmp_path):
    lister = Shortlister()
    names = np.array(["a", "b"])
    first = lister.propose([0.1, 0.2], ids=names)
    lister.hit(first.round_id, names[0])
    lister.hit(first.round_id, "a")
    second = lister.propose([0.1], ids=[Color.RED])
    assert second.members == ("red",)
    lister.hit(second.round_id, Color.RED)
    lister.hit(lister.propose([0.1, 0.2], ids={"x": 1, "y": 2}.keys()).round_id, "y")
    lister.save(tmp_path / "lister.json")
    loaded = Shortlister.load(tmp_path / "lister.json")
    loaded.hit(first.round_id, names[0])
    loaded.hit(second.round_id, Color.RED)
    assert Oracle(np.float32(0.5)).threshold == 0.5


def test_old_rounds_are_closed():
    lister = Shortlister(keep=3, score="raw")
    rounds = [lister.propose([0.5]).round_id for _ in range(5)]
    before = everything(lister)
    with pytest.raises(RoundClosed, match="-1 is closed: it expired, or is older than the last 3 rounds"):
        lister.hit(rounds[1], 0)
    assert everything(lister) == before
    lister.hit(rounds[2], 0)
    assert lister.summary()["expired"] == 2
    assert lister.summary()["open"] == 2
    assert policy_state(lister).pending == 0


@both_guarantees
@both_scores
def test_copies_are_independent(score, delta):
    lister = teach(Shortlister(delta=delta, score=score), 200)
    assert lister.threshold > -np.inf
    for twin in (copy.deepcopy(lister), pickle.loads(pickle.dumps(lister))):
        assert everything(twin) == everything(lister)
        before = everything(lister)
        teach(twin, 50)
        assert everything(lister) == before
    kind = "AnytimeSPS" if delta else "ProductLimit"
    assert repr(lister).startswith(f"<Shortlister {kind}(coverage=0.9")


@both_guarantees
@both_scores
def test_several_threads(score, delta, tmp_path):
    """Eight threads propose and answer, one saves and one sums up: nothing lost, nothing doubled."""
    lister = Shortlister(0.9, delta=delta, score=score)
    failures = []

    def work(seed):
        try:
            rng = np.random.default_rng(seed)
            for _ in range(400):
                shown = lister.propose(rng.random(6))
                if shown.members and shown.members[-1] is not None:
                    lister.hit(shown.round_id, shown.members[-1])
                else:
                    lister.miss(shown.round_id)
        except Exception as error:  # noqa: BLE001 - reported below
            failures.append(error)

    def watch():
        for i in range(20):
            lister.save(tmp_path / "lister.json")
            summary = Shortlister.load(tmp_path / "lister.json").summary()
            if summary["hits"] + summary["misses"] + summary["open"] != summary["rounds"]:
                failures.append(AssertionError(i, summary))

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # as many chances to collide as there can be
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    threads.append(threading.Thread(target=watch))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(switching)
    assert not failures
    summary = lister.summary()
    assert summary["rounds"] == 3200 == summary["hits"] + summary["misses"]
    # At the moment of the fit, each of the seven other threads may have had a list open: none of them counts. Without
    # delta there are five fits, and only the last 250 of the rounds before the last fit are in its window.
    auto, strict = (2000, 3200), (3200 - 30 - 7, 3200 - 30)
    least, most = (3200, 3200) if score == "raw" else (strict if delta else auto)
    assert least <= policy_state(lister).rounds <= most


def test_only_what_can_be_allowed_is_offered():
    grouped = shortlist.GroupedShortlister()
    for refuse in (Shortlister().preview, lambda s: grouped.propose(s, group=1)):
        with pytest.raises(NoCandidates, match=r"at least one candidate"):
            refuse([])


@pytest.mark.parametrize("wrong", [1.0, np.float64(1), "1", True, 3, -1, [1], b"a"])
def test_what_cannot_have_been_a_candidate_is_no_miss(wrong):
    """A label of another type would be taken for a miss, and the answer is final."""
    lister = Shortlister(0.9)
    shown = lister.propose([0.1, 0.2, 0.3])
    with pytest.raises(InvalidIds, match="pass one of them, or None if no candidate is right"):
        lister.reveal(shown.round_id, wrong)
    named = lister.propose([0.1, 0.2], ids=["1", "2"])
    if not isinstance(wrong, str):
        with pytest.raises(InvalidIds, match="pass an id of that type"):
            lister.reveal(named.round_id, wrong)
    assert lister.summary().open == 2


def test_reveal_is_hit_or_miss_whichever_it_is():
    lister = Shortlister(0.9, at_most=1)
    first, second, third, fourth = (lister.propose([0.1, 0.2], ids=["a", "b"]).round_id for _ in range(4))
    lister.reveal(first, "b")
    lister.reveal(second, "a")  # hidden
    lister.reveal(third, "z")  # not among the candidates
    lister.reveal(fourth, None)
    assert (lister.summary().hits, lister.summary().misses) == (1, 3)
    before = everything(lister)
    lister.reveal(first, "b")
    lister.reveal(second, "a")
    assert everything(lister) == before
    with pytest.raises(ConflictingAnswer):
        lister.reveal(first, "a")
    with pytest.raises(UnknownRound, match="pass its round_id"):
        lister.reveal(lister.propose([0.1]), 0)


def test_many_lists_are_opened_or_none():
    lister = Shortlister(0.9)
    with pytest.raises(InvalidScores):
        lister.propose_many([[0.1, 0.2], [np.nan]])
    with pytest.raises(InvalidParameter, match="ids for 1 lists, and 2 lists"):
        lister.propose_many([[0.1], [0.2]], ids=[["a"]])
    with pytest.raises(InvalidParameter, match="1 right answers for 2 rounds"):
        lister.reveal_many([0, 1], [0])
    with pytest.raises(InvalidScores, match="of 'a', 'c', and those of the first round were of 'a', 'b'"):
        lister.propose_many([{"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"a": [1.0, 2.0], "c": [1.0, 2.0]}])
    assert lister.summary().rounds == 0
    lister = Shortlister(0.9, score=lambda values: values / (values[0] > 0))
    with np.errstate(all="ignore"), pytest.raises(InvalidScores, match="not finite"):
        lister.propose_many([[1.0, 2.0], [1.0, 3.0], [-1.0, 2.0]])
    assert lister.summary().rounds == 0


@pytest.mark.parametrize("make", [Shortlister, shortlist.GroupedShortlister])
def test_settings_change_from_the_next_list_on(make, tmp_path):
    lister = make()
    group = {"group": "g"} if make is shortlist.GroupedShortlister else {}
    assert len(lister.propose([0.1, 0.2, 0.3], **group).members) == 3
    lister.configure(at_most=2, patience=5)
    assert len(lister.propose([0.1, 0.2, 0.3], **group).members) == 2
    if group:
        assert len(lister.propose([0.1, 0.2, 0.3], group="new").members) == 2
    lister.save(tmp_path / "lister.json")
    lister = make.load(tmp_path / "lister.json")
    assert len(lister.propose([0.1, 0.2, 0.3], **group).members) == 2
    before = everything(lister)
    with pytest.raises(InvalidParameter, match="shadow is 'yes'"):
        lister.configure(shadow="yes")
    assert everything(lister) == before
    lister.configure(shadow=True)
    assert len(lister.propose([0.1, 0.2, 0.3], **group).members) == 3


@dataclasses.dataclass(frozen=True)
class Own(AnytimeSPS):
    """A policy of one's own: the order-statistic rule under another name."""

    key: ClassVar[str] = "own"


def test_a_policy_of_ones_own_is_passed_again(tmp_path):
    lister = Shortlister(policy=Own(0.9), score="raw")
    lister.warm_start(np.full(100, 0.15))
    lister.save(tmp_path / "own.json")
    with pytest.raises(MissingPolicy, match=r"load\(path, policy=\.\.\.\)"):
        Shortlister.load(tmp_path / "own.json")
    with pytest.raises(InvalidParameter, match="but the lister was saved with"):
        Shortlister.load(tmp_path / "own.json", policy=Own(0.8))
    loaded = Shortlister.load(tmp_path / "own.json", policy=Own(0.9))
    assert loaded.propose([0.1, 0.2]).members == (1,)
    assert everything(loaded)["settings"] == everything(lister)["settings"]


def test_what_is_passed_to_load_must_be_what_was_saved(tmp_path):
    Shortlister(0.9, delta=0.01).save(tmp_path / "plain.json")
    for wrong in ({"policy": SPS(0.9, 100)}, {"score": "margin"}, {"policy": "sps"}, {"score": "nonsense"}):
        with pytest.raises(InvalidParameter):
            Shortlister.load(tmp_path / "plain.json", **wrong)
    assert Shortlister.load(tmp_path / "plain.json", policy=AnytimeSPS(0.9)).policy == AnytimeSPS(0.9)


def cut(lister, **options):
    """Return a list that is cut: the lister has learned that the right answer is among the best two of ten."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        shown = lister.propose(np.linspace(0, 1, 10), **options)
        lister.hit(shown.round_id, int(rng.integers(8, 10)))
    shown = lister.propose(np.linspace(0, 1, 10), **options)
    assert len(shown.members) <= 2
    return shown


def test_more_of_a_list_is_shown_best_first():
    lister = Shortlister(0.9, score="raw")
    shown = cut(lister)
    before = lister.summary()
    first = lister.more(shown.round_id, 3)
    assert (first.members, first.scores, first.left) == ((7, 6, 5), tuple(np.linspace(0, 1, 10)[[7, 6, 5]]), 5)
    rest = lister.more(shown.round_id)
    assert (rest.members, rest.left, rest.truncated) == ((4, 3, 2, 1, 0), 0, False)
    assert lister.more(shown.round_id).members == ()
    lister.hit(shown.round_id, 4)
    after = lister.summary()
    assert (after.misses - before.misses, after.expanded, after.found_after_more) == (1, 1, 1)
    assert after.hits == before.hits
    assert after.error_budget.spent == before.error_budget.spent + 0.9  # the list missed it
    assert after.threshold == before.threshold


def test_more_is_asked_for_before_the_answer():
    lister = Shortlister(score="raw")
    shown = lister.propose([0.5, 0.6])
    lister.hit(shown.round_id, 1)
    with pytest.raises(RoundClosed, match=f"round {shown.round_id} has an answer; more of a list"):
        lister.more(shown.round_id)
    with pytest.raises(UnknownRound):
        lister.more(7)
    with pytest.raises(InvalidParameter, match="count is 0"):
        lister.more(lister.propose([0.5]).round_id, 0)


def test_a_page_that_is_expanded_is_no_longer_truncated_and_what_it_was_asked_for_is_no_miss():
    lister = Shortlister(0.9, delta=0.01, score="raw", at_most=1)
    shown = lister.propose([0.1, 0.2, 0.3], ids=["a", "b", "c"])
    assert (shown.members, shown.truncated) == (("c",), True)
    more = lister.more(shown.round_id, 1)
    assert (more.members, more.truncated) == (("b",), True)
    assert lister.more(shown.round_id).truncated is False
    lister.hit(shown.round_id, "b")  # the whole list has it, the first page had not
    summary = lister.summary()
    assert (summary.misses, summary.found_after_more, summary.error_budget.spent) == (1, 1, 0.0)
    assert (policy_state(lister).rounds, policy_state(lister).low) == (1, 0)


def test_who_has_seen_everything_is_believed_that_there_is_none():
    lister = Shortlister(0.9, score="raw")
    shown = cut(lister)
    counted = lister.summary().counted
    lister.more(shown.round_id, 2)
    lister.absent(shown.round_id)
    assert (lister.summary().absent, lister.summary().misses, lister.summary().counted) == (0, 1, counted + 1)
    shown = lister.propose(np.linspace(0, 1, 10))
    lister.more(shown.round_id)
    lister.absent(shown.round_id)
    assert (lister.summary().absent, lister.summary().counted) == (1, counted + 1)


def test_more_of_a_group(tmp_path):
    lister = shortlist.GroupedShortlister(score="raw")
    shown = cut(lister, group="g")
    lister.more(shown.round_id, 2)
    lister.save(tmp_path / "lister.json")
    lister = shortlist.GroupedShortlister.load(tmp_path / "lister.json")
    rest = lister.more(shown.round_id)
    assert len(shown.members) + 2 + len(rest.members) == 10
    lister.hit(shown.round_id, 0)
    assert lister.summary().misses == 1


def test_where_several_are_needed_the_lowest_counts(tmp_path):
    lister, lowest = (Shortlister(0.8, score="raw") for _ in range(2))
    rng = np.random.default_rng(0)
    for _ in range(300):
        scores = rng.random(10)
        several = rng.choice(10, size=3, replace=False)
        shown = lister.propose(scores)
        if set(several.tolist()) <= set(shown.members):
            lister.hit(shown.round_id, several)
            lister.hit(shown.round_id, several[::-1].tolist())  # in any order: twice is once
        else:
            lister.miss(shown.round_id)
        lowest.reveal(lowest.propose(scores).round_id, int(several[scores[several].argmin()]))
    assert lister.threshold == lowest.threshold > 0.01
    lister.save(tmp_path / "lister.json")
    again = Shortlister.load(tmp_path / "lister.json")
    assert dict(again.summary()) == dict(lister.summary())
    lister.configure(at_least=2)
    shown = lister.propose([0.5, 0.6])
    lister.hit(shown.round_id, [0, 1])
    with pytest.raises(ConflictingAnswer, match=r"was already answered hit \[0, 1\]; it cannot be answered hit 0 now"):
        lister.hit(shown.round_id, 0)


def test_what_is_needed_must_have_been_shown():
    lister = Shortlister(score="raw", at_most=2)
    shown = lister.propose([0.1, 0.2, 0.3], ids=["a", "b", "c"])
    with pytest.raises(NotShown, match="candidate 'a' was not in the list"):
        lister.hit(shown.round_id, ["c", "a"])
    with pytest.raises(InvalidIds, match="the list of needed candidates is empty"):
        lister.hit(shown.round_id, [])
    lister.more(shown.round_id)
    lister.hit(shown.round_id, ["c", "a"])
    assert lister.summary().found_after_more == 1
    lister.hit(shown.round_id, ("a", "c"))


def test_a_list_that_nobody_saw_is_taken_back():
    """Whatever is taken back in time, the run is the one without it."""
    lister, other = (Shortlister(0.8, score="raw") for _ in range(2))
    rng = np.random.default_rng(0)
    for t in range(300):
        scores = rng.random(6)
        shown = lister.propose(scores)
        if t % 5 == 0:
            lister.withdraw(shown.round_id)
            lister.withdraw(shown.round_id)  # twice is once
            with pytest.raises(RoundClosed, match="its list was taken back, because nobody saw it"):
                lister.miss(shown.round_id)
            continue
        lister.reveal(shown.round_id, 0)
        other.reveal(other.propose(scores).round_id, 0)
    assert lister.threshold == other.threshold > -np.inf
    assert (lister.summary().withdrawn, lister.summary().counted) == (60, other.summary().counted)
    with pytest.raises(ConflictingAnswer, match=r"round .*-299 was already answered .*: somebody saw it, so it stays"):
        lister.withdraw(shown.round_id)


def test_a_list_that_is_taken_back_too_late_stays_low():
    lister = Shortlister(0.8, score="raw", patience=2)
    rounds = [lister.propose([0.5]).round_id for _ in range(4)]
    lister.withdraw(rounds[0])  # it has been counted
    lister.withdraw(rounds[3])
    assert (lister.summary().counted, lister.summary().withdrawn, lister.summary().open) == (2, 2, 2)


def test_a_learned_score_is_warm_started_once(constants):
    """A second fit would leave a threshold of the first score behind."""
    constants(picks=5)
    lister, rng = Shortlister(), np.random.default_rng(0)
    lister.warm_start(rng.random((200, 5)), rng.integers(5, size=200))
    threshold = lister.threshold
    with pytest.raises(InvalidParameter, match="there was a warm start already: give all examples at once"):
        lister.warm_start(rng.random((50, 5)), rng.integers(5, size=50))
    assert lister.threshold == threshold > -np.inf


def test_names_that_look_the_same_are_two():
    lister = Shortlister(score="raw")
    shown = lister.propose([0.5, 0.4, 0.3], ids=[1, "1", "a"])
    lister.hit(shown.round_id, [1, "a"])
    with pytest.raises(ConflictingAnswer):
        lister.hit(shown.round_id, ["1", "a"])
    lister.hit(shown.round_id, ["a", 1])
    assert everything(lister)["rounds"]["answers"][0]["members"] == [1, "a"]


def test_messages_name_the_round_by_its_id():
    lister = Shortlister(0.9, score="raw")
    shown = lister.propose([0.5, 0.6])
    with pytest.raises(NotShown, match=f"of round {shown.round_id};"):
        lister.hit(shown.round_id, 7)
