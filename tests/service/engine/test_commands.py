"""Commands: what they say of themselves."""

import numpy as np

from shortlist.service.engine.commands import Propose, Take
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import StreamRow

STREAM = LoggedStream(StreamRow(1, "docs", StreamSettings.of(coverage=0.9).to_dict(), 0.0, 0))


def test_what_people_read():
    plain = Propose(STREAM, "r", ["a"], np.array([0.5]))
    assert not plain.has_texts
    for more in ({"question": "who"}, {"texts": ["a"]}, {"image": "https://pictures.example.org/1.png"}):
        each = Propose(STREAM, "r", ["a"], np.array([0.5]), **more)
        assert each.has_texts


def test_nothing_is_taken_before_it_is():
    take = Take(STREAM, "holder", 120.0)
    assert (take.round_id, take.until) == ("", 0.0)
