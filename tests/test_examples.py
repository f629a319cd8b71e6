"""Every example runs, offline, and ends in what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "built_in.py")


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_runs(name, tmp_path):
    more = ["--questions", "300"] if name == "retrieval_service.py" else []
    command = [sys.executable, str(EXAMPLES / name), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    if name == "retrieval_service.py":
        assert "in the end" in done.stdout
        return
    shown = {line.split()[0].strip(","): float(line.split()[-1].rstrip("%")) for line in done.stdout.splitlines()[1:]}
    assert shown["shortlist"] < shown["top-k"]
    assert shown["coverage"] >= 90.0
    page = (EXAMPLES.parent / "docs" / "how-to" / "integrations.md").read_text()
    assert (
        f"| {shown['shortlist']:.2f} (coverage {shown['coverage']:.1f} %" in page
    )  # what it prints is what the page says
