"""The error budget at the service: whatever comes, in any W answered rounds at most (1 - coverage) W + H lists miss.

The adversary sees every list before it answers, and says that the right one was not in it wherever something was left
out. What it can do is reckoned exactly: for every window at once, as the largest sum of misses less 1 - coverage over
answered rounds in a row.
"""

import itertools
import signal
from fractions import Fraction

import httpx
import pytest

from shortlist.service.engine import verify
from tests.service.running import process, running

H, P0 = 20, Fraction(1, 10)
IDS = [f"d{i}" for i in range(30)]
CANDIDATES = [{"id": name, "score": 0.9 - 0.02 * i} for i, name in enumerate(IDS)]


@pytest.fixture
def http(sqlite):
    """A client of a service."""
    with running(sqlite) as service:
        yield service.http


def worst_excess(missed):
    """Return the largest number of misses beyond (1 - coverage) W in any W rounds in a row, over all W."""
    worst = now = Fraction(0)
    for miss in missed:
        now = max(now, 0) + miss - P0
        worst = max(worst, now)
    return worst


class Adversary:
    """Answers lists of thirty: at first the best is right, then whatever was left out, if something was."""

    def __init__(self, http, name="docs"):
        self.http, self.path = http, f"/v1/streams/{name}"
        self.numbers = itertools.count()
        #: Of each answer, in the order given: whether a list that was cut missed.
        self.missed = []
        self.added = []

    def make(self, **settings):
        name = self.path.rsplit("/", 1)[-1]
        body = {"name": name, "coverage": 0.9, "delta": 0.01, "score": "raw", **settings}
        assert self.http.post("/v1/streams", json=body).status_code == 201
        self.play(120, kind=True)
        assert self.summary()["threshold"] == 0.9 or body["delta"] is None
        return self

    def summary(self):
        return self.http.get(self.path).json()

    def show(self):
        body = {"candidates": CANDIDATES, "round_id": f"r{next(self.numbers)}"}
        answer = self.http.post(f"{self.path}/rounds", json=body)
        assert answer.status_code == 201, answer.text
        self.added.append(answer.json()["added"])
        return answer.json()

    def play(self, rounds, *, waiting=1, kind=False):
        """Show so many lists, and answer them when so many wait."""
        for _ in range(rounds // waiting):
            shown = [self.show() for _ in range(waiting)]
            missed = [not kind and len(each["members"]) < len(IDS) for each in shown]
            answers = [{"miss": True} if miss else {"hit": "d0"} for miss in missed]
            told = [{"round_id": each["round_id"], **answer} for each, answer in zip(shown, answers, strict=True)]
            results = self.http.post(f"{self.path}/feedback", json={"answers": told}).json()["results"]
            assert {each["status"] for each in results} == {200}
            self.missed += missed


def test_misses_stay_within_the_budget(http):
    """Answered at once; the bound is reached, and the threshold stays where it was."""
    adversary = Adversary(http).make()
    adversary.play(250)
    excess = worst_excess(adversary.missed)
    print(f"answered at once: {float(excess)} beyond 0.1 W, and {H} are allowed")
    assert H - 1 < excess <= H
    summary = adversary.summary()
    assert summary["threshold"] == 0.9
    budget = summary["error_budget"]
    assert (budget["size"], budget["lengthened"]) == (H, sum(added > 0 for added in adversary.added))
    assert budget["added"] == pytest.approx(sum(adversary.added) / budget["lengthened"])
    adversary.play(240, kind=True)  # it recovers
    assert adversary.summary()["error_budget"]["spent"] == 0
    assert adversary.added[-1] == 0


def test_without_a_budget_the_same_adversary_has_no_bound(http):
    """The negative control."""
    adversary = Adversary(http).make(miss_budget=None)
    adversary.play(200)
    assert worst_excess(adversary.missed) == 200 * (1 - P0)
    assert adversary.summary()["error_budget"] is None


@pytest.mark.parametrize("waiting", [1, 40])
@pytest.mark.parametrize("score", ["raw", "auto"])
def test_lists_that_are_short_from_the_first_on_stay_within_the_budget(http, score, waiting):
    """As streams are by default: answers from the first round on, at once and with forty lists out at a time."""
    adversary = Adversary(http).make(delta=None, score=score)
    adversary.play(200, waiting=waiting)
    adversary.play(120, waiting=waiting, kind=True)
    adversary.play(200, waiting=waiting)
    bound, excess = H + (waiting - 1) * (1 - P0), worst_excess(adversary.missed)
    print(f"{waiting} lists out at a time: {float(excess)} beyond 0.1 W, and {float(bound)} are allowed")
    assert H / 2 < excess <= bound


@pytest.mark.parametrize("waiting", [5, 40])
def test_late_answers_cost_at_most_one_miss_for_each_list_that_waits(http, waiting):
    adversary = Adversary(http).make()
    adversary.play(21)  # almost all is spent, and lists are still cut
    adversary.play(800, waiting=waiting)
    bound = H + (waiting - 1) * (1 - P0)
    excess = worst_excess(adversary.missed)
    print(f"{waiting} lists out at a time: {float(excess)} beyond 0.1 W, and {float(bound)} are allowed")
    assert bound - 1 < excess <= bound
    assert excess > H  # they do cost something


def test_the_bucket_survives_a_crash_and_a_stop(sqlite, read):
    """Killed while it is being spent, then stopped: it goes on from the log, then from a snapshot, and the bound holds
    over all of it.
    """
    before, missed, numbers = None, [], itertools.count()
    for turn, how in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)):
        with process(sqlite) as (child, port), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
            adversary = Adversary(http)
            adversary.numbers, adversary.missed = numbers, missed
            if turn == 0:
                adversary.make()
            else:
                assert adversary.summary()["error_budget"] == before
                assert before["spent"] > 10
            adversary.play(37)
            before = adversary.summary()["error_budget"]
            child.send_signal(how)
            child.wait()
    assert H - 1 < worst_excess(missed) <= H
    (finding,) = verify(read(sqlite))
    assert finding.problems == []
    assert finding.snapshots > 0
