"""The log of a gateway: one event of a search per line (`shortlist.integrations.tools.figures`)."""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shortlist.errors import UnwritableFile
from shortlist.integrations.tools.figures import is_event

__all__ = ["SearchLog", "read_log"]


class SearchLog:
    """Appends events to a file. A full disk does not stop an agent's work.

    Parameters
    ----------
    path
        The file; its folder is created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self._is_cut = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - 1))
                if file.read() not in (b"", b"\n"):
                    os.write(self._file, b"\n")  # a line that was cut off stays alone
        except OSError as error:
            raise UnwritableFile(f"{path} cannot be used for the log: {error.strerror}") from None

    def add(self, event: Mapping[str, Any]) -> None:
        """Write an event.

        Parameters
        ----------
        event
            The event.
        """
        line = json.dumps({**event, "time": round(time.time(), 3)}, separators=(",", ":")).encode() + b"\n"
        if self._is_cut:
            line = b"\n" + line
        with contextlib.suppress(OSError):
            written = os.write(self._file, line)
            self._is_cut = written < len(line)  # by a full disk: the next one gets a line of its own

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a log; incomplete or altered lines are left out."""
    with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            with contextlib.suppress(ValueError, RecursionError):
                line = json.loads(text)
                if is_event(line):
                    yield line
