"""Files: replaced atomically, so that either the old one or the new one is there; Python files of the user."""

import contextlib
import functools
import hashlib
import importlib.util
import os
import secrets
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

__all__ = ["import_file", "replace_file", "sync_file", "sync_folder"]


def replace_file(target: Path, content: str | bytes | Callable[[Path], object], *, mode: int = 0o666) -> None:
    """Write a temporary file next to `target`, make it durable, and move it over `target`.

    A symbolic link stays a link, and an existing file keeps its mode, and its owner and group where permitted. If
    anything fails, `target` is unchanged, nothing is left behind, and the original error is raised.

    Parameters
    ----------
    target
        The file.
    content
        Text, bytes, or a function that writes the file at the path it is given.
    mode
        The mode of a new file, less the umask: 0o600 for a file that only its owner may read.
    """
    target = Path(os.path.realpath(target))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    try:
        if target.exists():
            _look_like(temporary, target.stat())
        if isinstance(content, str):
            temporary.write_text(content, encoding="utf-8", newline="")
        elif isinstance(content, bytes):
            temporary.write_bytes(content)
        else:
            content(temporary)
        sync_file(temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def _look_like(temporary: Path, status: os.stat_result) -> None:
    """Give a file the mode, owner and group of another one, so that a service that could read it still can."""
    if hasattr(os, "chown"):
        for owner in (status.st_uid, -1):
            try:
                os.chown(temporary, owner, status.st_gid)
            except OSError:
                continue
            break
    temporary.chmod(stat.S_IMODE(status.st_mode))


def sync_file(path: Path) -> None:
    """Make a file's content durable."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make a rename durable, where the system allows a folder to be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@functools.cache
def import_file(path: Path) -> ModuleType:
    """Return a Python file as a module; it runs once per process.

    The module's name is the same in every process: numba finds the machine code of its functions by it.
    """
    name = f"_shortlist_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
