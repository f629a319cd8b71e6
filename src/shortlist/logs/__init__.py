"""Learning from a log: a new scorer without starting over, whether silence may be ignored, a threshold from labels."""

from shortlist.logs.labels import LabeledThreshold, threshold_from_labels
from shortlist.logs.reading import LoggedRound, read_log
from shortlist.logs.rescoring import rescore
from shortlist.logs.silence import IgnoreCheck, check_ignore

__all__ = [
    "IgnoreCheck",
    "LabeledThreshold",
    "LoggedRound",
    "check_ignore",
    "read_log",
    "rescore",
    "threshold_from_labels",
]
