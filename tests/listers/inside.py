"""What a lister remembers, read from its save file: the one place that shows all of it."""

import json
import tempfile
from pathlib import Path

from shortlist.policies import State
from shortlist.rounds.codec import decode
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import StreamState
from shortlist.rounds.tracker import TrackerState


def everything(lister):
    """Return all that a lister knows, as its save file has it, except the random parts of ids."""
    with tempfile.TemporaryDirectory() as folder:
        lister.save(Path(folder) / "lister.json")
        content = json.loads((Path(folder) / "lister.json").read_text())["content"]
    del content["rounds"]["parts"]
    return content


def tracker_state(lister, key=None) -> TrackerState:
    """Return what the tracker of one of its streams remembers."""
    content = everything(lister)
    policy = decode(Settings, content["settings"]).policy
    state = next(state for name, state in content["streams"] if name == key)
    return decode(StreamState, state, {State: policy.state_type}).tracker


def policy_state(lister, key=None):
    """Return the state of its policy."""
    return tracker_state(lister, key).policy
