"""A durable lister: a save file, and a journal of what has happened since.

Every change of the lister is written to the journal, durably, before the call returns. From time to time the lister is
saved under the next number and a new journal begins. The newest save file and the journal of the same number restore
the lister, whenever the process ended; an incomplete last line was never acknowledged. So every acknowledged
answer is counted, and because a lister counts the same answer only once, one that is sent again after a
crash is not counted twice.
"""

import contextlib
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

import numpy as np

from shortlist import Shortlister
from shortlist._files import sync_folder
from shortlist._validation import Member
from shortlist.errors import DamagedFile, FolderInUse, InvalidParameter, MissingFile, ShortlistError, UnwritableFile
from shortlist.rounds.settings import CONFIGURABLE
from shortlist.rounds.shown import More, Shown

if sys.platform != "win32":
    import fcntl

__all__ = ["SavedLister", "copied_lister", "saved_summary"]

_log = logging.getLogger("shortlist.mcp")

_SAVED: Final = re.compile(r"lister-(\d+)\.json")
#: Lines in a journal before the lister is saved again.
_LINES: Final = 500


class SavedLister:
    """A `Shortlister` in a folder, which satisfies `shortlist.Lister`.

    Parameters
    ----------
    folder
        The folder; created if it does not exist. One process at a time.
    settings
        The settings of the `Shortlister`. If the folder has one, settings that may change at any time are changed; the
        others must be those it was created with.

    Raises
    ------
    FolderInUse
        If another process uses the folder.
    InvalidParameter
        If it was created with other settings.
    """

    def __init__(self, folder: str | os.PathLike[str], **settings: Any) -> None:
        new = Shortlister(**settings)
        self._folder = Path(folder)
        self._mutex = threading.Lock()
        self._is_behind = False  # whether the journal lacks something that the lister has
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = _locked(self._folder)
        except OSError as error:
            raise UnwritableFile(f"{self._folder} cannot be used for the state: {error.strerror}") from None
        self._journal: IO[bytes] | None = None
        try:
            self._lister = self._restored(new)
            self._save()
        except BaseException:
            self.close()
            raise

    def _restored(self, new: Shortlister) -> Shortlister:
        self._number, lister = _read(self._folder)
        return new if lister is None else _adjusted(lister, new, self._folder)

    def _save(self) -> None:
        """Save the lister under the next number, begin its journal, and remove what that replaces."""
        number = self._number + 1
        journal = self._folder / f"journal-{number}.jsonl"
        try:
            new = open(os.open(journal, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb", buffering=0)  # noqa: SIM115, PTH123
        except OSError as error:
            raise UnwritableFile(f"{journal} cannot be written ({error.strerror})") from error
        try:
            self._lister.save(self._folder / f"lister-{number}.json")
        except BaseException:
            new.close()
            raise
        sync_folder(self._folder)
        if self._journal is not None:
            self._journal.close()
        self._journal, self._number, self._lines, self._is_behind = new, number, 0, False
        self._fitted = self._lister.learned is not None
        for each in self._folder.iterdir():
            match = re.fullmatch(r"(?:lister|journal)-(\d+)\.jsonl?", each.name)
            if match and int(match[1]) < number:
                with contextlib.suppress(OSError):
                    each.unlink()

    def _do(self, verb: str, /, **arguments: Any) -> Any:
        """Call one of the lister's verbs, and return when the change is on disk."""
        with self._mutex:
            if self._journal is None:
                raise InvalidParameter(f"the lister in {self._folder} was closed")
            if self._is_behind:
                self._save()
            result = getattr(self._lister, verb)(**arguments)
            line = json.dumps([verb, _plain(arguments)], separators=(",", ":"), default=_item) + "\n"
            try:
                self._write(line.encode())
                os.fsync(self._journal.fileno())
            except OSError as error:
                self._is_behind = True  # the next save has it
                raise UnwritableFile(f"{self._folder} cannot be written ({error.strerror})") from error
            self._lines += 1
            # The result of a fit is recorded, and never computed again.
            if self._lines >= _LINES or (self._lister.learned is not None) != self._fitted:
                try:
                    self._save()
                except ShortlistError as error:
                    _log.warning("%s; the journal goes on", error)
            return result

    def _write(self, line: bytes) -> None:
        """Append a line to the journal; a full disk may accept part of it, and fail on the next write."""
        while line and self._journal is not None:
            line = line[self._journal.write(line) :]

    def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
    ) -> Shown:
        """Open a round and return its shortlist; see `Shortlister.propose`.

        Parameters
        ----------
        scores, ids, truncated_below, allow_empty
            As for `Shortlister.propose`.

        Returns
        -------
        Shown
            The list.
        """
        shown: Shown = self._do(
            "propose", scores=scores, ids=ids, truncated_below=truncated_below, allow_empty=allow_empty
        )
        return shown

    def more(self, round_id: Any, count: int | None = None) -> More:
        """Show more of a list; see `Shortlister.more`.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        count
            How many more; by default all the rest.

        Returns
        -------
        More
            The next candidates.
        """
        more: More = self._do("more", round_id=round_id, count=count)
        return more

    def hit(self, round_id: Any, member: Member) -> None:
        """Take the answer "this one".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        member
            The candidate that was picked.
        """
        self._do("hit", round_id=round_id, member=member)

    def miss(self, round_id: Any) -> None:
        """Take the answer "not in this list".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do("miss", round_id=round_id)

    def skip(self, round_id: Any) -> None:
        """Record that no answer will come.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do("skip", round_id=round_id)

    def absent(self, round_id: Any) -> None:
        """Take the answer "no candidate is right".

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        """
        self._do("absent", round_id=round_id)

    def reveal(self, round_id: Any, right: Member | None) -> None:
        """Take the right answer, shown or not.

        Parameters
        ----------
        round_id
            The `round_id` of the list.
        right
            The right candidate; None if no candidate is right.
        """
        self._do("reveal", round_id=round_id, right=right)

    def summary(self) -> Any:
        """Return a summary of all rounds so far.

        Returns
        -------
        Any
            The summary of the `Shortlister`.
        """
        return self._lister.summary()

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self._lister.threshold

    def close(self) -> None:
        """Release the folder."""
        with self._mutex:
            for each in (self._journal, self._lock):
                if each is not None:
                    each.close()
            self._journal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def saved_summary(folder: Path) -> Any:
    """Return the summary of the lister in a folder, None if there is none; a gateway may be using it.

    Parameters
    ----------
    folder
        The folder of a `SavedLister`.
    """
    lister = _copy(folder)
    return None if lister is None else lister.summary()


def copied_lister(folder: Path, **settings: Any) -> Shortlister:
    """Return a copy, in memory only, of the lister in a folder that another gateway uses.

    An old threshold is safe, so its lists are safe too; what it learns is lost with it.

    Parameters
    ----------
    folder, settings
        As for `SavedLister`.
    """
    new, lister = Shortlister(**settings), _copy(folder)
    return new if lister is None else _adjusted(lister, new, folder)


def _copy(folder: Path) -> Shortlister | None:
    try:
        return _read(folder)[1]
    except MissingFile:  # it was just saved under the next number
        return _read(folder)[1]


def _adjusted(lister: Shortlister, new: Shortlister, folder: Path) -> Shortlister:
    """Return a lister with the settings of a new one, or raise if one of them cannot be changed."""
    ours, theirs = lister.settings, new.settings
    for name in theirs.__dataclass_fields__:
        if name not in CONFIGURABLE and getattr(ours, name) != getattr(theirs, name):
            raise InvalidParameter(
                f"{folder} was learned with {name} {getattr(ours, name)!r}, and the settings say "
                f"{getattr(theirs, name)!r}: change that back, or name another folder as state"
            )
    changes = {name: getattr(theirs, name) for name in CONFIGURABLE if getattr(ours, name) != getattr(theirs, name)}
    if changes:
        lister.configure(**changes)
    return lister


def _read(folder: Path) -> tuple[int, Shortlister | None]:
    """Return the newest lister of a folder, with its journal applied, and its number."""
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    number = max((int(match[1]) for name in names if (match := _SAVED.fullmatch(name))), default=0)
    if not number:
        return 0, None
    lister = Shortlister.load(folder / f"lister-{number}.json")
    _replay(lister, folder / f"journal-{number}.jsonl")
    return number, lister


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


def _replay(lister: Shortlister, journal: Path) -> None:
    """Apply a journal to a lister; a line without an end was never acknowledged."""
    try:
        *lines, _cut_off = journal.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, 1):
        try:
            verb, arguments = json.loads(line)
            if verb == "propose":
                arguments["scores"] = _scores(arguments["scores"])
            getattr(lister, verb)(**arguments)
        except (ShortlistError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise DamagedFile(
                f"{journal} is damaged in line {number} ({type(error).__name__}: {error}); restore the folder from a "
                "backup, or name another one as state"
            ) from None


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments for JSON: a missing score is null."""
    if "scores" not in arguments:
        return arguments
    scores = arguments["scores"]
    if isinstance(scores, Mapping):
        return arguments | {"scores": {str(name): _nulls(column) for name, column in scores.items()}}
    return arguments | {"scores": _nulls(scores)}


def _item(value: Any) -> Any:
    """Return numpy's numbers as Python's."""
    return value.tolist()


def _nulls(values: Any) -> Any:
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(array), None, array.astype(object)).tolist()  # type: ignore[call-overload]


def _scores(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {name: np.array(column, dtype=np.float64) for name, column in plain.items()}
    return np.array(plain, dtype=np.float64)
