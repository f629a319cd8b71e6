"""The scores of one list in, one comparable score per candidate out.

``fixed.py`` has the scores that need no learning, ``learned.py`` the one that is learned from picks, ``kinds.py``
the names of all.
"""

from shortlist.scores.fixed import Adaptive, Margin, Rank, Raw, Relative, Score
from shortlist.scores.kinds import KINDS, SCORES, name_of, score_from_dict, to_score
from shortlist.scores.learned import Learned, learn

__all__ = [
    "KINDS",
    "SCORES",
    "Adaptive",
    "Learned",
    "Margin",
    "Rank",
    "Raw",
    "Relative",
    "Score",
    "learn",
    "name_of",
    "score_from_dict",
    "to_score",
]
