"""Fits of learned scores, computed off the writer's lock: no other request waits for one.

A fit is due as soon as its stream has the picks it needs (`shortlist.rounds.learning`). From then on its examples do
not change, so it can be computed in a thread of its own while rounds and answers of the stream go on, cut as before.
The result is committed like any request, as the event `Fitted`, at whatever event the stream has reached by then; only
a restart, another fit or the end of the stream overtakes it, and then it is dropped. Replicas that share a database may
each compute it: the first to lock the stream's row commits it.

The answer that makes a fit due waits for it, but not for long (`Engine`'s `fit_patience`): so the next list of a client
that does one thing after the other is usually cut with it. Nothing else waits.

A fit that was not committed when the process ended is begun again when the stream is next used.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from shortlist.errors import ShortlistError, UnknownStream
from shortlist.rounds.events import Fitted
from shortlist.scores.learned import FitStopped
from shortlist.service.engine.logged_stream import LoggedStream

__all__ = ["BackgroundFits", "CommitFit"]

_log = logging.getLogger("shortlist.service")

#: After how many seconds of Python the thread of a fit lets others go on that wait for the interpreter.
_SWITCH: Final = 0.0002
#: How many seconds lie between two tries of a fit that fails.
_PAUSE: Final = 60.0


@dataclass(slots=True)
class CommitFit:
    """A fit to be committed, unless something has overtaken it."""

    stream: LoggedStream
    event: Fitted
    #: What it depends on: `Learning.stamp` when it was begun.
    stamp: tuple[int, ...]
    #: It is about no round.
    round_id: str = ""


class BackgroundFits:
    """The fits that are being computed, one after the other, at most one per stream.

    Parameters
    ----------
    submit
        Has a command written.
    observe
        Called with the seconds that a fit took.
    """

    def __init__(
        self, submit: Callable[[CommitFit], Coroutine[Any, Any, Any]], observe: Callable[[float], None] | None = None
    ) -> None:
        self._submit, self._observe = submit, observe
        #: By stream: when it was begun, and the task.
        self._tasks: dict[int, tuple[float, asyncio.Task[None]]] = {}
        #: Streams whose fit failed, and when it may be tried again.
        self._failed: dict[int, float] = {}
        self._thread: ThreadPoolExecutor | None = None
        self._stopping = False

    @property
    def waiting(self) -> int:
        """How many fits are being computed, or wait for their turn."""
        return len(self._tasks)

    def start(self, stream: LoggedStream) -> None:
        """Begin the fit that is due in a stream, unless it is already being computed."""
        if self._stopping or stream.id in self._tasks or self._failed.get(stream.id, 0.0) > time.monotonic():
            return
        task = asyncio.create_task(self._run(stream), name=f"shortlist-fit-{stream.name}")
        self._tasks[stream.id] = time.monotonic(), task
        task.add_done_callback(lambda _: self._tasks.pop(stream.id, None))

    async def wait(self, stream: LoggedStream, since: float, seconds: float) -> None:
        """Wait for the fit of a stream, for so many seconds at the most, if it was begun since a moment."""
        began, task = self._tasks.get(stream.id, (-1.0, None))
        if task is not None and began >= since:
            await asyncio.wait({task}, timeout=seconds)

    def stop(self) -> None:
        """Give up all fits, within a second or so: none is begun any more."""
        self._stopping = True

    async def close(self) -> None:
        """Give up all fits, and wait until that is done."""
        self.stop()
        if self._tasks:
            await asyncio.wait([task for _, task in self._tasks.values()])
        if self._thread is not None:
            self._thread.shutdown()

    async def _run(self, stream: LoggedStream) -> None:
        learning = stream.stream.learning
        assert learning is not None  # noqa: S101 - a fit is due
        stamp, seen, began = learning.stamp, stream.number, time.perf_counter()
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="shortlist-fit")
        fit = learning.prepared(lambda: self._stopping)
        try:
            event = await asyncio.get_running_loop().run_in_executor(self._thread, _yielding, fit)
            if self._observe is not None:
                self._observe(time.perf_counter() - began)
            await self._submit(CommitFit(stream, event._replace(seen=seen), stamp))
        except FitStopped:
            pass  # it is begun again when the stream is next used
        except UnknownStream:
            pass  # it was deleted
        except ShortlistError as error:
            _log.warning("the fit of stream %s is computed again later: %s", stream.name, error)
        except Exception:  # noqa: BLE001 - the stream goes on without it
            self._failed[stream.id] = time.monotonic() + _PAUSE
            _log.exception(
                "the fit of stream %s failed, and is tried again in a minute: lists are cut as before", stream.name
            )


def _yielding(fit: Callable[[], Fitted]) -> Fitted:
    """Compute a fit in this thread, giving way to others often: each of them would wait 5 milliseconds otherwise."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        return fit()
    finally:
        sys.setswitchinterval(usual)
