"""Rounds for an engine: lists that are drawn, and their answers."""

import math
import random

import pytest

__all__ = ["SCORERS", "answer_to", "lists", "play", "play_tables", "refused", "tables"]

#: The scorers of `tables`.
SCORERS = ("dense", "bm25")


def lists(count, candidates=12, seed=0):
    """Yield lists of scores, each with the position of the right candidate."""
    rng = random.Random(seed)
    for _ in range(count):
        scores = [rng.random() for _ in range(candidates)]
        yield scores, rng.choices(range(candidates), [score**6 for score in scores])[0]


def tables(count, candidates=12, seed=0):
    """Yield lists with the scores of two scorers, of which the second lacks some, each with the right candidate."""
    rng = random.Random(seed)
    for _ in range(count):
        dense = [rng.gauss(0, 1) for _ in range(candidates)]
        bm25 = [rng.gauss(5, 2) for _ in range(candidates)]
        weights = [math.exp(2 * one + 0.5 * other) for one, other in zip(dense, bm25, strict=True)]
        right = rng.choices(range(candidates), weights)[0]
        yield {"dense": dense, "bm25": [math.nan if i % 4 == 3 else one for i, one in enumerate(bm25)]}, right


async def play_tables(engine, count, seed=0, name="a", version=None):
    """Show lists of two scorers and answer each."""
    for scores, right in tables(count, seed=seed):
        shown, _ = await engine.propose(name, list(range(12)), scores, scorer_version=version)
        await engine.answer(name, shown.shown.round_id, *answer_to(shown, right))


async def play(engine, count, seed=0, name="a"):
    """Show lists and answer each."""
    for scores, right in lists(count, seed=seed):
        shown, _ = await engine.propose(name, list(range(12)), scores)
        await engine.answer(name, shown.shown.round_id, *answer_to(shown, right))


def answer_to(shown, right, *, wrong=False):
    """Return the answer to a list; it is a miss where all is wrong."""
    return ("hit", right) if right in shown.members and not wrong else ("miss",)


async def refused(error, awaitable, match=None):
    """Require that a call is refused."""
    with pytest.raises(error, match=match):
        await awaitable
