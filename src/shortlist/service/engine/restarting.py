"""Learning starts over because somebody asks for it."""

from dataclasses import dataclass

from shortlist.errors import ConflictingStream, InvalidParameter
from shortlist.service.engine.logged_stream import LoggedStream

__all__ = ["Restart"]


@dataclass(slots=True)
class Restart:
    """Learning is to start over."""

    stream: LoggedStream
    refit: bool = False
    #: The epoch that is to end; the one that there is if not given. So asking twice is asking once.
    epoch: int | None = None
    #: It is about no round.
    round_id: str = ""

    def is_new(self, now: int) -> bool:
        """Return whether a stream that is in epoch `now` has yet to do it, or refuse it."""
        name = self.stream.name
        if self.stream.settings.rounds.unanswered == "ignore":
            raise InvalidParameter(
                f'stream {name} has unanswered "ignore", and a restart needs "miss": create a new stream'
            )
        if self.refit and self.stream.stream.learning is None:
            raise InvalidParameter(
                f'refit is true, and stream {name} learns no score: leave it out, or use one with score "auto"'
            )
        if self.epoch in (None, now):
            return True
        if self.epoch == now - 1:
            return False
        raise ConflictingStream(f"stream {name} is in epoch {now}, not in {self.epoch}: fetch the stream again first")
