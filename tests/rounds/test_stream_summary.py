"""The summary of a stream: a reply of the service read back."""

import dataclasses
import math

from shortlist.rounds.stream_summary import StreamSummary
from shortlist.rounds.summary import Drift, ErrorBudget, Summary


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


def test_a_lister_and_a_stream_have_the_same_figures():
    names = [each.name for each in dataclasses.fields(Summary)]
    assert [each.name for each in dataclasses.fields(StreamSummary)][: len(names)] == names
