"""The replay loop: a policy and a stream of true scores in, the threshold of every round out.

The loop calls the policy's own step. With numba installed (extra ``fast``), the same loop and step are
compiled together and give the same bits about a hundred times as fast; the machine code is cached on
disk, so only the very first call waits for it.
"""

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import check_true_scores
from shortlist.errors import InvalidParameter, needs_extra
from shortlist.policies import MISS, Policy, State
from shortlist.policies.base import Prefilter, Schedule, Step

__all__ = ["replay"]

Loop = Callable[[Any, Any, Any, Any, bool], Any]
Function = Step | Prefilter | Schedule


def replay(
    policy: Policy, true_scores: ArrayLike, *, compiled: bool | None = None, full_feedback: bool = False
) -> NDArray[np.float64]:
    """Return the threshold in force at each round, with semi-bandit feedback applied inside.

    Gives the same bits as ``policy.update`` round by round, with or without numba. The policy learns
    nothing about a score below the threshold in force except that it missed.

    Parameters
    ----------
    policy
        The policy to run, from a fresh state.
    true_scores
        The score of the true label in each round, in order; -inf where the true label was not among
        the candidates.
    compiled
        Whether to use numba; by default it is used if it is installed.
    full_feedback
        Reveal every score to the policy, including those of misses. Most published methods assume this;
        click feedback never provides it. For comparison only.

    Returns
    -------
    NDArray[np.float64]
        The thresholds, one per round.

    Raises
    ------
    InvalidParameter
        If `policy` is not a policy, or numba cannot compile its rule and `compiled` is True.
    InvalidScores
        If a true score is NaN or +inf.
    MissingExtra
        If `compiled` is True and numba is not installed.

    Examples
    --------
    >>> from shortlist import AnytimeSPS
    >>> scores = np.random.default_rng(0).random(10_000)
    >>> thresholds = replay(AnytimeSPS(coverage=0.9), scores)
    >>> f"{thresholds[-1]:.3f}"
    '0.086'
    """
    if not isinstance(policy, Policy):
        raise InvalidParameter(f"policy is {policy!r}; it must be a policy, for example AnytimeSPS(coverage=0.9)")
    scores = check_true_scores(true_scores)
    state = policy.init()
    if compiled:
        needs_extra("compiled replay", "fast", "numba")
    _check_rule(policy, state)
    functions = _functions(policy)
    thresholds = np.empty(scores.size)
    if _numba_is_installed() if compiled is None else compiled:
        problem = _run_compiled(functions, state, scores, thresholds, full_feedback)
        if problem is None:
            return _checked(policy, thresholds)
        message = f"the rule of {type(policy).__name__} cannot be compiled by numba ({problem})"
        if compiled:
            raise InvalidParameter(f"{message}; use plain numbers, lists and functions, or compiled=False")
        warnings.warn(f"{message}; it runs uncompiled, about a hundred times slower", RuntimeWarning, stacklevel=2)
    plain = thresholds.tolist()
    _loop(functions, stamp="plain")(state.carry, state.constants, scores.tolist(), plain, full_feedback)
    thresholds[:] = plain
    return _checked(policy, thresholds)


def _ships(policy: Policy) -> bool:
    return type(policy).__module__.startswith("shortlist.")


def _check_rule(policy: Policy, state: State) -> None:
    """Raise if a rule that does not ship with shortlist returns something else than a tuple."""
    if _ships(policy):
        return
    carry = policy.rule(state.carry, [], state.constants, MISS, True)
    if not isinstance(carry, tuple) or not carry:
        raise InvalidParameter(
            f"the rule of {type(policy).__name__} returned {carry!r}; it must return a tuple, the threshold first"
        )


def _checked(policy: Policy, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the thresholds, or raise if a rule that does not ship with shortlist returned one that is no number."""
    if not _ships(policy) and np.isnan(thresholds).any():
        first = int(np.isnan(thresholds).argmax())
        raise InvalidParameter(
            f"the rule of {type(policy).__name__} returned a threshold of nan before round {first + 1}"
        )
    return thresholds


def _run_compiled(
    functions: tuple[Function, ...], state: State, scores: Any, thresholds: Any, full_feedback: bool
) -> str | None:
    """Run the compiled loop; return what numba says if it cannot compile it."""
    from numba.core.errors import NumbaError  # noqa: PLC0415 - the core needs numpy alone

    try:
        _compiled_loop(functions)(state.carry, state.constants, scores, thresholds, full_feedback)
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return next((line for line in lines[1:] if not line.startswith(("-", "During"))), type(error).__name__)
    return None


def _functions(policy: Policy) -> tuple[Function, ...]:
    """Return the functions of a policy's rule: the step, then prefilter and schedule where it has them."""
    return (policy.rule, *(policy.prefilter or ()))


def _loop(functions: tuple[Any, ...], stamp: str) -> Loop:
    """Return the loop around a rule."""
    if len(functions) == 1:
        return _plain_loop(functions[0], stamp)
    step, prefilter, schedule = functions
    return _filtered_loop(step, prefilter, schedule, stamp)


def _plain_loop(step: Step, stamp: str) -> Loop:
    def loop(carry: Any, constants: Any, scores: Any, thresholds: Any, full: bool) -> Any:
        assert stamp  # numba keys its cache on this value, so an edited step is compiled again
        values = [0.0]  # numba needs to see what is in the list
        values.pop()  # and, below, + 0.0 makes one zero of two
        for i, score in enumerate(scores):
            thresholds[i] = carry[0]
            missed = not score >= carry[0] or score == MISS
            carry = step(carry, values, constants, MISS if missed and not full else score + 0.0, missed)
        return carry

    return loop


def _filtered_loop(step: Step, prefilter: Prefilter, schedule: Schedule, stamp: str) -> Loop:
    # The list is touched only where it must be: passing it to a function costs as much as all the rest of a round.
    def loop(carry: Any, constants: Any, scores: Any, thresholds: Any, full: bool) -> Any:
        assert stamp
        values = [0.0]
        values.pop()
        for i, score in enumerate(scores):
            thresholds[i] = carry[0]
            seen = score + 0.0 if score >= carry[0] or full else MISS
            carry, concerned = prefilter(schedule, carry, constants, seen)
            if concerned:
                missed = not score >= thresholds[i] or score == MISS
                carry = step(carry, values, constants, seen, missed)
        return carry

    return loop


@functools.cache
def _compiled_loop(functions: tuple[Function, ...]) -> Loop:
    """Compile the loop around a rule, with everything the rule calls."""
    import numba  # noqa: PLC0415 - the core needs numpy alone
    from numba.extending import register_jitable  # noqa: PLC0415

    parts = _parts(functions)
    # Inlined, a rule with a prefilter is a third faster; long rules become so large that numba stumbles over them.
    inline = "always" if len(functions) > 1 else "never"
    for part in parts:
        register_jitable(inline=inline)(part)
    loop: Loop = numba.njit(cache=True)(_loop(functions, _stamp(parts)))
    return loop


def _stamp(parts: list[types.FunctionType]) -> str:
    """Return a digest of the files that define the functions: code, names and constants alike."""
    import hashlib  # noqa: PLC0415 - slow to import
    from pathlib import Path  # noqa: PLC0415 - likewise

    digest = hashlib.sha256()
    for name in sorted({part.__code__.co_filename for part in parts}):
        digest.update(Path(name).read_bytes() if Path(name).is_file() else name.encode())
    return digest.hexdigest()


def _parts(functions: tuple[Function, ...]) -> list[types.FunctionType]:
    """Return the functions and the plain functions that they call, directly or not."""
    parts = [function for function in functions if isinstance(function, types.FunctionType)]
    assert len(parts) == len(functions)
    for function in parts:  # grows while we walk
        named = (function.__globals__.get(name) for name in function.__code__.co_names)
        parts += [part for part in named if isinstance(part, types.FunctionType) and part not in parts]
    return parts


@functools.cache
def _numba_is_installed() -> bool:
    import importlib.util  # noqa: PLC0415 - needed here only

    return importlib.util.find_spec("numba") is not None
