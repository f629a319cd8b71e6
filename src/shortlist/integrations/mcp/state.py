"""What a gateway has learned: a lister's save file, in a folder that one process uses at a time."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from shortlist import Shortlister
from shortlist.errors import FolderInUse, InvalidParameter, UnwritableFile
from shortlist.rounds.settings import CONFIGURABLE
from shortlist.rounds.summary import Summary

if sys.platform != "win32":
    import fcntl

__all__ = ["kept_lister", "saved_summary"]

_FILE: Final = "lister.json"


@contextmanager
def kept_lister(folder: Path, **settings: Any) -> Iterator[tuple[Shortlister, Callable[[], None]]]:
    """Yield the lister of a folder, and a function that saves it there.

    Parameters
    ----------
    folder
        The folder; created if it does not exist.
    settings
        The settings of the lister. If the folder has one, settings that may change at any time are changed; the others
        must be those it was created with.

    Raises
    ------
    FolderInUse
        If another process uses the folder.
    InvalidParameter
        If the lister was created with other settings.
    """
    lister = Shortlister(**settings)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = _locked(folder)
    except OSError as error:
        raise UnwritableFile(f"{folder} cannot be used for the state: {error.strerror}") from None
    with lock:
        path = folder / _FILE
        if path.exists():
            lister = _adjusted(Shortlister.load(path), lister, folder)
        lister.save(path)
        yield lister, lambda: lister.save(path)


def saved_summary(folder: Path) -> Summary | None:
    """Return the summary of the lister in a folder, None if there is none; a gateway may be using it.

    Parameters
    ----------
    folder
        The folder.
    """
    path = folder / _FILE
    return Shortlister.load(path).summary() if path.exists() else None


def _adjusted(lister: Shortlister, new: Shortlister, folder: Path) -> Shortlister:
    """Return a lister with the settings of a new one, or raise if one of them cannot be changed."""
    ours, theirs = lister.settings, new.settings
    for name in theirs.__dataclass_fields__:
        if name not in CONFIGURABLE and getattr(ours, name) != getattr(theirs, name):
            what = "coverage and delta as in" if name == "policy" else name
            raise InvalidParameter(
                f"{folder} was learned with {what} {getattr(ours, name)!r}, and the settings say "
                f"{getattr(theirs, name)!r}: change that back, or name another folder as state"
            )
    changes = {name: getattr(theirs, name) for name in CONFIGURABLE if getattr(ours, name) != getattr(theirs, name)}
    if changes:
        lister.configure(**changes)
    return lister


def _locked(folder: Path) -> IO[bytes]:
    """Return an open file that holds an exclusive lock until it is closed; there is no lock on Windows."""
    file = (folder / "lock").open("ab")
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise FolderInUse(
                f"{folder} is in use by another gateway; for several clients run one with --http, keep the state in "
                "the service, or name another folder as state"
            ) from None
    return file
