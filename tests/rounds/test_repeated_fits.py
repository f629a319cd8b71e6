"""The score is fitted again and again, and each time the window is made anew: against all of it written out."""

import json
import math

import numpy as np
import pytest

from shortlist import GroupedShortlister, ProductLimit, Shortlister
from shortlist.rounds import repeated_fits
from shortlist.rounds.admission import admit
from shortlist.rounds.events import Answer, Fitted, Hit, Restarted
from shortlist.rounds.repeated_fits import SCHEDULE, make_learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Stream
from shortlist.scores.kept_lists import Example
from shortlist.scores.learned import fit, prior
from tests.listers.inside import everything, policy_state
from tests.listers.playing import named

NAMES = {1: ("",), 2: ("a", "b"), 4: tuple("abcd")}


def table(rng, candidates=12, scorers=2):
    values = rng.normal(size=(candidates, scorers))
    useful = values @ np.linspace(1.5, 0.5, scorers)
    return (values if scorers > 1 else values[:, 0]), int((useful + rng.gumbel(size=candidates)).argmax())


class History:
    """A stream, and beside it everything that ever happened, from which each window is computed from scratch."""

    def __init__(self, scorers=2, **options):
        self.settings = Settings(policy=ProductLimit(0.8, window=100), **options)
        self.stream = Stream(self.settings, learning=make_learning(self.settings), seed="s")
        self.names, self.rounds, self.order, self.fits, self.restarted = NAMES[scorers], [], [], [], 0
        self.windows, self.slowest = [], None

    def show(self, values):
        listed = self.stream.decide(len(self.rounds), values, scorers=self.names)
        self.stream.apply(listed)
        self.rounds.append({"listed": listed, "values": values, "answer": None})
        return len(self.rounds) - 1

    def more(self, number, count):
        one = self.rounds[number]
        event = self.stream.expand(one["listed"], one["values"], count)
        if event is not None:
            one["listed"] = one["listed"].expanded(event)
            self.stream.apply(event)

    def answer(self, number, answer):
        one = self.rounds[number]
        one["answer"] = answer
        self.order.append(number)
        if isinstance(answer, int):
            self.slowest = max(self.slowest or 0, len(self.rounds) - 1 - number)
        event = admit(one["listed"], answer)
        self.stream.apply(self.stream.rescored(event, one["listed"]) if isinstance(event, Hit) else event)
        while (event := self.stream.due()) is not None:
            self.windows.append(self.written_out(event))
            self.stream.apply(event)

    def reveal(self, number, right):
        shown = self.rounds[number]["listed"].positions
        self.answer(number, right if right in shown else Answer.MISS)

    def written_out(self, event):
        """Return the score and the window that this fit must have: the last 250 answered, and what was waited for."""
        closed = [i for i in self.order if self.rounds[i]["answer"] is not Answer.WITHDRAWN][-250:]
        picked = [i for i in closed if isinstance(self.rounds[i]["answer"], int)]

        last = len(self.rounds)
        waiting = [i for i in range(last) if self.rounds[i]["answer"] is None]
        patience = min(self.settings.patience, max(20, 2 * self.slowest))
        newest = max(closed, default=0)
        first = min((i for i in waiting if newest - i <= patience), default=last)
        entered = [i for i in sorted([*closed, *waiting]) if self.restarted <= i < first]
        fold = {i: place % 5 for place, i in enumerate(sorted({*closed, *entered}))}

        def fitted(numbers):
            examples = [Example(self.rounds[i]["values"], self.rounds[i]["answer"]) for i in numbers]
            return fit(examples, self.names, 0.8)

        score = fitted(picked)
        folds = [score] * 5
        if len(picked) < 10 * len(self.names):
            folds = [fitted([i for i in picked if fold[i] != each]) for each in range(5)]
        window = []
        for i in entered:
            one, scores = self.rounds[i], np.asarray(folds[fold[i]](self.rounds[i]["values"]))
            if isinstance(one["answer"], int):
                window += [float(scores[one["answer"]]), 0.0]
            else:
                hidden = [j for j in range(len(scores)) if j not in one["listed"].positions]
                window += [float(scores[hidden].max()) if hidden else -math.inf, 1.0]
        assert event.score == score
        assert event.windows == ({"s": window} if window else {})
        held = [(place, i) for place, i in enumerate(entered) if i in waiting]
        assert event.held == ({"s": held} if held else None)
        return window


@pytest.mark.parametrize("scorers", [1, 2, 4])
def test_every_window_is_the_rounds_so_far_scored_again(scorers):
    """Late answers, silence, `more`, lists taken back: weights and windows to the last bit, and who must wait waits."""
    rng, history = np.random.default_rng(scorers), History(scorers, patience=30)
    late = []
    for _ in range(420):
        values, right = table(rng, scorers=scorers)
        number = history.show(values)
        kind = rng.random()
        if kind < 0.05:
            continue  # silent for good
        if kind < 0.1:
            history.answer(number, Answer.WITHDRAWN)
        elif kind < 0.2:
            late.append((number + int(rng.integers(1, 60)), number, right))
        else:
            if right not in history.rounds[number]["listed"].positions and rng.random() < 0.5:
                history.more(number, int(rng.integers(1, 6)))
            history.reveal(number, right)
        for when, then, sought in [each for each in late if each[0] <= number]:
            history.reveal(then, sought)
            late.remove((when, then, sought))
    assert len(history.windows) == 5
    assert sum(len(window) > 40 for window in history.windows) >= 3  # they are not empty because somebody is waited for
    assert any(math.isfinite(y) for y, censored in zip(*[iter(history.windows[-1])] * 2, strict=True) if censored)
    state = history.stream.learning.state
    assert not state.kept
    assert not state.closed  # dropped after the last fit


def test_lists_are_cut_by_the_prior_before_the_first_fit():
    rng, lister = np.random.default_rng(0), Shortlister(0.8)
    lengths, fits = [], []
    for _ in range(400):
        values, right = table(rng, 30)
        shown = lister.propose({"a": values[:, 0], "b": values[:, 1]})
        if lister.learned is None:
            made = prior(("a", "b"))(values)
            assert shown.members == tuple(np.argsort(-made, kind="stable")[: len(shown.members)])
        lengths.append(len(shown.members))
        lister.reveal(shown.round_id, right)
        if lister.learned is not None and (not fits or fits[-1] is not lister.learned):
            fits.append(lister.learned)
    assert lengths[:10] == [10] * 10
    assert [each.rounds for each in fits] == [15, 30, 60, 120, *[each.rounds for each in fits[4:]]]
    assert len(fits) == 5
    assert 180 < fits[4].rounds < 220  # of the last 250 answered lists, missed ones among them


def test_open_rounds_do_not_enter_by_the_old_score_and_the_next_fit_has_them():
    rng, history = np.random.default_rng(1), History()
    early = [(history.show(values), right) for values, right in (table(rng) for _ in range(5))]
    while not history.windows:
        values, right = table(rng)
        history.reveal(history.show(values), right)
    assert history.windows == [[]]  # the first is waited for, and everything behind it
    state = history.stream.tracker.state.policy
    assert (state.rounds, state.threshold) == (0, -math.inf)
    for number, right in early:
        history.reveal(number, right)
    assert state.rounds == 0  # by the score of their lists they are not comparable
    while len(history.windows) < 2:
        values, right = table(rng)
        history.reveal(history.show(values), right)
    assert len(history.windows[1]) == 2 * len(history.rounds)


@pytest.mark.parametrize("through_a_file", [False, True])
def test_a_pick_that_comes_after_a_fit_is_in_the_window_by_the_new_score(through_a_file, tmp_path):
    """Silent rounds are censored in the window; what comes later corrects them, `more` lowers them."""
    rng, lister, late = np.random.default_rng(9), Shortlister(0.8, patience=0), []
    while len(late) < 20 or lister.learned.rounds < 60:
        values, right = table(rng)
        shown = lister.propose({"a": values[:, 0], "b": values[:, 1]})
        if len(late) < 20 and rng.random() < 0.4:
            late.append((shown, values, right))
        else:
            lister.reveal(shown.round_id, right)
    if through_a_file:
        lister.save(tmp_path / "lister.json")
        lister = Shortlister.load(tmp_path / "lister.json")
    score, corrected = lister.learned, 0
    window = np.array(policy_state(lister).values).reshape(-1, 2)
    assert window[:, 1].sum() >= len(late)
    for shown, values, right in late:
        before = list(policy_state(lister).values)
        if right not in shown.members:
            lister.more(shown.round_id)  # all of it: nothing is known of where it lies
        lister.hit(shown.round_id, right)
        changed = [i for i, value in enumerate(policy_state(lister).values) if value != before[i]]
        if changed:
            corrected += 1
            assert policy_state(lister).values[changed[0]] == score(values).item(right)
    assert corrected == len(late)
    assert policy_state(lister).pending == 0


def test_empty_searches_stay_in_the_window():
    """They are misses that no threshold avoids; left out, the threshold would be too high."""
    rng, lister = np.random.default_rng(10), Shortlister(0.8)
    for t in range(60):
        if t % 5 == 4:
            lister.miss(lister.propose([], allow_empty=True).round_id)
            continue
        values, right = table(rng)
        lister.reveal(lister.propose({"a": values[:, 0], "b": values[:, 1]}).round_id, right)
    assert lister.learned.rounds == 30
    state = policy_state(lister)
    assert state.rounds == 60
    assert sum(y == -math.inf for y in state.values) == 12


def test_a_restart_and_a_refit():
    rng, history = np.random.default_rng(2), History()
    for _ in range(80):
        values, right = table(rng)
        history.reveal(history.show(values), right)
    history.restarted = len(history.rounds)
    history.stream.apply(Restarted(1))
    state = history.stream.tracker.state.policy
    assert (list(state.values), state.threshold) == ([], -math.inf)
    score = history.stream.learning.state.score
    while len(history.windows) < 4:  # on all picks that are kept; the window is of this epoch alone
        values, right = table(rng)
        history.reveal(history.show(values), right)
    assert len(history.windows[3]) == 2 * (len(history.rounds) - 80)
    assert history.stream.learning.state.score != score
    history.stream.apply(Restarted(2, refit=True))
    learning = history.stream.learning
    assert (learning.state.stage, learning.state.picks, learning.needed) == (0, 0, 15)
    assert not learning.state.closed


def test_silence_that_is_ignored_is_in_no_window():
    rng, history = np.random.default_rng(3), History(unanswered="ignore")
    event = None
    for i in range(60):
        values, right = table(rng)
        listed = history.stream.decide(i, values, scorers=history.names)
        history.stream.apply(listed)
        if i % 3:
            answer = right if right in listed.positions else Answer.MISS
            history.stream.apply(admit(listed, answer))
        if (due := history.stream.due()) is not None:
            event = due
            history.stream.apply(due)
            answered = sum(each % 3 > 0 for each in range(i + 1))
            assert len(event.windows["s"]) == 2 * answered
    assert event is not None


def test_groups_share_the_fits_and_have_a_window_each():
    """A round that is waited for holds back the rounds of its own group alone."""
    rng, lister = np.random.default_rng(4), GroupedShortlister(0.8)
    lister.propose(named(table(rng)[0]), group="held")
    rounds = 0
    while lister.learned is None:
        values, right = table(rng)
        lister.reveal(lister.propose(named(values), group=("a", "b", "held")[rounds % 3]).round_id, right)
        rounds += 1
    counted = {group: lister.summary(group).counted for group in ("a", "b", "held")}
    assert counted == {"a": math.ceil(rounds / 3), "b": math.ceil((rounds - 1) / 3), "held": 0}


def test_labels_fit_it_and_fill_the_window_in_the_same_way():
    """With few picks a scorer each list is scored without its fold; the next fit waits for more picks than these."""
    rng = np.random.default_rng(5)
    lists, right = zip(*(table(rng, scorers=4) for _ in range(32)), strict=True)
    lister = Shortlister(0.8)
    lister.warm_start([named(each) for each in lists], right)
    examples = [Example(values, position) for values, position in zip(lists, right, strict=True)]
    names = ("0", "1", "2", "3")
    assert lister.learned == fit(examples, names, 0.8)
    folds = [fit([each for i, each in enumerate(examples) if i % 5 != fold], names, 0.8) for fold in range(5)]
    values = policy_state(lister).values
    assert list(values[::2]) == [float(folds[i % 5](each.values)[each.position]) for i, each in enumerate(examples)]
    assert set(values[1::2]) == {0.0}
    assert SCHEDULE[everything(lister)["learning"]["stage"]] == 60  # 30 are not more than these
    few = Shortlister(0.8)
    few.warm_start([named(each) for each in lists[:12]], right[:12])
    assert few.learned is None
    made = prior(names)
    assert list(policy_state(few).values[::2]) == [float(made(v)[r]) for v, r in zip(lists[:12], right, strict=False)]


@pytest.mark.parametrize("at", [3, 14, 15, 40, 130, 300])
def test_a_file_goes_on_with_the_same_bits_and_nothing_is_fitted_twice(at, tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    rounds = [table(rng, 200 if at == 40 else 12) for _ in range(380)]

    def teach(lister, some):
        for values, right in some:
            lister.reveal(lister.propose(named(values)).round_id, right)
        return lister

    lister = teach(Shortlister(0.8), rounds[:at])
    open_round = lister.propose(named(rounds[at][0])).round_id
    lister.save(tmp_path / "lister.json")
    json.loads((tmp_path / "lister.json").read_text(), parse_constant=pytest.fail)
    with monkeypatch.context() as patch:
        patch.setattr(repeated_fits, "fit", lambda *_: pytest.fail("it was fitted again"))
        again = Shortlister.load(tmp_path / "lister.json")
        assert again.threshold == lister.threshold
    for each in (lister, again):
        each.reveal(open_round, rounds[at][1])
        teach(each, rounds[at + 1 :])
    assert again.learned == lister.learned is not None
    assert policy_state(again) == policy_state(lister)
    assert dict(again.summary()) == dict(lister.summary())


def test_answers_that_come_while_a_fit_is_due_change_nothing_about_it():
    """The service computes a fit while others go on: its result is that of the moment at which it was due."""
    rng, settings = np.random.default_rng(7), Settings(policy=ProductLimit(0.8))
    stream = Stream(settings, learning=make_learning(settings), seed="s")

    def play(number):
        values, right = table(rng)
        listed = stream.decide(number, values, scorers=("a", "b"))
        stream.apply(listed)
        stream.apply(admit(listed, right if right in listed.positions else Answer.MISS))

    number = 0
    while not stream.learning.is_due:
        play(number)
        number += 1
    at_once = stream.due()
    stamp, compute = stream.learning.stamp, stream.learning.prepared()
    for _ in range(25):
        play(number)
        number += 1
    assert stream.due() == at_once == compute()
    assert stream.learning.stamp == stamp
    stream.apply(at_once._replace(seen=number))
    assert isinstance(at_once, Fitted)
    assert stream.learning.state.picks > SCHEDULE[0]  # those that came meanwhile are for the next
    assert list(stream.tracker.state.policy.values) == at_once.windows["s"]


@pytest.mark.parametrize("at_last", [False, True])
def test_a_pick_that_comes_while_a_fit_is_computed_is_in_its_window(at_last):
    """The fit found its round open; what is committed has the pick by the new score, as if it had come after."""
    rng, settings = np.random.default_rng(11), Settings(policy=ProductLimit(0.8), patience=0)
    stream, lists, open_rounds = Stream(settings, learning=make_learning(settings), seed="s"), {}, []
    learning = stream.learning
    while not (learning.is_due and learning.needed == (250 if at_last else 30)):
        number = len(lists)
        values, right = table(rng)
        listed = stream.decide(number, values, scorers=("a", "b"))
        stream.apply(listed)
        lists[number] = listed, values, right
        if number % 3 == 0 and len(open_rounds) < 8 and right in listed.positions:
            open_rounds.append(number)
        else:
            stream.apply(admit(listed, right if right in listed.positions else Answer.MISS))
        if learning.is_due and learning.needed != (250 if at_last else 30):
            stream.settle()
    compute = learning.prepared()
    early, later = open_rounds[:4], open_rounds[4:]
    for number in early:
        listed, _, right = lists[number]
        stream.apply(stream.rescored(admit(listed, right), listed))
    event = learning.amended(compute())
    assert event == stream.due()
    stream.apply(event)
    for number in later:
        listed, _, right = lists[number]
        stream.apply(stream.rescored(admit(listed, right), listed))
    window = np.array(stream.tracker.state.policy.values).reshape(-1, 2)
    for number in open_rounds:
        _, values, right = lists[number]
        slot = np.flatnonzero(window[:, 0] == learning.state.score(values).item(right))
        assert window[slot, 1].tolist() == [0.0]
    assert stream.tracker.state.policy.pending == 0


def test_of_a_long_list_the_best_hidden_are_kept_too():
    """A missed round is censored at the best hidden candidate; of those kept, the next best of the old score are."""
    values, history = np.random.default_rng(8).normal(size=600), History(1)
    history.show(values)
    kept = history.stream.learning.state.kept[0]
    best = np.argsort(-values)[:64].tolist()
    assert kept.kept.positions[:64] == best
    assert kept.shown == list(range(10))
    assert kept.y(prior(("",))) == pytest.approx(prior(("",))(values)[best[10]], rel=0.05)  # its sum is estimated
