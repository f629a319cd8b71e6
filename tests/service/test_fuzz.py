"""Hostile bodies: of any type, depth and size, with scores as large as floats are.

Never a 5xx, nothing stored from what is refused, and nothing stored that cannot be folded: what is shown is answered,
so that extreme scores are learned from.
"""

import json
import random

import pytest

from tests.service.running import running

STRINGS = ["", "a", "\x00", "\\ud800", "\\udfff\\ud800", "é", "\U0001f600", "<script>", "' OR 1=1 --", "r1", "x" * 600]
NUMBERS = ["0", "-0", "1", "0.5", "-1.5", "1e308", "1e309", "1e999", "-1e999", "NaN", "Infinity", "-Infinity"]
NUMBERS += ["1.7e308", "-1.7e308", "1.7976931348623157e308", "-8.99e307", "1e306", "5e-324", "-1e-310"]
NUMBERS += ["9007199254740993", "1" + "0" * 400, "0.1e-400", "1E5", "01", "1.", ".5", "+1"]
SCORES = ["raw", "margin", "relative", "rank", "adaptive", "auto"]
PLAIN = ["true", "false", "null"]
KEYS = [
    "candidates",
    "id",
    "score",
    "scores",
    "text",
    "question",
    "round_id",
    "truncated_below",
    "scorer_version",
    "hit",
    "miss",
]
KEYS += [
    "allow_empty",
    "skip",
    "absent",
    "count",
    "shown",
    "lists",
    "right",
    "refit",
    "at_most",
    "explore_share",
    "answers",
    "name",
    "coverage",
    "policy",
    "kind",
    "delta",
    "patience",
    "__proto__",
    "\\ud800",
]


class Maker:
    """Makes JSON, nearly JSON, and worse."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.several = False  # whether the list that is being made is one of two scorers

    def string(self):
        return '"' + self.rng.choice(STRINGS).replace("\x00", "\\u0000") + '"'

    def value(self, depth=0):
        kind = self.rng.random()
        if kind < 0.3:
            return self.string()
        if kind < 0.6:
            return self.rng.choice(NUMBERS)
        if kind < 0.75 or depth > 3:
            return self.rng.choice(PLAIN)
        if kind < 0.87:
            return "[" + ",".join(self.value(depth + 1) for _ in range(self.rng.randrange(4))) + "]"
        return self.object(depth + 1)

    def object(self, depth=0):
        keys = [self.rng.choice(KEYS) for _ in range(self.rng.randrange(5))]  # some of them twice
        return "{" + ",".join(f'"{key}":{self.value(depth)}' for key in keys) + "}"

    def candidate(self):
        score = self.rng.choice(NUMBERS) if self.rng.random() < 0.3 else self.extreme()
        name = self.value(4) if self.rng.random() < 0.3 else f'"c{self.rng.randrange(5)}"'
        if self.several:
            other = self.rng.choice(["null", self.extreme()])
            return f'{{"id":{name},"scores":{{"dense":{score},"bm25":{other}}}}}'
        return f'{{"id":{name},"score":{score}}}'

    def extreme(self):
        """Return a number of any size that a float can have."""
        return repr(self.rng.choice([-1, 1]) * self.rng.uniform(1, 1.79) * 10.0 ** self.rng.randint(-320, 308))

    def round(self):
        self.several = self.rng.random() < 0.5
        listed = ",".join(self.candidate() for _ in range(self.rng.randrange(1, 4)))
        more = f',"{self.rng.choice(KEYS)}":{self.value()}' if self.rng.random() < 0.5 else ""
        return f'{{"candidates":[{listed}]{more}}}'

    def body(self):
        """Return the bytes of a body."""
        kind = self.rng.random()
        if kind < 0.35:
            text = self.round()
        elif kind < 0.5:
            start, end = self.rng.choice(
                [('{"hit":', "}"), ('{"miss":', "}"), ('{"skip":', "}"), ('{"answers":[{"round_id":"r1","hit":', "}]}")]
            )
            text = start + self.value(3) + end
        elif kind < 0.53:
            count = self.rng.choice(["1", "3", "null", *NUMBERS])
            name = self.rng.choice(["count", "at_most", "at_least", "patience", "miss_budget"])
            text = f'{{"{name}":{count}}}'
        elif kind < 0.6:
            name = self.rng.choice(['"docs"', '"new"', self.value(3)])
            coverage = self.rng.choice(["0.9", *NUMBERS])
            text = f'{{"name":{name},"coverage":{coverage},"{self.rng.choice(KEYS)}":{self.value(2)}}}'
        elif kind < 0.9:
            text = self.value()
        elif kind < 0.93:
            deep = self.rng.choice([10, 200, 1000, 20_000])
            text = self.rng.choice(["[", '{"candidates":']) * deep
        elif kind < 0.95:
            text = '{"candidates":[' + ",".join(self.candidate() for _ in range(11_000)) + "]}"
        else:
            raw = bytearray(self.round().encode("utf-8", "surrogatepass"))
            for _ in range(3):
                raw[self.rng.randrange(len(raw))] = self.rng.randrange(256)
            return bytes(raw)
        return text.encode("utf-8", "surrogatepass")


def fuzz(service, count, seed):
    """Send bodies to every route that takes one; return how many were answered with what."""
    maker = Maker(seed)
    for score in SCORES:
        service.make(score, score=score, delta=0.01, on_drift="restart")
    service.make("short", score="auto")  # as it is by default
    service.make("hybrid")
    columns = [{"id": name, "scores": {"dense": 0.5, "bm25": None}} for name in "ab"]
    service.http.post("/v1/streams/hybrid/rounds", json={"candidates": columns})
    service.make()
    service.propose(round_id="r1")
    seen = {}
    for _ in range(count):
        method, path = maker.rng.choice(
            [
                ("POST", "/v1/streams/docs/rounds"),
                ("POST", f"/v1/streams/{maker.rng.choice([*SCORES, 'short'])}/rounds"),
                ("POST", "/v1/streams/hybrid/rounds"),
                ("PUT", "/v1/streams/docs/rounds/r1/feedback"),
                ("POST", "/v1/streams/docs/feedback"),
                ("POST", "/v1/streams"),
                ("POST", "/v1/streams/docs/rounds/r1/more"),
                ("PATCH", f"/v1/streams/{maker.rng.choice([*SCORES, 'short'])}"),
                ("POST", "/v1/streams/docs/expire"),
            ]
        )
        body = maker.body()
        before = events(service)
        answer = service.http.request(method, path, content=body, headers={"content-type": "application/json"})
        seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (answer.text, body[:300])
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert events(service) == before, body[:300]  # nothing is stored from what is refused
            for leak in ("Traceback", "sqlalchemy", "sqlite3", "INSERT", "/src/", "site-packages"):
                assert leak not in answer.text
        content = json.loads(answer.text)
        if answer.status_code == 201 and content.get("members") and maker.rng.random() < 0.8:
            picked = service.http.put(
                f"{path}/{content['round_id']}/feedback", json={"hit": maker.rng.choice(content["members"])}
            )
            assert picked.status_code == 200, (picked.text, body[:300])
    return seen


def events(service):
    """Return how many events and streams there are, as memory has it: the log is checked in the end."""
    return {
        stream["name"]: stream["events"] for stream in service.call(service.engine.overview(1_000_000))[1].summaries
    }


def check(address, count, seed, read):
    from shortlist.service.engine import verify  # noqa: PLC0415

    with running(address) as service:
        seen = fuzz(service, count, seed)
        memory = events(service)
        count_streams, seen_streams = service.call(service.engine.overview(1_000_000))
        assert (count_streams, seen_streams.unread, seen_streams.damaged) == (len(memory), [], [])
        assert not any(stream["charts_dropped"] for stream in seen_streams.summaries)
        for name in memory:
            assert service.http.get(f"/v1/streams/{name}/series").status_code == 200
    findings = {found.stream: found for found in verify(read(address))}
    assert all(found.problems == [] for found in findings.values())
    for name, number in memory.items():
        assert findings[name].events == number
    assert seen.get(201, 0) > 0
    assert seen[422] > count / 3
    print(f"{count:,} bodies: {dict(sorted(seen.items()))}")


def test_two_thousand_hostile_bodies(address, read):
    check(address, 1500 if address.startswith("sqlite") else 500, 1, read)


@pytest.mark.soak
def test_a_hundred_thousand_hostile_bodies(sqlite, read):
    check(sqlite, 100_000, 2, read)
