"""API keys: made, listed, revoked and checked, in a file that holds no key.

A key is ``sl_<id>_<secret>``. The file keeps the id, a name, the scopes and a hash of the secret; the
secret itself is shown once, when the key is made. It has 256 random bits, so one round of SHA-256 is
enough: there is nothing to guess. A running service notices when the file changes; while it cannot read the file, the
keys that it knows go on, and it says so in its log and in `age` and `failures`.
"""

import contextlib
import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from shortlist.errors import DamagedFile, InvalidParameter, MissingFile, SaveFileError, UnwritableFile
from shortlist.listers import savefile

__all__ = ["SCOPES", "Key", "KeyFile"]

_log = logging.getLogger("shortlist.service")

#: What a key may do. ``admin`` may do everything.
SCOPES: Final = ("propose", "feedback", "read", "review", "admin")
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
        self._current = time.monotonic()
        #: How often the file was looked at and could not be read, and why it cannot be read now.
        self.failures = 0
        self._failing: str | None = None

    def listed(self) -> list[Key]:
        """Return all keys, the oldest first."""
        self._reload()
        return sorted(self._keys.values(), key=lambda key: key.created)

    def create(self, name: str, scopes: Iterable[str]) -> str:
        """Create a key and return it; it cannot be shown again."""
        unique = tuple(dict.fromkeys(scopes))
        unknown = [scope for scope in unique if scope not in SCOPES]
        if unknown or not unique:
            raise InvalidParameter(f"scopes are {', '.join(unique) or 'empty'}; name some of {', '.join(SCOPES)}")
        if not name.strip() or len(name) > 200:
            raise InvalidParameter(f"name is {name!r}; say in up to 200 characters whose key it is")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            if self.path.exists():
                self._reload()
            number, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
            self._keys[number] = Key(number, name, unique, _digest(secret), time.time())
            self._write()
        return f"sl_{number}_{secret}"

    def revoke(self, number: str) -> Key:
        """Revoke a key."""
        if not self.path.exists():
            raise MissingFile(f"{self.path}: there is no such file")
        with self._locked():
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
        self.look()
        match = _FORM.fullmatch(presented)
        number, secret = match.groups() if match else ("", "")
        key = self._keys.get(number)
        # The same work whether the id is known or not.
        right = hmac.compare_digest(_digest(secret), key.digest if key else _NOBODY)
        return key if key is not None and right and key.revoked is None else None

    def is_valid(self, number: str) -> bool:
        """Return whether the key of this id, which was presented earlier, is still one of ours and not revoked."""
        self.look()
        key = self._keys.get(number)
        return key is not None and key.revoked is None

    @property
    def age(self) -> float:
        """The seconds since the keys in use were known to be those of the file."""
        self.look()
        return time.monotonic() - self._current

    def look(self) -> None:
        """Read the file again if it has changed; it is looked at once per second at the most."""
        now = time.monotonic()
        if now - self._looked < 1.0:
            return
        self._looked = now
        try:
            if self._stamp() != self._seen:
                self._reload()
        except (OSError, SaveFileError) as error:
            # Half a deployment, perhaps. What was known goes on; nobody gets in who could not before.
            self._seen = None
            self.failures += 1
            # Some of ours are OSErrors, too.
            why = str(error) if isinstance(error, SaveFileError) else f"{self.path} cannot be read ({error.strerror})"
            if why != self._failing:
                self._failing = why
                _log.error("the key file cannot be read, and the keys read last stay in use, revoked or not: %s", why)
            return
        self._current = now
        if self._failing is not None:
            self._failing = None
            _log.warning("the keys were read again from %s", self.path)

    def _reload(self) -> None:
        stamp = self._stamp() if self.path.exists() else None
        content = savefile.read(self.path, _KIND)
        try:
            keys = {plain["id"]: Key(**plain | {"scopes": tuple(plain["scopes"])}) for plain in content["keys"]}
        except (LookupError, TypeError) as error:
            raise DamagedFile(f"{self.path} is damaged: {type(error).__name__}: {error}") from None
        self._keys, self._seen = keys, stamp

    def _stamp(self) -> tuple[int, int, int]:
        stat = self.path.stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _write(self) -> None:
        if not self.path.exists():
            self.path.touch(mode=0o600)
        savefile.write(self.path, _KIND, {"keys": [asdict(key) for key in self._keys.values()]})
        self._seen = self._stamp()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock from reading to writing, on a file next to it: the file itself is replaced."""
        lock = Path(f"{os.path.realpath(self.path)}.lock")
        try:
            file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise UnwritableFile(f"{lock} cannot be written ({error.strerror}); no key was changed") from None
        try:
            if os.name == "posix":
                import fcntl  # noqa: PLC0415 - not on every system

                fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
