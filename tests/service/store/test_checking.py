"""Is the log as it was written? (What is found in whole databases: tests/service/engine/test_verify.py.)"""

import pytest

from shortlist.service.store import Snapshot, Text, check_chain, check_texts, text_digest
from tests.service.store.entries import hit, listed
from tests.service.tampering import alter

SALT = "00112233445566778899aabbccddeeff"


@pytest.fixture
def filled(store, row):
    digest = text_digest(SALT, "who", None, None)
    store.append([listed(row, 1, text_digest=digest), hit(row, 2)], [Text(row.id, 1, "who", None, None, SALT)])
    store.save_snapshot(row.id, Snapshot(2, 1, "state"))
    store.append([listed(row, 3, "other")])
    return store


def problems(store):
    with store.reading() as reader:
        row = reader.stream("a")
        return [*check_chain(reader, row), *check_texts(reader, row.id)]


ALTERED = {
    "nothing": ("UPDATE heartbeat SET at = 1", []),
    "behind the snapshot": ("UPDATE events SET at = 5 WHERE number = 3", ["the log between events 2 and 3 is"]),
    "before it": ("UPDATE events SET at = 5 WHERE number = 2", ["the log up to event 2, or the stream's settings, is"]),
    "what it was made with": (
        "UPDATE streams SET created = 5",
        ["the log up to event 2, or the stream's settings, is"],
    ),
    "the salt": ("UPDATE texts SET salt = '00'", ["event 1: its question"]),
    "a salt that is none": ("UPDATE texts SET salt = 'zz'", ["event 1: its question"]),
    "texts that are no JSON": ("UPDATE texts SET question = 'who'", ["event 1: its question"]),
    "texts of no event": ("UPDATE texts SET number = 9", ["event 9: its question"]),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_was_altered_is_found(address, filled, name):
    sql, beginnings = ALTERED[name]
    filled.beat(0.0)
    alter(address, sql)
    found = problems(filled)
    assert len(found) == len(beginnings)
    assert all(problem.startswith(beginning) for problem, beginning in zip(found, beginnings, strict=True))


def test_texts_that_were_erased_are_no_problem(filled, row):
    assert filled.erase_texts(row.id, before=50.0) == 1
    assert problems(filled) == []
