"""Replacing a file: the old one or the new one is there, whatever fails, and nothing else."""

import os
import stat
from pathlib import Path

import pytest

from shortlist._files import replace_file


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "report.txt"
    path.write_text("old")
    return path


@pytest.mark.parametrize(
    "content", ["new\nü\n", "new\nü\n".encode(), lambda path: path.write_bytes("new\nü\n".encode())]
)
@pytest.mark.parametrize("there", [True, False])
def test_text_bytes_and_a_function(target, content, there):
    if not there:
        target.unlink()
    replace_file(target, content)
    assert target.read_bytes() == "new\nü\n".encode()
    assert [path.name for path in target.parent.iterdir()] == ["report.txt"]


def test_a_function_may_replace_the_file_it_is_given(target, tmp_path):
    def write(path):
        (tmp_path / "elsewhere").write_text("new")
        (tmp_path / "elsewhere").replace(path)

    replace_file(target, write)
    assert target.read_text() == "new"


def failing(_path):
    raise RuntimeError("no content")


def half_written(path):
    path.write_text("ne")
    raise KeyboardInterrupt


def system_says_no(*_arguments, **_options):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("content", "broken", "error"),
    [
        (failing, None, RuntimeError),
        (half_written, None, KeyboardInterrupt),
        ("new", (os, "open"), OSError),
        ("new", (Path, "write_text"), OSError),
        (b"new", (Path, "write_bytes"), OSError),
        ("new", (os, "fsync"), OSError),
        ("new", (Path, "replace"), OSError),
    ],
    ids=["function", "interrupt", "create", "write text", "write bytes", "sync", "rename"],
)
def test_a_fault_at_any_step_leaves_the_old_file_alone(target, content, broken, error, there, monkeypatch):
    if not there:
        target.unlink()
    with monkeypatch.context() as patch:
        if broken is not None:
            patch.setattr(*broken, system_says_no)
        with pytest.raises(error):
            replace_file(target, content)
    assert [path.name for path in target.parent.iterdir()] == ["report.txt"] * there
    if there:
        assert target.read_text() == "old"


def test_a_mode_that_cannot_be_kept_is_a_fault(target, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "chmod", system_says_no)
        with pytest.raises(OSError, match="No space left"):
            replace_file(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["report.txt"]


def test_a_temporary_file_that_cannot_be_removed_does_not_hide_the_fault(target, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", system_says_no)
        with pytest.raises(RuntimeError, match="no content"):
            replace_file(target, failing)
    assert target.read_text() == "old"


def test_a_folder_that_cannot_be_synced_is_no_fault(target, monkeypatch):
    """Some systems do not let a folder be opened; the file itself is durable."""
    real = os.open

    def only_files(path, flags, *rest):
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", only_files)
    replace_file(target, "new")
    assert target.read_text() == "new"


def test_the_new_file_is_durable_before_it_takes_the_place_and_the_folder_after(target, monkeypatch):
    steps = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(handle):
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real_sync(handle)

    def rename(self, other):
        steps.append("rename")
        return real_replace(self, other)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    replace_file(target, "new")
    assert steps == ["file", "rename", "folder"]


def test_modes(target):
    target.chmod(0o640)
    replace_file(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    umask = os.umask(0o022)
    try:
        replace_file(target.with_name("shared"), "new")
        replace_file(target.with_name("private"), "new", mode=0o600)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(target.with_name("shared").stat().st_mode) == 0o644
    assert stat.S_IMODE(target.with_name("private").stat().st_mode) == 0o600


def test_a_link_stays_a_link(target):
    link = target.with_name("link")
    link.symlink_to(target)
    replace_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_no_folder_is_the_systems_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "none" / "report.txt", "new")
