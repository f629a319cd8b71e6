"""The file of a SQLite database: made for its owner alone, and still the one that was opened.

A file that is deleted, moved or replaced while it is open goes on taking writes, which nobody will ever see again.
So it is compared with what is at its path now, before something is written and before it is acknowledged; and so is
its journal (``-wal``), which has what was acknowledged lately.
"""

import contextlib
import logging
import os
from pathlib import Path

from shortlist.errors import InvalidParameter, StoreUnavailable

__all__ = ["COMPANIONS", "DatabaseFile", "check_journal"]

_log = logging.getLogger("shortlist.service")

#: The files that SQLite keeps next to a database, by the end of their names.
COMPANIONS = ("-wal", "-shm", "-journal")
_OWNER = 0o600
#: What the header of a database says that has no journal (``-wal``): the versions of format that write and read it.
_WITHOUT_JOURNAL = b"\x01\x01"


class DatabaseFile:
    """A database's file, made if it is not there. From now on only its owner may read it, whatever the umask says."""

    def __init__(self, path: Path) -> None:
        #: As it was given: a link that is set to another file is another file.
        self.path = path.absolute()
        self._real = Path(os.path.realpath(path))  # SQLite keeps its journal next to this one
        try:
            self._real.parent.mkdir(parents=True, exist_ok=True)
            # Only a new one is opened: closing one that is in use would drop SQLite's locks on it.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self._real, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER))
        except OSError as error:
            raise InvalidParameter(f"{path} cannot be written: {error.strerror}; give another --database") from None
        check_journal(path)
        for each in (self._real, *(Path(f"{self._real}{end}") for end in COMPANIONS)):
            # What SQLite later creates next to it gets its mode. One that is somebody else's is left as it is.
            with contextlib.suppress(OSError):
                each.chmod(_OWNER)
        self._paths = str(self.path), f"{self._real}-wal"
        self._opened = _identity(self._paths[0])
        self._journal: tuple[int, int] | None = None
        #: Whether it is known not to be the file that was opened.
        self.is_lost = False

    def reconnected(self, *_: object) -> None:
        """Say that a connection ends or begins: SQLite itself may take the journal away and make another."""
        self._journal = None

    def check(self) -> None:
        """Raise if the file, or its journal, is not the one that was opened; then it raises from now on."""
        if not self.is_lost:
            opened, journal = map(_identity, self._paths)
            self.is_lost = opened != self._opened or self._journal not in (None, journal)
            self._journal = journal
            if self.is_lost:
                _log.critical(
                    "%s, or its -wal, was deleted, moved or replaced while it was open: nothing is acknowledged any "
                    "more. Reading goes on: export what you need, then stop the service and restore a backup",
                    self.path,
                )
        if self.is_lost:
            raise StoreUnavailable(
                "the database file was deleted, moved or replaced while it was in use; nothing can be stored until the "
                "service is started again, with its file or a restored backup"
            )


def check_journal(path: Path) -> None:
    """Refuse a copy that replaced a database whose journal is still there: SQLite would destroy it.

    A file with such a journal says so in its header; a backup is complete in itself, and says that it has none.
    """
    journal = Path(f"{os.path.realpath(path)}-wal")
    try:
        if not journal.stat().st_size:
            return
        with path.open("rb") as file:
            versions = file.read(20)[18:]
    except OSError:
        return  # opening it raises
    if versions == _WITHOUT_JOURNAL:
        raise StoreUnavailable(
            f"{path} is a copy, and {journal} is of the database that was there before: put the copy back with "
            f"`shortlist restore`, or move that file and {journal.name[:-4]}-shm away"
        )


def _identity(path: str) -> tuple[int, int] | None:
    """Return which file is at a path: it is another one when it was replaced."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - twice in every batch: a Path would take as long again
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
