"""A tracker, driven by hand."""

from shortlist.rounds.settings import Settings
from shortlist.rounds.tracker import make_tracker


def make(policy, **options):
    return make_tracker(Settings(policy=policy, **options))


def show(tracker, name):
    tracker.show(name, tracker.threshold, tracker.epoch)


def take(tracker, name, score):
    """Take a score, or None for a miss."""
    if score is None:
        tracker.miss(name)
    else:
        tracker.hit(name, score)
