"""A SQLite database's file: for its owner alone, and the one that was opened."""

import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InvalidParameter, StoreUnavailable
from shortlist.service.store import Store, database
from shortlist.service.store.file import DatabaseFile
from tests.service.store.entries import listed


@pytest.fixture
def _loose():
    """Let everybody read and write what is made."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder):
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.iterdir()}


@pytest.mark.usefixtures("_loose")
def test_only_the_owner_reads_what_is_made(sqlite, tmp_path):
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1)])
    reader = Store(sqlite, read_only=True)
    reader.backup(tmp_path / "copy.db")
    words = ["export", "a", "--database", sqlite, "--out", str(tmp_path / "log.jsonl")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert set(modes(tmp_path)) == {"log.db", "log.db-wal", "log.db-shm", "log.db.lock", "copy.db", "log.jsonl"}
    assert set(modes(tmp_path).values()) == {"0o600"}
    reader.close()
    store.close()


@pytest.mark.usefixtures("_loose")
def test_a_file_that_everybody_could_read_is_closed_to_them(sqlite, tmp_path):
    store = Store(sqlite)
    for name in ("log.db", "log.db-wal", "log.db-shm"):
        (tmp_path / name).chmod(0o644)
    other = DatabaseFile(tmp_path / "log.db")
    other.check()
    assert set(modes(tmp_path).values()) == {"0o600"}
    store.close()


def test_a_folder_that_cannot_be_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        DatabaseFile(tmp_path / "file" / "log.db")


def delete(file):
    file.unlink()


def move(file):
    file.rename(file.with_name("elsewhere.db"))


def replace(file):
    file.with_name("new.db").write_bytes(file.read_bytes())
    file.with_name("new.db").replace(file)


def delete_journal(file):
    Path(f"{file}-wal").unlink()


@pytest.mark.parametrize("how", [delete, move, replace, delete_journal])
def test_nothing_is_stored_any_more_once_the_file_is_gone(sqlite, tmp_path, how, caplog):
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1)])
    how(tmp_path / "log.db")
    for _ in range(2):
        for work in (
            lambda: store.append([listed(row, 2, "other")]),
            lambda: store.begin({row.id: 1}, []),
            lambda: store.create_stream("b", {"coverage": 0.9}, 0.0),
            lambda: store.beat(0.0),
            store.release,
            store.check_file,
        ):
            with pytest.raises(StoreUnavailable, match="was deleted, moved or replaced while it was in use"):
                work()
    assert caplog.text.count("nothing is acknowledged any more") == 1
    store.close()


def test_a_link_that_is_set_to_another_file_is_another_file(tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "one.db")
    store = Store(f"sqlite:///{link}")
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1)])
    (tmp_path / "two.db").write_bytes((tmp_path / "one.db").read_bytes())
    link.unlink()
    link.symlink_to(tmp_path / "two.db")
    with pytest.raises(StoreUnavailable, match="was deleted, moved or replaced"):
        store.append([listed(row, 2, "other")])
    store.close()


def test_a_file_that_goes_away_during_a_commit_is_noticed_before_it_is_acknowledged(sqlite, tmp_path):
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.begin({row.id: 0}, [])
    (tmp_path / "log.db").unlink()
    with pytest.raises(StoreUnavailable, match="was deleted"):
        store.append([listed(row, 1)])
    store.close()


def test_a_new_connection_may_have_a_new_journal(sqlite, tmp_path, monkeypatch):
    """As after an error: the last connection that is closed takes the journal with it."""
    engines, make_engine = [], database.make_engine

    def make(address, *, read_only=False):
        engines.append(make_engine(address, read_only=read_only))
        return engines[-1]

    monkeypatch.setattr(database, "make_engine", make)
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    for number in (1, 2):
        for engine in engines:
            engine.dispose()
        assert not (tmp_path / "log.db-wal").exists()
        store.append([listed(row, number, f"r{number}")])
        assert (tmp_path / "log.db-wal").exists()
    store.close()
