"""Tables as CSV that no spreadsheet takes for formulas."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

__all__ = ["as_csv", "safe"]

#: How a cell begins that a spreadsheet would compute.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a table with its header; None is an empty cell.

    >>> as_csv(["class", "rounds"], [["=1+1", 3]])
    "class,rounds\n'=1+1,3\n"
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[safe(cell) for cell in row] for row in rows])
    return out.getvalue()


def safe(cell: Any) -> Any:
    """Return a cell that is no formula: a text that begins like one gets an apostrophe before it.

    So does one that begins with apostrophes and then like a formula, and no two texts become the same.
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip("'").startswith(_FORMULA) else cell
