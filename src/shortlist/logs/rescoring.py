"""A new scorer without starting over: a log's answers, with new scores, are a warm start."""

from collections.abc import Callable, Mapping
from typing import Any

from shortlist._validation import Scorers, check_table
from shortlist.errors import InvalidParameter
from shortlist.listers.shortlister import Shortlister
from shortlist.logs.log_reader import LoggedRound, read_log
from shortlist.policies import Policy
from shortlist.rounds.settings import Settings

__all__ = ["NewScores", "rescore"]

#: The new scores of each round by its id, or a function that computes them.
NewScores = Mapping[Any, Any] | Callable[[LoggedRound], Any]


def rescore(
    log: Any,
    new_scores: NewScores,
    *,
    coverage: float | None = None,
    delta: float | None = None,
    policy: Policy | None = None,
    **settings: Any,
) -> Shortlister:
    """Return a lister for a new scorer that has learned from the answers in the log of an old one.

    All rounds of the log's last epoch get their new scores, in the order shown. What was picked then is right
    now, so its new score is known. Of a round that was missed, or has no answer, the right answer is taken to score at
    most as high as the best candidate that was not shown; with `delta`, below every threshold, which is conservative.

    **With `delta` the guarantee holds only if** the new scorer was neither trained on these rounds nor selected on
    them (of five scorers, the one that looks best in the log passes the optimum in one stream in five), and candidates
    are still retrieved in the same way. Otherwise split the log: one part for selection, the rest for this.

    It saves most if misses were resolved: everything was shown, or users asked for more until they found it. An
    unresolved miss counts as below the threshold for the new scorer too.

    Parameters
    ----------
    log
        A file that ``shortlist export STREAM`` wrote, or rounds; see `shortlist.logs.read_log`.
    new_scores
        For each round, by its id, what `Shortlister.propose` takes: scores in the order of the log's candidates, from
        one scorer or several; or ``{candidate: score}``. Or a function that computes them from a `LoggedRound`.
    coverage, delta, policy, settings
        As for `Shortlister`. The new lister has its own guarantee: the probability that either of the two fails is at
        most the sum of both deltas.

    Returns
    -------
    Shortlister
        It has shown no list yet; its threshold is learned from the rounds of the log. With ``score="auto"`` the score
        is learned from the last 250 of them; with `delta` from the first picks, and only the rounds after them are used
        for the threshold.

    Raises
    ------
    InvalidParameter
        If a round of the log has no new scores: leaving rounds out would void the guarantee.
    """
    lister = Shortlister(coverage, delta, policy=policy, **settings)
    lister._warm_start(*_rescored(log, new_scores, lister.settings))
    return lister


def _rescored(log: Any, new_scores: NewScores, settings: Settings) -> tuple[list[Any], list[Any], list[list[int]]]:
    """Return the lists of a log with new scores, the right candidates in each, and those that were shown."""
    rounds = [each for each in _last_epoch(read_log(log)) if _counts(each, settings)]
    if not rounds:
        raise InvalidParameter("there is no round in the log to learn from; give one with answers that count")
    scorers: Scorers | None = None
    lists: list[Any] = []
    for each in rounds:
        if not each.candidates:
            lists.append([])  # a search that found nothing is below every threshold, too
            continue
        scores = _scores(each, new_scores)
        table, scorers = check_table(scores, scorers)
        if len(table) != len(each.candidates):
            raise InvalidParameter(
                f"there are {len(table)} new scores for round {each.round_id}, which has {len(each.candidates)} "
                "candidates; give one for each, in their order"
            )
        lists.append(scores)
    right = [[each.candidates.index(member) for member in each.right] or -1 for each in rounds]
    return lists, right, [_shown(each) for each in rounds]


def _shown(logged: LoggedRound) -> list[int]:
    """Return the positions of the candidates that were shown."""
    position = {member: i for i, member in enumerate(logged.candidates)}
    return [position[member] for member in logged.members]


def _last_epoch(rounds: list[LoggedRound]) -> list[LoggedRound]:
    last = max((each.epoch for each in rounds), default=0)
    return [each for each in rounds if each.epoch == last]


def _counts(logged: LoggedRound, settings: Settings) -> bool:
    """Return whether a round would have counted with these settings."""
    if logged.answer in ("absent", "withdrawn"):
        return False  # no candidate was right, says someone who saw all of them; or nobody saw the list
    if settings.explore_share is not None:
        return logged.explored and not logged.is_silent
    return settings.unanswered == "miss" or not logged.is_silent


def _scores(logged: LoggedRound, new_scores: NewScores) -> Any:
    """Return the new scores of a round, in the order of its candidates."""
    if callable(new_scores):
        scores = new_scores(logged)
    elif logged.round_id in new_scores:
        scores = new_scores[logged.round_id]
    else:
        raise InvalidParameter(
            f"round {logged.round_id} of the log has no new scores; give them for every round: leaving some out would "
            "void the guarantee"
        )
    if isinstance(scores, Mapping):
        by_text = {str(name): score for name, score in scores.items()}  # JSON has no other names
        if by_text.keys() >= set(map(str, logged.candidates)):
            return [by_text[str(candidate)] for candidate in logged.candidates]
    return scores
