"""May silence be ignored? What a log shows."""

import numpy as np
import pytest

from shortlist import check_ignore
from shortlist.logs import LoggedRound

RIGHT = list(range(20))


def a_log(answers, *, rounds=3_000, seed=0, delay=lambda _: 1.0):
    """Return a log in which a round is answered with the probability that `answers` gives it, by length and rank."""
    rng, log = np.random.default_rng(seed), []
    for t in range(rounds):
        length = int(rng.integers(1, 21))
        rank = int(rng.geometric(0.15))  # of what is right
        share = answers(length, rank)
        told = rng.random() < share
        answer = "hit" if rank <= length else "miss"
        log.append(
            LoggedRound(
                t,
                RIGHT,
                RIGHT[:length],
                length,
                answer if told else None,
                (RIGHT[rank - 1],) if told and answer == "hit" else (),
                shown_at=float(t),
                answered_at=t + delay(rank) if told else None,
            )
        )
    return log


def test_whoever_answers_whatever_it_was_gives_no_sign():
    check = check_ignore(a_log(lambda *_: 0.9))
    assert check.against == []
    assert check.rounds == 3_000
    assert sum(row.rounds for row in check.by_length) == 3_000
    assert 0.88 < check.answered / 3_000 < 0.92
    assert [row.low for row in check.by_length] == sorted(row.low for row in check.by_length)
    assert min(check.length_trend, check.cut_trend) > 0.01
    assert "no test found evidence against ignoring silence" in str(check)
    assert check.untested == []


def test_false_signs_are_rare():
    """Each of three tests at 0.01: more than 17 of 200 logs have a probability of 1e-6 at 3 %."""
    false = sum(bool(check_ignore(a_log(lambda *_: 0.7, rounds=600, seed=seed)).against) for seed in range(200))
    assert false <= 17


@pytest.mark.parametrize(
    ("answers", "delay", "sign"),
    [
        (lambda length, rank: 0.9 if rank <= length else 0.3, lambda _: 1.0, "answers depend on the length"),
        (
            lambda length, _: 0.9 if length < 10 else 0.7,
            lambda _: 1.0,
            "answers depend on the length of the list",
        ),
        (lambda length, rank: 0.9 * (rank <= length), lambda _: 1.0, "is a miss: users seem not to report them"),
        (lambda *_: 0.9, lambda rank: 40.0 * rank, "picks low in the list come later"),
    ],
    ids=["misses are told less", "long lists are answered less", "misses are never told", "low picks are late"],
)
def test_what_speaks_against_it(answers, delay, sign):
    check = check_ignore(a_log(answers, delay=delay))
    assert any(sign in line for line in check.against)
    assert sign in str(check)


def test_complete_lists_are_answered_and_cut_ones_are_not():
    rng, log = np.random.default_rng(0), []
    for t in range(1_000):
        length = 20 if t < 300 else 5
        told = rng.random() < (0.9 if length == 20 else 0.7)
        log.append({"candidates": RIGHT, "members": RIGHT[:length], "answer": {"hit": 0} if told else None})
    check = check_ignore(log)
    assert any("users who do not find the right answer seem to leave" in line for line in check.against)
    assert check.complete.rounds == 300
    assert check.cut.rounds == 700
    assert check.by_rank == []  # when they came is not known


def test_of_little_nothing_is_said():
    assert check_ignore([{"candidates": ["a"], "answer": None}] * 50).against == []
    assert check_ignore([]).rounds == 0
    assert "at least 100 are needed for any conclusion" in check_ignore([]).untested[0]
    whole = check_ignore([{"candidates": ["a", "b"], "answer": {"hit": "a"} if t % 2 else None} for t in range(300)])
    assert whole.against == []
    assert whole.untested == [
        "hardly any list was cut, so the log cannot show whether users who do not find the right answer stay silent"
    ]
    assert whole.untested[0] in str(whole)
