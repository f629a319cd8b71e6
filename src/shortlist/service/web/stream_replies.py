"""What goes out about streams: the shapes of answers. Their descriptions are those of the OpenAPI document."""

import ast
import dataclasses
import inspect
import itertools
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from shortlist.rounds import stream_summary, summary
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.web.replies import Out

__all__ = [
    "ChosenScores",
    "DamagedStream",
    "SeriesPoints",
    "SeriesView",
    "StreamPage",
    "UnreadStream",
]


def _describe(*kinds: type) -> None:
    """Give the fields of dataclasses the strings below them as descriptions, where the framework looks for them."""
    texts: dict[str, str] = {}
    sources = "\n".join(map(inspect.getsource, (summary, stream_summary)))
    for node in ast.walk(ast.parse(sources)):
        for field, below in itertools.pairwise(node.body) if isinstance(node, ast.ClassDef) else ():
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    texts[name] = inspect.cleandoc(text).replace("\n", " ").replace("None", "null")
    for each in itertools.chain.from_iterable(map(dataclasses.fields, kinds)):
        each.metadata = MappingProxyType({"description": texts[each.name]})


_describe(summary.Drift, summary.ErrorBudget, StreamSummary)


class SeriesPoints(Out):
    """A stream's history, column by column; a point stands for one or many rounds."""

    round: Annotated[list[int], Field(description="Rounds shown up to here.")]
    at: Annotated[list[float], Field(description="When the last event was.")]
    threshold: list[float | None]
    """After the last round of the point."""
    hits: Annotated[list[int], Field(description="Hits in this point's rounds, not in all before.")]
    misses: list[int]
    """Misses in this point's rounds."""
    list_mean: list[float | None]
    """Mean list length."""
    list_p90: list[float | None]
    """90th percentile of list length."""
    candidates: list[float]
    """Mean number of candidates."""
    level: Annotated[list[float | None], Field(description="Level of the drift alarm, which goes off at 1.")]


class ChosenScores(Out):
    """Histogram of the scores of picks, in bins of equal width."""

    of: int | None
    """The fit of the score that these picks belong to; picks made during a fit are left out. 0 if it is not learned."""
    low: float
    """Where the first bin begins."""
    width: float
    """Of a bin."""
    counts: list[int]
    """Hits in each bin."""


class SeriesView(Out):
    """A stream's history in a few hundred points, however long it is."""

    points: SeriesPoints
    """The history."""
    chosen: ChosenScores
    """The scores of what was picked."""


class DamagedStream(Out):
    """A stream whose log cannot be read."""

    name: str
    """The stream."""
    created: float
    """When, in seconds since 1970."""
    why: str
    """Where its log is damaged, and what to do."""


class UnreadStream(Out):
    """A stream that is still being read from its log."""

    name: str
    """The stream."""
    created: float
    """When, in seconds since 1970."""


class StreamPage(Out):
    """Streams by name."""

    streams: list[StreamSummary]
    """The page."""
    damaged: list[DamagedStream]
    """Streams of this page whose log cannot be read. They can be deleted; other streams are not affected."""
    unread: list[UnreadStream]
    """Streams of this page whose log is still being read: ask again in a while."""
    next: Annotated[str | None, Field(description="Send this as `after` for the next page; null at the end.")]
