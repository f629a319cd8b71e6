"""Score files in, streams out: the paper's three tasks, a synthetic one, tools for agents, and a user's own."""

import functools
import os
from importlib import resources
from pathlib import Path
from typing import Final, Literal, overload

from shortlist.errors import InvalidParameter
from shortlist.lab.tasks.auctions import AuctionTask, BidTable, read_bids
from shortlist.lab.tasks.base import Task, TaskStream
from shortlist.lab.tasks.score_file import ScoreSet, read_scores, write_scores
from shortlist.lab.tasks.scored import ScoredTask
from shortlist.lab.tasks.synthetic import UniformTask

__all__ = [
    "AUCTION_ITEMS",
    "TASKS",
    "AuctionTask",
    "BidTable",
    "ScoreSet",
    "ScoredTask",
    "Task",
    "TaskStream",
    "UniformTask",
    "data_file",
    "load_task",
    "read_bids",
    "read_scores",
    "task_from_file",
    "write_scores",
]

TASKS: Final = ("images", "retrieval", "auctions", "uniform", "tools")
"""The tasks that ship with the package; the first three are the paper's. Retrieval and tools have two scorers."""

AUCTION_ITEMS: Final = ("cartier", "palm", "xbox")
"""What the auctions that ship are about; ``load_task("auctions", item)`` has one of them."""

_TITLES: Final = {"images": "Images", "retrieval": "Retrieval", "tools": "Tools"}


def data_file(name: str) -> Path:
    """Return the path of a file that ships with the package.

    Parameters
    ----------
    name
        Its name: ``images.npz``, ``retrieval.npz``, ``tools.npz``, ``auctions.csv``.

    Returns
    -------
    Path
        Its path.
    """
    return Path(str(resources.files("shortlist.lab.tasks"))) / "data" / name


@overload
def load_task(name: Literal["images", "retrieval", "tools"]) -> ScoredTask: ...
@overload
def load_task(name: Literal["auctions"], item: str | None = None) -> AuctionTask: ...
@overload
def load_task(name: Literal["uniform"]) -> UniformTask: ...
@overload
def load_task(name: str, item: str | None = None) -> Task: ...
def load_task(name: str, item: str | None = None) -> Task:
    """Return a task that ships with the package.

    Parameters
    ----------
    name
        ``images``, ``retrieval``, ``auctions``, ``uniform`` or ``tools``.
    item
        For ``auctions``: only the bids on ``cartier`` wristwatches, ``palm`` Pilots or ``xbox`` consoles.

    Returns
    -------
    Task
        The task.

    Examples
    --------
    >>> load_task("images").title
    'Images'
    """
    return _load_task(name, item)


@functools.cache
def _load_task(name: str, item: str | None) -> Task:
    if item is not None and item not in AUCTION_ITEMS:
        raise InvalidParameter(f"item is {item!r}; it must be one of {', '.join(AUCTION_ITEMS)}")
    if item is not None and name != "auctions":
        raise InvalidParameter(f"item is {item!r}, for the task auctions, and the task is {name}: drop it")
    if name in _TITLES:
        return ScoredTask(read_scores(data_file(f"{name}.npz")), _TITLES[name])
    if name == "auctions":
        path = data_file("auctions.csv")
        source = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        if item is None:
            return AuctionTask(read_bids(path), source)
        kind = next(row for row in path.read_text(encoding="utf-8").splitlines() if row.lower().startswith(item))
        kind = kind.partition(",")[0]
        return AuctionTask(read_bids(path, kind), f"{source}; the bids on one item, {kind}", title=f"{kind} auctions")
    if name == "uniform":
        return UniformTask()
    raise InvalidParameter(f"task is {name!r}; it must be one of {', '.join(TASKS)}")


@functools.cache
def task_from_file(path: str | os.PathLike[str]) -> Task:
    """Return the task of a user's own score file, or table of bids.

    Parameters
    ----------
    path
        An ``.npz`` file as written by `write_scores`, or a ``.csv`` of bids.

    Returns
    -------
    Task
        The task.
    """
    if Path(path).suffix == ".csv":
        bids = read_bids(path)
        source = f"{bids.counts.sum():,} bids of {Path(path).name}"
        return AuctionTask(bids, source, name=Path(path).stem, title=Path(path).stem)
    scores = read_scores(path)
    return ScoredTask(scores, title=scores.name)
