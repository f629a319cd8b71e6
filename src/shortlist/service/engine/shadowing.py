"""A stream that shadows another: it has the same rounds, with scores of its own, and users never see its lists.

Users see the lists of the one in use, and their answers count in both. In the stream that shadows, everything is
decided as in shadow mode: its list has all candidates, and `reached` is how many it would have shown. Both lists are
written in one transaction, and so are both answers.

**Why its threshold is safe.** A pick reveals what the new scorer made of it, whoever showed it; anything else counts as
below the threshold. So what is counted is never above the true score, whatever the stream in use hides.

A miss of the list that users saw is a miss of the hidden one only if they saw all that it would have had.
Otherwise it is low for the threshold, and unknown to the alarm and to the error budget, as a page that nobody expanded.
"""

from collections.abc import Mapping

from shortlist.errors import ConflictingStream, InvalidParameter
from shortlist.rounds.events import Listed
from shortlist.service.engine.settings import Settings
from shortlist.service.engine.stream import LoggedStream

__all__ = ["check_leader", "check_own", "check_serves", "shadowing"]


def check_serves(stream: LoggedStream) -> None:
    """Refuse what is sent to a stream that shadows another."""
    shadows = stream.settings.shadows
    if shadows is not None:
        raise ConflictingStream(
            f"stream {stream.name} shadows {shadows}: its rounds and answers come with those of {shadows}; send them "
            'there, or end it with PATCH {"shadows": null}'
        )


def check_own(listed: Listed) -> None:
    """Refuse what is sent to a round that came with another stream's."""
    if listed.seen is not None:
        stream = listed.seen.stream
        raise ConflictingStream(
            f"round {listed.round_id} came with that of stream {stream}, whose list was shown: answer it there"
        )


def check_leader(settings: Settings, leader: LoggedStream) -> None:
    """Refuse settings of a stream that cannot shadow another."""
    name, other = leader.name, leader.settings
    if other.shadows is not None:
        raise InvalidParameter(f"shadows is {name!r}, which shadows {other.shadows!r} itself: shadow {other.shadows!r}")
    if other.explore_share is not None:
        raise InvalidParameter(
            f"shadows is {name!r}, which has explore_share {other.explore_share}: its users report no misses, so "
            "nothing can be learned beside it; try the new scorer in a stream of its own"
        )
    if settings.grace < other.grace:
        raise InvalidParameter(
            f"grace is {settings.grace}, and {name} has {other.grace}: an answer must not be final here while it can "
            f"be corrected there; give a grace of at least {other.grace}"
        )


def shadowing(leader: LoggedStream, name: str, others: Mapping[str, LoggedStream | None]) -> LoggedStream | None:
    """Return the stream that shadows another, to be given a round; None if it takes none any more.

    Once it serves on its own, or while its log cannot be read, what is sent for it is left out, so that the stream in
    use is not disturbed.
    """
    if name not in others:
        raise InvalidParameter(
            f'also names {name!r}, and there is no such stream; create it with "shadows": "{leader.name}", or leave it '
            "out"
        )
    other = others[name]
    if other is None:
        return None
    if other.leader != leader.name:
        raise ConflictingStream(
            f"also names {name!r}, which does not shadow {leader.name}; shadows is set when a stream is created: "
            "create a new one, or leave it out"
        )
    return other if other.settings.shadows is not None else None
