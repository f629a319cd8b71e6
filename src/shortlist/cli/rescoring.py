"""The command `rescore`: a new scorer, from an old log."""

import os
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape

from shortlist.errors import InvalidParameter, ShortlistError, UnknownStream, needs_extra
from shortlist.listers import Shortlister
from shortlist.logs import read_log
from shortlist.logs.newscores import read_new_scores
from shortlist.logs.rescoring import rescored
from shortlist.policies import AnytimeSPS
from shortlist.rounds.settings import Settings

__all__ = ["rescore_command"]

#: The environment variable with the API key.
_KEY: Final = "SHORTLIST_API_KEY"
#: The most rounds that a service accepts at once.
_MOST: Final = 10_000


def rescore_command(
    log: Annotated[Path, typer.Argument(help="The file that `shortlist export STREAM --out FILE` wrote.")],
    scores: Annotated[Path, typer.Argument(help="CSV: round_id, candidate, and one column per new scorer.")],
    out: Annotated[Path | None, typer.Option(help="The save file of the new lister.", show_default=False)] = None,
    url: Annotated[
        str | None, typer.Option(help="A running service, to create a stream there.", show_default=False)
    ] = None,
    stream: Annotated[str | None, typer.Option(help="The name of the new stream.", show_default=False)] = None,
    coverage: Annotated[
        float, typer.Option(help="Share of rounds in which the right answer must be in the list.")
    ] = 0.9,
    delta: Annotated[float, typer.Option(help="Probability that the threshold may ever pass the optimum.")] = 0.01,
    score: Annotated[str, typer.Option(help="auto, raw, margin, relative, rank or adaptive.")] = "auto",
) -> None:
    """Learn a new scorer's threshold from the answers in an old scorer's log.

    The new scorer must be neither trained nor selected on these rounds, and candidates must be retrieved in the
    same way. The result is a lister's save file (--out), or a stream of a running service (--url, --stream; a key in
    SHORTLIST_API_KEY). If the log is long enough, its very first list is cut.
    """
    if (out is None) is (url is None) or (url is None) is not (stream is None):
        raise InvalidParameter("say where the result goes: --out FILE, or --url URL and --stream NAME")
    rounds, new_scores = read_log(log), read_new_scores(scores)
    if out is None:
        summary, right = _start(str(url), str(stream), coverage, delta, score, rounds, new_scores)
    else:
        lister = Shortlister(coverage, delta, score=score)
        lists, right = rescored(rounds, new_scores, lister.settings)
        lister.warm_start(lists, right)
        lister.save(out)
        summary = lister.summary()
    _report(summary, right, out or f"{url}, stream {stream}")


def _start(
    url: str, stream: str, coverage: float, delta: float, score: str, rounds: list[Any], new_scores: Any
) -> tuple[Any, list[Any]]:
    """Start a stream with the rounds: a new one, or an existing one without rounds."""
    needs_extra("a stream of a service", "client", "httpx")
    from shortlist.client import Client  # noqa: PLC0415 - needs the extra

    with Client(url, stream, os.environ.get(_KEY)) as client:
        try:
            summary, created = client.summary(), False
        except UnknownStream:
            summary = client.create(coverage, score=score, policy={"kind": "anytime", "delta": delta})
            created = True
        kept = {name: summary["settings"][name] for name in ("unanswered", "explore_share", "miss_budget")}
        try:
            lists, right = rescored(rounds, new_scores, Settings(policy=AnytimeSPS(coverage), **kept))
            # The latest rounds, all of them: not a selection by content.
            return client.warm_start(lists[-_MOST:], right[-_MOST:]), right[-_MOST:]
        except ShortlistError:
            if created:
                client.delete()
            raise


def _report(summary: Any, right: list[Any], where: object) -> None:
    resolved, threshold = sum(each != -1 for each in right), summary["threshold"]
    console = Console(stderr=True)
    console.print(f"{len(right):,} rounds, {resolved:,} of them with a known right answer", highlight=False)
    if threshold is not None and threshold > float("-inf"):
        console.print(f"the very first list is cut, at {threshold:.4g}", highlight=False)
    else:
        console.print(f"lists are complete at first; waiting for {summary['waiting_for']}", highlight=False)
    console.print(f"in [bold]{escape(str(where))}[/]", highlight=False)
