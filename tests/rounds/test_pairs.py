"""Settings multiply: every pair of them, on every lister and behind the log, with answers of every kind.

A pair is refused with the sentence of the table, or: the library and the service show the same lists at the same
thresholds; nothing that reaches a threshold is hidden without saying so; counts add up; the threshold stays at or
below the optimal one; a file that is loaded, and a log that is read again, go on with the same bits. The error budget
holds in every stretch of rounds, and thresholds and alarms are those of a twin without it, bit for bit (with the
product limit, which needs it, of a twin with it).

A new setting's values go into `VALUES`, and its rows into `shortlist.rounds.settings.PAIRS`, first. Every combination
of values is walked once, each with the next schedule; `make soak` walks all of them with every schedule.

The world is 60 lists, drawn at random, so that the optimal threshold of any score is known. Each run may pass it
with probability 1e-12 (AnytimeSPS) or less (SPS, by `crossing_probability`); there are fewer than 10,000 runs, so the
false-alarm probability is below 1e-8. Greedy, which guarantees nothing, is the negative control.
"""

import dataclasses
import functools
import itertools
import json
import math

import numpy as np
import pytest

from shortlist import SPS, AnytimeSPS, Greedy, GroupedShortlister, ProductLimit, Shortlister, ShortlistError
from shortlist.boundaries import DKW, crossing_probability
from shortlist.errors import ConflictingAnswer, InvalidParameter, RoundClosed
from shortlist.lab.lister_replay import run_lister
from shortlist.lab.scored_lists import Lists
from shortlist.metrics import optimal_threshold
from shortlist.rounds.codec import from_json, to_json
from shortlist.rounds.events import EVENTS, Answer, kind_of
from shortlist.rounds.settings import CONFIGURABLE, PAIRS, SETTINGS, Settings, default_budget
from shortlist.scores import Raw, to_score
from shortlist.service.engine.batch import Batch
from shortlist.service.engine.commands import Close, Expand, Propose
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.round_cache import Round
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import LogEntry, StreamRow

COVERAGE, DELTA, HORIZON = 0.5, 1e-12, 10**6
ROUNDS, CANDIDATES = 160, 8
#: The share of rounds that are skipped, or said to have no right answer.
SAID = 0.06
#: After how many rounds the summaries are looked at, which takes longer than a round.
LOOK = 8
SCHEDULES = ("prompt", "late", "silent", "again", "shift", "file", "more")

#: Every setting, and what is tried besides its default.
VALUES = {
    "policy": ["sps", "product-limit"],
    "lister": ["grouped shortlister"],
    "score": ["raw", "relative"],
    "miss_budget": [None, 3],
    "unanswered": ["miss", "ignore"],
    "explore_share": [0.3, "auto"],
    "patience": [0, 5],
    "on_drift": ["report", "restart"],
    "at_least": [3],
    "at_most": [2, 5],
    "shadow": [True],
    "keep": [30],
}
POLICIES = {
    "anytime": AnytimeSPS(COVERAGE, DELTA),
    "sps": SPS(COVERAGE, HORIZON),
    "product-limit": ProductLimit(COVERAGE),
}
DESCRIBED = {
    "anytime": {"kind": "anytime", "delta": DELTA},
    "sps": {"kind": "sps", "horizon": HORIZON},
    "product-limit": {"kind": "product-limit"},
}


@pytest.fixture(autouse=True, scope="module")
def quick(module_constants):
    """Fits and alarms within a few rounds."""
    module_constants(picks=5, alarm=20)


def world():
    """Return lists, and the position of the right answer in each."""
    rng = np.random.default_rng(7)
    lists = rng.random((60, CANDIDATES)).round(3)
    rights = np.array([rng.choice(CANDIDATES, p=row**3 / (row**3).sum()) for row in lists])
    return lists, rights


LISTS, RIGHTS = world()


def cases():
    """Yield each pair of settings with each combination of values."""
    for first, second in itertools.combinations(VALUES, 2):
        for one, other in itertools.product(VALUES[first], VALUES[second]):
            yield {first: one, second: other}


def refusal(chosen):
    """Return what the table says against a choice of settings, and None if it says nothing."""
    options = {name: value for name, value in chosen.items() if name not in ("policy", "lister")}
    policy = POLICIES[chosen.get("policy", "anytime")]
    if "lister" in chosen and "policy" in chosen:
        return "has coverage and delta, and no policy"
    # `Settings` would refuse it: fill in a bare one, as its own constructor does, and ask the table.
    bare = object.__new__(Settings)
    given = {name: field.default for name, field in SETTINGS.items()} | options
    reported = "explore_share" not in options
    given["unanswered"] = given["unanswered"] or ("miss" if reported else "ignore")
    if not reported and "miss_budget" not in options:
        given["miss_budget"] = None
    given["miss_budget"] = default_budget(COVERAGE) if given["miss_budget"] == "auto" else given["miss_budget"]
    for name, value in (given | {"policy": policy}).items():
        object.__setattr__(bare, name, value)
    if bare.at_most is not None and bare.at_least > bare.at_most:
        return f"at_most is {bare.at_most}, but at_least is {bare.at_least}: drop one of the two"
    for pair in PAIRS:
        if pair.excludes(bare):
            return pair.reason.format(self=bare)
    return None


def make(chosen):
    """Return a lister with these settings."""
    options = {name: value for name, value in chosen.items() if name not in ("policy", "lister")}
    if "lister" in chosen:
        return GroupedShortlister(COVERAGE, DELTA, **options)
    return Shortlister(policy=POLICIES[chosen.get("policy", "anytime")], **options)


class Service:
    """The same rounds behind a log: judged in batches, written as JSON, read back, applied."""

    def __init__(self, chosen):
        options = {name: value for name, value in chosen.items() if name not in ("policy", "lister", "keep")}
        policy = DESCRIBED[chosen.get("policy", "anytime")]
        # Without a name its coins are those of the lister.
        self.row = StreamRow(1, "", StreamSettings.of(coverage=COVERAGE, policy=policy, **options).to_dict(), 0.0, 0)
        self.live, self.log, self.rounds = LoggedStream(self.row), [], {}

    def ask(self, command):
        draft = Batch(self.rounds, 0.0, 10_000)
        outcome = draft.judge(command)
        for entry in draft.entries:
            self.log.append((kind_of(entry.event), to_json(entry.event)))
            self.live.apply(self.read(entry.number))
        while (event := self.live.stream.due()) is not None:
            self.log.append((kind_of(event), to_json(event)))
            self.live.apply(self.read(len(self.log)))
        if isinstance(outcome, ShortlistError):
            raise outcome
        return outcome[0]

    def read(self, number):
        kind, body = self.log[number - 1]
        json.loads(body, parse_constant=pytest.fail)  # there is nothing in it that JSON has not
        return LogEntry(1, number, 0.0, from_json(EVENTS[kind], body))

    def propose(self, name, values):
        ids = list(range(values.size))
        return self.ask(Propose(self.live, str(name), ids, values)).listed

    def answer(self, name, answer):
        self.ask(Close(self.live, str(name), answer))

    def more(self, name, count):
        before = len(self.rounds[1, str(name)].members)
        return self.ask(Expand(self.live, str(name), count)).members[before:]

    def rebuilt(self):
        stream = LoggedStream(self.row)
        for number in range(1, len(self.log) + 1):
            stream.apply(self.read(number))
        return stream


def answers(schedule, rng):
    """Return after how many rounds an answer comes; None if it never does."""
    if schedule == "late":
        return int(rng.integers(0, 40))
    if schedule == "silent" and rng.random() < 0.3:
        return None
    return 0


def score_in_use(lister, chosen):
    """Return the score that lists are cut with; None while it is learned."""
    name = chosen.get("score", "auto")
    return lister.learned if name == "auto" else to_score(name)


@functools.cache
def optimum(score):
    """Return the optimal threshold of a score."""
    true = [score(row)[right] for row, right in zip(LISTS, RIGHTS, strict=True)]
    return optimal_threshold(np.array(true), COVERAGE)


def summary_of(lister):
    """Return the summary of the one threshold that is looked at."""
    return lister.summary("g") if isinstance(lister, GroupedShortlister) else lister.summary()


def check_list(chosen, shown, values, score):
    """Check what was shown against the settings, and against the score that it was cut with."""
    assert len(shown.members) == len(set(shown.members))
    if chosen.get("shadow"):
        assert len(shown.members) == values.size
    if chosen.get("at_most") and not shown.explored and not chosen.get("shadow"):
        assert len(shown.members) <= chosen["at_most"]
    assert len(shown.members) >= min(chosen.get("at_least", 0), values.size)
    if not shown.truncated:
        made = np.zeros(values.size) if score is None or shown.threshold == -math.inf else score(values)
        assert set(np.flatnonzero(made >= shown.threshold).tolist()) <= set(shown.members)
    if score is None and "product-limit" not in chosen.values():  # everything is shown until it is learned
        assert shown.threshold == -math.inf
    assert shown.scores == tuple(values[list(shown.members)].tolist())


def same_list(listed, shown):
    assert (tuple(listed.positions), listed.reached) == (shown.members, shown.reached)
    assert (listed.truncated, listed.threshold) == (shown.truncated, shown.threshold)


class Misses:
    """The misses of cut lists, in the order of answers, against the bound of the error budget."""

    def __init__(self, chosen):
        self.budget = None if "explore_share" in chosen else chosen.get("miss_budget", default_budget(COVERAGE))
        self.chosen, self.out, self.most = chosen, {}, 0
        self.level = self.worst = 0.0

    def show(self, name, shown, asked):
        everything, paged = shown.complete, len(shown.members) < asked
        self.out[name] = everything or paged
        self.most = max(self.most, len(self.out))

    def take(self, name, answer):
        charged = answer is Answer.MISS and not self.out.pop(name)
        if answer not in (Answer.SKIP, None):
            self.level = max(0.0, self.level) + charged - (1 - COVERAGE)  # of the worst stretch that ends here
            self.worst = max(self.worst, self.level)

    def check(self):
        # With at_most, what is asked for after the first page may be all that the budget wants to show.
        if self.budget is not None and not self.chosen.get("shadow"):
            assert self.worst <= self.budget + (max(1, self.most) - 1) * COVERAGE


def play(chosen, schedule, tmp_path):
    """Drive a lister, and a stream of the service where it can have these settings, through the same rounds."""
    lister = make(chosen)
    # Its thresholds depend on what was shown, and it needs the budget.
    is_product_limit = chosen.get("policy") == "product-limit"
    twin, misses = make(chosen if is_product_limit else chosen | {"miss_budget": None}), Misses(chosen)
    with_service = "lister" not in chosen and "keep" not in chosen
    service = Service(chosen) if with_service else None
    extra = {"group": "g"} if isinstance(lister, GroupedShortlister) else {}
    rng = np.random.default_rng(3)
    due, before = {}, None
    for t in range(ROUNDS):
        row = int(rng.integers(len(LISTS)))
        right = int(np.argmin(LISTS[row]) if schedule == "shift" and t > ROUNDS // 2 else RIGHTS[row])
        if schedule == "file" and t == ROUNDS // 2:
            lister.save(tmp_path / "lister.json")
            lister = type(lister).load(tmp_path / "lister.json")
        score = score_in_use(lister, chosen)
        shown, bare = lister.propose(LISTS[row], **extra), twin.propose(LISTS[row], **extra)
        check_list(chosen, shown, LISTS[row], score)
        misses.show(t, shown, len(shown.members) + 1 if len(shown.members) == chosen.get("at_most") else 0)
        assert set(bare.members) <= set(shown.members)
        if service is not None:
            same_list(service.propose(t, LISTS[row]), shown)
        delay, kind = answers(schedule, rng), rng.random()
        given, plain = said(kind, right, shown, bare)
        first = given
        if schedule == "more" and kind >= SAID:
            look_for(right, shown, t, lister, service)
            look_for(right, bare, t, twin, None)
            given = plain = right
        if delay is not None:
            due.setdefault(t + delay, []).append((t, given, plain, first))
        for name, answer, other, before_more in due.pop(t, []):
            answered(lister, service, (name, answer), again=schedule == "again")
            take(twin, name, other)
            misses.take(name, before_more)
        if t % LOOK:
            continue
        now = summary_of(lister)
        same_bits(now, summary_of(twin))
        if before is not None and now.epoch == before.epoch and not is_product_limit:
            assert now.threshold >= before.threshold
        before = now
    misses.check()
    return lister, service


def said(kind, right, shown, bare):
    """Return what is said of a list, and of its twin."""
    if kind < SAID / 2:
        return Answer.SKIP, Answer.SKIP
    if kind < SAID:  # who has seen everything is believed that there is none, and who has not is not
        answer = Answer.ABSENT if shown.complete is bare.complete else Answer.MISS
        return answer, answer
    return tuple(right if right in each.members else Answer.MISS for each in (shown, bare))


def id_of(lister, name):
    """Return the id of the round with this number."""
    return lister._rounds.id_of(name)


def look_for(right, shown, name, lister, service):
    """Ask for more of a list, two candidates at a time, until the right one is there."""
    seen = list(shown.members)
    while right not in seen:
        more = lister.more(id_of(lister, name), 2)
        assert 1 <= len(more.members) <= 2
        seen += more.members
        assert more.left == CANDIDATES - len(seen) == CANDIDATES - len(set(seen))
        if service is not None:
            assert tuple(service.more(name, 2)) == more.members


def same_bits(one, other):
    """The error budget changes what is shown, and nothing of what is learned."""
    assert (one.threshold, one.epoch, one.counted) == (other.threshold, other.epoch, other.counted)
    assert alarms_of(one) == alarms_of(other)


def alarms_of(summary):
    """Return the state of a lister's drift detector, with the rounds' numbers only: other listers give other ids."""
    if summary.drift is None:
        return None
    return dict(summary.drift) | {"alarms": [a | {"round": a["round"].split("-")[-1]} for a in summary.drift.alarms]}


def answered(lister, service, each, *, again):
    """Give both the same answer; twice, and another one, if `again`."""
    take(lister, *each)
    if service is not None:
        service.answer(*each)
        assert service.live.threshold == lister.threshold
    if again:
        check_again(lister, service, *each)


def take(lister, name, answer):
    try:
        if isinstance(answer, Answer):
            getattr(lister, answer.value)(id_of(lister, name))
        else:
            lister.hit(id_of(lister, name), answer)
    except RoundClosed:
        assert lister.summary().rounds - name > 30  # it is too old to be kept


def check_again(lister, service, name, answer):
    """The same answer changes nothing; another one is refused and changes nothing."""
    before = dict(lister.summary())
    take(lister, name, answer)
    other = Answer.SKIP if answer is not Answer.SKIP else Answer.MISS
    with pytest.raises(ConflictingAnswer):
        getattr(lister, other.value)(id_of(lister, name))
    assert dict(lister.summary()) == before
    if service is not None:
        entries = len(service.log)
        service.answer(name, answer)
        with pytest.raises(ConflictingAnswer):
            service.answer(name, other)
        assert len(service.log) == entries


def check_end(chosen, schedule, lister, service):
    summary = lister.summary()
    answers = summary.hits + summary.misses + summary.skipped + summary.absent + summary.expired
    assert answers + summary.open == summary.rounds == ROUNDS
    score = score_in_use(lister, chosen)
    if schedule != "shift" and score is not None and chosen.get("policy") != "product-limit":
        assert summary_of(lister).threshold <= optimum(score)
    if service is not None:
        assert to_json(service.rebuilt().stream.state) == to_json(service.live.stream.state)
        snapshot = service.live.snapshot()
        again = LoggedStream(service.row)
        again.restore(snapshot)
        assert again.snapshot() == snapshot


def test_every_setting_is_tried():
    known = set(SETTINGS) | {"policy", "lister"}
    assert set(VALUES) == known
    assert set(CONFIGURABLE) < known
    assert {name for pair in PAIRS for name in (pair.first, pair.second)} <= known
    assert crossing_probability(DKW(HORIZON), COVERAGE, ROUNDS) < DELTA


@pytest.mark.parametrize("first", list(VALUES))
def test_pairs(first, tmp_path):
    walk(first, itertools.cycle(SCHEDULES), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("first", list(VALUES))
def test_pairs_with_every_schedule(first, schedule, tmp_path):
    walk(first, itertools.repeat(schedule), tmp_path)


def walk(first, schedules, tmp_path):
    """Play every pair that begins with a setting, or see that it is refused as the table says."""
    refused = walked = 0
    for chosen in cases():
        if next(iter(chosen)) != first:
            continue
        reason = refusal(chosen)
        if reason is None:
            schedule = next(schedules)
            check_end(chosen, schedule, *play(chosen, schedule, tmp_path))
            walked += 1
            continue
        refused += 1
        if "no policy" in reason:
            continue  # there is no such argument
        with pytest.raises(InvalidParameter) as caught:
            make(chosen)
        assert str(caught.value) == reason
        if not {"lister", "keep"} & set(chosen):
            with pytest.raises(InvalidParameter) as caught:
                Service(chosen)
            assert str(caught.value) == reason
    print(f"{first}: {walked} walked, {refused} refused")
    assert walked or first == "keep"  # keep comes last, and is paired with all before it


def test_every_row_of_the_table_is_reached():
    reasons = {refusal(chosen) for chosen in cases()}
    said = [reason for reason in reasons if reason]
    for pair in PAIRS:
        start = pair.reason.split("{")[0]
        assert any(reason.startswith(start) for reason in said), pair.reason


def test_greedy_passes_the_optimum_here():
    """The negative control: a rule that guarantees nothing is caught by the same check."""
    rows = np.random.default_rng(3).integers(len(LISTS), size=ROUNDS)
    settings = Settings(policy=Greedy(COVERAGE), score="raw", miss_budget=None)
    run = run_lister(Lists(LISTS[:, :, None], RIGHTS), rows, settings)
    assert run.thresholds[-1] > optimum(Raw())


def unnamed(shown):
    """Return a list without the random part of its id."""
    return dataclasses.replace(shown, round_id=shown.round_id.partition("-")[2])


@pytest.mark.parametrize(
    "chosen", [{}, {"score": "raw"}, {"score": "relative"}, {"patience": 5}, {"on_drift": "report"}], ids=str
)
def test_many_at_once_is_one_after_the_other(chosen):
    """`propose_many` and `reveal_many` give the same bits as loops."""
    rng = np.random.default_rng(1)
    one, many = make(chosen), make(chosen)
    for _ in range(20):
        rows = rng.integers(len(LISTS), size=7)
        alone = [one.propose(LISTS[row]) for row in rows]
        together = many.propose_many(LISTS[rows])
        assert [unnamed(shown) for shown in alone] == [unnamed(shown) for shown in together]
        for shown, row in zip(alone, rows, strict=True):
            one.reveal(shown.round_id, int(RIGHTS[row]))
        many.reveal_many([shown.round_id for shown in together], RIGHTS[rows].tolist())
        assert one.threshold == many.threshold
    assert one.summary() == many.summary()
    assert one.threshold > -math.inf


def test_rounds_of_the_service_are_records():
    service = Service({})
    listed = service.propose(0, LISTS[0])
    assert Round(service.read(1)).listed == listed._replace(scores=LISTS[0].tolist())
