"""What long-running commands share: names, processes, output folders and progress."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from shortlist.errors import InvalidParameter
from shortlist.policies.policy_files import is_reference

__all__ = ["SCHEDULER", "check_folder", "named_policies", "names", "numbers", "process_count", "progress", "teller"]

SCHEDULER: Final = "The address of a Dask scheduler to work on, such as tcp://10.0.0.1:8786."


def process_count(jobs: int, least: int | None = None) -> int:
    """Return the number of processes to use; a single file needs only one."""
    if jobs < 0:
        raise InvalidParameter(f"jobs is {jobs}; it must be a number of processes, or 0 for one per core")
    return jobs or (1 if least == 1 else os.cpu_count() or 1)


def teller(bar: Progress) -> Callable[[str, int, int], None]:
    """Return a function that shows each stage of some work on its own progress bar."""
    stages: dict[str, Any] = {}

    def tell(what: str, done: int, of: int) -> None:
        if what not in stages:
            stages[what] = bar.add_task(what, total=of)
        bar.update(stages[what], completed=done, total=of)

    return tell


def named_policies(text: str, scheduler: str | None) -> tuple[str, ...]:
    """Return the policies that an option names; workers of a cluster need absolute paths.

    >>> named_policies("aci@step=0.008,levels=clipped,greedy", None)
    ('aci@step=0.008,levels=clipped', 'greedy')
    """
    chosen: tuple[str, ...] = ()
    for part in names("policies", text):  # a setting by name belongs to the policy before it
        if chosen and "=" in part and "@" not in part and "@" in chosen[-1]:
            chosen = (*chosen[:-1], f"{chosen[-1]},{part}")
        else:
            chosen = (*chosen, part)
    if scheduler is None:
        return chosen
    return tuple(str(Path(name).absolute()) if is_reference(name) else name for name in chosen)


def names(option: str, text: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InvalidParameter(f"{option} is {text!r}; name one or more, separated by commas")
    return names


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Return the numbers in a list separated by commas."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise InvalidParameter(f"{option} is {text!r}; give numbers, separated by commas") from None


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be written to."""
    if out.exists() and not out.is_dir():
        raise InvalidParameter(f"out is {out}, which is a file; name a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(f"out is {out}, which cannot be created: {error.strerror}") from None


def progress(console: Console) -> Progress:
    """Return a progress bar for each stage of some work."""
    return Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
