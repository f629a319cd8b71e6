"""The one loop: a policy and a stream of true scores in, the threshold of every round out.

The loop calls the policy's own step. With numba installed (extra ``fast``), loop and step are
compiled together, the same source, and give the same bits some twenty times as fast; the machine
code is kept on disk, so that only the first call ever waits for it.
"""

import functools
import hashlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.candidates import check_true_scores
from shortlist.errors import InvalidParameter, MissingExtra
from shortlist.policies import MISS, Policy
from shortlist.policies.base import Step

__all__ = ["replay"]

Loop = Callable[[Any, Any, Any, Any], Any]


def replay(policy: Policy, true_scores: ArrayLike, *, compiled: bool | None = None) -> NDArray[np.float64]:
    """Return the threshold in force at each round, with semi-bandit feedback applied inside.

    The same bits as ``policy.update`` round by round, with or without numba. Nothing of a score
    below the threshold in force reaches the policy.

    Parameters
    ----------
    policy
        The policy to run, from a fresh state.
    true_scores
        The score of the true label in each round, in order; -inf where the true label was not among
        the candidates.
    compiled
        True or False to use numba or not; by default it is used when it is installed.

    Examples
    --------
    >>> from shortlist import AnytimeSPS
    >>> scores = np.random.default_rng(0).random(10_000)
    >>> thresholds = replay(AnytimeSPS(coverage=0.9), scores)
    >>> f"{thresholds[-1]:.3f}"
    '0.087'
    """
    if not isinstance(policy, Policy):
        raise InvalidParameter(f"policy is {policy!r}; it must be a policy, for example AnytimeSPS(coverage=0.9)")
    scores = check_true_scores(true_scores)
    state = policy.init()
    if compiled is None:
        compiled = _numba_is_installed()
    elif compiled and not _numba_is_installed():
        raise MissingExtra("compiled replay needs an extra: pip install 'shortlist[fast]'")
    thresholds = np.empty(scores.size)
    if compiled:
        _compiled_loop(policy.rule)(state.carry, state.constants, scores, thresholds)
    else:
        plain = thresholds.tolist()
        _loop(policy.rule, stamp="plain")(state.carry, state.constants, scores.tolist(), plain)
        thresholds[:] = plain
    return thresholds


def _loop(step: Step, stamp: str) -> Loop:
    """Return the loop around a step."""

    def loop(carry: Any, constants: Any, scores: Any, thresholds: Any) -> Any:
        assert stamp  # numba keys its cache on this value, so an edited step is compiled anew
        values = [0.0]  # numba needs to see what is in the list
        values.pop()
        for i in range(len(scores)):
            threshold = carry[0]
            thresholds[i] = threshold
            score = scores[i]
            carry = step(carry, values, constants, score if score >= threshold else MISS)
        return carry

    return loop


@functools.cache
def _compiled_loop(step: Step) -> Loop:
    """Compile the loop around a step, with everything the step calls."""
    import numba  # noqa: PLC0415 - the core needs numpy alone
    from numba.extending import register_jitable  # noqa: PLC0415

    parts = _parts(step)
    for part in parts:
        register_jitable(part)
    loop: Loop = numba.njit(cache=True)(_loop(step, _stamp(parts)))
    return loop


def _stamp(parts: list[types.FunctionType]) -> str:
    """Return a digest of the files that the functions stand in: code, names and constants alike."""
    digest = hashlib.sha256()
    for name in sorted({part.__code__.co_filename for part in parts}):
        digest.update(Path(name).read_bytes() if Path(name).is_file() else name.encode())
    return digest.hexdigest()


def _parts(step: Step) -> list[types.FunctionType]:
    """Return the step and the plain functions that it calls, directly or not."""
    assert isinstance(step, types.FunctionType)
    parts = [step]
    for function in parts:  # grows while we walk
        named = (function.__globals__.get(name) for name in function.__code__.co_names)
        parts += [part for part in named if isinstance(part, types.FunctionType) and part not in parts]
    return parts


@functools.cache
def _numba_is_installed() -> bool:
    import importlib.util  # noqa: PLC0415 - needed here only

    return importlib.util.find_spec("numba") is not None
