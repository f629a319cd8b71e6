"""Gives classes their constructor's signature where none is written: griffe reads the source without running it.

Dataclasses that inherit fields, and the adapters of LangChain and LlamaIndex, which are pydantic models, have
constructors that exist only when the code runs, so they are asked for there.
"""

import importlib
import inspect
from typing import Any

import griffe

__all__ = ["Signatures"]


class Signatures(griffe.Extension):
    """Adds `__init__` to classes that document parameters and have no constructor of their own."""

    def on_package(self, *, pkg: griffe.Module, **_rest: Any) -> None:
        """Go through all modules of the package."""
        modules = [pkg]
        while modules:
            module = modules.pop()
            for member in module.members.values():
                if isinstance(member, griffe.Module):
                    modules.append(member)
                elif isinstance(member, griffe.Class) and not _has_constructor(member):
                    _add_constructor(module.path, member)


def _has_constructor(cls: griffe.Class) -> bool:
    """Return whether a constructor is written that says all its parameters."""
    written = cls.members.get("__init__")
    return isinstance(written, griffe.Function) and not any(
        one.kind is griffe.ParameterKind.var_keyword for one in written.parameters
    )


def _add_constructor(module: str, cls: griffe.Class) -> None:
    if cls.docstring is None or "Parameters\n" not in cls.docstring.value:
        return
    kind = getattr(importlib.import_module(module), cls.name)
    cls.docstring.value = inspect.getdoc(kind) or cls.docstring.value  # settings are filled in when the code runs
    parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
    inherits_fields = hasattr(kind, "model_fields")  # pydantic's signature has those of the framework too
    own = inspect.signature(kind).parameters.values()
    parameters += [_parameter(one) for one in own if one.name in cls.members or not inherits_fields]
    constructor = griffe.Function("__init__", parameters=griffe.Parameters(*parameters))
    cls.set_member("__init__", constructor)


def _parameter(one: inspect.Parameter) -> griffe.Parameter:
    kind = (
        griffe.ParameterKind.keyword_only
        if one.kind is one.KEYWORD_ONLY
        else griffe.ParameterKind.positional_or_keyword
    )
    annotation = one.annotation if isinstance(one.annotation, str) else inspect.formatannotation(one.annotation)
    return griffe.Parameter(
        one.name,
        kind=kind,
        annotation=annotation.replace("shortlist.boundaries.base.", "").replace("typing.", ""),
        default=None if one.default is one.empty else repr(one.default),
    )
