"""What the pages say of a stream, as functions of its summary alone: each sentence must be true in every state."""

import dataclasses
import math

from shortlist.policies.product_limit import FIRST
from shortlist.rounds.exploring import ExploreShare, share_at
from shortlist.rounds.progress import POOR_SEARCH, TOO_MANY_MISSES, UNREPORTED
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.rounds.summary import ErrorBudget

__all__ = ["with_sentences"]


def with_sentences(summary: StreamSummary) -> StreamSummary:
    """Return a summary with its sentences, by name; None where there is nothing to say."""
    say = _Sentences(summary)
    budget = summary.error_budget
    words = {
        "target": say.target(),
        "guarantee": say.guarantee(),
        "advice": say.advice(),
        "unreported": say.unreported(),
        "fixed": say.fixed(),
        "restart": say.restart(),
        "learning": say.learning(),
        "progress": say.progress(),
        "exploring": say.exploring(),
        "lengthening": say.lengthening(),
        "warnings": say.warnings(),
        "score": say.score(),
        "score_label": say.score_label(),
        "answers": f"{_plural(summary.hits, 'pick')}, {_plural(summary.misses, 'miss', 'misses')}",
        "expanded": say.expanded(),
        "budget": None if budget is None else say.budget(budget),
        "budget_label": None if budget is None else say.budget_label(budget),
        "coverage": say.coverage(),
        "threshold": say.threshold(),
        "length": say.length(),
        "chosen": say.chosen(),
        "drift": None
        if summary.drift is None
        else "An alarm is raised at level 1: lists missed more often than allowed.",
    }
    return dataclasses.replace(summary, sentences=words)


class _Sentences:
    """The sentences of one summary."""

    def __init__(self, summary: StreamSummary) -> None:
        self._summary = summary
        self._at_most: int | None = summary.settings["at_most"]
        self._explore_share: ExploreShare | None = summary.settings["explore_share"]
        self._explores = self._explore_share is not None
        self._cuts = summary.threshold > -math.inf
        self._is_product_limit = summary.policy["kind"] == "product-limit"

    def target(self) -> str:
        return f"Target: the right answer in {_percent(self._summary.coverage_target)} of lists."

    def guarantee(self) -> str:
        return f"Guarantee: {self._summary.guarantee}."

    def advice(self) -> str | None:
        """Say what stands in the way of shorter lists, or of knowing what they cover, where something does."""
        words = self._summary.waiting_for
        is_wrong = words.startswith((UNREPORTED, POOR_SEARCH, TOO_MANY_MISSES))
        return f"{words[0].upper()}{words[1:]}." if is_wrong else None

    def unreported(self) -> str | None:
        """Offer to explore, where nobody reports misses and that would help."""
        if not (self._is_product_limit and self._summary.waiting_for.startswith(UNREPORTED)):
            return None
        return (
            "Turn exploring on? In a share of rounds everything is then shown in random order, only clicks there "
            "count, and the guarantee is another one. It cannot be turned off again."
        )

    def fixed(self) -> str:
        """Say what cannot change."""
        summary, settings = self._summary, self._summary.settings
        policy, drift = summary.policy, settings["on_drift"]
        parts = (
            f"coverage {_percent(summary.coverage_target)}",
            *([f"delta {_number(policy['delta'])}"] if "delta" in policy else ()),
            *([f"horizon {policy['horizon']:,}"] if "horizon" in policy else ()),
            f"score {summary.score}",
            "silence is ignored" if settings["unanswered"] == "ignore" else "silence counts as a miss",
            {None: "no drift alarm", "restart": "drift restarts learning", "report": "drift is reported"}[drift],
            *(["exploring is on"] if self._explores else [] if self._is_product_limit else ["exploring is off"]),
        )
        return f"Fixed when the stream was created: {', '.join(parts)}."

    def restart(self) -> str:
        """Say what a restart does."""
        at_most = self._at_most
        lists = "everything is shown in any case" if self._summary.shadow else "lists are complete"
        if self._is_product_limit and not self._summary.shadow:
            lists = f"lists are the best {FIRST}"
        if at_most is not None and not self._summary.shadow:
            lists = f"lists have {at_most:,} candidates, or all if there are fewer,"
        return (
            f"A restart begins a new epoch: no earlier round counts any more, and {lists} until enough rounds have "
            "been answered again."
        )

    def learning(self) -> str | None:
        """Say how far the fit is, while the score is learned."""
        summary, at_most = self._summary, self._at_most
        if summary.fit_picks is None:
            return None
        shown = "everything is shown" if at_most is None else f"the best {at_most:,} candidates are shown"
        if self._explores:
            shown = f"the best {FIRST if at_most is None else min(FIRST, at_most):,} candidates are shown"
        until = "in any case" if summary.shadow else "until then"
        return f"Learning the score: {summary.fit_picks:,} of {_plural(summary.fit_rounds, 'pick')}; {shown} {until}."

    def progress(self) -> str:
        summary, at_most = self._summary, self._at_most
        if summary.shadow:
            then = "what would be hidden is counted" if self._cuts else "nothing is learned yet"
            return f"Shadow mode: everything is shown, and {then}."
        if summary.error_budget is not None and self.lengthening() is not None:
            spent = self._is_spent(summary.error_budget)
            budget = "The error budget is spent" if spent else "The error budget is running out"
            if at_most is not None:
                return f"{budget}: lists are longer for now, but never longer than {at_most:,}."
            return f"{budget}: lists are {'complete' if spent else 'longer'} for now."
        if self._cuts:
            page = "" if at_most is None else f", and after {at_most:,} candidates"
            return f"Lists are cut at the threshold{page}{', unless they are explored' * self._explores}."
        if self._is_product_limit or (self._explores and at_most is None):
            most = FIRST if at_most is None else min(FIRST, at_most)
            explored = ", or all where a list is explored" * self._explores
            shown, then = f"No threshold yet: the best {most:,} candidates are shown{explored}.", "There can be one"
        elif at_most is None:
            shown, then = "Everything is shown so far.", "Lists can become shorter"
        else:
            explored = ", or all where a list is explored" * self._explores
            shown = f"No threshold yet: the best {at_most:,} candidates are shown{explored}."
            then = "There can be a threshold"
        if summary.rounds_needed is None:
            return shown
        more = f"{summary.rounds_needed:,} more round{' counts' if summary.rounds_needed == 1 else 's count'}"
        late = "; answers to open rounds can make it sooner" * bool(summary.open or summary.unanswered_counted)
        return f"{shown} {then} once {more}{late}."

    def exploring(self) -> str | None:
        """Say what `explore_share` does, where it is on."""
        summary, share = self._summary, self._explore_share
        if share is None:
            return None
        now = "now " if share == "auto" else ""
        lists = f"{now}{_percent(share_at(share, summary.rounds, summary.threshold))} of lists"
        return (
            f"For users who only click: {lists}, chosen at random, show everything in random order, and only clicks on "
            "those count."
        )

    def lengthening(self) -> str | None:
        """Say what it means that lists are made longer, while they are."""
        summary, at_most = self._summary, self._at_most
        budget = summary.error_budget
        if budget is None or not budget.lengthening or not self._cuts:
            return None
        shown = "show more than what reaches the threshold"
        if self._is_spent(budget):
            every = "show every candidate"
            shown = every if at_most is None else f"show {_plural(at_most, 'candidate')}, or all if there are fewer,"
        return (
            "Lists have missed so often that the distribution may have shifted. "
            f"{'' if self._is_product_limit else 'The threshold stays where it is, and '}"
            f"{'L' if self._is_product_limit else 'l'}ists {'would ' * summary.shadow}{shown} until they miss less."
        )

    def _is_spent(self, budget: ErrorBudget) -> bool:
        """Return whether so much is spent that every candidate is shown."""
        return budget.spent > budget.size - (self._summary.coverage_target or 0.0) + 1e-9

    def warnings(self) -> list[str]:
        summary, at_most = self._summary, self._at_most
        warnings = []
        if summary.truncated_share:
            cause = "" if at_most is None else f"at_most is {at_most:,}, or "
            warnings.append(
                f"{_percent(summary.truncated_share)} of all lists so far may lack a candidate that reached the "
                f"threshold ({cause}the search may have left candidates out): the guarantee does not cover those."
            )
        if summary.drift is not None and summary.drift.alarm_count:
            warnings.append(
                f"{_plural(summary.drift.alarm_count, 'alarm')}: lists missed more often than allowed. The last one "
                f"was raised at round {summary.drift.alarms[-1]['round']}."
            )
        return warnings

    def score(self) -> str:
        """Say which score is in use, and by how much a fresh fit would shorten lists."""
        summary = self._summary
        if summary.fit_picks is not None:
            return "Then it is frozen, and its threshold is learned from the rounds that follow."
        if not self._is_learned():
            return f"Score: {summary.score} ({summary.score_why})."
        if self._is_product_limit:
            return f"Score: {summary.score_why}."
        gain = summary.refit_gain
        fresh = "" if gain is None else " A fresh fit on the last picks would not make lists shorter."
        if gain is not None and gain >= 0.005:
            fresh = f" A fresh fit on the last picks would make lists {100 * gain:.0f} % shorter."
        return f"Score: {summary.score_why}.{fresh}"

    def _is_learned(self) -> bool:
        return self._summary.score in ("auto", "learned")

    def score_label(self) -> str:
        """Name the score, in a table."""
        return "learned score" if self._is_learned() else f"score {self._summary.score}"

    def expanded(self) -> str:
        """Say how often more of a list was asked for, and how often the right answer was there."""
        summary = self._summary
        return (
            f"{_plural(summary.expanded, 'list')} expanded; in {summary.found_after_more:,} of them the right answer "
            "was among the others"
        )

    def budget_label(self, budget: ErrorBudget) -> str:
        """Say how much of the error budget is spent, and how fast."""
        spent, rate = _tenths(budget.spent), _tenths(budget.burn_rate)
        return f"{spent} of {_plural(budget.size, 'miss', 'misses')} spent; burn rate {rate}\N{MULTIPLICATION SIGN}"

    def budget(self, budget: ErrorBudget) -> list[str]:
        """Say what the error budget did so far, and what it guarantees."""
        summary, at_most = self._summary, self._at_most
        verb = "would have been" if summary.shadow else "was" if budget.lengthened <= 1 else "were"
        did = f"No list {verb} made longer so far."
        if budget.lengthened:
            mean = " on average" if budget.lengthened > 1 else ""
            added = f"{_tenths(budget.added or 0.0)} candidate{'s' * (budget.added != 1)}"
            did = f"{_plural(budget.lengthened, 'list')} {verb} made longer so far, by {added}{mean}."
        page = f" Misses because a page ends after {at_most:,} candidates are not included." if at_most else ""
        return [
            did,
            f"If answers are prompt, any W answered rounds in a row have at most "
            f"{_number(1 - (summary.coverage_target or 0.0))} W + {budget.size:,} misses of lists that were cut, under "
            f"any distribution shift.{page}",
        ]

    def coverage(self) -> str:
        summary, target = self._summary, self._summary.coverage_target or 0.0
        if self._explores:
            return "Not known: users who only click report no miss."
        if summary.coverage_seen is None and summary.hits + summary.misses:
            return "Coverage unknown: nobody reports misses."
        if summary.coverage_interval is None:
            return "No answer yet."
        if summary.shadow:
            answered, missed = summary.hits + summary.misses, summary.would_have_missed or 0
            return (
                f"Everything is shown. With the threshold, {missed:,} of {answered:,} right answers "
                f"({_percent(missed / answered)}) would have been missing."
            )
        low, high = summary.coverage_interval
        if high < target:
            reason = "look for a distribution shift, wrong answers, or questions without a right one"
            if summary.truncated_share:
                reason = "truncated lists count here, and are not covered by the guarantee"
            return f"Below the target of {_percent(target)}, by more than chance explains: {reason}."
        if low > target:
            cut = "the threshold approaches the optimum from below"
            if self._is_product_limit:
                cut = "lists are a little longer than they need to be"
            return f"Above the target: {cut if self._cuts else 'nothing is cut at a threshold yet'}."
        return f"{_percent(summary.coverage_seen)} is within what chance explains around the target."

    def threshold(self) -> str:
        summary = self._summary
        if summary.fit_picks is not None:
            return "No threshold while the score is being learned."
        if not self._cuts:
            return "No threshold yet."
        if self._is_product_limit:
            return "It follows the latest answers, both ways."
        return f"It never falls{' within an epoch; each restart begins a new one' * (summary.epoch > 0)}."

    def length(self) -> str:
        """Say how long lists are, what their limit is, and at which coverage they would be half as long."""
        summary, at_most = self._summary, self._at_most
        parts = []
        if summary.length is not None:
            parts.append(f"{_tenths(summary.length)} on average over the last 100 lists or so.")
        if summary.half_coverage is not None and self._cuts and summary.coverage_seen is not None:
            parts.append(f"Half as long, they would cover about {100 * summary.half_coverage:.0f} %.")
        if at_most is not None:
            parts.append(f"Never more than {at_most:,} candidates{', unless explored' * self._explores}.")
        return " ".join(parts) or "No list yet."

    def chosen(self) -> str:
        if self._summary.fit_picks is not None:
            return "Picks are plotted once the score is learned."
        return "Picks left of the line are below the current threshold." if self._cuts else "Scores of what was picked."


def _percent(share: float | None) -> str:
    return "\N{EN DASH}" if share is None else f"{100 * share:.1f} %"


def _number(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits.

    >>> _number(1 - 0.9), _number(1 - 1e-5, 6), _number(0.00002)
    ('0.1', '0.99999', '2.00e-05')
    """
    return f"{value:.{digits - 1}e}" if 0 < abs(value) < 1e-4 else f"{value:.{digits}g}"


def _tenths(value: float) -> str:
    """Return a number with one decimal, or none if that is 0.

    >>> _tenths(2.04), _tenths(1234.56)
    ('2', '1,234.6')
    """
    return f"{value:,.1f}".removesuffix(".0")


def _plural(count: int | None, word: str, several: str = "") -> str:
    return f"{count or 0:,} {word if count == 1 else several or word + 's'}"
