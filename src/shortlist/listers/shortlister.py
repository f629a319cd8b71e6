"""The lister for one stream: a policy, its state, and the rounds that are still open.

``propose`` shows a list, ``hit``, ``miss``, ``skip`` and ``absent`` take its answer, at once or
later, in any order. Each round remembers the threshold it was shown with, and its answer is judged
against that, never against today's.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from shortlist._validation import Member, check_table
from shortlist.errors import InvalidParameter
from shortlist.listers._base import BaseLister
from shortlist.listers._rounds import scores_of
from shortlist.policies import AnytimeSPS, OrderStatistic, Policy
from shortlist.rounds.events import Event, Listed
from shortlist.rounds.progress import Summary, summarize
from shortlist.rounds.settings import OptionsDict, Settings, with_options
from shortlist.rounds.shown import Shown
from shortlist.rounds.stream import Stream

__all__ = ["Shortlister"]


@with_options
class Shortlister(BaseLister[Shown]):
    """Shows shortlists and learns their threshold from the answers.

    With probability 1 - delta, uniformly over time, every list is at least as long as the optimal one: the
    one whose threshold keeps the right answer in a share `coverage` of all rounds. This guarantee assumes
    rounds that are independent draws from one distribution. It assumes nothing about the scores, or
    about when or whether answers come. A second guarantee, `miss_budget`, assumes nothing about the distribution.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list; by default 0.9.
    delta
        The probability that the threshold may ever pass the optimal one; by default 0.01.
    policy
        An order-statistic policy other than ``AnytimeSPS(coverage, delta)``: `SPS`, or `OrderStatistic` with any
        boundary. Policies without a guarantee are for `shortlist.replay`.
    score
        How a list's scores become the one score per candidate that is compared with the threshold. ``"auto"``, the
        default: learned from the first picks, 30 with one scorer and 100 with several, while everything is shown, and
        then frozen, after at most ten times as many rounds. Or a fixed one: ``"raw"``, ``"margin"``, ``"relative"``,
        ``"rank"``, ``"adaptive"``; an object of `shortlist.scores`, such as one learned before; or any function of
        your own from an array of scores to another.
    miss_budget
        An error budget against distribution shift: in any W consecutive answered rounds at most (1 - coverage) W +
        `miss_budget` cut lists miss, for any sequence of rounds. As misses use it up, lists get longer until
        they are complete; under a stationary distribution this is rare. 20 by default; None turns it off. Thresholds
        are the same with it and without it.
    unanswered
        What silence means. ``"miss"``: an unanswered round counts as below the threshold until its answer
        arrives; always safe, and the default. ``"ignore"``: a round counts when it is answered; safe only if right
        answers with low scores are answered at least as often as those with high scores, and no later.
    explore_share
        For users who click what they find but never report a miss: the share of rounds, chosen at random, in which
        everything is shown, in random order; only those count, and only if clicked. A number such as 0.05, or
        ``"auto"``, which is min(0.2, 2 / sqrt(t)); half of the rounds until the first cut. See
        `shortlist.rounds.exploring` for what it assumes.
    patience
        The number of later rounds shown before an unanswered one counts as below the threshold. It is
        corrected when its answer arrives, but `on_drift` does not see a miss that arrives later than that.
        Silence delays learning by at most that many rounds; answers that take longer slow it down
        until they arrive. Any value is safe; choose the number of rounds within which nearly all answers
        arrive. 200, the default, is a few minutes of a busy search box.
    on_drift
        Watch for a distribution shift after which lists miss more often than allowed: ``"report"`` alarms
        in the summary, or ``"restart"`` learning. All epochs, the first included, share delta, so learning
        starts a little later. Only misses that are reported within `patience` rounds
        are seen; skipped rounds are not. In the summary, ``level`` is how close the next alarm is
        (raised at 1), and ``strength`` the level at which an alarm was raised; while nothing is done about a
        shift, alarms continue. False alarms are at least a million rounds apart on average.
    at_least
        Always show at least this many candidates: safe.
    at_most
        Never show more on the first page: then ``shown.truncated`` says whether the guarantee covers the list, and a
        miss of such a list counts as silence. `more` shows the rest, and a pick from it has a known score.
    shadow
        Show everything, but learn as usual; the summary says what would have been hidden, and
        missed. For a trial before lists are cut.
    keep
        The number of later rounds for which a round is kept. Older ones are closed, and can no longer be
        answered.

    Examples
    --------
    >>> lister = Shortlister(coverage=0.9)
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(2000):
    ...     scores = rng.random(20)  # a model's scores for 20 candidates
    ...     right = int(rng.choice(20, p=scores**8 / (scores**8).sum()))  # what the user is looking for
    ...     shown = lister.propose(scores)
    ...     lister.reveal(shown.round_id, right)
    >>> len(shown.members), lister.summary().score_why
    (8, 'learned from 30 picks')
    """

    kind: ClassVar[str] = "shortlister"

    def __init__(
        self,
        coverage: float | None = None,
        delta: float | None = None,
        *,
        policy: Policy | None = None,
        **options: Unpack[OptionsDict],
    ) -> None:
        if policy is None:
            policy = AnytimeSPS(0.9 if coverage is None else coverage, 0.01 if delta is None else delta)
        elif not (coverage is None and delta is None):
            raise InvalidParameter("coverage and delta belong to the policy: give either them or a policy, not both")
        elif isinstance(policy, Policy) and not isinstance(policy, OrderStatistic):
            raise InvalidParameter(
                f"policy is {policy}, which has no guarantee that a lister could keep: use AnytimeSPS, SPS or "
                "OrderStatistic; to compare other policies, shortlist.replay runs any of them on recorded scores"
            )
        super().__init__(Settings.of(policy, options, others=("coverage", "delta", "policy")))
        self._stream(None)
        self._learn_names()

    def __repr__(self) -> str:
        return f"<Shortlister {self.policy}, {self._rounds.next_number} rounds, threshold {self.threshold:.6g}>"

    def _policy(self, key: None, number: int) -> Policy:  # noqa: ARG002 - there is one
        return self._settings.policy

    def _apply(self, listed: Listed, event: Event) -> None:  # noqa: ARG002 - there is one stream
        self._streams[None].fold(event)

    @property
    def _main(self) -> Stream:
        return self._streams[None]

    @property
    def policy(self) -> Policy:
        """The policy that learns."""
        return self._settings.policy

    @property
    def score(self) -> str:
        """The score in use."""
        return self._main.score_name

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self._main.threshold

    def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
    ) -> Shown:
        """Open a round and return its shortlist.

        Parameters
        ----------
        scores
            The score of each candidate, finite; larger is better. With several scorers, their scores by name,
            ``{"bm25": [...], "dense": [...]}``, a data frame with one column per scorer, or an array of candidates x
            scorers; NaN where one has no score for a candidate. The first round fixes their names.
        ids
            Your own ids of the candidates, strings or integers; by default their positions.
        truncated_below
            The lowest score that your search returned, if it may have left candidates out: they score at
            most that. If the threshold is not above it, ``shown.truncated`` is true. With several scorers, one
            number for each that left any out.
        allow_empty
            Also open a round for a search that found nothing: its question counts like any other, and if its
            answer is a miss, leaving it out would make the threshold too high.

        Returns
        -------
        Shown
            The list: its `round_id`, its members and more.

        Raises
        ------
        InvalidScores, InvalidIds, NoCandidates
            If the scores or ids cannot be used; then nothing has changed.
        """
        with self._lock:
            stream = self._streams[None]
            values, names, below, scorers = self._checked(scores, ids, truncated_below, allow_empty)
            listed = stream.decide(self._rounds.next_number, values, names, below, scorers=scorers)
            stream.fold(listed)
            round_id = self._open(listed)
        return Shown(
            round_id,
            listed.threshold,
            tuple(listed.positions if names is None else listed.members),
            tuple(listed.comparable) if stream.is_raw else scores_of(values, listed.positions),  # type: ignore[arg-type]
            len(values),
            listed.reached,
            listed.truncated,
            listed.added,
            bool(listed.explored),
        )

    def preview(self, scores: Any) -> tuple[int, ...]:
        """Return the list that would be shown for these scores; nothing is shown or learned.

        Parameters
        ----------
        scores
            As for `propose`.

        Returns
        -------
        tuple[int, ...]
            The positions of the candidates, best first.
        """
        with self._lock:
            values, scorers = check_table(scores, self._expected)
            return tuple(self._main.decide(self._rounds.next_number, values, scorers=scorers).positions)

    def summary(self) -> Summary:
        """Return a summary of all rounds so far.

        Returns
        -------
        Summary
            Counts, coverage, threshold, and what is needed next; see `shortlist.Summary`.
        """
        with self._lock:
            return summarize(self._main, len(self._rounds.open), self._rounds.id_of)
