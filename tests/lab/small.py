"""A small experiment, run once for all tests that look at its results."""

import dataclasses

from shortlist.lab.spec import Spec

SMALL = Spec(rounds=1500, runs=2, tuning_runs=1)


def without_seconds(rows):
    return [dataclasses.replace(row, seconds=0.0) for row in rows]


def quiet(_what, _done, _of):
    """Report no progress."""
