"""The same verbs over HTTP: a `Client` does with a stream of the service what a `Shortlister` does locally.

Calls are retried when the service is unreachable or busy. That is safe: every round has an id
that is chosen here before it is sent, and the service accepts the same round, or the same answer,
only once.
"""

from shortlist.client._async import AsyncClient
from shortlist.client._sync import Client

__all__ = ["AsyncClient", "Client"]
