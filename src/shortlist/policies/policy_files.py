"""Policies from a user's own Python file, named ``file.py:Name``."""

import inspect
from pathlib import Path
from typing import Final

from shortlist._files import import_file
from shortlist.errors import InvalidParameter
from shortlist.policies.base import Policy

__all__ = ["is_reference", "load_policy_class"]

_EXAMPLE: Final = "name a Python file and a class in it, for example my_policy.py:MyPolicy"


def is_reference(text: str) -> bool:
    """Return whether a string names a class in a Python file.

    >>> is_reference("my_policy.py:MyPolicy"), is_reference("sps")
    (True, False)
    """
    return ".py:" in text


def load_policy_class(reference: str) -> type[Policy]:
    """Return the policy class named by a reference such as ``my_policy.py:MyPolicy``.

    The file is run as a module, once per process, so that other processes and cluster workers can load the class
    by the same reference.

    Parameters
    ----------
    reference
        The path of a Python file, a colon, and the name of a subclass of `Policy` in it.

    Returns
    -------
    type[Policy]
        The class.

    Raises
    ------
    InvalidParameter
        If there is no such file, it cannot be imported, or the name is not a policy.
    """
    path_text, _, name = reference.rpartition(":")
    path = Path(path_text)
    if not is_reference(reference) or not name.isidentifier():
        raise InvalidParameter(f"policy is {reference!r}; {_EXAMPLE}")
    if not path.is_file():
        raise InvalidParameter(f"policy is {reference!r}; there is no file {path}; {_EXAMPLE}")
    try:
        module = import_file(path.resolve())
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidParameter(f"policy is {reference!r}; {path} cannot be imported ({reason}); correct it") from error
    policies = [key for key, item in vars(module).items() if _is_policy(item) and item.__module__ == module.__name__]
    if not hasattr(module, name):
        remedy = f"it has {', '.join(policies)}" if policies else "it has no policy"
        raise InvalidParameter(f"policy is {reference!r}; {path} has no {name}; {remedy}")
    policy: type[Policy] = getattr(module, name)
    if not _is_policy(policy):
        raise InvalidParameter(
            f"policy is {reference!r}; {name} is not a policy; derive the class from shortlist.Policy, and give it "
            "`init` and `rule`"
        )
    _try_rule(reference, policy)
    return policy


def _try_rule(reference: str, policy: type[Policy]) -> None:
    """Refuse a rule that is not a plain function of five arguments, before it runs."""
    rule = inspect.getattr_static(policy, "rule")
    takes = list(inspect.signature(policy.rule).parameters) if isinstance(rule, staticmethod) else []
    if len(takes) != 5:
        raise InvalidParameter(
            f"policy is {reference!r}; its rule must be a static method of five arguments: "
            "rule = staticmethod(step), with step(carry, values, constants, seen, missed)"
        )


def _is_policy(item: object) -> bool:
    return inspect.isclass(item) and issubclass(item, Policy) and not inspect.isabstract(item)
