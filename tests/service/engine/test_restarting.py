"""A restart that is asked for: once, and where it can be."""

import pytest

from shortlist.errors import ConflictingStream, InvalidParameter
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.restarting import Restart
from shortlist.service.store import StreamRow


def stream(**settings):
    return LoggedStream(StreamRow(1, "a", {"coverage": 0.9, **settings}, 0.0, 0))


def test_the_epoch_that_is_to_end_ends_once():
    assert Restart(stream()).is_new(7)
    assert Restart(stream(), epoch=7).is_new(7)
    assert not Restart(stream(), epoch=6).is_new(7)
    for other in (5, 8):
        with pytest.raises(ConflictingStream, match=f"is in epoch 7, not in {other}"):
            Restart(stream(), epoch=other).is_new(7)


def test_a_score_that_is_not_learned_is_not_learned_again():
    assert Restart(stream(), refit=True).is_new(0)
    with pytest.raises(InvalidParameter, match="learns no score"):
        Restart(stream(score="raw"), refit=True).is_new(0)


def test_where_silence_is_ignored_there_are_no_epochs():
    with pytest.raises(InvalidParameter, match='has unanswered "ignore"'):
        Restart(stream(unanswered="ignore")).is_new(0)
