"""API keys: made, listed, revoked and checked, in a file that holds no key.

A key is ``sl_<id>_<secret>``. The file keeps the id, a name, the scopes and a hash of the secret; the
secret itself is shown once, when the key is made. It has 256 random bits, so one round of SHA-256 is
enough: there is nothing to guess. A running service notices when the file changes.
"""

import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from shortlist.errors import InvalidParameter, SaveFileError
from shortlist.listers import savefile

__all__ = ["SCOPES", "Key", "KeyFile"]

#: What a key may do. ``admin`` may do everything.
SCOPES: Final = ("propose", "feedback", "read", "admin")
_KIND: Final = "api keys"
_FORM: Final = re.compile(r"sl_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY: Final = hashlib.sha256(b"nobody").hexdigest()


@dataclass(frozen=True)
class Key:
    """A key, without its secret."""

    id: str
    name: str
    scopes: tuple[str, ...]
    digest: str
    created: float
    revoked: float | None = None

    def may(self, scope: str) -> bool:
        """Return whether the key has a scope."""
        return scope in self.scopes or "admin" in self.scopes


class KeyFile:
    """The keys in a file. What is changed is written at once, atomically, readable by its owner alone.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._keys: dict[str, Key] = {}
        self._seen: tuple[int, int, int] | None = None
        self._looked = -1.0

    def listed(self) -> list[Key]:
        """Return all keys, the oldest first."""
        self._reload()
        return sorted(self._keys.values(), key=lambda key: key.created)

    def create(self, name: str, scopes: Iterable[str]) -> str:
        """Make a key and return it; nobody can do so again."""
        wanted = tuple(dict.fromkeys(scopes))
        unknown = [scope for scope in wanted if scope not in SCOPES]
        if unknown or not wanted:
            raise InvalidParameter(f"scopes are {', '.join(wanted) or 'empty'}; name some of {', '.join(SCOPES)}")
        if not name.strip() or len(name) > 200:
            raise InvalidParameter(f"name is {name!r}; say in up to 200 characters whose key it is")
        if self.path.exists():
            self._reload()
        number, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        self._keys[number] = Key(number, name, wanted, _digest(secret), time.time())
        self._write()
        return f"sl_{number}_{secret}"

    def revoke(self, number: str) -> Key:
        """Make a key worthless."""
        self._reload()
        if number not in self._keys:
            raise InvalidParameter(f"there is no key {number!r} in {self.path}; `shortlist keys list` shows them")
        key = self._keys[number]
        if key.revoked is None:
            key = self._keys[number] = Key(**asdict(key) | {"scopes": key.scopes, "revoked": time.time()})
            self._write()
        return key

    def find(self, presented: str) -> Key | None:
        """Return the key that was presented, if it is one of ours and not revoked."""
        self._reload_if_changed()
        match = _FORM.fullmatch(presented)
        number, secret = match.groups() if match else ("", "")
        key = self._keys.get(number)
        # The same work whether the id is known or not.
        right = hmac.compare_digest(_digest(secret), key.digest if key else _NOBODY)
        return key if key is not None and right and key.revoked is None else None

    def _reload_if_changed(self) -> None:
        now = time.monotonic()
        if now - self._looked >= 1.0:
            self._looked = now
            try:
                if self._stamp() != self._seen:
                    self._reload()
            except (OSError, SaveFileError):
                # Half a deployment, perhaps. What was known goes on; nobody gets in who could not before.
                self._seen = None

    def _reload(self) -> None:
        stamp = self._stamp() if self.path.exists() else None
        content = savefile.read(self.path, _KIND)
        self._keys = {plain["id"]: Key(**plain | {"scopes": tuple(plain["scopes"])}) for plain in content["keys"]}
        self._seen = stamp

    def _stamp(self) -> tuple[int, int, int]:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _write(self) -> None:
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
        savefile.write(self.path, _KIND, {"keys": [asdict(key) for key in self._keys.values()]})
        self._seen = self._stamp()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
