"""Save files: everything comes back, and nothing that is damaged."""

import json
import os

import numpy as np
import pytest

from shortlist import Shortlister
from shortlist.errors import (
    DamagedFile,
    InvalidParameter,
    MissingFile,
    NewerFile,
    SaveFileError,
    UnwritableFile,
)
from shortlist.listers import savefile
from shortlist.policies.ordered import Ordered
from tests.listers.inside import everything
from tests.listers.playing import both_guarantees, both_scores, drifting, teach
from tests.policies.every import POLICIES


@both_guarantees
@both_scores
def test_everything_survives_a_save(score, delta, tmp_path, constants):
    constants(alarm=500)
    on_drift = "restart" if delta else None
    lister = Shortlister(0.9, delta=delta, score=score, on_drift=on_drift, patience=50, shadow=True)
    lister.warm_start(np.random.default_rng(8).random((300, 1)), np.zeros(300, dtype=int))
    drifting(lister, 1500, change=700)
    for _ in range(30):
        lister.propose([0.5])
    lister.save(tmp_path / "lister.json")
    loaded = Shortlister.load(tmp_path / "lister.json")
    assert loaded.summary() == lister.summary()
    assert delta is None or lister.summary().epoch > 0
    for twin in (lister, loaded):
        drifting(twin, 500, change=100, seed=3)
    assert loaded.summary() == lister.summary()
    assert everything(loaded) == everything(lister)


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


@pytest.mark.parametrize(
    ("policy", "score"),
    [(policy, score) for policy in POLICIES if isinstance(policy, Ordered) for score in ("raw", "auto")],
    ids=repr,
)
def test_save_and_load_at_any_moment(policy, score, tmp_path):
    lister = teach(Shortlister(policy=policy, score=score), 150)
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


@both_scores
def test_a_save_is_json_and_small(score, tmp_path):
    lister = teach(Shortlister(score=score), 3000)
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
        refused(text[:cut], DamagedFile, "was not saved by shortlist, or is damaged: it is not complete JSON")
    refused(text.replace('"misses":', '"mises":'), DamagedFile, "its checksum does not match")
    digit = text.index('"next_number":') + len('"next_number":')
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
