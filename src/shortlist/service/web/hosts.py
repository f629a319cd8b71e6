"""Which hosts a request may ask for where there are no keys.

Without keys the only protection is that nobody else reaches this machine. A web page can: its name may be
made to point here (DNS rebinding), and the browser then takes us for its own server. So a request must
ask for this machine by address, as localhost, or by a name that was allowed.
"""

import functools
import ipaddress
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.types import Scope

from shortlist.service.web.problems import Refusal, document

__all__ = ["Hosts"]

#: A host as a request names it: an address in brackets, or a name or address without, and an optional port.
_HOST: Final = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::\d+)?")


class Hosts:
    """The names of this machine: localhost, every address, and names that were allowed.

    Parameters
    ----------
    allowed
        The names that were allowed.
    origins
        The pages of other servers that may change something here.
    """

    def __init__(self, allowed: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._origins = frozenset(origins)
        self._allowed = frozenset(name.lower().rstrip(".") for name in allowed)
        self._is_cached_own = functools.lru_cache(maxsize=64)(self._is_own)

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused, if it is."""
        hosts: list[str] = []
        origin = None
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value.decode("latin-1"))
            elif name == b"origin" and origin is None:
                origin = value.decode("latin-1")
        if len(hosts) > 1 or (hosts and not self._is_cached_own(hosts[0])):
            detail = (
                f"this service has no keys and is not called {hosts[0]!r}: use localhost or its address, or start it "
                "with --allowed-host, or with keys (--api-key-file)"
            )
            return Refusal(document("misdirected-request", 421, detail))
        if origin is not None and scope["method"] not in ("GET", "HEAD") and not self._is_same(origin, hosts):
            detail = (
                f"a page of {origin!r} may not change anything here: this service has no keys, and was not started "
                "with --allow-origin for it"
            )
            return Refusal(document("not-allowed", 403, detail))
        return None

    def _is_same(self, origin: str, hosts: list[str]) -> bool:
        """Return whether a page comes from the host that it asks, or from a name or an origin that was allowed."""
        if origin in self._origins:
            return True
        try:
            url = urlsplit(origin)
        except ValueError:
            return False
        return url.netloc.lower() in {host.lower() for host in hosts} or url.hostname in self._allowed

    def _is_own(self, host: str) -> bool:
        """Return whether a host is this machine; any address is, because only a name can be made to point elsewhere."""
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match["address"] or match["name"].rstrip(".")
        if name == "localhost" or name in self._allowed:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
