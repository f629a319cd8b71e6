"""Where work is done: what is finished when it is interrupted, and a scheduler that does not answer."""

import pytest

from shortlist.errors import InvalidParameter
from shortlist.lab.executors import finish, workplace
from tests.lab.small import quiet


def _interrupt():
    raise KeyboardInterrupt


def test_what_is_finished_is_there_when_it_is_interrupted():
    done = []

    def collect(submit):
        for _, result in finish(submit, [(abs, (-1,)), (_interrupt, ())], "counting", quiet):
            done.append(result)

    with workplace(1) as submit, pytest.raises(KeyboardInterrupt):
        collect(submit)
    assert done == [1]


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("shortlist.lab.executors._PATIENCE", 1)
    with pytest.raises(InvalidParameter, match="does not answer"), workplace(scheduler="tcp://127.0.0.1:1"):
        pass
