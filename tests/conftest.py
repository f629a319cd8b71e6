"""Settings shared by all tests."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Machines are shared and noisy: no deadline, and the same examples in every run.
settings.register_profile("shortlist", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shortlist")

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # nothing is sent anywhere


def _constants(patch):
    def set_to(*, picks=None, alarm=None):
        if picks is not None:
            patch.setattr("shortlist.rounds.learning._PICKS_ONE", picks)
            patch.setattr("shortlist.rounds.learning._PICKS_SEVERAL", picks)
        if alarm is not None:
            patch.setattr("shortlist.rounds.tracker.FALSE_ALARM_ROUNDS", alarm)

    return set_to


@pytest.fixture
def constants(monkeypatch):
    """Set how many picks a fit needs, and how many rounds are between false alarms, for one test."""
    return _constants(monkeypatch)


@pytest.fixture(scope="module")
def module_constants():
    """Do so for all tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        yield _constants(patch)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site, built strictly, once for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "site"
    with (base / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            _build(folder)
            (folder / "built").touch()
    return folder


def _build(folder):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
