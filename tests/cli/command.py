"""The command line as a user meets it, in a process of its own."""

import subprocess
import sys

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


def shortlist(*arguments, cwd=None):
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
