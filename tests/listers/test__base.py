"""What all listers share: rounds that are numbered and kept, copies, threads."""

import copy
import enum
import pickle
import sys
import threading

import numpy as np
import pytest

import shortlist
from shortlist import Oracle, Shortlister
from shortlist.errors import (
    InvalidParameter,
    NoCandidates,
    RoundClosed,
)
from tests.listers.inside import everything, policy_state
from tests.listers.playing import teach


def test_expired_rounds_are_closed_for_good():
    lister = Shortlister(0.9, patience=1000)
    shown = [lister.propose([0.5, 0.6]) for _ in range(50)]
    for item in shown[::2]:
        lister.hit(item.round_id, 1)
    assert lister.summary()["counted"] == 1
    assert lister.expire(before=40) == 20
    assert lister.summary()["counted"] == 41  # round 40 was answered, 41 is open
    assert lister.summary()["expired"] == 20
    assert lister.expire(before=40) == 0
    for round_id in (1, 2):
        with pytest.raises(RoundClosed, match=f"round {round_id} is closed"):
            lister.hit(round_id, 1)
    lister.hit(41, 1)
    assert lister.expire(before=10**6) == 4  # whatever there is
    assert lister.summary()["open"] == 0
    with pytest.raises(InvalidParameter, match="before is -1"):
        lister.expire(before=-1)


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


def test_only_what_can_be_allowed_is_offered():
    grouped, nested = shortlist.GroupedShortlister(), shortlist.NestedShortlister()
    for refuse in (Shortlister().preview, lambda s: grouped.propose(s, group=1), nested.propose):
        with pytest.raises(NoCandidates, match=r"at least one candidate"):
            refuse([])
