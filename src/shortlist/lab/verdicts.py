"""One verdict a statement, from its claims: holds, depends on the reading, fails under every reading tried."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shortlist.lab.claims import Claim, size_note, unjudged
from shortlist.lab.run import Results

__all__ = ["DEPENDS", "FAILS", "HOLDS", "UNJUDGED", "Verdict", "consistency", "judge", "totals", "verdicts"]

HOLDS: Final = "holds"
DEPENDS: Final = "depends on the reading"
FAILS: Final = "fails under every reading tried"
UNJUDGED: Final = "not judged"


@dataclass(frozen=True)
class Verdict:
    """One line of ``verdicts.csv``: `where` says under which readings a statement holds, and on which tasks."""

    by: str
    statement: str
    verdict: str
    where: str


def judge(results: Results, claims: Sequence[Claim]) -> list[Verdict]:
    """Return the verdicts of a run, and what it could not judge: everything, if it is smaller than the paper's."""
    note = size_note(results.spec)
    if note:
        return [Verdict("paper", statement, UNJUDGED, note) for statement in dict.fromkeys(c.statement for c in claims)]
    return verdicts(claims) + [Verdict("paper", one.statement, UNJUDGED, one.why) for one in unjudged(results)]


def verdicts(claims: Sequence[Claim]) -> list[Verdict]:
    """Return the verdict of each statement, in order."""
    by_statement: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        by_statement.setdefault((claim.by, claim.statement), []).append(claim)
    return [Verdict(by, statement, _verdict(own), _where(own)) for (by, statement), own in by_statement.items()]


def _outcomes(claims: Sequence[Claim]) -> dict[str, dict[str, bool]]:
    """Return, for each reading, the tasks on which all claims of a statement hold.

    A claim about a policy that has one reading counts under every reading of the others.
    """
    readings = list(dict.fromkeys(claim.reading for claim in claims))
    named = [reading for reading in readings if reading] or readings
    outcomes: dict[str, dict[str, bool]] = {}
    for reading in named:
        tasks: dict[str, bool] = {}
        for claim in claims:
            if claim.reading in ("", reading):
                tasks[claim.task] = tasks.get(claim.task, True) and claim.holds
        outcomes[reading] = tasks
    return outcomes


def _satisfied(tasks: dict[str, bool]) -> list[bool]:
    """Return whether a statement holds on every task, for each way to read the auctions: pooled, or one item."""
    others = all(holds for task, holds in tasks.items() if not task.startswith("auctions"))
    auctions = [holds for task, holds in tasks.items() if task.startswith("auctions")]
    return [others and holds for holds in auctions] or [others]


def _verdict(claims: Sequence[Claim]) -> str:
    satisfied = [holds for tasks in _outcomes(claims).values() for holds in _satisfied(tasks)]
    return HOLDS if all(satisfied) else DEPENDS if any(satisfied) else FAILS


def _where(claims: Sequence[Claim]) -> str:
    """Return in words under which readings a statement holds, and on which tasks."""
    outcomes = _outcomes(claims)
    by_tasks: dict[str, list[tuple[str, ...]]] = {}
    for reading, tasks in outcomes.items():
        by_tasks.setdefault(_tasks_in_words(tasks), []).append(tuple(reading.split("; ")))
    if all(all(tasks.values()) for tasks in outcomes.values()):
        return ""
    every = [tuple(reading.split("; ")) for reading in outcomes]
    parts = []
    for words, readings in by_tasks.items():
        described = _readings_in_words(readings, every)
        parts.append(f"{described}: {words}" if described else words)
    return "; ".join(parts)


def _readings_in_words(group: list[tuple[str, ...]], every: list[tuple[str, ...]]) -> str:
    """Return a group of readings in words: what all of them share that others do not; empty for all readings."""
    columns = [list(dict.fromkeys(values)) for values in zip(*group, strict=True)]
    if len(group) < math.prod(map(len, columns)):  # not a product: one by one
        return " or ".join(" and ".join(reading) for reading in group)
    full = [set(values) for values in zip(*every, strict=True)]
    return " and ".join(_either(values) for values, all_of in zip(columns, full, strict=True) if set(values) != all_of)


def _either(values: list[str]) -> str:
    """Return alternatives in words, the words that all begin with only once.

    >>> _either(["ETC's m = 0.1 T", "ETC's m = 0.2 T", "ETC's m chosen by regret"])
    "ETC's m = 0.1 T, = 0.2 T or chosen by regret"
    """
    words = [value.split(" ") for value in values]
    shared = 0
    while len(words) > 1 and all(len(one) > shared + 1 for one in words) and len({one[shared] for one in words}) == 1:
        shared += 1
    rest = [values[0], *(" ".join(one[shared:]) for one in words[1:])]
    return " or ".join(filter(None, [", ".join(rest[:-1]), rest[-1]]))


def _tasks_in_words(tasks: dict[str, bool]) -> str:
    held = [task for task, holds in tasks.items() if holds]
    if len(held) == len(tasks) > 1:
        return "everywhere"
    auctions = [task for task in tasks if task.startswith("auctions")]
    if len(auctions) > 1:
        pooled = {auctions[0]: "auctions" if set(auctions) <= set(held) else "auctions (pooled)"}
        held = [pooled.get(task, task) for task in held if task not in auctions[1:] or not set(auctions) <= set(held)]
    return f"on {', '.join(held)}" if held else "nowhere"


def totals(judged: Sequence[Verdict]) -> list[str]:
    """Return sentences that say how many statements hold, depend on the reading, fail, and how many were not judged."""
    sentences = []
    if judged and all(verdict.verdict == UNJUDGED for verdict in judged):
        return list(dict.fromkeys(verdict.where for verdict in judged))
    for by, whose in (("paper", "Of the paper's"), ("ours", "Of our own")):
        given = [verdict.verdict for verdict in judged if verdict.by == by and verdict.verdict != UNJUDGED]
        if given:
            held, depending, failed = (given.count(verdict) for verdict in (HOLDS, DEPENDS, FAILS))
            sentences.append(
                f"{whose} {len(given)} statements, {held} hold and {failed} fail under every reading tried; "
                f"{depending} depend on the reading."
            )
    missing = sum(verdict.verdict == UNJUDGED for verdict in judged)
    return sentences + (
        [f"{missing} of the paper's could not be judged by this run: see verdicts.csv."] * bool(missing)
    )


def consistency(claims: Sequence[Claim], policy: str) -> str:
    """Return whether one reading of a policy satisfies all statements about it; empty where it has one reading alone.

    Parameters
    ----------
    claims
        All claims.
    policy
        How its readings begin, for example ``ACI``.
    """
    by_statement: dict[str, list[Claim]] = {}
    for claim in claims:
        by_statement.setdefault(claim.statement, []).append(claim)
    held: dict[str, int] = {}
    about = 0
    for own in by_statement.values():
        outcomes = _outcomes(own)
        satisfied: dict[str, bool] = {}
        for reading, tasks in outcomes.items():  # measured in one of several ways, it may be satisfied in any of them
            name = reading.partition("; by ")[0]
            satisfied[name] = satisfied.get(name, False) or any(_satisfied(tasks))
        if all(name.startswith(policy) and ";" not in name for name in satisfied):
            about += 1
            for name, holds in satisfied.items():
                held[name] = held.get(name, 0) + holds
    if len(held) < 2:
        return ""
    counts = "; ".join(f"{reading} satisfies {count}" for reading, count in held.items())
    best = max(held.values())
    whole = "No reading satisfies" if best < about else "One reading satisfies"
    return f"{whole} all {about} statements about {policy} alone: {counts}."
