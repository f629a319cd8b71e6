"""What the tests of the lab share."""

import pytest

from shortlist.lab.run import run
from tests.lab.small import SMALL


@pytest.fixture(scope="session")
def small():
    """The results of a small experiment; tests must not change them."""
    return run(SMALL, with_sweeps=False, with_readings=True)
