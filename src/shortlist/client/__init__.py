"""The same verbs over HTTP: a `Client` uses a stream of the service as a `Shortlister` works locally.

Calls are retried when the service is unreachable or busy. That is safe: every round has an id
that is chosen here before it is sent, and the service accepts the same round, or the same answer,
only once.
"""

from shortlist.client._async import AsyncClient
from shortlist.client._sync import Client

__all__ = ["AsyncClient", "Client"]
