"""Each rule straight from its formula, as slow and as plain as can be.

Every function takes the true scores and yields the threshold in force before each round and once
more after the last. Nothing here is shared with the package.
"""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60

INF = math.inf


def decimal_limit(n, coverage, horizon):
    """floor(n p0 - sqrt(n log T)) with sixty digits, at least -1."""
    exact = n * (1 - Decimal(str(coverage))) - (n * Decimal(horizon).ln()).sqrt()
    return max(-1, math.floor(exact))


def beta_binomial_limits(delta, relative_mean, weight, first_cut, coverage, rounds):
    """The definition: the largest k with e(n, j) >= 1/delta for all j <= k, in exact fractions."""
    c, point = Fraction(str(coverage)), Fraction(str(first_cut))
    p0 = 1 - c
    a = Fraction(relative_mean) * p0 * Fraction(weight)
    b = Fraction(weight) - a
    limits = []
    for n in range(1, rounds + 1):
        # e(n, 0), then e(n, k + 1) from e(n, k): Beta functions as ratios of rising factorials.
        e = 1 - point
        for i in range(n):
            e *= (b + i) / ((a + b + i) * c)
        k = -1
        while k + 1 <= n and (e + (point / c**n if k + 1 == 0 else 0)) * Fraction(delta) >= 1:
            k += 1
            if k < n:
                e *= (a + k) * c / ((b + n - k - 1) * p0)
            else:
                break
        limits.append(k)
    return limits


def binomial_limits(delta, coverage, horizon, rounds):
    """Largest k with P(Bin(n, p0) <= k) <= delta/T, in exact fractions."""
    p0 = 1 - Fraction(str(coverage))
    level = Fraction(delta) / horizon
    limits = []
    for n in range(1, rounds + 1):
        k, tail = -1, Fraction(0)
        while k + 1 <= n:
            tail += math.comb(n, k + 1) * p0 ** (k + 1) * (1 - p0) ** (n - k - 1)
            if tail > level:
                break
            k += 1
        limits.append(k)
    return limits


def sps_literally(scores, coverage, horizon):
    """Algorithm 1 of the paper, line by line: a censored score is replaced by tau_t."""
    tau = -INF
    observed = []
    for t, score in enumerate(scores, start=1):
        yield tau
        observed.append(max(score, tau))
        if t <= horizon:
            # sup{tau : G_t(tau) + eps_t <= p0}, G_t(tau) = #{max(tau_t, s_j) <= tau} / t
            allowed = decimal_limit(t, coverage, horizon)
            if allowed >= 0:
                tau = max(tau, sorted(max(tau, s) for s in observed)[allowed])
    yield tau


def order_statistic(scores, limits, *, censored=True):
    """The running maximum of the (k_n + 1)-th smallest, a censored score being -inf or not."""
    tau = -INF
    observed = []
    for score, k in zip(scores, limits, strict=True):
        yield tau
        observed.append(score if score >= tau or not censored else -INF)
        if k >= 0:
            tau = max(tau, sorted(observed)[k])
    yield tau


def greedy(scores, coverage):
    """sup{tau : G(tau) <= p0} over the hits."""
    p0 = 1 - Fraction(str(coverage))
    tau, hits = -INF, []
    for score in scores:
        yield tau
        if score >= tau and score > -INF:
            hits.append(score)
            tau = sorted(hits)[math.floor(len(hits) * p0)]
    yield tau


def aci(scores, coverage, step, levels="open"):
    """Beta += step (p0 - miss); element floor(n beta) of the sorted hits; levels as the paper leaves them open."""
    p0 = float(1 - Fraction(str(coverage)))
    tau, beta, hits = -INF, p0, []
    for score in scores:
        yield tau
        hit = score >= tau and score > -INF
        if hit:
            hits.append(score)
        if hit or levels != "hits":
            beta += step * (p0 - (not hit))
        if levels == "clipped":
            beta = min(1.0, max(0.0, beta))
        n = len(hits)
        if n == 0:
            tau = -INF
        elif levels == "clipped":
            tau = sorted(hits)[min(math.floor(n * beta), n - 1)]
        elif beta <= 0:
            tau = -INF
        elif beta >= 1:
            tau = INF
        else:
            tau = sorted(hits)[min(math.floor(n * beta), n - 1)]
    yield tau


def dlr(scores, coverage, start, exponent):
    """Tau += t^-q (p0 - miss)."""
    p0 = float(1 - Fraction(str(coverage)))
    tau = start
    for t, score in enumerate(scores, start=1):
        yield tau
        tau += t**-exponent * (p0 - (not (score >= tau and score > -INF)))
    yield tau


def explore_then_commit(scores, explore, allowed):
    """-inf for `explore` rounds, then the (allowed + 1)-th smallest of them for ever."""
    for t in range(len(scores) + 1):
        if t < explore or allowed < 0:
            yield -INF
        else:
            yield sorted(scores[:explore])[allowed]
