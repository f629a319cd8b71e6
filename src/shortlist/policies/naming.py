"""What a policy is called, and how it is built from its name.

A policy's name is its key, with a setting after an @ where it has one: ``sps``, ``aci@0.008``, ``anytime@2/T``, where T
is the number of rounds. A policy outside the package is named by its file and class: ``my_policy.py:MyPolicy``, or
``my_policy.py:MyPolicy@50``; its class names the parameter that is its `setting`, and the `grid` to choose it from.
"""

import inspect
import math

from shortlist._validation import check_number
from shortlist.errors import InvalidParameter, ShortlistError
from shortlist.policies.base import Policy, State
from shortlist.policies.loading import is_reference, load_policy_class
from shortlist.policies.registry import PAPER, REGISTRY, Entry

__all__ = ["make_policy", "policy_entry", "policy_label", "policy_name"]


def policy_name(text: str) -> str:
    """Return the name of a policy in results; for a policy in a file, its class.

    Parameters
    ----------
    text
        A name that `make_policy` takes.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> policy_name("aci@0.008"), policy_name("policies/my_policy.py:MyPolicy")
    ('aci@0.008', 'MyPolicy')
    """
    return text.rpartition(":")[2] if is_reference(text) else text


def policy_label(name: str) -> str:
    """Return a policy's label in figures and reports.

    Parameters
    ----------
    name
        The name of a policy in results.

    Returns
    -------
    str
        The label.

    Examples
    --------
    >>> policy_label("sps"), policy_label("aci@0.008"), policy_label("MyPolicy")
    ('SPS', 'ACI, step = 0.008', 'MyPolicy')
    """
    if name in PAPER:
        return PAPER[name].label
    key, at, setting = name.partition("@")
    if key not in REGISTRY:
        return policy_name(name)
    entry = REGISTRY[key]
    return f"{entry.policy.__name__}, {entry.setting} = {setting}" if at else entry.policy.__name__


def policy_entry(text: str) -> Entry:
    """Return the registry entry of a named policy; your own policy gets one from its class.

    Parameters
    ----------
    text
        A name that `make_policy` takes.

    Returns
    -------
    Entry
        The entry.

    Raises
    ------
    InvalidParameter
        If there is no such policy.

    Examples
    --------
    >>> policy_entry("aci@0.008").setting
    'step'
    """
    if is_reference(text):
        return _own_entry(text)
    key = text.partition("@")[0]
    if key not in REGISTRY:
        names = ", ".join(key for key, entry in REGISTRY.items() if entry.nameable)
        raise InvalidParameter(
            f"policy is {text!r}; it must be one of {names}, optionally with a setting after an @: "
            "anytime@0.01 (delta), aci@0.008 (step), etc@500 (rounds); or a class in a file: my_policy.py:MyPolicy"
        )
    return REGISTRY[key]


def make_policy(text: str, coverage: float, rounds: int, setting: float | None = None) -> Policy:
    """Return the policy that a name such as ``sps``, ``aci@0.008`` or ``my_policy.py:MyPolicy`` stands for.

    Parameters
    ----------
    text
        The key, or the file and the class of your own policy; optionally with a setting after an @.
    coverage
        The share of rounds in which the right answer should be in the list.
    rounds
        The number of rounds that it will run for.
    setting
        A value from the policy's grid, instead of the setting in `text`.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    InvalidParameter
        If there is no such policy, or it lacks a setting.

    Examples
    --------
    >>> make_policy("etc@500", 0.9, 10_000)
    ExploreThenCommit(coverage=0.9, window=True, explore=500)
    >>> make_policy("etc", 0.9, 10_000, setting=0.1)
    ExploreThenCommit(coverage=0.9, window=True, explore=1000)
    """
    entry = policy_entry(text)
    key, at, number = _parts(text)
    value = None if setting is None else entry.from_grid(setting, rounds)
    if value is None and at:
        value = _setting(text, number, entry, rounds)
    if is_reference(text):
        return _own_policy(text, entry, coverage, rounds, value)
    if entry.needed == [entry.setting] and value is None:
        raise InvalidParameter(f"policy is {text!r}; it needs its {entry.setting}: {key}@0.5")
    if not entry.nameable:
        raise InvalidParameter(
            f"policy is {text!r}; it needs a {entry.needed[0]}, which a name cannot give: use it in Python"
        )
    return entry.build(coverage, rounds, value)


def _parts(text: str) -> tuple[str, str, str]:
    """Return what a policy is called, and what follows the @; the path of a file may have one of its own."""
    folder, colon, name = text.rpartition(":") if is_reference(text) else ("", "", text)
    key, at, number = name.partition("@")
    return f"{folder}{colon}{key}", at, number


def _setting(text: str, number: str, entry: Entry, rounds: int) -> float:
    """Return the setting after the @ of a name."""
    if entry.setting is None:
        name = getattr(entry.policy, "key", entry.policy.__name__)
        raise InvalidParameter(f"policy is {text!r}; {name} has no setting")
    try:
        value = min(float(number.removesuffix("/T")) / rounds, 0.5) if number.endswith("/T") else float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number")
    if entry.whole and value != int(value):
        raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number of rounds")
    return value


def _own_entry(text: str) -> Entry:
    """Return the entry of a policy of the user's own, from its class."""
    policy = load_policy_class(_parts(text)[0])
    setting, grid = policy.setting, policy.grid
    if setting is not None and setting not in inspect.signature(policy).parameters:
        raise InvalidParameter(f"policy is {text!r}; its setting is {setting!r}; it must be the name of a parameter")
    try:
        values = tuple(check_number("grid", value, "a number above 0", above=0.0) for value in grid)
    except (TypeError, InvalidParameter):
        values = (0.0, 0.0)
    if (values and setting is None) or len(set(values)) < len(values):
        raise InvalidParameter(
            f"policy is {text!r}; its grid is {grid!r}; it must hold different positive numbers, to choose its "
            '`setting` from, for example setting = "window" and grid = (50, 200)'
        )
    return Entry(policy, setting=setting, grid=values)


def _own_policy(reference: str, entry: Entry, coverage: float, rounds: int, setting: float | None) -> Policy:
    """Return a policy of the user's own, from a file."""
    try:
        policy = entry.build(coverage, rounds, setting)
        state = policy.init()
    except ShortlistError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidParameter(
            f"policy is {reference!r}, which cannot be built ({reason}); only coverage, horizon and rounds are "
            "given: every other parameter needs a default"
        ) from error
    if not isinstance(state, State):
        raise InvalidParameter(f"policy is {reference!r}; its init() returns {state!r}; it must return a State")
    return policy
