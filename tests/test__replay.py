"""Replay: what it refuses, and that an edited rule is never run from an old cache."""

import dataclasses
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import shortlist
from shortlist import DKW, AnytimeSPS, Greedy
from shortlist._replay import _functions, _parts, _stamp
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.policies import State

if TYPE_CHECKING:
    import types

# `shortlist.replay` is the function; the module of the same name is behind it.
replay = shortlist.replay


@pytest.mark.parametrize("policy", [AnytimeSPS(0.9), Greedy(0.9), shortlist.ACI(0.9, 0.01)], ids=repr)
def test_a_negative_zero_gives_the_same_bits_as_round_by_round(policy):
    scores = np.array([-0.0, 0.0] * 200)
    state, streamed = policy.init(), []
    for score in scores.tolist():
        streamed.append(state.threshold)
        policy.update(state, score)
    assert replay(policy, scores).tobytes() == np.array(streamed).tobytes()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, math.nan], "true_scores[1] is nan"),
        ([math.inf], "true_scores[0] is inf"),
        ([[0.5]], "true_scores have the shape (1, 1)"),
        (0.5, "true_scores are of type float"),
        (["a"], "they must be numbers"),
        ([[1.0], [1.0, 2.0]], "cannot be read as an array"),
        ([True], "true_scores are of type bool"),
    ],
)
def test_bad_streams_are_named(scores, message):
    with pytest.raises(InvalidScores) as caught:
        replay(AnytimeSPS(0.9), scores)
    assert message in str(caught.value)


def test_what_is_not_a_policy_is_refused():
    for wrong in ("sps", AnytimeSPS, DKW(100), shortlist.Shortlister()):
        with pytest.raises(InvalidParameter, match="it must be a policy"):
            replay(wrong, [0.5])


def test_any_layout_and_type_will_do():
    scores = np.random.default_rng(0).random(400)
    expected = replay(AnytimeSPS(0.9), scores)
    wide = np.zeros((400, 3))
    wide[:, 1] = scores
    for same in (scores.tolist(), wide[:, 1], scores.astype(np.longdouble)):
        assert replay(AnytimeSPS(0.9), same).tobytes() == expected.tobytes()
    assert replay(AnytimeSPS(0.9), np.arange(300)).dtype == np.float64
    assert replay(AnytimeSPS(0.9), []).size == 0


def test_everything_a_rule_calls_is_compiled_with_it():
    assert {part.__name__ for part in _parts(_functions(AnytimeSPS(0.9)))} == {"mixture", "count", "keep"}
    assert {part.__name__ for part in _parts(_functions(Greedy(0.9)))} == {"step", "quantile", "count", "keep"}


def test_an_edited_rule_is_compiled_anew(tmp_path):
    """The stamp in numba's cache key changes with the file: names and constants of the module included."""
    path, stamps = tmp_path / "rule.py", []
    for text in ("import math\nK = 0\ndef f(x):\n    return math.floor(x) + K\n",) * 2 + (
        "import math\nK = 3\ndef f(x):\n    return math.floor(x) + K\n",
        "import math\nK = 3\ndef f(x):\n    return math.ceil(x) + K\n",
    ):
        path.write_text(text)
        namespace: dict[str, types.FunctionType] = {}
        exec(compile(text, str(path), "exec"), namespace)
        stamps.append(_stamp([namespace["f"]]))
    assert stamps[0] == stamps[1]
    assert len(set(stamps)) == 3


def test_two_zeros_are_one():
    for seed in range(30):
        scores = np.where(np.random.default_rng(seed).random(3000) < 0.5, -0.0, 0.0)
        plain = replay(AnytimeSPS(0.9, 1e-8), scores, compiled=False)
        assert replay(AnytimeSPS(0.9, 1e-8), scores, compiled=True).tobytes() == plain.tobytes()


def test_without_numba_nothing_is_missing():
    """In a process where numba cannot be imported, replay gives the same bits."""
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'numba' else real(name, *rest)\n"
        "import numpy as np, shortlist\n"
        "scores = np.random.default_rng(0).random(2000)\n"
        "print(shortlist.replay(shortlist.AnytimeSPS(0.9), scores)[-1].hex())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    scores = np.random.default_rng(0).random(2000)
    assert done.stdout.strip() == replay(AnytimeSPS(0.9), scores)[-1].hex()


@dataclasses.dataclass(frozen=True)
class Stubborn(shortlist.Policy):
    """A rule that Python runs and numba does not."""

    @staticmethod
    def rule(carry, _values, _constants, _seen, missed, /):
        return (float(str(carry[0] + 0.001 * (0.1 - missed))),) if isinstance(carry, tuple) else eval("carry")

    def init(self):
        return State((0.0,), [], ())


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="numba is turned off")
def test_a_rule_that_numba_cannot_compile_runs_without_it():
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    scores = np.random.default_rng(0).random(50)
    with pytest.warns(RuntimeWarning, match="the rule of Stubborn cannot be compiled by numba"):
        thresholds = replay(Stubborn(), scores)
    assert thresholds.tolist() == replay(Stubborn(), scores, compiled=False).tolist()
    with pytest.raises(InvalidParameter, match="cannot be compiled by numba") as caught:
        replay(Stubborn(), scores, compiled=True)
    assert "\n" not in str(caught.value)
    print(caught.value)


@dataclasses.dataclass(frozen=True)
class Broken(shortlist.Policy):
    """A rule whose author has made a mistake."""

    returns: object = None

    @property
    def rule(self):
        return lambda *_: self.returns

    def init(self):
        return State((0.0,), [], ())


def test_a_rule_that_returns_something_else_is_named():
    scores = np.random.default_rng(0).random(5)
    with pytest.raises(InvalidParameter, match=r"the rule of Broken returned 0.5; it must return a tuple"):
        replay(Broken(0.5), scores, compiled=False)
    with pytest.raises(InvalidParameter, match="the rule of Broken returned a threshold of nan before round 2"):
        replay(Broken((math.nan,)), scores, compiled=False)
