"""Run all methods of the field again, for docs/explanation/field.md: ``make measure NAME=field``. Ten minutes."""

import subprocess
import sys
from pathlib import Path

TABLES = Path(__file__).parents[1] / "docs" / "explanation" / "field-tables"

if __name__ == "__main__":
    subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "shortlist", "reproduce", "--suite", "field", "--out", str(TABLES)], check=True
    )
    for drawn in TABLES.glob("*.svg"):
        drawn.unlink()
