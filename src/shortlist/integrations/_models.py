"""Adapters that are models of pydantic: what is wrong with their settings is said in words of our own."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from shortlist.errors import InvalidParameter, ShortlistError

__all__ = ["checked_settings"]


@contextlib.contextmanager
def checked_settings(kind: type, given: Mapping[str, Any], needed: Sequence[str]) -> Iterator[None]:
    """Refuse settings that a model does not have, or that are missing; what it refuses itself is raised as it was."""
    fields = kind.model_fields  # type: ignore[attr-defined]
    unknown, missing = [name for name in given if name not in fields], [name for name in needed if name not in given]
    if unknown or missing:
        wrong = f"has no setting {unknown[0]!r}" if unknown else f"needs {missing[0]!r}"
        raise InvalidParameter(f"{kind.__name__} {wrong}; its settings are {', '.join(fields)}")
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        ours = first.get("ctx", {}).get("error")
        if isinstance(ours, ShortlistError):
            raise ours from None
        name = ".".join(map(str, first["loc"]))
        raise InvalidParameter(f"{name} of a {kind.__name__} is {first['input']!r}: {first['msg']}") from None
