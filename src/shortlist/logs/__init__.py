"""What a log can tell: a new scorer without starting over, and whether silence may be ignored."""

from shortlist.logs.reading import LoggedRound, read_log
from shortlist.logs.rescoring import rescore
from shortlist.logs.silence import IgnoreCheck, check_ignore

__all__ = ["IgnoreCheck", "LoggedRound", "check_ignore", "read_log", "rescore"]
