"""A network that answers from a script, in the place of httpx2's own."""

import json

import httpx2


class Network:
    """Answers requests one after the other; an exception in the script is what the network does."""

    def __init__(self, *script):
        self.script, self.requests = list(script), []

    def _answer(self, request):
        self.requests.append(request)
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def replace(self, monkeypatch):
        """Let every client of httpx2 send its requests here."""

        async def later(_transport, request):
            return self._answer(request)

        monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", lambda _transport, request: self._answer(request))
        monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", later)
        return self

    def sent(self):
        """Return what was sent: methods, paths and bodies."""
        return [(each.method, each.url.path, json.loads(each.content or "null")) for each in self.requests]


def problem(status, kind=None, detail="no"):
    """Return an answer that says what is wrong."""
    document = {"detail": detail} if kind is None else {"type": f"urn:shortlist:problem:{kind}", "detail": detail}
    return httpx2.Response(status, json=document)


def shown(round_id, members, threshold=None):
    """Return the answer to a list."""
    return httpx2.Response(
        200,
        json={
            "round_id": round_id,
            "threshold": threshold,
            "members": members,
            "reached": len(members),
            "truncated": False,
            "added": 1,
            "explored": False,
            "comparable": [0.5],
            "kept": 1,
        },
    )
