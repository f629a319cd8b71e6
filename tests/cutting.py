"""Listers whose threshold is given."""

import numpy as np

from shortlist import Shortlister

__all__ = ["cut_at"]


def cut_at(threshold, **settings):
    """Return a lister of raw scores with this threshold, learned from examples that all score it."""
    lister = Shortlister(0.5, 0.5, score="raw", **settings)
    lister.warm_start(np.full(20, threshold))
    assert lister.threshold == threshold
    return lister
