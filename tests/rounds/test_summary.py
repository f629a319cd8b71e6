"""The classes of summaries: a reply of the service read back, and what is described."""

import ast
import dataclasses
import inspect
import math

from shortlist.rounds import summary
from shortlist.rounds.summary import Drift, ErrorBudget, StreamSummary, Summary


def test_a_reply_is_read_back_as_the_class_that_was_sent():
    reply = {
        "rounds": 7,
        "threshold": None,
        "spark": [None, 0.5],
        "drift": {"level": 0.1, "false_alarm_rounds": 10, "alarm_count": 0, "alarms": []},
        "error_budget": {
            "size": 20,
            "spent": 1.5,
            "burn_rate": 0.3,
            "lengthened": 0,
            "added": None,
            "lengthening": False,
        },
        "something_new": 1,
    }
    read = StreamSummary.from_json(reply)
    assert isinstance(read, Summary)
    assert (read.rounds, read["rounds"], read.threshold, read.spark) == (7, 7, -math.inf, [-math.inf, 0.5])
    assert dict(read.drift) == reply["drift"]
    assert isinstance(read.drift, Drift)
    assert dict(read.error_budget) == reply["error_budget"]
    assert isinstance(read.error_budget, ErrorBudget)
    assert "something_new" not in read


def test_every_field_is_described_below_it():
    """The reference and the OpenAPI document are made from these strings."""
    for node in ast.parse(inspect.getsource(summary)).body:
        if isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            below = [node.body[node.body.index(each) + 1] for each in fields]
            assert fields, node.name
            assert all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in below), node.name


def test_a_lister_and_a_stream_have_the_same_figures():
    names = [each.name for each in dataclasses.fields(Summary)]
    assert [each.name for each in dataclasses.fields(StreamSummary)][: len(names)] == names
