"""Items and leases: drawn once, in any order, and nobody's work is lost."""

import pytest

from shortlist.service.store import ItemRow, Lease
from tests.service.store.entries import listed


def rows(row, *names, body="{}"):
    return [ItemRow(row.id, name, body) for name in names]


def waiting(store, row):
    with store.reading() as reader:
        return reader.queue(row.id).waiting


def drawn(store, row, position, count):
    item = store.queue.draw(row.id, position, count)
    store.append([])
    return None if item is None else item.item_id


def test_items_wait_until_they_are_drawn_each_once(store, row):
    assert store.queue.add(row.id, rows(row, "a", "b", "c", "d"), 0.0) == ["new"] * 4
    assert waiting(store, row) == 4
    assert [drawn(store, row, 1, 4), drawn(store, row, 1, 3), drawn(store, row, 0, 2), drawn(store, row, 0, 1)] == [
        "b",
        "d",  # the last one took its position
        "a",
        "c",
    ]
    assert waiting(store, row) == 0


def test_the_same_again_another_of_its_id_and_what_was_shown(store, row):
    store.append([listed(row, 1, "shown")])
    assert store.queue.add(row.id, rows(row, "a", "a", "shown"), 0.0) == ["new", "same", "shown"]
    assert store.queue.add(row.id, rows(row, "a", body="[]"), 0.0) == ["other"]
    assert waiting(store, row) == 1


def test_an_item_that_was_sent_as_a_round_meanwhile_is_not_drawn(store, row):
    store.queue.add(row.id, rows(row, "a", "b"), 0.0)
    store.append([listed(row, 1, "a")])
    assert drawn(store, row, 0, 2) is None
    assert drawn(store, row, 0, 1) == "b"


def test_what_is_drawn_and_not_appended_waits_again(store, row):
    store.queue.add(row.id, rows(row, "a", "b"), 0.0)
    store.queue.draw(row.id, 0, 2)
    store.rollback()
    assert waiting(store, row) == 2
    assert drawn(store, row, 0, 2) == "a"


def test_what_is_refused_is_kept_with_its_reason(store, row):
    store.queue.add(row.id, rows(row, "a"), 0.0)
    store.queue.refuse(store.queue.draw(row.id, 0, 1), "of other scorers", 1.0)
    store.append([])
    with store.reading() as reader:
        counts = reader.queue(row.id)
    assert (counts.waiting, counts.refused, counts.problems) == (0, 1, [("a", "of other scorers")])
    assert store.queue.clear(row.id) == 1


def test_one_item_is_removed_and_the_others_are_still_drawn(store, row):
    store.queue.add(row.id, rows(row, "a", "b", "c"), 0.0)
    assert store.queue.remove(row.id, "a")
    assert not store.queue.remove(row.id, "a")
    assert {drawn(store, row, 0, 2), drawn(store, row, 0, 1)} == {"b", "c"}


def test_leases_are_renewed_and_given_back_by_their_holders(store, row):
    queue = store.queue
    queue.lease(Lease(row.id, "r", "ann", 10.0))
    store.append([])
    assert queue.renew(Lease(row.id, "r", "ann", 20.0))
    assert not queue.renew(Lease(row.id, "r", "bob", 30.0))
    assert not queue.renew(Lease(row.id, "other", "ann", 30.0))
    assert not queue.give_back(Lease(row.id, "r", "bob", 0.0))
    assert queue.leases(row.id) == [Lease(row.id, "r", "ann", 20.0)]
    store.rollback()
    assert queue.give_back(Lease(row.id, "r", "ann", 0.0, 7))
    assert queue.leases(row.id) == [Lease(row.id, "r", "", 0.0, 7)]
    queue.lease(Lease(row.id, "s", "bob", 10.0), closed=["r"])
    store.append([])
    assert [lease.round_id for lease in queue.leases(row.id)] == ["s"]
    assert queue.give_back(Lease(row.id, "s", "", 0.0))  # whoever has it


def test_a_stream_that_is_gone(store, row):
    store.queue.add(row.id, rows(row, "a"), 0.0)
    store.queue.lease(Lease(row.id, "r", "ann", 10.0))
    store.append([])
    store.delete_stream(row.id)
    assert store.queue.add(row.id, rows(row, "b"), 0.0) is None
    assert waiting(store, row) == 0


@pytest.mark.parametrize("count", [1, 450])
def test_many_at_once(store, row, count):
    names = [f"i{number}" for number in range(count)]
    assert store.queue.add(row.id, rows(row, *names), 0.0) == ["new"] * count
    assert store.queue.add(row.id, rows(row, *names), 0.0) == ["same"] * count
    assert {drawn(store, row, 0, count - number) for number in range(count)} == set(names)
