"""Questions and answers for a lister."""

import numpy as np
import pytest

#: For what holds of any lister: raw scores, and a score that is learned first.
both_scores = pytest.mark.parametrize("score", ["raw", "auto"])
#: For what holds with either guarantee: of many rounds, by default, and with a delta of every list, too.
both_guarantees = pytest.mark.parametrize("delta", [None, 0.01])


def answer(lister, shown, right=0):
    """Answer a list at once: a hit if the right candidate is in it, a miss otherwise."""
    if right in shown.members:
        lister.hit(shown.round_id, right)
    else:
        lister.miss(shown.round_id)


def teach(lister, rounds, seed=0, candidates=8):
    """Answer `rounds` rounds; the right candidate is a noisy best."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        scores = rng.random(candidates)
        right = int(np.argmax(scores + 0.4 * rng.random(candidates)))
        answer(lister, lister.propose(scores), right)
    return lister


def drifting(lister, rounds, change, seed=0):
    """Scores that fall by two after `change` rounds; the threshold of before misses nearly always."""
    rng = np.random.default_rng(seed)
    covered = []
    for i in range(rounds):
        score = rng.normal(1.0 if i < change else -1.0, 1.0)
        shown = lister.propose([score])
        covered.append(bool(shown.members))
        answer(lister, shown)
    return np.array(covered)


def named(table):
    """Return a list's scores as a lister takes them: several scorers by name."""
    return table if table.ndim == 1 else {str(j): column for j, column in enumerate(table.T)}
