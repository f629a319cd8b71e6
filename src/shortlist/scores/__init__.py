"""One list's raw scores in, comparable scores out; ``fixed.py`` has those that need no learning."""

from shortlist.scores.fixed import (
    SCORES,
    Adaptive,
    Margin,
    Rank,
    Raw,
    Relative,
    Score,
    name_of,
    score_from_dict,
    to_score,
)

__all__ = ["SCORES", "Adaptive", "Margin", "Rank", "Raw", "Relative", "Score", "name_of", "score_from_dict", "to_score"]
