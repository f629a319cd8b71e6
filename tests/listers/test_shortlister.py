"""The Shortlister: what it shows, what it takes, what it refuses, and that nothing is lost."""

import copy
import enum
import json
import math
import os
import pickle
import re
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist
from shortlist import ACI, SPS, AnytimeSPS, Greedy, Oracle, Shortlister, ShortlistError
from shortlist.errors import (
    ConflictingAnswer,
    DamagedFile,
    DuplicateIds,
    InvalidIds,
    InvalidParameter,
    InvalidScores,
    MissingFile,
    NewerFile,
    NoCandidates,
    NotShown,
    RoundClosed,
    SaveFileError,
    UnknownRound,
    UnwritableFile,
)
from shortlist.listers import savefile
from tests.listers.inside import everything, policy_state
from tests.policies.every import POLICIES


def teach(lister, rounds, seed=0, candidates=8):
    """Answer `rounds` rounds; the right candidate is a noisy best."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        scores = rng.random(candidates)
        right = int(np.argmax(scores + 0.4 * rng.random(candidates)))
        shown = lister.propose(scores)
        if right in shown.members:
            lister.hit(shown.round_id, right)
        else:
            lister.miss(shown.round_id)
    return lister


def test_the_contracts_example():
    lister = Shortlister(coverage=0.9)
    assert lister.policy == AnytimeSPS(coverage=0.9, delta=0.05)
    shown = lister.propose([0.2, 0.9, 0.4])
    assert (shown.round_id, shown.threshold, shown.members) == (0, -math.inf, (1, 2, 0))
    assert (shown.scores, shown.reached) == ((0.9, 0.4, 0.2), 3)
    assert not shown.truncated
    lister.hit(shown.round_id, 1)
    assert lister.threshold == -math.inf
    assert lister.summary()["hits"] == 1


def test_ties_keep_the_order_given_and_ids_are_handed_back():
    lister = Shortlister()
    assert lister.propose([1, 2, 2, 1]).members == (1, 2, 0, 3)
    assert lister.propose([1.0, 2.0], ids=["a", "b"]).members == ("b", "a")
    assert lister.propose(np.array([1.0, 2.0]), ids=np.array([7, 9])).members == (9, 7)
    assert lister.propose(np.array([1, 2], dtype=np.float32)).scores == (2.0, 1.0)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(-4, 4))
def test_the_list_is_closed_complete_and_sorted(scores, threshold):
    shown = Shortlister(policy=Oracle(threshold)).propose(scores)
    assert set(shown.members) == {i for i, score in enumerate(scores) if score >= threshold}
    assert list(shown.members) == sorted(shown.members, key=lambda i: (-scores[int(i)], i))


def test_at_least_and_at_most():
    lister = Shortlister(policy=Oracle(0.5), at_least=2, at_most=3)
    few = lister.propose([0.1, 0.9, 0.2])
    assert (few.members, few.truncated) == ((1, 2), False)
    many = lister.propose([0.9, 0.8, 0.7, 0.6])
    assert (many.members, many.truncated) == ((0, 1, 2), True)
    assert lister.propose([0.1]).members == (0,)


def test_a_hit_below_the_threshold_teaches_like_a_miss():
    """`at_least` shows more than the threshold allows; what lies below it must not count as seen."""
    listers = [teach(Shortlister(0.8, at_least=at_least), 500) for at_least in (0, 8)]
    assert listers[0].threshold == listers[1].threshold > 0.5
    assert policy_state(listers[0]) == policy_state(listers[1])
    assert listers[1].summary()["misses"] == 0  # all were hits for the person


def test_it_learns_what_its_policy_learns():
    lister, policy = Shortlister(0.9), AnytimeSPS(0.9)
    state = policy.init()
    rng = np.random.default_rng(3)
    for _ in range(1500):
        scores = rng.random(5)
        shown = lister.propose(scores)
        if 0 in shown.members:
            lister.hit(shown.round_id, 0)
        else:
            lister.miss(shown.round_id)
        policy.update(state, float(scores[0]))
    assert lister.threshold == state.threshold > 0.05


def test_answers_late_in_any_order_teach_the_same():
    rng = np.random.default_rng(4)
    ends = []
    for order in (np.arange(600), rng.permutation(600)):
        lister = Shortlister(0.9, patience=1000)
        stream = np.random.default_rng(5).random((600, 5))
        shown = [lister.propose(scores) for scores in stream]
        assert lister.summary()["open"] == 600
        for i in order.tolist():
            lister.hit(shown[i].round_id, 0)
        ends.append(policy_state(lister))
        assert lister.summary()["open"] == 0
    assert ends[0] == ends[1]
    assert ends[0].threshold > 0


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
                with pytest.raises(ConflictingAnswer, match=f"round {round_id} was answered"):
                    give(round_id, other, other_member)
                assert everything(lister) == before


class Colour(str, enum.Enum):  # noqa: UP042 - the kind whose str() is not its value
    RED = "red"


def test_members_of_any_string_or_integer_kind_are_plain(tmp_path):
    lister = Shortlister()
    names = np.array(["a", "b"])
    lister.propose([0.1, 0.2], ids=names)
    lister.hit(0, names[0])
    lister.hit(0, "a")
    assert lister.propose([0.1], ids=[Colour.RED]).members == ("red",)
    lister.hit(1, Colour.RED)
    lister.propose([0.1, 0.2], ids={"x": 1, "y": 2}.keys())
    lister.hit(2, "y")
    lister.save(tmp_path / "lister.json")
    loaded = Shortlister.load(tmp_path / "lister.json")
    loaded.hit(0, names[0])
    loaded.hit(1, Colour.RED)
    assert Oracle(np.float32(0.5)).threshold == 0.5


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("")
    real.chmod(0o664)
    link.symlink_to(real)
    Shortlister().save(link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o664
    assert Shortlister.load(real).summary()["rounds"] == 0


def test_a_number_that_became_too_large_is_damage(tmp_path):
    lister, path = Shortlister(), tmp_path / "lister.json"
    lister.propose([9.1234])
    lister.save(path)
    path.write_text(path.read_text().replace("9.1234", "9e1234"))
    with pytest.raises(DamagedFile, match="checksum"):
        Shortlister.load(path)


def test_ignoring_silence_does_not_ignore_misses_of_lists_cut_short():
    """With at_most, hits and misses of one list must be taken alike, or the threshold would run away."""
    rng = np.random.default_rng(0)
    lister = Shortlister(0.9, unanswered="ignore", at_most=2)
    for _ in range(3000):
        scores = rng.random(10)
        right = int(rng.choice(10, p=scores / scores.sum()))
        shown = lister.propose(scores)
        if right in shown.members:
            lister.hit(shown.round_id, right)
        else:
            lister.miss(shown.round_id)
    assert lister.threshold <= 0.316


def test_skip_counts_as_low_and_absent_leaves_the_count():
    lister = Shortlister()
    for verb in ("skip", "absent", "miss"):
        getattr(lister, verb)(lister.propose([0.5]).round_id)
    assert (policy_state(lister).rounds, policy_state(lister).low) == (2, 2)
    summary = lister.summary()
    assert (summary["skipped"], summary["absent"], summary["misses"]) == (1, 1, 1)


def test_an_absent_round_that_was_counted_stays_low():
    lister = Shortlister(patience=0)
    first = lister.propose([0.5])
    assert (policy_state(lister).rounds, policy_state(lister).low) == (1, 1)
    lister.absent(first.round_id)
    assert (policy_state(lister).rounds, policy_state(lister).low) == (1, 1)


def test_ignored_silence_never_joins():
    lister = Shortlister(unanswered="ignore")
    lister.propose([0.5])
    lister.skip(lister.propose([0.5]).round_id)
    lister.absent(lister.propose([0.5]).round_id)
    lister.hit(lister.propose([0.5]).round_id, 0)
    assert policy_state(lister).rounds == 1


def test_old_rounds_are_closed():
    lister = Shortlister(keep=3)
    for _ in range(5):
        lister.propose([0.5])
    before = everything(lister)
    with pytest.raises(RoundClosed, match="round 1 is closed: it was expired, or is older than the last 3 rounds"):
        lister.hit(1, 0)
    assert everything(lister) == before
    lister.hit(2, 0)
    assert lister.summary()["expired"] == 2
    assert lister.summary()["open"] == 2
    assert policy_state(lister).pending == 0


BAD_PROPOSALS = [
    (([0.1, math.nan],), InvalidScores, "scores[1] is nan; scores must be finite"),
    (([math.inf],), InvalidScores, "scores[0] is inf"),
    (([-math.inf, 1],), InvalidScores, "scores[0] is -inf"),
    (([],), NoCandidates, "scores are empty"),
    (([[0.1, 0.2]],), InvalidScores, "scores have the shape (1, 2)"),
    ((0.5,), InvalidScores, "scores are of type float; give a list"),
    (("abc",), InvalidScores, "scores are of type str"),
    ((None,), InvalidScores, "scores are of type NoneType"),
    ((np.array(0.5),), InvalidScores, "scores have the shape ()"),
    ((np.ma.array([0.1, 0.9], mask=[0, 1]),), InvalidScores, "scores are a masked array"),
    ((["high", "low"],), InvalidScores, "they must be numbers"),
    (([True, False],), InvalidScores, "scores are of type bool"),
    (([None, 1.0],), InvalidScores, "they must be numbers"),
    (([1j],), InvalidScores, "they must be numbers"),
    (([[1.0], [1.0, 2.0]],), InvalidScores, "cannot be read"),
    (([0.1, 0.2], ["a", "a"]), DuplicateIds, "id 'a' is given twice"),
    (([0.1, 0.2], ["a"]), InvalidIds, "there are 1 ids for 2 scores"),
    (([0.1], [None]), InvalidIds, "id None is a NoneType; ids must be strings or integers"),
    (([0.1], [1.5]), InvalidIds, "id 1.5 is a float"),
    (([0.1], [True]), InvalidIds, "id True is a bool"),
    (([0.1, 0.2], {"a", "b"}), InvalidIds, "ids are of type set; give a list"),
    (([0.1, 0.2], "ab"), InvalidIds, "ids are of type str"),
    (([0.1], 5), InvalidIds, "ids are of type int"),
    (([0.1], [10**5000]), InvalidIds, "must fit into 64 bits"),
    (([0.1], ["\ud800"]), InvalidIds, "cannot be stored as UTF-8"),
]


@pytest.mark.parametrize(
    ("arguments", "error", "message"), BAD_PROPOSALS, ids=[message for _, _, message in BAD_PROPOSALS]
)
def test_bad_proposals_are_named_and_change_nothing(arguments, error, message):
    lister = teach(Shortlister(), 100)
    before = everything(lister)
    with pytest.raises(error) as caught:
        lister.propose(*arguments)
    assert message in str(caught.value)
    assert isinstance(caught.value, ShortlistError)
    assert isinstance(caught.value, ValueError)
    assert everything(lister) == before


BAD_ANSWERS = [
    (lambda lister: lister.hit(100, 5), NotShown, "candidate 5 was not in the list of round 100"),
    (lambda lister: lister.hit(100, "0"), NotShown, "candidate '0' was not in the list"),
    (lambda lister: lister.hit(100, True), NotShown, "candidate True was not in the list"),
    (lambda lister: lister.hit(100, 1.0), NotShown, "candidate 1.0 was not in the list"),
    (lambda lister: lister.hit(100, [0]), NotShown, "candidate [0] was not in the list"),
    (
        lambda lister: lister.hit(777, 0),
        UnknownRound,
        "round 777 was never shown; round ids run from 0 to 100",
    ),
    (lambda lister: lister.miss(-1), UnknownRound, "round -1 was never shown"),
    (lambda lister: lister.skip("first"), UnknownRound, "round id is 'first'"),
    (lambda lister: lister.absent(None), UnknownRound, "round id is None"),
    (lambda lister: lister.miss(100.0), UnknownRound, "round id is 100.0"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD_ANSWERS)
def test_bad_answers_are_named_and_change_nothing(call, error, message):
    lister = teach(Shortlister(), 100)
    lister.propose([0.5, 0.6])
    before = everything(lister)
    with pytest.raises(error) as caught:
        call(lister)
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert everything(lister) == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shortlister(coverage=0), "coverage is 0; it must lie strictly between 0 and 1"),
        (lambda: Shortlister(coverage=1), "coverage is 1;"),
        (lambda: Shortlister(coverage=1.5), "coverage is 1.5; it must lie strictly between 0 and 1"),
        (lambda: Shortlister(coverage=math.nan), "coverage is nan;"),
        (lambda: Shortlister(coverage="0.9"), "coverage is '0.9'; it must be a number"),
        (lambda: Shortlister(coverage=True), "coverage is True;"),
        (lambda: Shortlister(delta=0), "delta is 0; it must lie strictly between 0 and 1"),
        (lambda: SPS(0.9, -1), "horizon is -1; it must be at least 1"),
        (lambda: ACI(0.9, step=0), "step is 0; it must be a number above 0"),
        (lambda: Oracle(math.nan), "threshold is nan"),
        (lambda: Oracle("high"), "threshold is 'high'"),
        (lambda: Shortlister(policy="sps"), "policy is 'sps'; it must be a policy"),
        (lambda: Shortlister(0.9, policy=Greedy(0.9)), "give them, or a policy, not both"),
        (lambda: Shortlister(unanswered="drop"), "unanswered is 'drop'"),
        (lambda: Shortlister(policy=Greedy(0.9), unanswered="miss"), "which Greedy cannot do"),
        (lambda: Shortlister(patience=-1), "patience is -1; it must be at least 0"),
        (lambda: Shortlister(at_most=0), "at_most is 0; it must be at least 1"),
        (lambda: Shortlister(at_least=5, at_most=3), "at_most is 3, but at_least is 5"),
        (lambda: Shortlister(keep=0), "keep is 0"),
        (lambda: shortlist.OrderStatistic(0.9, 0.05), "boundary is 0.05"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert message in str(caught.value)


def test_float32_coverage_is_the_decimal_that_was_written():
    assert Shortlister(coverage=np.float32(0.9)).policy == AnytimeSPS(0.9)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_save_and_load_at_any_moment(policy, tmp_path):
    lister = teach(Shortlister(policy=policy), 150)
    pending = [lister.propose([0.9, 0.8], ids=["inf", "b"]), lister.propose([9.0, 8.0])]
    lister.save(tmp_path / "lister.json")
    loaded = Shortlister.load(tmp_path / "lister.json")
    assert everything(loaded) == everything(lister)
    assert loaded.summary() == lister.summary()
    for twin in (lister, loaded):
        twin.miss(pending[0].round_id)
        teach(twin, 100, seed=9)
        assert twin.policy == policy
    assert everything(loaded) == everything(lister)


def test_a_save_is_json_and_small(tmp_path):
    lister = teach(Shortlister(), 3000)
    path = tmp_path / "lister.json"
    lister.save(path)

    def refuse(constant):
        raise AssertionError(constant)

    json.loads(path.read_text(), parse_constant=refuse)  # no Infinity, no NaN: strict JSON
    assert path.stat().st_size < 100_000


def test_a_crash_in_the_middle_of_a_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "lister.json"
    lister = teach(Shortlister(), 100)
    lister.save(path)
    old = path.read_bytes()
    teach(lister, 100, seed=1)
    for name in ("fsync", "replace"):

        def crash(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as broken:
            broken.setattr(os, name, crash)
            if name == "replace":
                broken.setattr("pathlib.Path.replace", crash)
            with pytest.raises(UnwritableFile, match="No space"):
                lister.save(path)
        assert path.read_bytes() == old
        assert [file.name for file in tmp_path.iterdir()] == ["lister.json"]  # nothing left behind
    lister.save(path)
    assert Shortlister.load(path).summary()["rounds"] == 200


def test_damaged_and_newer_files_are_refused(tmp_path):
    path = tmp_path / "lister.json"
    teach(Shortlister(), 200).save(path)
    text = path.read_text()
    document = json.loads(text)

    def refused(contents, error, message):
        path.write_text(contents)
        with pytest.raises(error) as caught:
            Shortlister.load(path)
        assert message in str(caught.value)
        assert str(path) in str(caught.value)

    for cut in (0, 1, len(text) // 2, len(text) - 3):
        refused(text[:cut], DamagedFile, "is damaged: it is not complete JSON")
    refused(text.replace('"misses":', '"mises":'), DamagedFile, "its checksum does not match")
    digit = text.index('"next_id":') + len('"next_id":')
    refused(text[:digit] + "9" + text[digit + 1 :], DamagedFile, "its checksum does not match")
    refused(json.dumps(document | {"version": 2}), NewerFile, "upgrade shortlist")
    refused(json.dumps(document | {"version": "x"}), DamagedFile, "its version is 'x'")
    refused(json.dumps(document | {"format": "other"}), DamagedFile, "is not a file that shortlist saved")
    refused("[1, 2]", DamagedFile, "is not a file that shortlist saved")
    grouped = json.dumps(document | {"format": "shortlist grouped shortlister"})
    refused(grouped, SaveFileError, "was saved by a grouped shortlister, not by a shortlister")
    with pytest.raises(MissingFile, match="there is no such file"):
        Shortlister.load(tmp_path / "missing.json")
    with pytest.raises(MissingFile, match="there is no folder"):
        Shortlister().save(tmp_path / "nowhere" / "lister.json")
    with pytest.raises(UnwritableFile, match="this is a folder"):
        Shortlister().save(tmp_path)
    with pytest.raises(SaveFileError, match="is a folder"):
        Shortlister.load(tmp_path)
    for wrong in (None, 5, ""):
        with pytest.raises(InvalidParameter, match="it must be the path of a file"):
            Shortlister.load(wrong)


def test_a_file_whose_content_makes_no_sense_is_refused(tmp_path):
    path = tmp_path / "lister.json"
    for content in ({}, {"policy": {"kind": "anytime", "coverage": 2.0, "delta": 0.05}}):
        savefile.write(path, "shortlister", content)
        with pytest.raises(DamagedFile, match="is damaged"):
            Shortlister.load(path)


def test_copies_are_independent():
    lister = teach(Shortlister(), 200)
    for twin in (copy.deepcopy(lister), pickle.loads(pickle.dumps(lister))):
        assert everything(twin) == everything(lister)
        before = everything(lister)
        teach(twin, 50)
        assert everything(lister) == before
    assert repr(lister).startswith("<Shortlister AnytimeSPS(coverage=0.9")


def test_several_threads(tmp_path):
    """Eight threads propose and answer, one saves and one sums up: nothing lost, nothing doubled."""
    lister = Shortlister(0.9)
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
    assert policy_state(lister).rounds == 3200


def test_the_summary_says_what_it_waits_for():
    lister = Shortlister(0.9)

    def words():
        return lister.summary()["waiting_for"]

    assert words() == "at least 71 more counted rounds before the threshold can move"
    assert lister.summary()["coverage_seen"] is None
    for _ in range(70):
        lister.hit(lister.propose([0.5]).round_id, 0)
    assert words() == "at least 1 more counted round before the threshold can move"
    lister.propose([0.5])
    lister.hit(lister.propose([0.5]).round_id, 0)
    assert "; round 70 is unanswered and holds back 1 later one until 200 have been shown" in words()
    lister.hit(70, 0)
    assert re.fullmatch(r"at least \d+ more counted rounds before the threshold can move again", words())
    for _ in range(3000):
        lister.miss(lister.propose([0.1]).round_id)
    assert "3,000 (97.7%) were missed, are unanswered or lie below today's threshold" in words()
    assert "coverage allows 10.0%" in words()
    assert Shortlister(policy=Greedy(0.9)).summary()["waiting_for"] == "more answers"
    frozen = Shortlister(policy=SPS(0.5, 100))
    for i in range(200):
        frozen.hit(frozen.propose([i / 200]).round_id, 0)
    assert "planned for 100 rounds" in frozen.summary()["waiting_for"]
    far = Shortlister(0.9999).summary()["waiting_for"]
    assert far == "more than 10,000 more counted rounds before the threshold can move"


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", "auto"])
def test_what_a_search_left_out_may_tie_with_the_last_score_it_returned(score):
    """A list is truncated if its last candidate is shown: one that equals it may be missing."""
    lister, rng = Shortlister(0.9, score=score), np.random.default_rng(0)
    marked = []
    for _ in range(400):
        scores = np.round(rng.normal(size=12), 1)
        shown = lister.propose(scores, truncated_below=scores.min())
        last_is_shown = int(scores.argmin()) in shown.members
        # With one more candidate in it, a list's relative scores are others: then that one may reach the threshold too.
        assert shown.truncated == last_is_shown or (shown.truncated and score in ("relative", "auto"))
        marked.append(shown.truncated)
        if shown.members:
            lister.hit(shown.round_id, shown.members[0])
        else:
            lister.miss(shown.round_id)
    assert marked[0]
    assert not all(marked)
    assert 0 < lister.summary()["truncated_share"] < 1


def test_a_threshold_that_equals_the_last_score_is_not_above_it():
    lister = Shortlister(0.9)
    for _ in range(200):
        lister.hit(lister.propose([0.5, 0.9]).round_id, 0)
    assert lister.threshold == 0.5
    for below, truncated in ((0.5, True), (np.nextafter(0.5, 0), False), (0.6, True)):
        assert lister.propose([0.9, 0.8], truncated_below=below).truncated is truncated


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", "auto"])
def test_a_search_that_found_nothing_is_a_round(score, tmp_path):
    lister = Shortlister(0.9, score=score, at_least=1)
    with pytest.raises(NoCandidates, match="allow_empty=True"):
        lister.propose([])
    shown = lister.propose([], ids=[], allow_empty=True)
    assert (shown.members, shown.candidates, shown.complete, shown.truncated) == ((), 0, True, False)
    lister.save(tmp_path / "lister.json")
    lister = Shortlister.load(tmp_path / "lister.json")
    lister.miss(shown.round_id)
    summary = lister.summary()
    assert (summary["rounds"], summary["misses"], summary["counted"], summary["candidate_recall"]) == (1, 1, 1, 0.0)


@pytest.mark.parametrize("cause", ["at_most", "the search", "nothing found"])
def test_absent_is_a_miss_where_nobody_has_seen_everything(cause):
    lister = Shortlister(0.9, at_most=2 if cause == "at_most" else None)
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


def test_only_what_can_be_allowed_is_offered():
    grouped, nested = shortlist.GroupedShortlister(), shortlist.NestedShortlister()
    for refuse in (Shortlister().preview, lambda s: grouped.propose(s, group=1), nested.propose):
        with pytest.raises(NoCandidates, match=r"at least one candidate"):
            refuse([])


def test_a_poor_search_is_told_from_silence_and_from_luck():
    """What is said of the candidates is so: by more than chance, in this epoch, and only where that is the reason."""
    lister = Shortlister(0.9)
    for i in range(100):
        shown = lister.propose([0.5, 0.6])
        if i < 13:
            lister.hit(shown.round_id, 0)
        elif i < 15:
            lister.miss(shown.round_id)
        else:
            lister.skip(shown.round_id)
    assert lister.summary()["waiting_for"].startswith("fewer misses")
    assert "answer more rounds" in lister.summary()["waiting_for"]
    early = Shortlister(0.9)
    for i in range(30):
        shown = early.propose([0.5, 0.6])
        if i % 3:
            early.hit(shown.round_id, 0)
        else:
            early.miss(shown.round_id)
    assert "so far the right answer was among the candidates in 66.7% of the rounds" in early.summary()["waiting_for"]


def test_at_most_that_is_too_small_is_named_as_the_remedy():
    lister = Shortlister(0.9, at_most=2)
    for i in range(300):
        shown = lister.propose([0.1, 0.2, 0.3])
        if i % 4:
            lister.hit(shown.round_id, 2)
        else:
            lister.miss(shown.round_id)
    words = lister.summary()["waiting_for"]
    assert "75 were not found in a list that was cut short" in words
    assert "raise at_most or pass more candidates" in words
    assert "absent" not in words
    assert lister.summary()["unanswered_counted"] == 0
