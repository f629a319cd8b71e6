"""What is stored, as the rest of the service sees it."""

import pytest

from shortlist.rounds.events import Absent, Expired, Hit, Miss, Skip
from shortlist.service.store import LogEntry, StreamRow
from tests.service.store.entries import listed


def test_an_entry_says_which_round_it_is_about_and_whether_it_opens_it():
    entry = listed(StreamRow(3, "a", {}, 0.0, 0), 1, "r")
    assert (entry.stream_id, entry.round_id, entry.is_list) == (3, "r", True)


@pytest.mark.parametrize("event", [Hit("r", "x", 0.5), Miss("r"), Skip("r"), Absent("r"), Expired("r")], ids=str)
def test_every_answer_closes_its_round(event):
    entry = LogEntry(3, 2, 0.0, event)
    assert (entry.round_id, entry.is_list) == ("r", False)
