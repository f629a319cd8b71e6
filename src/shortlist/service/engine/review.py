"""A lead's review: labels corrected afterwards, for the training set alone.

The first answer is the round's: it taught the threshold, and it stays in the log. A correction is kept beside it, the
last one of each round, with a note, who set it and when.
"""

import time

from shortlist._validation import Member
from shortlist.errors import ConflictingRound, NotShown, UnknownRound, UnknownStream
from shortlist.rounds.events import Listed
from shortlist.service.engine.stream_loader import StreamLoader
from shortlist.service.engine.writer import Writer
from shortlist.service.store import Correction, Store

__all__ = ["Review"]


class Review:
    """Corrects labels.

    Parameters
    ----------
    store, loader, writer
        The log, where streams are found, and what writes.
    """

    def __init__(self, store: Store, loader: StreamLoader, writer: Writer) -> None:
        self._store, self._loader, self._writer = store, loader, writer

    async def correct(
        self, name: str, round_id: str, label: Member | None, note: str | None = None, reviewer: str | None = None
    ) -> Correction:
        """Set the label of an answered round, at any time; None: no candidate is right. The last one stays.

        Raises
        ------
        UnknownRound
            It was never shown.
        ConflictingRound
            It has no answer yet: answer it.
        NotShown
            The label was not among its candidates.
        """
        self._writer.check()
        stream = await self._loader.fresh(name)
        entries = await self._loader.read_of(stream, lambda reader: reader.rounds(stream.id, [round_id]))
        listed = next((entry.event for entry in entries if isinstance(entry.event, Listed)), None)
        if listed is None:
            raise UnknownRound(f"round {round_id} of stream {name} was never shown")
        if not any(entry.is_answer for entry in entries):
            raise ConflictingRound(f"round {round_id} has no answer yet: answer it, then it can be corrected")
        candidates = range(len(listed.scores)) if listed.ids is None else listed.ids
        if label is not None and not any(label == each and type(label) is type(each) for each in candidates):
            raise NotShown(f"the label is {label!r}, which is no candidate of round {round_id}; null if none is right")
        correction = Correction(stream.id, round_id, label, note, reviewer, time.time())
        async with self._writer.lock:
            if not await self._writer.do(self._store.correct, correction):
                raise UnknownStream(f"there is no stream {name!r} any more")
        return correction
