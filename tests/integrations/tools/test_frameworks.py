"""The real packages of the field with a ToolShortlist behind their search: Pydantic AI's, and FastMCP's.

Both examples do a task for each of 120 tools, half of them in other words than the tool's. What they print is on the
page.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PEERS = ROOT / ".peers" / "bin" / "python"

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not PEERS.exists(), reason="the peers are not installed: make .peers/.installed"),
]


@pytest.mark.parametrize("name", ["tools_pydantic_ai", "tools_fastmcp"])
def test_the_search_of_a_framework(name, tmp_path):
    done = subprocess.run(
        [str(PEERS), str(ROOT / "examples" / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    print(done.stdout)
    lines = done.stdout.splitlines()[-5:]
    searches, shown, of = map(float, re.findall(r"[\d.]+", lines[0])[:3])
    hits, found_later = map(int, re.findall(r"\d+", lines[1])[:2])
    calls, failed, apart = map(int, re.findall(r"\d+", lines[3])[:3])
    assert (searches, of) == (120, 120)
    assert shown <= 10
    assert hits == calls > 80  # each was seen, and counted once
    assert (found_later, failed, apart) == (0, 0, 0)
    page = (ROOT / "docs" / "how-to" / "too-many-tools.md").read_text()
    assert done.stdout in page  # what it prints is what the page says
