"""What a log can tell: a new scorer without starting over, whether silence may be ignored, a number from labels."""

from shortlist.logs.labels import LabelledThreshold, threshold_from_labels
from shortlist.logs.reading import LoggedRound, read_log
from shortlist.logs.rescoring import rescore
from shortlist.logs.silence import IgnoreCheck, check_ignore

__all__ = [
    "IgnoreCheck",
    "LabelledThreshold",
    "LoggedRound",
    "check_ignore",
    "read_log",
    "rescore",
    "threshold_from_labels",
]
