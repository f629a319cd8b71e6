"""People at a service: clients that show a list, answer it, and go on, as fast as they are served.

Raw HTTP over sockets, so that the load costs less than what it measures. Every request is answered
before the client sends its next one, and each answer is checked.
"""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field

__all__ = ["Tally", "load"]


@dataclass
class Tally:
    """What the clients saw."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Acknowledged requests per second."""
        return len(self.latencies) / self.seconds

    def quantile(self, share: float) -> float:
        """Return a latency quantile, in milliseconds."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


class Connection:
    """A connection that is kept open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Send a request, and return the status and the body of its answer."""
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        self.writer.write("\r\n".join((*lines, "", "")).encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        return int(answer[9:12]), await self.reader.readexactly(length)


def bodies_of(count: int, candidates: int, seed: int) -> list[tuple[bytes, bytes]]:
    """Return lists, each with its right answer, as bodies of requests; the round's id is yet to come."""
    rng = random.Random(seed)
    bodies = []
    for _ in range(count):
        scores = [round(rng.random(), 6) for _ in range(candidates)]
        right = rng.choices(range(candidates), [score**8 for score in scores])[0]
        listed = [{"id": f"doc-{i}", "score": score} for i, score in enumerate(scores)]
        bodies.append((json.dumps({"candidates": listed}).encode()[:-1], f"doc-{right}".encode()))
    return bodies


async def _client(host: str, port: int, stream: str, number: int, until: float, tally: Tally, candidates: int) -> None:
    connection = Connection(*await asyncio.open_connection(host, port))
    bodies = bodies_of(50, candidates, number)
    sent = 0
    while time.perf_counter() < until:
        body, right = bodies[sent % len(bodies)]
        name = f"p{port}-c{number}-{sent}-{int(until * 1000)}"  # others may be at the same stream elsewhere
        sent += 1
        began = time.perf_counter()
        status, answer = await connection.send(
            "POST", f"/v1/streams/{stream}/rounds", body + b',"round_id":"' + name.encode() + b'"}'
        )
        tally.latencies.append(time.perf_counter() - began)
        if status != 201:
            tally.errors.append(f"{status} {answer[:200]!r}")
            continue
        verdict = b'{"hit":"' + right + b'"}' if b'"' + right + b'"' in answer else b'{"miss":true}'
        began = time.perf_counter()
        status, answer = await connection.send("PUT", f"/v1/streams/{stream}/rounds/{name}/feedback", verdict)
        tally.latencies.append(time.perf_counter() - began)
        if status != 200:
            tally.errors.append(f"{status} {answer[:200]!r}")
    connection.writer.close()


async def load(
    port: int, stream: str, *, clients: int = 64, seconds: float = 10.0, candidates: int = 20, host: str = "127.0.0.1"
) -> Tally:
    """Let clients loose on a stream for a while."""
    tally = Tally()
    began = time.perf_counter()
    await asyncio.gather(*(_client(host, port, stream, k, began + seconds, tally, candidates) for k in range(clients)))
    tally.seconds = time.perf_counter() - began
    return tally
