"""Summaries of a stream: what has happened and what is needed next, in figures and in words."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Final

from shortlist._validation import UNNAMED, miss_rate
from shortlist._wilson import wilson
from shortlist.boundaries.base import Advance, Constants
from shortlist.policies import MISS, SPS, OrderStatistic, OrderStatisticState, ProductLimitState
from shortlist.policies.product_limit import FIRST
from shortlist.rounds.learning import PATIENCE, Learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import RoundName
from shortlist.rounds.stream import Stream, Tally
from shortlist.rounds.summary import Drift, ErrorBudget
from shortlist.rounds.tracker import Tracker
from shortlist.scores import Learned
from shortlist.scores.kept_lists import MOST_KEPT

__all__ = [
    "POOR_SEARCH",
    "TOO_MANY_MISSES",
    "UNREPORTED",
    "count",
    "rounds_needed",
    "summarize",
    "waiting_for",
]

#: How `waiting_for` begins where something is wrong: what it then says is advice.
UNREPORTED: Final = "coverage unknown"
POOR_SEARCH: Final = "better candidates"
TOO_MANY_MISSES: Final = "fewer misses"
#: After so many picks without a reported miss, silence may hide misses.
_PICKS: Final = 20
#: Or few are silent, and so many picks without a miss are rare where the target is met.
_FEW, _RARE = 3, 0.001
#: How many rounds ahead to look for the next move of the threshold.
_LOOKAHEAD: Final = 10_000


def count(*tallies: Tally, open_rounds: int, settings: Settings) -> dict[str, Any]:
    """Return the counts of several streams together; coverage is unknown where nobody reports misses."""
    counts = {
        name: sum(getattr(tally, name) for tally in tallies)
        for name in ("rounds", "hits", "misses", "skipped", "absent", "expired", "withdrawn")
    }
    answered = counts["hits"] + counts["misses"]
    unknown = settings.explore_share is not None or is_unreported(*tallies, open_rounds=open_rounds, settings=settings)
    seen = counts["hits"] / answered if answered and not unknown else None
    return counts | {"open": open_rounds, "coverage_seen": seen}


def drift(tracker: Tracker, id_of: Callable[[RoundName], str]) -> Drift | None:
    """Return the state of a tracker's drift detector."""
    detector, state = tracker.detector, tracker.state
    if detector is None:
        return None
    alarms = [dataclasses.asdict(alarm) | {"round": id_of(alarm.round)} for alarm in state.alarms]
    return Drift(detector.level(state.drift), detector.false_alarm_rounds, state.alarm_count, alarms)


def error_budget(stream: Stream) -> ErrorBudget | None:
    """Return the state of a stream's error budget."""
    budget, tally = stream.budget, stream.tally
    if budget is None:
        return None
    added = tally.added / tally.lengthened if tally.lengthened else None
    lengthening = budget.more(1) > 0
    return ErrorBudget(budget.size, budget.spent, budget.burn_rate, tally.lengthened, added, lengthening)


def summarize(
    stream: Stream, open_rounds: int, id_of: Callable[[RoundName], str] = str, *, measure: bool = True
) -> dict[str, Any]:
    """Return the values of a stream's `Summary`; with `measure`, also compute what is slow, if it is due."""
    settings, tally, tracker, learning = stream.settings, stream.tally, stream.tracker, stream.learning
    state, complete = tracker.state, tally.recall_hits + tally.recall_misses
    counts = count(tally, open_rounds=open_rounds, settings=settings)
    answered = 0 if counts["coverage_seen"] is None else tally.hits + tally.misses
    unreported = is_unreported(tally, open_rounds=open_rounds, settings=settings)
    score = stream.score_of(stream.scorers or UNNAMED)
    learned = score if isinstance(score, Learned) and (learning is None or learning.number) else None
    gain = None if learning is None else learning.gain() if measure else learning.measured
    fitting, counted = is_fitting(stream), state.policy.rounds
    if isinstance(state.policy, ProductLimitState):
        counted = len(state.policy.values) // 2  # those that are still in the window
    return {
        **counts,
        "threshold": tracker.threshold,
        "counted": counted,
        "unanswered_counted": min(counted, state.silent + state.policy.pending),
        "epoch": tracker.epoch,
        "drift": drift(tracker, id_of),
        "error_budget": error_budget(stream),
        "hidden_share": tally.hidden / tally.candidates if tally.candidates else None,
        "truncated_share": tally.truncated / tally.rounds if tally.rounds else None,
        "candidate_recall": tally.recall_hits / complete if complete else None,
        "would_have_missed": tally.would_have_missed if settings.shadow else None,
        "expanded": tally.expanded,
        "found_after_more": tally.found_after_more,
        "explored": tally.explored,
        "policy": settings.policy.to_dict(),
        "coverage_target": getattr(settings.policy, "coverage", None),
        "coverage_interval": wilson(tally.hits, answered) if answered else None,
        "guarantee": guarantee(stream),
        "not_identified": state.policy.unidentified if settings.is_product_limit else None,
        "length": tally.length if tally.rounds else None,
        "half_coverage": tally.half if tally.halves else None,
        "waiting_for": (_unreported(stream, open_rounds) if unreported else None)
        or _poor_search(stream)
        or _fit_first(stream)
        or waiting_for(tracker, id_of) + _recall_so_far(stream),
        "rounds_needed": None if fitting else rounds_needed(tracker),
        "shadow": settings.shadow,
        "score": stream.score_name,
        "score_why": _why(learned, learning),
        "scorers": {} if learned is None else dict(zip(learned.scorers, learned.influence, strict=True)),
        "fit_rounds": None if learning is None or settings.is_product_limit else learning.needed,
        "fit_picks": len(learning.state.examples) if learning is not None and fitting else None,
        "refit_gain": None if gain is None or gain[0] <= 0 else 1 - gain[1] / gain[0],
    }


def guarantee(stream: Stream) -> str:
    """Return in words which guarantee is in force."""
    settings, tracker = stream.settings, stream.tracker
    parts = []
    if settings.explore_share is not None and tracker.threshold == MISS:
        parts.append(f"none before the first cut: until then lists that are not explored are {_first_page(settings)}")
    elif not settings.is_product_limit:
        parts.append(_about_every_list(stream))
    if stream.budget is not None:
        parts.append(
            f"over many lists, in any W answered rounds in a row at most {float(miss_rate(tracker.coverage)):.4g} W + "
            f"{stream.budget.size} cut lists miss, under any distribution shift, if misses are reported and answers "
            "are prompt"
        )
    if settings.is_product_limit:
        parts.append("nothing about a single list")
    if settings.at_most is not None and settings.explore_share is None:
        parts.append(f"pages that at_most={settings.at_most} cuts short are not covered")
    return "; ".join(parts)


def _about_every_list(stream: Stream) -> str:
    """Return in words what the policy guarantees, and under which condition."""
    settings, policy = stream.settings, stream.settings.policy
    delta, horizon = getattr(policy, "delta", None), getattr(policy, "horizon", None)
    if isinstance(policy, SPS):
        delta = 2 / policy.horizon
    how = "" if delta is None else f"with probability {1 - delta:.6g} "
    until = "" if horizon is None else f" in {horizon:,} rounds"
    condition = ""
    if settings.explore_share is not None:
        condition = ", and where everything is shown right answers with low scores are clicked at least as often"
    elif settings.unanswered == "ignore":
        condition = ", and right answers with low scores are answered at least as often, and no later"
    return (
        f"about every list, {how}none{until} is cut further than the optimal threshold would cut it, while the "
        f"distribution is stationary{condition}"
    )


def is_unreported(*tallies: Tally, open_rounds: int, settings: Settings) -> bool:
    """Return whether there are picks from cut lists, and silence, but never a miss: then coverage is unknown."""
    if not settings.is_product_limit or any(tally.misses or tally.absent for tally in tallies):
        return False
    picks, rounds = sum(tally.cut_hits for tally in tallies), sum(tally.rounds for tally in tallies)
    silent = open_rounds + sum(tally.skipped + tally.expired for tally in tallies)
    p0 = float(miss_rate(getattr(settings.policy, "coverage", 0.9)))
    if picks < _PICKS:
        return False
    return silent >= max(_PICKS / 2, p0 * rounds / 2) or (silent >= _FEW and (1 - p0) ** picks < _RARE)


def _unreported(stream: Stream, open_rounds: int) -> str:
    tally = stream.tally
    silent = open_rounds + tally.skipped + tally.expired
    return (
        f"{UNREPORTED}: nobody reports misses ({tally.hits:,} picks, {silent:,} rounds without answer, no miss); "
        'let users say "not in this list" or ask for more, or set explore_share for users who only click'
    )


def is_fitting(stream: Stream) -> bool:
    """Return whether the score is still being learned."""
    return stream.learning is not None and stream.learning.state.fitting


def _why(learned: Learned | None, learning: Learning | None) -> str:
    """Return in words what was learned about the score."""
    if learned is None:
        return "as set" if learning is None else "not learned yet: all scorers count the same"
    rounds = f"learned from {learned.rounds:,} picks" if learned.rounds else "not learned: nothing was picked"
    if learned.rounds and learning is not None and learning.state.sampled:
        rounds += f" and {MOST_KEPT} candidates of each list"
    if len(learned.scorers) == 1:
        return rounds
    shares = zip(learned.influence, learned.scorers, strict=True)
    return f"{rounds}: " + ", ".join(f"{name} {100 * share:.0f} %" for share, name in sorted(shares, reverse=True))


def _fit_first(stream: Stream) -> str | None:
    """Return in words that the score is learned first, while it is."""
    learning = stream.learning
    if learning is None or not learning.state.fitting:
        return None
    state, needed, settings = learning.state, learning.needed, stream.settings
    shown = "everything is shown"
    if settings.explore_share is not None:
        shown = f"the best {FIRST} are shown, or everything where a list is explored,"
    elif settings.at_most is not None and not settings.shadow:
        shown = f"the best {settings.at_most:,} are shown"
    if learning.is_due:
        return f"the fit of the score, from the picks that there are: {shown} until it is done"
    return (
        f"the score: it is learned from {needed} picks, of which there are {len(state.examples)}; {shown} until then, "
        f"or for {PATIENCE * needed:,} rounds at the most"
    )


def rounds_needed(tracker: Tracker) -> int | None:
    """Return the smallest number of further counted rounds that can move the threshold; None if not foreseeable."""
    state, policy = tracker.state.policy, tracker.policy
    if isinstance(state, ProductLimitState):
        return state.wait if state.threshold == MISS else None
    if too_many_low(tracker):
        return None
    needed = (
        state.low + 1 if state.low == state.limit else state.low
    )  # at the limit the threshold is as high as it may be
    return _look_ahead(policy.boundary.advance, state.walk, state.schedule, needed)


@functools.lru_cache(maxsize=1024)  # looking ahead costs up to a hundredth of a second
def _look_ahead(advance: Advance, walk: tuple[int, int, float, float], constants: Constants, needed: int) -> int | None:
    """Return the number of rounds after which a boundary allows so many low scores; None if not foreseeable."""
    n, k, first, second = walk
    for more in range(1, _LOOKAHEAD + 1):
        k, first, second = advance(n, k, first, second, constants)
        n += 1
        if k >= needed:
            return more
    return None


def too_many_low(tracker: Tracker) -> bool:
    """Return whether more rounds are below the threshold than coverage allows, beyond chance."""
    state = tracker.state.policy
    if isinstance(state, ProductLimitState):
        return True  # it does not stop
    return is_too_many(tracker.coverage, state.low, state.rounds)


def is_too_many(coverage: float, low: int, rounds: int, *, errors: float = 4, more: int = 4) -> bool:
    """Return whether so many rounds below the threshold are beyond chance."""
    p0 = float(miss_rate(coverage))
    return bool(low > rounds * p0 + errors * (rounds * p0 * (1 - p0)) ** 0.5 + more)


def waiting_for(tracker: Tracker, id_of: Callable[[RoundName], str] = str) -> str:
    """Return in words what is needed before the threshold can move."""
    state = tracker.state.policy
    more = rounds_needed(tracker)
    if isinstance(state, ProductLimitState):
        words = "nothing: the threshold moves with every few answers"
        if state.threshold == MISS:
            needed = f"{state.wait} more answers" if state.wait > 1 else "another pick"
            shown = "everything is" if tracker.settings.shadow else f"{_first_page(tracker.settings)} are"
            words = f"{needed} before there is a threshold: {shown} shown until then"
    elif too_many_low(tracker):
        words = _why_stuck(tracker, state)
    elif more is None:
        words = _out_of_sight(tracker, state)
    else:
        again = " again" * (tracker.threshold > MISS)
        words = f"at least {more} more counted round{'s' * (more != 1)} before the threshold can move{again}"
        if state.pending and state.limit >= 0:
            words += (
                f"; picks in {state.pending:,} unanswered rounds that count as below the threshold can make it sooner"
            )
    held = state.shown - state.passed - 1
    if held > 0:
        oldest = (state.epoch, state.passed)
        first = next(name for name, entry in reversed(state.open.items()) if entry[:2] == oldest)
        words += (
            f"; round {id_of(first)} is unanswered and holds back {held} later "
            f"one{'s' * (held != 1)} until {tracker.settings.waits(tracker.state.slowest)} have been shown after it"
        )
    return words


def _first_page(settings: Settings) -> str:
    """Return in words what is shown while there is no threshold."""
    least = max(FIRST, settings.at_least)
    return f"the best {least if settings.at_most is None else min(least, settings.at_most)}"


def _why_stuck(tracker: Tracker, state: OrderStatisticState) -> str:
    """Return in words why the threshold has stopped rising: too many misses and silence for the target coverage."""
    p0 = float(miss_rate(tracker.coverage))
    silent = min(tracker.state.silent + state.pending, state.low)
    causes, remedies = [], ["ask for less coverage"]
    if silent:
        causes.append(f"{silent:,} were skipped, expired or are not answered yet")
        remedies.insert(0, "answer more rounds")
    if tracker.state.unseen:
        causes.append(f"{min(tracker.state.unseen, state.low):,} were not found in a list that was cut short")
        remedies.insert(0, "raise at_most or pass more candidates")
    else:
        remedies.append(
            "if users look through every candidate, report questions without a right answer as absent, always or never"
        )
    why = f" ({'; '.join(causes)})" if causes else ""
    return (
        f"{TOO_MANY_MISSES}: of {state.rounds:,} counted rounds {state.low:,} ({state.low / state.rounds:.1%}) were "
        f"missed, are unanswered or lie below today's threshold{why}, and "
        f"coverage allows {p0:.1%}; while that is so the threshold cannot move: {', or '.join(remedies)}"
    )


def _out_of_sight(tracker: Tracker, state: OrderStatisticState) -> str:
    """Return in words that the next move is far away, or will not come."""
    policy: OrderStatistic = tracker.policy
    horizon = getattr(policy.boundary, "horizon", None) or getattr(policy, "explore", None)
    if horizon is not None and state.rounds >= horizon:
        return f"nothing: the policy planned for {horizon:,} rounds, and the threshold stays where it is"
    return f"more than {_LOOKAHEAD:,} more counted rounds before the threshold can move"


def _poor_search(stream: Stream) -> str | None:
    """Return in words that the threshold cannot move because the candidates lack the right answer too often."""
    hits, misses = stream.tally.recall_hits, stream.tally.recall_misses
    coverage = stream.tracker.coverage
    if not (too_many_low(stream.tracker) and is_too_many(coverage, misses, hits + misses)):
        return None
    return (
        f"{POOR_SEARCH}: everything was shown in {hits + misses:,} answered rounds, and the right answer was "
        f"among the candidates in {hits:,} of them ({hits / (hits + misses):.1%}), less than the coverage of "
        f"{coverage:.1%}; while that is so {_to_no_use(stream)}: pass more "
        "candidates (raise fetch_k, top_k or similarity_top_k), improve the search, or ask for less coverage"
    )


def _to_no_use(stream: Stream) -> str:
    return "lists grow to no use" if stream.settings.is_product_limit else "the threshold cannot move"


def _recall_so_far(stream: Stream) -> str:
    """Return in words that the candidates seem to lack the right answer too often, before that is certain."""
    hits, misses = stream.tally.recall_hits, stream.tally.recall_misses
    coverage = stream.tracker.coverage
    if hits + misses < 20 or not is_too_many(coverage, misses, hits + misses, errors=2, more=0):
        return ""
    return (
        f"; so far the right answer was among the candidates in {hits / (hits + misses):.1%} of the rounds in "
        f"which everything was shown, and coverage is {coverage:.1%}"
    )
