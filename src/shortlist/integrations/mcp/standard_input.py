"""Standard input that stops at once when its reader is canceled.

The SDK reads lines in a thread that waits for the next one. A signal cancels the reader, but nothing ends that wait
while the client keeps the pipe open, so the gateway would never end. Here the event loop waits until there is
something to read.
"""

import os
import stat
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio

__all__ = ["lines_of", "readable_input"]

_AT_ONCE: Final = 65_536


def readable_input() -> Any:
    """Return standard input, line by line, for ``stdio_server``; None where the event loop cannot wait for it."""
    if sys.platform == "win32":
        return None
    mode = os.fstat(0).st_mode
    return lines_of(0) if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0) else None  # a file soon ends


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a file descriptor until its end.

    Parameters
    ----------
    descriptor
        A pipe, a socket or a terminal.
    """
    buffer = bytearray()
    while True:
        await anyio.wait_readable(descriptor)
        chunk = os.read(descriptor, _AT_ONCE)
        start = len(buffer)
        buffer += chunk
        if b"\n" in chunk:
            *lines, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                yield line.decode("utf-8", "replace")
        elif not chunk:
            if start:
                yield bytes(buffer).decode("utf-8", "replace")
            return
