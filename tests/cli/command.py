"""The command line as a user meets it: in this process, which spares its start, or in one of its own."""

import contextlib
import io
import subprocess
import sys
from unittest import mock

from shortlist.__main__ import main

OWN = """
from dataclasses import dataclass
from typing import ClassVar

from shortlist import Policy
from shortlist.policies import State

limit = 3


def step(carry, values, constants, seen, missed):
    threshold, n = carry
    return threshold + (constants[0] - missed) / (n + 10.0), n + 1


@dataclass(frozen=True)
class Steady(Policy):
    rule = staticmethod(step)
    coverage: float
    horizon: int

    def init(self):
        return State((0.0, 0), [], (1 - self.coverage,))


@dataclass(frozen=True)
class Needy(Steady):
    strength: float


def pull(carry, values, constants, seen, missed):
    return (carry[0] + constants[0] * (constants[1] - missed),)


@dataclass(frozen=True)
class Gained(Policy):
    rule = staticmethod(pull)
    setting: ClassVar[str] = "gain"
    grid: ClassVar[tuple[float, ...]] = (0.01, 0.1, 1.0)
    coverage: float
    gain: float = 0.1

    def init(self):
        return State((0.0,), [], (self.gain, 1 - self.coverage))
"""


def shortlist(*arguments, cwd="."):
    """Run a command, and return what it printed and its exit code."""
    words = ["shortlist", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd),
        mock.patch.object(sys, "argv", words),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def shortlist_process(*arguments, cwd=None):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "shortlist", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=300,
    )


def refused(done, message):
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("shortlist: ")
    assert done.stderr.count("\n") == 1
