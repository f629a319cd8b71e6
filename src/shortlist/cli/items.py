"""The command `items`: items to be labeled, sent to a running service."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from shortlist.errors import InvalidInput, MissingFile, ShortlistError, needs_extra

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Add items to be labeled, and count them.")

#: How many items are sent at a time, and how many problems are printed.
_PART: Final = 500
_PRINTED: Final = 20

Stream = Annotated[str, typer.Argument(help="The stream.")]
Url = Annotated[str, typer.Option(help="Where the service runs.", envvar="SHORTLIST_URL")]
ProposeKey = Annotated[
    str | None, typer.Option(help="A key with the scope propose.", envvar="SHORTLIST_API_KEY", show_default=False)
]
FeedbackKey = Annotated[
    str | None, typer.Option(help="A key with the scope feedback.", envvar="SHORTLIST_API_KEY", show_default=False)
]
_URL: Final = "http://127.0.0.1:8000"


class Line(NamedTuple):
    """An item of a file, or what is wrong with it."""

    number: int
    item: dict[str, Any]
    problem: str | None = None

    @property
    def where(self) -> str:
        """The line, and the item's id where it has one."""
        return (
            f"line {self.number} ({self.item['id']})" if isinstance(self.item.get("id"), str) else f"line {self.number}"
        )


@app.command()
def add(
    stream: Stream,
    file: Annotated[Path, typer.Argument(help="JSON lines, or a JSON array; - for standard input.", metavar="FILE")],
    url: Url = _URL,
    api_key: ProposeKey = None,
) -> None:
    """Add items: objects with id, candidates, and optionally question and image. A repeated item changes nothing."""
    needs_extra("a running service", "client", "httpx2")
    from shortlist import Client  # noqa: PLC0415 - needs an extra

    lines = list(_lines(file))
    refused = [line for line in lines if line.problem is not None]
    good = [line for line in lines if line.problem is None]
    console = Console(stderr=True)
    bar = Progress(TextColumn("adding items"), BarColumn(), TimeElapsedColumn(), console=console, transient=True)
    with Client(url, stream, api_key=api_key) as client, bar:
        task = bar.add_task("adding", total=len(good))
        for start in range(0, len(good), _PART):
            part = good[start : start + _PART]
            for line, problem in zip(part, _sent(client, [line.item for line in part]), strict=True):
                if problem is not None:
                    refused.append(line._replace(problem=problem))
            bar.advance(task, len(part))
    for line in sorted(refused)[:_PRINTED]:
        console.print(f"{escape(line.where)}: {escape(line.problem or '')}", highlight=False, soft_wrap=True)
    if len(refused) > _PRINTED:
        console.print(f"... and {len(refused) - _PRINTED:,} more", highlight=False)
    count = len(lines) - len(refused)
    end = f", {len(refused):,} refused" if refused else ""
    console.print(f"{count:,} item{'s' * (count != 1)} in stream [bold]{escape(stream)}[/]{end}", highlight=False)
    if refused:
        raise typer.Exit(1)


@app.command()
def count(stream: Stream, url: Url = _URL, api_key: FeedbackKey = None) -> None:
    """Print how many items wait, and how many rounds are open, held by somebody and answered."""
    needs_extra("a running service", "client", "httpx2")
    from shortlist import Client  # noqa: PLC0415 - needs an extra

    with Client(url, stream, api_key=api_key) as client:
        queue = client.queue()
    for name in ("waiting", "open", "held", "answered", "refused"):
        typer.echo(f"{name:9}{queue[name]:>8,}")
    for problem in queue["problems"]:
        typer.echo(f"  {problem['id']}: {problem['why']}")


def _sent(client: Any, items: list[dict[str, Any]]) -> list[str | None]:
    """Send items; return what was wrong with each. A body that does not fit is refused as a whole: then one by one."""
    try:
        return [None if error is None else str(error) for error in client.add_items(items)]
    except InvalidInput as error:
        if len(items) == 1:
            return [str(error).removeprefix("items[0].")]
    return [problem for item in items for problem in _sent(client, [item])]


def _lines(file: Path) -> Iterator[Line]:
    """Yield the items of a file, each with its line and what is wrong with it."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MissingFile(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not UTF-8 text: write it as JSON lines") from None
    array = text.lstrip().startswith("[")
    for number, line in [(1, text)] if array else enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            content = json.loads(line, parse_constant=_refuse)
        except ShortlistError as error:
            yield Line(number, {}, str(error))
            continue
        except ValueError as error:
            yield Line(number, {}, f"not JSON ({error})")
            continue
        for item in content if array else [content]:
            yield Line(number, item if isinstance(item, dict) else {}, _problem(item))


def _refuse(constant: str) -> float:
    raise InvalidInput(f"{constant} is not JSON; scores must be finite, or null where one of several scorers has none")


def _problem(item: Any) -> str | None:
    """Return what is wrong with the form of an item; what is in it, the service knows."""
    if not isinstance(item, dict):
        return 'not an item; write {"id": "...", "candidates": [{"id": ..., "score": ...}, ...]}'
    if not isinstance(item.get("id"), str):
        return f"id is {item.get('id')!r}; it must be a string"
    return None if isinstance(item.get("candidates"), list) else "candidates is missing; it must be a list"
