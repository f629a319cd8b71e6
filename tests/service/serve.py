"""A service in a process of its own: as it is, or broken on purpose.

durable
    As it ships.
ack-first
    The write is moved after the acknowledgement: what a crash test must notice.
unsynced
    SQLite is told not to sync: what the trace of system calls must notice.
"""

import asyncio
import sys

from shortlist.service.engine import batch, writer
from shortlist.service.web import create_app, run


async def store_later(self, commands):
    """Answer at once; write a little later."""
    draft = batch.Batch(self._memory.cache, 0.0, self._open_limit)
    outcomes = [self._judge(draft, command) for command in commands]
    if draft.events:
        self._memory.fold(draft.events)

        async def write():
            await asyncio.sleep(0.1)
            await self.do(self._store.append, draft.events, draft.texts)

        self.late = [*getattr(self, "late", []), asyncio.create_task(write())]
    return outcomes, len(draft.events)


def main(address, port, variant):
    if variant == "ack-first":
        writer.Writer._store_all = store_later
    app = create_app(address, snapshot_every=200)
    if variant == "unsynced":

        @app.get("/unsync")
        async def unsync():
            def work():
                connection = app.state.engine.store._writing.raw_connection()
                connection.cursor().execute("PRAGMA synchronous = OFF")
                connection.close()

            await app.state.engine._writer.do(work)

    run(app, port=port)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
