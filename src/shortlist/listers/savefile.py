"""Save files: JSON, versioned, checksummed, and written atomically.

A file is one JSON object with the keys ``format``, ``version``, ``sha256`` and ``content``. Floats are
written with all their digits, so they are restored bit for bit; minus infinity is null.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from shortlist import policies
from shortlist._files import replace_file
from shortlist.errors import (
    DamagedFile,
    InvalidParameter,
    MissingFile,
    MissingPolicy,
    NewerFile,
    SaveFileError,
    UnwritableFile,
)
from shortlist.policies import Policy
from shortlist.scores import to_score

__all__ = ["check_own", "read", "write"]

#: Increased when the format of the content changes.
_VERSION: Final = 1


def write(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write plain data to `path` atomically: whatever happens, either the old file or the new one is there."""
    target = Path(os.path.realpath(_path(path)))  # a link stays a link
    text = _dump(content)
    header = f'{{"format":"shortlist {kind}","version":{_VERSION},"sha256":"{_digest(text)}","content":'
    if not target.parent.is_dir():
        raise MissingFile(f"{target}: there is no folder {target.parent}")
    if target.is_dir():
        raise UnwritableFile(f"{target}: this is a folder; name a file in it")
    try:
        replace_file(target, f"{header}{text}}}\n", mode=0o600)
    except OSError as error:
        raise UnwritableFile(f"{target} cannot be written ({error.strerror}); the old file is unchanged") from error


def read(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Return the content of a file that `write` wrote, or raise."""
    source = _path(path)
    if source.is_dir():
        raise SaveFileError(f"{source} is a folder; name a file in it")
    try:
        document = json.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFile(f"{path}: there is no such file") from None
    except OSError as error:
        raise SaveFileError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFile(
            f"{path} was not saved by shortlist, or is damaged: it is not complete JSON ({error}); name another file, "
            "or restore it from a backup"
        ) from None
    form = document.get("format") if isinstance(document, dict) else None
    if not isinstance(form, str) or not form.startswith("shortlist "):
        raise DamagedFile(f"{path} is not a file that shortlist saved")
    if form != f"shortlist {kind}":
        other = form.removeprefix("shortlist ")
        name = other.title().replace(" ", "")
        raise SaveFileError(f"{path} was saved by a {other}, not by a {kind}: load it with {name}.load")
    _check_version(path, document.get("version"))
    content = document.get("content")
    if not isinstance(content, dict) or not _matches(content, document.get("sha256")):
        raise DamagedFile(f"{path} is damaged: its checksum does not match; restore it from a backup")
    return content


def _check_version(path: str | os.PathLike[str], version: object) -> None:
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DamagedFile(f"{path} is damaged: its version is {version!r}")
    if version > _VERSION:
        raise NewerFile(
            f"{path} has format version {version}, and this shortlist reads up to {_VERSION}: upgrade shortlist"
        )


def _matches(content: dict[str, Any], digest: Any) -> bool:
    try:
        return bool(digest == _digest(_dump(content)))
    except ValueError:  # a number that has become too large for a float
        return False


def _path(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise InvalidParameter(f"path is {path!r}; it must be the path of a file")
    return Path(path)


def _dump(content: Any) -> str:
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def check_own(content: dict[str, Any], policy: Any, score: Any) -> None:
    """Refuse a missing policy of the user's own, or one that is not the one saved."""
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidParameter(f"policy is {policy!r}; it must be the policy that the lister was saved with")
    if score is not None:
        to_score(score)
    settings = content.get("settings")
    if not isinstance(settings, dict) or not isinstance(settings.get("policy"), dict):
        return  # damaged: what reads it says so
    saved, described = settings.get("score"), settings["policy"]
    if policy is None and str(described.get("kind")) not in policies.POLICIES:
        raise MissingPolicy(
            f"the policy {described.get('kind')!r} is one of your own, and a file cannot hold it; pass it again: "
            "load(path, policy=...)"
        )
    if policy is not None and policy.to_dict() != described:
        raise InvalidParameter(f"policy is {policy.to_dict()}, but the lister was saved with {described}: pass that")
    if score is not None and (not isinstance(saved, dict) or saved.get("kind") != "custom"):
        raise InvalidParameter(f"score is {score!r}, but the lister was saved with {saved}: leave score= out")
