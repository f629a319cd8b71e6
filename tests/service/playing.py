"""Rounds for an engine: lists that are drawn, and their answers."""

import random

import pytest

__all__ = ["answer_to", "lists", "play", "refused"]


def lists(count, candidates=12, seed=0):
    """Yield lists of scores, each with the position of the right candidate."""
    rng = random.Random(seed)
    for _ in range(count):
        scores = [rng.random() for _ in range(candidates)]
        yield scores, rng.choices(range(candidates), [score**6 for score in scores])[0]


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
