"""The README's curl lines work as written."""

import json
import re
import shlex
import subprocess
from pathlib import Path

from tests.service.running import running

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_five_curl_lines(sqlite):
    lines = re.findall(r"^curl .*$", README, flags=re.MULTILINE)
    assert len(lines) == 5
    with running(sqlite) as service:
        answers = []
        for line in lines:
            command = shlex.split(line.replace("localhost:8000", f"127.0.0.1:{service.port}"), comments=True)
            done = subprocess.run([*command, "-sS"], capture_output=True, text=True, check=False)
            assert done.returncode == (28 if "-N" in command else 0), done.stderr  # the live one is ended by -m
            answers.append(done.stdout)
    assert json.loads(answers[0])["name"] == "docs"
    assert json.loads(answers[1])["members"] == ["faq-2", "faq-7"]
    assert json.loads(answers[2])["answer"] == {"hit": "faq-2"}
    assert json.loads(answers[3])["hits"] == 1
    assert "event: stream" in answers[4]
