"""Files that are replaced as a whole: whatever happens, the old file or the new one is there."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

__all__ = ["replace_file", "sync_file", "sync_folder"]


def replace_file(target: Path, content: str | bytes | Callable[[Path], object], *, mode: int = 0o666) -> None:
    """Write a file beside `target`, make it durable, and put it in the place of `target`.

    A link stays a link, and an existing file keeps its mode, and its owner and group where we may set them. If
    anything fails, `target` is as it was and nothing is left beside it; the error is raised as it is.

    Parameters
    ----------
    target
        The file.
    content
        Text, bytes, or a function that writes the file at the path it is given.
    mode
        The mode of a new file, less the umask: 0o600 for what only its owner may read.
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


def _look_like(temporary: Path, known: os.stat_result) -> None:
    """Give a file the mode of another one, and its owner and group: a service that may read it still may then."""
    if hasattr(os, "chown"):
        for owner in (known.st_uid, -1):
            try:
                os.chown(temporary, owner, known.st_gid)
            except OSError:
                continue
            break
    temporary.chmod(stat.S_IMODE(known.st_mode))


def sync_file(path: Path) -> None:
    """Make a file's content durable."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the renaming durable, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
