"""Two thousand questions with real scores, as a store of each framework would find them.

The shipped retrieval scores: each question has 51 passages, one of which is right. A question's vector
is unit; its passages' vectors are made so that their cosine is the score.
"""

import functools

import numpy as np

from shortlist.tasks import data_file, read_scores

ROUNDS = 2000


@functools.cache
def questions(count=ROUNDS, seed=0):
    """Return for each round its candidates' scores, and which of them is right."""
    scores = read_scores(data_file("retrieval.npz"))
    table = np.asarray(scores.candidate_scores, dtype=np.float64)
    true = np.asarray(scores.true_scores, dtype=np.float64)
    rows = np.random.default_rng(seed).permutation(len(table))[:count]
    return [(table[row], int(np.flatnonzero(table[row] == true[row])[0])) for row in rows]


def vector(score):
    """Return a vector whose cosine with (1, 0) is the score."""
    return [float(score), float(np.sqrt(max(0.0, 1 - score * score)))]


def smallest_top_k(coverage):
    """Return the fixed top-k with at least that coverage, known only afterwards."""
    places = [int(np.count_nonzero(scores > scores[right])) for scores, right in questions()]
    return next(k for k in range(1, 52) if np.mean([place < k for place in places]) >= coverage)


def check(shown, hits, label):
    """The promise, and fewer documents than the smallest fixed top-k of equal coverage, once it has learnt."""
    covered = float(np.mean(hits))
    late = float(np.mean(shown[-1000:]))
    fixed = smallest_top_k(0.9)
    print(f"{label}: coverage {covered:.3f}, {late:.2f} documents shown in the last 1,000 rounds; fixed top-k {fixed}")
    assert covered >= 0.9
    assert late < fixed
