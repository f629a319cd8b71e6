"""How many scores below the threshold are allowed among n rounds.

A *boundary* is a non-decreasing integer sequence k_1 <= k_2 <= ..., with -1 for "not yet". An
order-statistic policy may raise its threshold to the (k_n + 1)-th smallest of the n scores seen so
far. Let N_n be a walk of n Bernoulli(1 - coverage) steps. The **safety lemma** says that, for every
distribution of scores, with ties or without,

    P(the threshold ever passes the optimal one) <= P(there is an n with N_n <= k_n),

and `crossing_probability` computes the right-hand side exactly, without simulation. `expected_regret` computes
the mean regret of a policy over the boundary, also exactly.

| boundary | k_n | horizon | guarantee |
|---|---|---|---|
| `DKW` | floor(n p0 - sqrt(n log T)), the paper's | yes | 1 - 2/T |
| `BetaBinomial` | where a mixture martingale reaches 1/delta | no | 1 - delta |
| `Binomial` | largest k with P(Bin(n, p0) <= k) <= delta/T | yes | 1 - delta |
| `Calibrated` | the same at level `a * n`, with `a` raised until delta is used up | yes | 1 - delta |
| `Quantile` | floor(n p0): the empirical quantile | no | none |
| `Held` | -1 until a given round, then fixed at another boundary's value | no | the other's |

Here p0 = 1 - coverage. A boundary advances in O(1) per round by a plain function over numbers, its
`advance`: streaming calls it directly, replay compiles it. Each boundary has its own file, with its `advance`
above its class.
"""

from shortlist.boundaries.base import Boundary
from shortlist.boundaries.beta_binomial import BetaBinomial
from shortlist.boundaries.binomial import Binomial, Calibrated
from shortlist.boundaries.crossing import crossing_probability
from shortlist.boundaries.dkw import DKW
from shortlist.boundaries.empirical_quantile import Quantile
from shortlist.boundaries.exact_regret import expected_regret
from shortlist.boundaries.held import Held

__all__ = [
    "DKW",
    "BetaBinomial",
    "Binomial",
    "Boundary",
    "Calibrated",
    "Held",
    "Quantile",
    "crossing_probability",
    "expected_regret",
]
