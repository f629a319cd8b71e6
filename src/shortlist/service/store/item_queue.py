"""Items that wait to become rounds, and leases: who is answering which round.

Neither is part of the log. An item becomes a round when it is drawn, and from then on the log has it; a lease only says
whom a round is shown to. Both change in the transactions of the one thread that writes, under the stream's lock.

Items have dense positions, from 0. Drawing takes the item at a position out and moves the last one there, so a draw
costs the same however many wait, and every set of items is drawn from uniformly, whatever the order they came in.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from shortlist.service.store.rows import ItemRow, Lease, QueueCounts
from shortlist.service.store.tables import annotators, events, items, leases

if TYPE_CHECKING:
    from shortlist.service.store.store import Store

__all__ = ["Queue", "queue_counts"]

#: How many keys go into one query, and how many refused items are reported.
_CHUNK: Final = 200
_TOLD: Final = 20


class Queue:
    """The items and leases of a store, for the one thread that writes.

    `add`, `remove`, `clear`, `renew` and `give_back` commit; the others are part of what is appended next.

    Parameters
    ----------
    store
        The log.
    """

    def __init__(self, store: "Store") -> None:
        self._store = store

    def add(self, stream_id: int, new: Sequence[ItemRow], at: float) -> "list[str] | None":
        """Add items in their order; return of each whether it is "new", the "same" again, "shown" already, or "other".

        "other": one of that id waits with other content. None: the stream is gone.
        """
        store = self._store
        with store.transaction() as connection:
            if not store.lock(connection, [stream_id]):
                store.rollback()
                return None
            _forget_refused(connection, stream_id, [item.item_id for item in new])
            bodies = _bodies(connection, stream_id, [item.item_id for item in new])
            shown = _rounds(connection, stream_id, [item.item_id for item in new])
            waiting, rows, outcomes = _waiting(connection, stream_id), list[dict[str, object]](), list[str]()
            for item in new:
                if item.item_id in shown:
                    outcomes.append("shown")
                elif item.item_id in bodies:
                    outcomes.append("same" if bodies[item.item_id] == item.body else "other")
                else:
                    bodies[item.item_id] = item.body
                    rows.append(item._asdict() | {"position": waiting + len(rows), "added": at})
                    outcomes.append("new")
            if rows:
                connection.execute(items.insert(), rows)
            store.commit()
        return outcomes

    def clear(self, stream_id: int) -> int:
        """Remove all items, those that were refused too; return how many there were."""
        store = self._store
        with store.transaction() as connection:
            store.lock(connection, [stream_id])
            removed = connection.execute(items.delete().where(items.c.stream_id == stream_id)).rowcount
            store.commit()
        store.empty_journal()
        return removed

    def remove(self, stream_id: int, item_id: str) -> bool:
        """Remove an item; return False if none of that id waits or was refused."""
        store, mine = self._store, items.c.stream_id == stream_id
        with store.transaction() as connection:
            store.lock(connection, [stream_id])
            waiting = _waiting(connection, stream_id)
            row = connection.execute(sa.select(items.c.position).where(mine, items.c.item_id == item_id)).one_or_none()
            if row is None:
                store.rollback()
                return False
            connection.execute(items.delete().where(mine, items.c.item_id == item_id))
            if row.position is not None and row.position < waiting - 1:
                last = items.c.position == waiting - 1
                connection.execute(items.update().where(mine, last).values(position=row.position))
            store.commit()
        store.empty_journal()
        return True

    def leases(self, stream_id: int) -> list[Lease]:
        """Return who holds which round."""
        with self._store.transaction() as connection:
            return _leases(connection, stream_id)

    def leases_of(self, rounds: Collection[tuple[int, str]]) -> dict[tuple[int, str], Lease]:
        """Return who holds some rounds, by stream and round."""
        held = dict[tuple[int, str], Lease]()
        with self._store.transaction() as connection:
            for stream_id, ids in _by_stream(rounds).items():
                for start in range(0, len(ids), _CHUNK):
                    mine = leases.c.stream_id == stream_id, leases.c.round_id.in_(ids[start : start + _CHUNK])
                    rows = connection.execute(sa.select(leases).where(*mine))
                    held |= {(row.stream_id, row.round_id): Lease(*row) for row in rows}
        return held

    def signers_of(self, answers: Mapping[tuple[int, str], int]) -> dict[tuple[int, str], str]:
        """Return who gave some answers, by stream and round, as far as that is recorded; they are given by number."""
        signed = dict[tuple[int, str], str]()
        with self._store.transaction() as connection:
            for key, number in answers.items():
                mine = annotators.c.stream_id == key[0], annotators.c.number == number
                row = connection.execute(sa.select(annotators.c.annotator).where(*mine)).one_or_none()
                if row is not None:
                    signed[key] = row.annotator
        return signed

    def waiting(self, stream_id: int) -> int:
        """Return how many items wait."""
        with self._store.transaction() as connection:
            return _waiting(connection, stream_id)

    def draw(self, stream_id: int, position: int, waiting: int) -> ItemRow | None:
        """Take the item at a position out of those that wait; the last of them takes its position.

        Return None if there is a round of its id by now, which somebody has sent as such.
        """
        mine = items.c.stream_id == stream_id
        with self._store.transaction() as connection:
            query = sa.select(items.c.item_id, items.c.body).where(mine, items.c.position == position)
            row = connection.execute(query).one()
            connection.execute(items.delete().where(mine, items.c.position == position))
            if position < waiting - 1:
                connection.execute(
                    items.update().where(mine, items.c.position == waiting - 1).values(position=position)
                )
            shown = _rounds(connection, stream_id, [row.item_id])
        return None if shown else ItemRow(stream_id, row.item_id, row.body)

    def refuse(self, item: ItemRow, problem: str, at: float) -> None:
        """Keep an item that cannot become a round, and why, for the caller who added it."""
        row = item._asdict() | {"position": None, "added": at, "problem": problem}
        with self._store.transaction() as connection:
            connection.execute(items.insert(), [row])

    def lease(self, lease: Lease, closed: Collection[str] = ()) -> None:
        """Give a round to somebody; forget the leases of rounds that are closed."""
        with self._store.transaction() as connection:
            for round_id in {lease.round_id, *closed}:
                mine = leases.c.stream_id == lease.stream_id, leases.c.round_id == round_id
                connection.execute(leases.delete().where(*mine))
            connection.execute(leases.insert(), [lease._asdict()])

    def renew(self, lease: Lease) -> bool:
        """Keep a round for longer; return False if its holder does not have it any more."""
        return self._replace(lease)

    def give_back(self, lease: Lease) -> bool:
        """Let others have a round; return False if the holder no longer has it; without a holder, in any case."""
        return self._replace(lease, holder="")

    def _replace(self, lease: Lease, **changes: str) -> bool:
        store = self._store
        with store.transaction() as connection:
            store.lock(connection, [lease.stream_id])
            now = next((each for each in _leases(connection, lease.stream_id) if each.round_id == lease.round_id), None)
            if now is None or (lease.holder and now.holder != lease.holder):
                store.rollback()
                return False
            mine = leases.c.stream_id == lease.stream_id, leases.c.round_id == lease.round_id
            connection.execute(leases.update().where(*mine).values(**lease._asdict() | changes))
            store.commit()
        return True


def queue_counts(connection: sa.Connection, stream_id: int) -> QueueCounts:
    """Return what waits, what was refused, and who holds rounds."""
    refused = items.c.stream_id == stream_id, items.c.position.is_(None)
    count = connection.execute(sa.select(sa.func.count()).select_from(items).where(*refused)).scalar_one()
    query = sa.select(items.c.item_id, items.c.problem).where(*refused).order_by(items.c.added.desc()).limit(_TOLD)
    problems = [(row.item_id, row.problem) for row in connection.execute(query)] if count else []
    return QueueCounts(_waiting(connection, stream_id), count, problems, _leases(connection, stream_id))


def _by_stream(rounds: Collection[tuple[int, str]]) -> dict[int, list[str]]:
    ids = dict[int, list[str]]()
    for stream_id, round_id in rounds:
        ids.setdefault(stream_id, []).append(round_id)
    return ids


def _waiting(connection: sa.Connection, stream_id: int) -> int:
    last = connection.execute(sa.select(sa.func.max(items.c.position)).where(items.c.stream_id == stream_id)).scalar()
    return 0 if last is None else int(last) + 1


def _leases(connection: sa.Connection, stream_id: int) -> list[Lease]:
    return [Lease(*row) for row in connection.execute(sa.select(leases).where(leases.c.stream_id == stream_id))]


def _bodies(connection: sa.Connection, stream_id: int, ids: Sequence[str]) -> dict[str, str]:
    """Return the items that are stored, by their ids."""
    bodies = dict[str, str]()
    for start in range(0, len(ids), _CHUNK):
        mine = items.c.stream_id == stream_id, items.c.item_id.in_(ids[start : start + _CHUNK])
        bodies |= {row.item_id: row.body for row in connection.execute(sa.select(items).where(*mine))}
    return bodies


def _rounds(connection: sa.Connection, stream_id: int, ids: Sequence[str]) -> set[str]:
    """Return which of these ids are those of rounds."""
    shown = set[str]()
    for start in range(0, len(ids), _CHUNK):
        mine = events.c.stream_id == stream_id, events.c.round_id.in_(ids[start : start + _CHUNK]), events.c.phase == 0
        shown |= {row.round_id for row in connection.execute(sa.select(events.c.round_id).where(*mine))}
    return shown


def _forget_refused(connection: sa.Connection, stream_id: int, ids: Sequence[str]) -> None:
    """Remove items that were refused and are sent again."""
    for start in range(0, len(ids), _CHUNK):
        mine = items.c.stream_id == stream_id, items.c.item_id.in_(ids[start : start + _CHUNK])
        connection.execute(items.delete().where(*mine, items.c.position.is_(None)))
