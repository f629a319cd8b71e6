"""Two thousand questions with real scores, and what an adapter must show on them."""

import numpy as np
from examples.built_in import questions, vector

from shortlist import Shortlister

__all__ = ["check", "learned", "questions", "smallest_top_k", "vector"]


def smallest_top_k(coverage):
    """Return the fixed top-k with at least that coverage, known only afterwards."""
    places = [int(np.count_nonzero(scores > scores[right])) for scores, right in questions()]
    return next(k for k in range(1, 52) if np.mean([place < k for place in places]) >= coverage)


def check(shown, hits, label):
    """Coverage, and fewer documents than the smallest fixed top-k of equal coverage, once it has learned.

    A demonstration with the default delta, not a test of the guarantee (test_guarantee.py is): with other questions
    coverage fails with probability 0.011, because the threshold may pass the optimum, and the length with 0.011.
    """
    covered = float(np.mean(hits))
    late = float(np.mean(shown[-1000:]))
    fixed = smallest_top_k(0.9)
    print(f"{label}: coverage {covered:.3f}, {late:.2f} documents shown in the last 1,000 rounds; fixed top-k {fixed}")
    assert covered >= 0.9
    assert late < fixed


def learned(coverage=0.9, low=0.4, rounds=200):
    """Return a lister with a threshold near `low`."""
    lister = Shortlister(coverage=coverage, score="raw")
    for i in range(rounds):
        lister.hit(lister.propose([low + 0.001 * (i % 10)]).round_id, 0)
    assert lister.threshold >= low
    return lister
