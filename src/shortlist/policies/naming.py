"""What a policy is called, and how it is built from its name, or from what its `to_dict` returned.

A policy's name is its key, with settings after an @: ``sps``, ``aci@0.008``, ``anytime@2/T``, where T is the number of
rounds, ``dlr@start=-10``, ``aci@step=0.008,levels=clipped``, ``etc@explore=0.01``, where a number of rounds below 1 is
a share of them. A bare number is the first setting. A policy outside the package is named by its file and class:
``my_policy.py:MyPolicy``, or ``my_policy.py:MyPolicy@50``; its class names the parameter that is its `setting`, and the
`grid` to choose it from.
"""

import inspect
import math
from typing import Any

from shortlist import boundaries
from shortlist._validation import check_number
from shortlist.errors import InvalidParameter, ShortlistError
from shortlist.policies.base import Policy, State
from shortlist.policies.policy_files import is_reference, load_policy_class
from shortlist.policies.registry import PAPER, POLICIES, REGISTRY, Entry, share_of

__all__ = ["make_policy", "policy_entry", "policy_from_dict", "policy_label", "policy_name"]


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
    >>> policy_label("aci@0.008,levels=clipped")
    'ACI, step = 0.008, levels = clipped'
    """
    if name in PAPER:
        return PAPER[name].label
    key, at, setting = name.partition("@")
    if key not in REGISTRY:
        return policy_name(name)
    entry = REGISTRY[key]
    base = PAPER[key].label if key in PAPER else entry.policy.__name__
    return f"{base}, {', '.join(_in_words(entry, part) for part in setting.split(','))}" if at else base


def _in_words(entry: Entry, part: str) -> str:
    name, equals, value = part.strip().partition("=")
    return f"{name} = {value}" if equals else f"{entry.setting} = {name}"


def given_settings(text: str) -> tuple[str, ...]:
    """Return the names of the settings that a policy's name gives.

    >>> given_settings("aci@0.008,levels=clipped"), given_settings("aci")
    (('step', 'levels'), ())
    """
    entry = policy_entry(text)
    _, at, given = _parts(text)
    parts = [part.strip().partition("=") for part in given.split(",")] if at else []
    return tuple(name if equals else str(entry.setting) for name, equals, _ in parts)


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
            f"policy is {text!r}; it must be one of {names}, optionally with settings after an @: "
            "anytime@0.01, dlr@start=-10, aci@step=0.008,levels=clipped; or a class in a file: my_policy.py:MyPolicy"
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
    settings = _settings(text, entry, rounds)
    if setting is not None:
        settings[str(entry.setting)] = entry.from_grid(setting, rounds)
    if is_reference(text):
        return _own_policy(text, entry, coverage, rounds, settings)
    if entry.needed == [entry.setting] and entry.setting not in settings:
        raise InvalidParameter(f"policy is {text!r}; it needs its {entry.setting}: {_parts(text)[0]}@0.5")
    if not entry.nameable:
        raise InvalidParameter(
            f"policy is {text!r}; it needs a {entry.needed[0]}, which a name cannot give: use it in Python"
        )
    return entry.build(coverage, rounds, settings)


def _parts(text: str) -> tuple[str, str, str]:
    """Return what a policy is called, and what follows the @; the path of a file may have one of its own."""
    folder, colon, name = text.rpartition(":") if is_reference(text) else ("", "", text)
    key, at, number = name.partition("@")
    return f"{folder}{colon}{key}", at, number


def _settings(text: str, entry: Entry, rounds: int) -> dict[str, Any]:
    """Return the settings after the @ of a name."""
    _, at, given = _parts(text)
    settings: dict[str, Any] = {}
    for part in given.split(",") if at else ():
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals:
            name, value = entry.setting or "", name
        if name not in entry.parameters:
            kind = getattr(entry.policy, "key", entry.policy.__name__)
            has = f"it has {', '.join(entry.parameters)}" if entry.parameters else "it has none"
            raise InvalidParameter(f"policy is {text!r}; {kind} has no setting {name or part!r}; {has}")
        if name in settings:
            raise InvalidParameter(f"policy is {text!r}; it gives {name} twice")
        settings[name] = _value(text, entry, name, value, rounds)
    return settings


def _value(text: str, entry: Entry, name: str, value: str, rounds: int) -> Any:
    """Return the value of one setting, as its parameter's type asks for."""
    kind = entry.kind(name)
    if kind == "str":
        return value
    if kind not in ("int", "float"):
        raise InvalidParameter(f"policy is {text!r}; its {name} cannot be given in a name: use it in Python")
    try:
        number = float(value.removesuffix("/T")) / rounds if value.endswith("/T") else float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        others = ", ".join(f"{each}=..." for each in entry.parameters if each != name)
        hint = f"; other settings are given by name: {others}" if others else ""
        raise InvalidParameter(f"policy is {text!r}; its {name} must be a number{hint}")
    if kind == "float":
        return min(number, 0.5) if name == "delta" and value.endswith("/T") else number
    if 0 < number < 1 and name in ("explore", "horizon", entry.setting):
        return share_of(number, rounds)
    if number != int(number):
        raise InvalidParameter(f"policy is {text!r}; its {name} must be a whole number, or a share of the rounds")
    return int(number)


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


def _own_policy(reference: str, entry: Entry, coverage: float, rounds: int, settings: dict[str, Any]) -> Policy:
    """Return a policy of the user's own, from a file."""
    try:
        policy = entry.build(coverage, rounds, settings)
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


def policy_from_dict(data: dict[str, Any], policy: Policy | None = None) -> Policy:
    """Return the policy that its `to_dict` described.

    Parameters
    ----------
    data
        What `to_dict` returned.
    policy
        A policy of your own, returned if the kind is not one of this package's. It must match `data`.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    InvalidParameter
        If the kind is unknown and `policy` is not the policy described.

    Examples
    --------
    >>> policy_from_dict({"kind": "anytime", "coverage": 0.9, "delta": 0.01})
    AnytimeSPS(coverage=0.9, window=True, delta=0.01)
    """
    parameters = dict(data)
    kind = parameters.pop("kind", None)
    if kind not in POLICIES:
        return _own(data, kind, policy)
    if isinstance(parameters.get("boundary"), dict):
        parameters["boundary"] = _boundary(parameters["boundary"])
    return POLICIES[kind](**parameters)


def _own(data: dict[str, Any], kind: Any, policy: Policy | None) -> Policy:
    """Return the user's own policy, if it is the one described."""
    if policy is None:
        raise InvalidParameter(
            f"policy kind is {kind!r}; it must be one of {', '.join(POLICIES)}, or your own policy must be "
            "passed as policy="
        )
    if policy.to_dict() != data:
        raise InvalidParameter(f"policy is {policy.to_dict()}, but {data} is described; pass the same policy")
    return policy


def _boundary(data: dict[str, Any]) -> boundaries.Boundary:
    parameters = dict(data)
    kind = parameters.pop("kind", None)
    kinds = [name for name in boundaries.__all__ if name[0].isupper() and name != "Boundary"]
    if kind not in kinds:
        raise InvalidParameter(f"boundary kind is {kind!r}; it must be one of {', '.join(kinds)}")
    if isinstance(parameters.get("boundary"), dict):
        parameters["boundary"] = _boundary(parameters["boundary"])
    boundary: boundaries.Boundary = getattr(boundaries, kind)(**parameters)
    return boundary
