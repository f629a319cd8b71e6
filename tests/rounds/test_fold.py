"""The fold, fuzzed: whatever is asked of a stream, in any order, with any settings and any finite scores.

After each step: what was decided could be applied, the invariants of the threshold hold, and counts add up. At the end
of each sequence the stream that is rebuilt from its log, and the one that is read from a snapshot, are the live one.
"""

import hashlib
import json
import math
import os
import random
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from shortlist.errors import ShortlistError
from shortlist.policies.order_statistic import OrderStatisticState
from shortlist.rounds import repeated_fits
from shortlist.rounds.codec import to_json
from shortlist.rounds.events import EVENTS, Answer, Restarted, kind_of
from shortlist.rounds.progress import summarize
from shortlist.service.engine.batch import Batch
from shortlist.service.engine.commands import Close, Configure, Expand, Propose
from shortlist.service.engine.examples import WarmStart, labeled, warm_start_events
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import LogEntry, StreamRow
from shortlist.service.store.event_bodies import body_of, event_of
from tests.rounds.test_pairs import VALUES

#: Scores over the whole range that the border lets in, ties and signed zeros among them.
ODD = [0.0, -0.0, 1.0, 0.5, -1.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7e308, -1.7e308]
NUMBERS = st.one_of(
    st.sampled_from(ODD),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 4).map(float),
)
LISTS = st.lists(NUMBERS, min_size=1, max_size=6)
POSSIBLE = [*Answer, 0, 1, 2, 3, 5]
ANSWERS = st.sampled_from(POSSIBLE)
POLICIES = [
    {"kind": "product-limit"},
    {"kind": "product-limit", "window": 12},
    {"kind": "anytime", "delta": 0.05},
    {"kind": "anytime", "delta": 0.5},
    {"kind": "sps", "horizon": 20},
]
OPTIONS = {name: values for name, values in VALUES.items() if name not in ("policy", "lister", "keep")} | {
    "coverage": [0.3, 0.5, 0.9],
}
CHANGEABLE = ["at_least", "at_most", "shadow", "patience", "miss_budget", "explore_share"]


@pytest.fixture(autouse=True, scope="module")
def quick(module_constants):
    """Fits and alarms within a few rounds."""
    module_constants(picks=2, alarm=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeated_fits, "SCHEDULE", (2, 4, 9))
        yield


class Fold(RuleBasedStateMachine):
    """A stream behind its log."""

    @initialize(data=st.data())
    def start(self, data):
        names = data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), unique=True, max_size=4))
        given = [(name, data.draw(st.sampled_from(OPTIONS[name]))) for name in names]
        self.begin(data.draw(st.sampled_from(POLICIES)), given)

    def begin(self, policy, given):
        chosen = {"coverage": 0.5, "policy": policy}
        for name, value in given:
            chosen[name] = value
            try:
                StreamSettings.of(**chosen)
            except ShortlistError:
                del chosen[name]  # the table of pairs refuses it
        self.row = StreamRow(1, "fuzzed", StreamSettings.of(**chosen).to_dict(), 0.0, 0)
        self.live, self.log, self.rounds, self.made = LoggedStream(self.row), [], {}, 0

    # What can be asked.

    @precondition(lambda self: not self.log)
    @rule(lists=st.lists(LISTS, min_size=1, max_size=8), data=st.data())
    def warm_start(self, lists, data):
        self.learn(lists, [data.draw(st.integers(-1, len(each) - 1)) for each in lists])

    def learn(self, lists, right):
        try:
            examples = labeled(lists, right)
            events = warm_start_events(self.live.stream, examples)
        except ShortlistError:
            return  # there are too few of them
        self.ask(WarmStart(self.live, events, examples.digest))

    @rule(values=LISTS, fresh=st.booleans(), below=st.one_of(st.none(), NUMBERS))
    def propose(self, values, fresh, below):
        self.made += fresh or not self.made
        table = np.array(values, dtype=np.float64)
        self.ask(Propose(self.live, f"r{self.made}", list(range(len(values))), table, truncated_below=below))

    @rule(values=LISTS, count=st.integers(5, 25), right=st.integers(0, 3))
    def play(self, values, count, right):
        """Many prompt answers to the same list, so that there is a threshold, and a fit."""
        for _ in range(count):
            self.propose(values, fresh=True, below=None)
            listed = self.rounds[1, f"r{self.made}"].listed
            self.ask(Close(self.live, f"r{self.made}", right if right in listed.members else Answer.MISS))

    @rule(
        values=LISTS,
        below=st.one_of(st.none(), NUMBERS),
        count=st.integers(0, 3),
        answers=st.lists(ANSWERS, max_size=2),
    )
    def live_through(self, values, below, count, answers):
        """One round from its list to its answer, and perhaps to another one."""
        self.propose(values, fresh=True, below=below)
        if count:
            self.ask(Expand(self.live, f"r{self.made}", count))
        for each in answers:
            self.ask(Close(self.live, f"r{self.made}", each))

    @rule(which=st.integers(0, 8), answer=ANSWERS)
    def answer(self, which, answer):
        self.ask(Close(self.live, self.name(which), answer))

    @rule(which=st.integers(0, 8), count=st.one_of(st.none(), st.integers(1, 3)))
    def more(self, which, count):
        self.ask(Expand(self.live, self.name(which), count))

    def name(self, which):
        """Return a round that is open, or is closed, or never was."""
        names = [*reversed(self.live.open), f"r{self.made}", "r1", "r0"]
        return str(names[min(which, len(names) - 1)])

    @rule(data=st.data())
    def configure(self, data):
        name = data.draw(st.sampled_from(CHANGEABLE))
        self.ask(Configure(self.live, {name: data.draw(st.sampled_from([*OPTIONS[name], None, False, 0, 1]))}))

    @precondition(lambda self: self.live.settings.rounds.unanswered == "miss" and self.made % 5 == 4)
    @rule()
    def restart(self):
        self.apply(Restarted(self.live.stream.tracker.epoch + 1))

    def ask(self, command):
        """Judge a command, write what it gives as JSON, read it, apply it; and all that is due."""
        batch = Batch(self.rounds, 0.0, 6)
        outcome = batch.judge(command)
        assert isinstance(outcome, (tuple, ShortlistError))
        assert not (isinstance(outcome, ShortlistError) and batch.entries)
        for entry in batch.entries:
            self.apply(entry.event)
        while (event := self.live.stream.due()) is not None:
            self.apply(event)

    def apply(self, event):
        self.log.append((kind_of(event), getattr(event, "round_id", None), body_of(event)))
        self.live.apply(self.read(len(self.log)))

    def read(self, number):
        return LogEntry(1, number, float(number), event_of(*self.log[number - 1]))

    # What must be so.

    @invariant()
    def is_sound(self):
        if not hasattr(self, "live"):
            return
        state, tally = self.live.stream.tracker.state.policy, self.live.stream.tally
        if isinstance(state, OrderStatisticState):
            assert state.limit < max(state.rounds, 1)
            assert 0 <= state.low <= state.rounds
        closed = tally.hits + tally.misses + tally.skipped + tally.absent + tally.expired + tally.withdrawn
        assert closed + len(self.live.open) == tally.rounds
        assert self.live.threshold == -math.inf or math.isfinite(self.live.threshold)
        assert self.live.charts_dropped == 0

    def teardown(self):
        if not hasattr(self, "live"):
            return
        for _, _, body in self.log:
            json.loads(body, parse_constant=pytest.fail)
        summarize(self.live.stream, len(self.live.open))
        to_json(self.live.summary())
        rebuilt = LoggedStream(self.row)
        for number in range(1, len(self.log) + 1):
            rebuilt.apply(self.read(number))
        snapshot = self.live.snapshot()
        assert rebuilt.snapshot() == snapshot
        again = LoggedStream(self.row)
        again.restore(snapshot)
        assert again.snapshot() == snapshot


def fuzz(examples, steps):
    chosen = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Fold, settings=chosen)


def roam(rng, steps):
    """Go through a sequence drawn without Hypothesis, which shrinks what fails, but takes longer than all the rest."""
    numbers = [
        lambda: rng.choice(ODD),
        lambda: float(rng.randrange(5)),
        rng.random,
        lambda: struct.unpack("d", rng.randbytes(8))[0],
    ]

    def number():
        drawn = rng.choice(numbers)()
        return drawn if math.isfinite(drawn) else 0.25

    def values():
        return [number() for _ in range(rng.randint(1, 6))]

    def below():
        return number() if rng.random() < 0.3 else None

    fold = Fold()
    given = [(name, rng.choice(OPTIONS[name])) for name in rng.sample(sorted(OPTIONS), rng.randint(0, 4))]
    fold.begin(rng.choice(POLICIES), given)
    moves = [
        lambda: fold.propose(values(), fresh=rng.random() < 0.7, below=below()),
        lambda: fold.play(values(), rng.randint(5, 25), rng.randrange(4)),
        lambda: fold.live_through(values(), below(), rng.randrange(4), rng.choices(POSSIBLE, k=rng.randrange(3))),
        lambda: fold.answer(rng.randrange(9), rng.choice(POSSIBLE)),
        lambda: fold.more(rng.randrange(9), rng.choice([None, 1, 2, 3])),
        lambda: fold.ask(
            Configure(fold.live, {(name := rng.choice(CHANGEABLE)): rng.choice([*OPTIONS[name], None, 0])})
        ),
    ]
    if rng.random() < 0.2:
        lists = [values() for _ in range(rng.randint(1, 8))]
        fold.learn(lists, [rng.randrange(-1, len(each)) for each in lists])
    for _ in range(steps):
        if fold.live.settings.rounds.unanswered == "miss" and fold.made % 5 == 4 and rng.random() < 0.2:
            fold.restart()
        else:
            rng.choice(moves)()
        fold.is_sound()
    fold.teardown()


def test_five_hundred_sequences():
    fuzz(250, 12)
    for seed in range(250):
        roam(random.Random(seed), 12)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_forty_thousand_sequences(part):
    for seed in range(10_000 * part, 10_000 * (part + 1)):
        roam(random.Random(seed), 12)


def test_what_is_drawn_reaches_all_that_can_happen():
    """Else it would prove little: every kind of event, and refusals."""
    seen, apply = set(), Fold.apply
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fold, "apply", lambda fold, event: (seen.add(kind_of(event)), apply(fold, event)))
        for seed in range(60):
            roam(random.Random(seed), 12)
    assert seen == set(EVENTS)


#: Rebuilds a stream from its log, and prints its state and what `exp` is here, as digests.
REBUILD = """
import hashlib, json, sys
import numpy as np
from shortlist.rounds import learning, repeated_fits
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.store import LogEntry, StreamRow
from shortlist.service.store.event_bodies import event_of

learning._PICKS_ONE, repeated_fits.SCHEDULE = 2, (2, 4, 9)
settings, log = json.load(sys.stdin)
stream = LoggedStream(StreamRow(1, "fuzzed", settings, 0.0, 0))
for number, event in enumerate(log, 1):
    stream.apply(LogEntry(1, number, float(number), event_of(*event)))
print(hashlib.sha256(repr(stream.snapshot()).encode()).hexdigest())
print(hashlib.sha256(np.exp(np.linspace(-30, 30, 10_001)).tobytes()).hexdigest())
"""


def test_another_build_of_numpy_gives_the_same_bits():
    """`exp` differs in the last bits between machines; a log that is read has no use for it, whatever the policy."""
    rng = np.random.default_rng(0)
    for policy in (POLICIES[0], POLICIES[2]):
        fold = Fold()
        fold.begin(policy, [("coverage", 0.9)])
        for _ in range(80):
            values = rng.normal(size=20).tolist()
            fold.propose(values, fresh=True, below=None)
            shown = fold.rounds[1, f"r{fold.made}"].listed.members
            right = int(np.argmax(np.array(values) + rng.normal(size=20)))
            fold.ask(Close(fold.live, f"r{fold.made}", right if right in shown else Answer.MISS))
        assert fold.live.stream.learning.state.score is not None or policy["kind"] == "product-limit"
        printed = []
        for disabled in ("", "X86_V4 X86_V3 AVX512F AVX2 FMA3"):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", REBUILD],
                input=json.dumps([fold.row.settings, fold.log]),
                env=os.environ | {"NPY_DISABLE_CPU_FEATURES": disabled},
                capture_output=True,
                text=True,
                check=True,
            )
            printed.append(done.stdout.split())
        states, exponentials = zip(*printed, strict=True)
        assert len(set(states)) == 1
        assert states[0] == hashlib.sha256(repr(fold.live.snapshot()).encode()).hexdigest()
        if len(set(exponentials)) == 1:
            pytest.skip("numpy has one exp here")
