"""A lister on disk: whatever moment the process ends at, what was acknowledged is there, once."""

import errno
import os
import shutil

import numpy as np
import pytest

from shortlist import Lister, Shortlister
from shortlist.errors import (
    ConflictingAnswer,
    DamagedFile,
    FolderInUse,
    InvalidParameter,
    NotShown,
    UnknownRound,
    UnwritableFile,
)
from shortlist.integrations.mcp import SavedLister, state
from shortlist.integrations.mcp.state import copied_lister, saved_summary

SETTINGS = {"coverage": 0.8, "explore_share": 0.5, "keep": 100}


def play(lister, rounds, seed=0):
    """Let agents find, ask for more, and call; return what each verb returned."""
    rng, heard = np.random.default_rng(seed), []
    for _ in range(rounds):
        scores = rng.random(6)
        right = int(rng.choice(6, p=scores / scores.sum()))
        ids = [f"t{i}" for i in range(6)]
        shown = lister.propose(scores, ids)
        heard.append(shown)
        if rng.random() < 0.1:
            continue
        if f"t{right}" not in shown.members:
            heard.append(lister.more(shown.round_id))
        heard.append(lister.hit(shown.round_id, f"t{right}"))
    return heard


def test_it_is_a_lister_with_the_same_bits(tmp_path):
    plain = Shortlister(**SETTINGS)
    with SavedLister(tmp_path / "state", **SETTINGS) as saved:
        assert isinstance(saved, Lister)
        assert play(saved, 300) == play(plain, 300)
        assert saved.threshold == plain.threshold > -np.inf
        assert saved.summary() == plain.summary()


def test_every_verb_is_kept(tmp_path):
    table = {"a": [0.1, np.nan, 0.3], "b": [1.0, 2.0, 3.0]}
    with SavedLister(tmp_path, coverage=0.9) as saved:
        for verb in ("miss", "skip", "absent"):
            getattr(saved, verb)(saved.propose(table, truncated_below={"a": 0.05}).round_id)
        saved.reveal(saved.propose(table, ids=np.arange(3)).round_id, 2)
        saved.hit(saved.propose(table).round_id, np.int64(1))
        before = saved.summary()
    with SavedLister(tmp_path, coverage=0.9) as again:
        assert again.summary() == before
        assert (before.misses, before.skipped, before.hits) == (2, 1, 2)


def test_a_process_that_ends_at_any_byte_loses_nothing_that_was_acknowledged(tmp_path):
    """The journal is cut within and between lines: the lister is then what it was after the last whole line."""
    with SavedLister(tmp_path / "state", **SETTINGS) as saved:
        play(saved, 3)
    journal = tmp_path / "state" / "journal-1.jsonl"
    content = journal.read_bytes()
    lines = content.splitlines()
    expected = []
    for whole in range(len(lines) + 1):
        copy = tmp_path / f"whole-{whole}"
        shutil.copytree(tmp_path / "state", copy)
        (copy / "journal-1.jsonl").write_bytes(b"".join(line + b"\n" for line in lines[:whole]))
        expected.append(saved_summary(copy))
    assert len({str(each) for each in expected}) == len(lines) + 1
    ends = {i + step for i, byte in enumerate(content) if byte == 10 for step in (0, 1, 2)} | {
        *range(0, len(content), 23)
    }
    for end in sorted(ends):
        journal.write_bytes(content[:end])
        assert saved_summary(tmp_path / "state") == expected[content[:end].count(b"\n")], end


def test_saving_under_the_next_number_can_end_anywhere(tmp_path, monkeypatch):
    """Between any two steps of a save, the folder gives the same lister."""
    monkeypatch.setattr(state, "_LINES", 10)
    folder, seen = tmp_path / "state", []
    real = Shortlister.save

    def look(self, path):
        seen.append(saved_summary(folder))  # the new journal is there, its lister is not
        real(self, path)
        seen.append(saved_summary(folder))  # both numbers are there

    monkeypatch.setattr(Shortlister, "save", look)
    with SavedLister(folder, **SETTINGS) as saved:
        play(saved, 40)
        last = saved.summary()
    assert len(seen) > 8
    for before, after in zip(seen[2::2], seen[3::2], strict=True):
        assert before == after
    assert saved_summary(folder) == last
    assert len(list(folder.glob("lister-*"))) == len(list(folder.glob("journal-*"))) == 1


def test_what_comes_out_of_a_fit_is_saved_at_once(tmp_path):
    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 12)
        assert Shortlister.load(next(tmp_path.glob("lister-*.json"))).learned is not None  # without its journal
        assert saved.summary().score_why == "learned from 5 picks"


def test_a_restart_in_the_middle_changes_nothing(tmp_path):
    plain = Shortlister(**SETTINGS)
    play(plain, 100, seed=1)
    play(plain, 100, seed=2)
    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 100, seed=1)
    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 100, seed=2)
        assert (saved.threshold, saved.summary()) == (plain.threshold, plain.summary())


def test_an_answer_again_after_a_restart_is_not_counted_twice(tmp_path):
    with SavedLister(tmp_path, coverage=0.9) as saved:
        shown = saved.propose([0.1, 0.9], ["a", "b"])
        saved.hit(shown.round_id, "a")
    with SavedLister(tmp_path, coverage=0.9) as saved:
        saved.hit(shown.round_id, "a")
        with pytest.raises(ConflictingAnswer):
            saved.hit(shown.round_id, "b")
        assert saved.summary().hits == 1


def test_what_is_refused_is_not_in_the_journal(tmp_path):
    with SavedLister(tmp_path, coverage=0.9) as saved:
        shown = saved.propose([0.1, 0.9], ["a", "b"])
        for wrong, kind in ((lambda: saved.hit(shown.round_id, "c"), NotShown), (lambda: saved.miss(7), UnknownRound)):
            with pytest.raises(kind):
                wrong()
    assert (tmp_path / "journal-1.jsonl").read_bytes().count(b"\n") == 1


def test_a_disk_that_is_full_for_a_while(tmp_path, monkeypatch):
    """What could not be written is in the next save; until then nothing is acknowledged."""
    real = os.fsync

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 5)
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(UnwritableFile, match="No space left"):
            saved.propose([0.1, 0.2])
        with pytest.raises(UnwritableFile, match="No space left"):
            saved.propose([0.1, 0.2])
        monkeypatch.setattr(os, "fsync", real)
        saved.propose([0.1, 0.2])
        last = saved.summary()
    assert saved_summary(tmp_path) == last


def test_a_disk_that_takes_a_part_of_a_line(tmp_path, monkeypatch):
    """A write may be shorter than asked for, without an error; the next line must not be glued to it."""

    class Short:
        def __init__(self, *words, **options):
            self.file = open(*words, **options)  # noqa: PTH123, SIM115 - as it is opened there
            self.fileno, self.close = self.file.fileno, self.file.close

        def write(self, line):
            return self.file.write(line[:10])

    monkeypatch.setattr(state, "open", Short, raising=False)
    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 3)
        last = saved.summary()
    assert saved_summary(tmp_path) == last


def test_one_gateway_at_a_time(tmp_path):
    with (
        SavedLister(tmp_path),
        pytest.raises(FolderInUse, match="is in use by another gateway; for several clients run one with --http"),
    ):
        SavedLister(tmp_path)
    SavedLister(tmp_path).close()


def test_a_copy_of_one_that_is_in_use(tmp_path):
    """It has what was learned, and keeps nothing."""
    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 100)
        copy = copied_lister(tmp_path, **SETTINGS)
        assert (copy.threshold, copy.summary()) == (saved.threshold, saved.summary())
        before = saved.summary()
        play(copy, 10)
        assert saved_summary(tmp_path) == saved.summary() == before
        with pytest.raises(InvalidParameter, match="change that back"):
            copied_lister(tmp_path, **SETTINGS | {"coverage": 0.9})
    assert copied_lister(tmp_path / "none", **SETTINGS).summary().rounds == 0


def test_settings_that_may_change_do_and_others_are_refused(tmp_path):
    with SavedLister(tmp_path, **SETTINGS) as saved:
        play(saved, 20)
    with SavedLister(tmp_path, **SETTINGS, at_most=2) as saved:
        assert max(len(one.members) for one in play(saved, 20, seed=3) if hasattr(one, "threshold")) == 6  # explored
        before = saved.summary()
    assert saved_summary(tmp_path) == before
    with pytest.raises(InvalidParameter, match=r"was learned with policy .*coverage=0.8.*: change that back, or name"):
        SavedLister(tmp_path, **SETTINGS | {"coverage": 0.95})
    SavedLister(tmp_path, **SETTINGS).close()  # the folder is free again


def test_damage_is_named(tmp_path):
    with SavedLister(tmp_path, coverage=0.9) as saved:
        play(saved, 3)
    journal = tmp_path / "journal-1.jsonl"
    whole = journal.read_text()
    for damage in ("nonsense\n", '["hit",{"round_id":99,"member":"x"}]\n', '["explode",{}]\n', "[]\n"):
        journal.write_text(whole + damage)
        with pytest.raises(DamagedFile, match=r"journal-1\.jsonl is damaged in line \d+"):
            SavedLister(tmp_path, coverage=0.9)


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFile, match="cannot be used for the state"):
        SavedLister(tmp_path / "file")
    assert saved_summary(tmp_path / "none") is None
    closed = SavedLister(tmp_path / "closed")
    closed.close()
    with pytest.raises(InvalidParameter, match="was closed"):
        closed.propose([1.0])
