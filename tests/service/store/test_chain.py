"""The chained hash: as its formula says, on both databases, whoever writes."""

import hashlib
import json

import pytest
import sqlalchemy as sa

from shortlist.errors import StoreUnavailable
from shortlist.service.store import Snapshot, Store
from shortlist.service.store.chain import first_hash, next_hash
from tests.service.store.entries import hit, listed
from tests.service.tampering import connected


def compact(fields):
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def written_out(address):
    """Return each stream's hash after 0, 1, 2, ... events, from its rows alone."""
    hashes = {}
    with connected(address) as connection:
        for name, settings, created, of in connection.execute(
            sa.text("SELECT name, settings, created, id FROM streams")
        ).all():
            text = "\n" + compact([name, created]) + "\n" + settings
            hashes[name] = [hashlib.sha256(text.encode()).hexdigest()]
            query = "SELECT number, phase, kind, round_id, at, body FROM events WHERE stream_id = :of ORDER BY number"
            for *fields, body in connection.execute(sa.text(query), {"of": of}).all():
                text = hashes[name][-1] + "\n" + compact(fields) + "\n" + body
                hashes[name].append(hashlib.sha256(text.encode()).hexdigest())
    return hashes


def test_the_hash_is_the_formula_in_batches_of_several_streams(address, store):
    rows = [store.create_stream(name, {"coverage": 0.9}, 12.5)[0] for name in ("a", "b", "ü")]
    for batch in range(3):
        store.append([listed(row, 2 * batch + 1, f"r{batch}", ids=["é", "\x7f"]) for row in rows])
        store.append([hit(row, 2 * batch + 2, f"r{batch}", "é") for row in reversed(rows[1:])])
        store.append([hit(rows[0], 2 * batch + 2, f"r{batch}", "é")])
    hashes = written_out(address)
    with store.reading() as reader:
        for row in reader.streams():
            assert [row.first_chain, row.chain] == [hashes[row.name][0], hashes[row.name][-1]]
            assert list(reader.chain(row.id, row.first_chain)) == list(enumerate(hashes[row.name]))[1:]


def test_a_transaction_that_failed_leaves_no_trace_in_the_hash(address, store, row):
    store.append([listed(row, 1)])
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.append([listed(row, 2, "other"), listed(row, 3)])  # its round was shown before
    store.append([hit(row, 2)])
    with store.reading() as reader:
        assert reader.stream("a").chain == written_out(address)["a"][2]


def test_two_that_write_to_one_stream_continue_one_hash(postgresql):
    one, other = Store(postgresql), Store(postgresql)
    row, _ = one.create_stream("a", {"coverage": 0.9}, 0.0)
    for number in range(1, 9):
        store = (one, other)[number % 3 == 0]
        store.begin({row.id: number - 1}, [])
        store.append([listed(row, number, f"r{number}")])
    one.save_snapshot(row.id, Snapshot(3, 1, "state"))  # the other one has written more in the meantime
    one.save_snapshot(row.id, Snapshot(5, 1, "state"))
    other.save_snapshot(row.id, Snapshot(8, 1, "state"))
    hashes = written_out(postgresql)["a"]
    with one.reading() as reader:
        assert reader.stream("a").chain == hashes[8]
        assert [(kept.number, kept.chain) for kept in reader.snapshots(row.id)] == [(8, hashes[8]), (5, hashes[5])]
    one.close()
    other.close()


def test_fields_cannot_be_shifted_into_each_other():
    rows = [(1, 0, "listed", "r", 0.0, "{}"), (1, 0, "listed", None, 0.0, "r{}"), (1, None, "0listed", "r", 0.0, "{}")]
    assert len({next_hash("", row) for row in rows}) == 3
    assert first_hash("a", "b", 0.0) != first_hash("ab", "", 0.0)
    assert next_hash("", (1, 0, b"?", "\udcff", None, b"\xff"))  # whatever a damaged row holds
