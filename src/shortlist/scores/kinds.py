"""Scores by name, and as plain data."""

import dataclasses
from typing import Any, Final

from shortlist.errors import InvalidParameter, MissingScore
from shortlist.scores.fixed import Adaptive, Margin, Rank, Raw, Relative, Score
from shortlist.scores.learned import Learned

__all__ = ["KINDS", "SCORES", "name_of", "score_from_dict", "to_score"]

SCORES: Final[dict[str, type[Any]]] = {kind.key: kind for kind in (Raw, Margin, Relative, Rank, Adaptive)}
"""The scores that need no learning, by the name used in settings and files."""

KINDS: Final[dict[str, type[Any]]] = SCORES | {Learned.key: Learned}
"""All scores that files and the service can describe."""


def to_score(score: Any) -> Score:
    """Return the score named by a setting.

    Parameters
    ----------
    score
        One of the names in `SCORES`, or any callable of your own, which is returned as it is.

    Returns
    -------
    Score
        The score.

    Raises
    ------
    InvalidParameter
        If there is no such name, or `score` is not callable.
    """
    if isinstance(score, str):
        if score not in SCORES:
            raise InvalidParameter(f"score is {score!r}; it must be one of {', '.join(SCORES)}, auto, or an object")
        chosen: Score = SCORES[score]()
        return chosen
    if isinstance(score, type) or not callable(score):
        raise InvalidParameter(
            f"score is {score!r}; it must be one of {', '.join(SCORES)}, auto, or an object that turns an array of "
            "scores into another"
        )
    return score  # type: ignore[no-any-return]


def score_from_dict(data: dict[str, Any], custom: Any = None) -> Score:
    """Return the score described by its kind and parameters.

    Parameters
    ----------
    data
        ``{"kind": "relative", "temperature": 0.4}``, as in files and in the service.
    custom
        The object itself, if it is a score of your own.

    Returns
    -------
    Score
        The score.

    Raises
    ------
    MissingScore
        If it is a score of your own and `custom` is not given.
    """
    parameters = dict(data)
    kind = parameters.pop("kind")
    if kind == "custom":
        if custom is None:
            raise MissingScore(
                f"the score {data.get('name')} is one of your own, and a file cannot hold it; pass it again: "
                "load(path, score=...)"
            )
        return to_score(custom)
    score: Score = KINDS[kind](**parameters)
    return score


def name_of(score: Any) -> str:
    """Return a short name: ``relative(0.4)``.

    Parameters
    ----------
    score
        A score.

    Returns
    -------
    str
        The key, with its parameters; for a score of your own, its name.

    Examples
    --------
    >>> name_of(Relative(0.3)), name_of(Raw())
    ('relative(0.3)', 'raw')
    """
    if isinstance(score, Learned):
        return score.key
    if type(score) not in SCORES.values():
        return getattr(score, "__name__", type(score).__name__)
    values = [f"{value:g}" for value in dataclasses.asdict(score).values()]
    return f"{score.key}({', '.join(values)})" if values else str(score.key)
