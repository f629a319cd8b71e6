"""Learning from a log: a new scorer without starting over, a threshold from labels."""

from shortlist.logs.calibration import LabeledThreshold, threshold_from_labels
from shortlist.logs.log_reader import LoggedRound, read_log
from shortlist.logs.rescoring import rescore

__all__ = [
    "LabeledThreshold",
    "LoggedRound",
    "read_log",
    "rescore",
    "threshold_from_labels",
]
