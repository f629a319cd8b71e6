"""A CSV of bids to the table that the auctions draw from."""

import csv
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from shortlist._files import replace_file
from shortlist.errors import InvalidScores, UnwritableFile

__all__ = ["write_bids"]


def write_bids(source: Path, out: Path, *, bid: str = "bid", item: str | None = None, separator: str = ",") -> int:
    """Write a table of items, distinct bids and their counts; return the number of bids.

    Parameters
    ----------
    source
        A CSV file with a row for each bid.
    out
        The table.
    bid
        The column of bids.
    item
        The column that identifies items, if any.
    separator
        The separator of the CSV file.
    """
    counts: Counter[tuple[str, float]] = Counter()
    if out.exists() and out.samefile(source):
        raise InvalidScores(f"{out} is the file that the bids are read from; name another file with --out")
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, delimiter=separator)
            columns = reader.fieldnames or []
            for name in [bid] if item is None else [bid, item]:
                if name not in columns:
                    raise InvalidScores(
                        f"{source}: there is no column {name!r}; there are: {', '.join(columns) or 'none'}"
                        f"{_hint(columns)}"
                    )
            for number, row in enumerate(reader, start=2):
                counts[(row[item] or "") if item else "", _bid(source, number, row[bid])] += 1
    except FileNotFoundError:
        raise InvalidScores(f"{source}: there is no such file") from None
    except (OSError, UnicodeError, csv.Error) as error:
        raise InvalidScores(f"{source}: this cannot be read as CSV ({error})") from None
    if not counts:
        raise InvalidScores(f"{source}: there are no bids in it")

    def write(path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            file.write(f"# {counts.total():,} bids of {source.name}, column {bid}\n")
            writer = csv.writer(file)
            writer.writerow(["item", "value", "count"])
            writer.writerows([name, repr(value), count] for (name, value), count in sorted(counts.items()))

    try:
        replace_file(out, write)
    except OSError as error:
        raise UnwritableFile(f"{out} cannot be written ({error.strerror})") from None
    return counts.total()


def _hint(columns: Sequence[str]) -> str:
    return "; try another --separator" if len(columns) == 1 and any(sign in columns[0] for sign in ";\t|") else ""


def _bid(source: Path, number: int, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidScores(f"{source}: line {number} has the bid {text!r}; it must be a number")
    return value
