"""Where work is done: in this process, in processes of this machine, or on a Dask cluster.

A *unit* is a function and its arguments, both of which can be sent elsewhere; it depends on nothing
else, so where and in which order units run changes no number. On a cluster, a unit whose worker is
lost is given to another one.
"""

import concurrent.futures
import importlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from shortlist.errors import InvalidParameter, needs_extra

__all__ = ["Progress", "Submit", "Unit", "finish", "workplace"]

Unit = tuple[Callable[..., Any], tuple[Any, ...]]
Submit = Callable[[Unit], "concurrent.futures.Future[Any]"]
#: Called with what is being done, how much of it is finished, and how much there is.
Progress = Callable[[str, int, int], None]
#: Seconds within which a scheduler answers.
_PATIENCE: Final = 10


@contextmanager
def workplace(jobs: int = 1, scheduler: str | None = None) -> Iterator[Submit]:
    """Yield a function that submits units to `jobs` processes, or to the cluster of a scheduler."""
    if scheduler is not None:
        with _cluster(scheduler) as submit:
            yield submit
    elif jobs == 1:
        yield _at_once
    else:
        with _processes(jobs) as submit:
            yield submit


def finish(submit: Submit, units: list[Unit], what: str, tell: Progress) -> Iterator[tuple[Unit, Any]]:
    """Yield units and their results as they finish."""
    tell(what, 0, len(units))
    if submit is _at_once:  # one after the other, so that what is finished is there when it is interrupted
        for done, unit in enumerate(units, start=1):
            yield unit, unit[0](*unit[1])
            tell(what, done, len(units))
        return
    futures = {submit(unit): unit for unit in units}
    for done, future in enumerate(concurrent.futures.as_completed(futures), start=1):
        yield futures[future], future.result()
        tell(what, done, len(units))


def _at_once(unit: Unit) -> "concurrent.futures.Future[Any]":
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()
    future.set_result(unit[0](*unit[1]))
    return future


@contextmanager
def _processes(jobs: int) -> Iterator[Submit]:
    executor = concurrent.futures.ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        # Ctrl-C reaches every process of a terminal; the first one decides what happens to the others.
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    clean = False
    try:
        yield lambda unit: executor.submit(unit[0], *unit[1])
        clean = True
    finally:
        executor.shutdown(wait=clean, cancel_futures=True)


@contextmanager
def _cluster(scheduler: str) -> Iterator[Submit]:
    needs_extra("--scheduler", "dask", "distributed")
    distributed: Any = importlib.import_module("distributed")
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidParameter(
            f"scheduler is {scheduler!r}, which does not answer ({reason}); start one with: dask scheduler"
        ) from None
    try:
        executor = client.get_executor(pure=False, retries=3)
        yield lambda unit: executor.submit(unit[0], *unit[1])
    finally:
        client.close()
