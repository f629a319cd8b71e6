"""A policy, round by round."""

import math


def thresholds(policy, scores):
    """Return the threshold in force before each round and once more after the last."""
    state = policy.init()
    seen = [state.threshold]
    for score in scores:
        policy.update(state, None if score == -math.inf else score)
        seen.append(state.threshold)
    return seen
