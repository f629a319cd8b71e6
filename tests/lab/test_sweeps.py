"""Regret against the horizon, and the first cut against coverage."""

from shortlist.lab import sweeps
from shortlist.lab.spec import Spec


def test_slopes_of_regret_against_the_horizon():
    """At delta = 2/T the fitted slope from 10^4 to 10^6 is about 0.58.

    Measured 0.575 +- 0.006 for SPS and 0.580 +- 0.017 for AnytimeSPS, whose runs pass the optimum now and then: one
    that does moves the slope by 0.1. Nine standard errors for both, and room for one such run.
    """
    rows = [work(*arguments) for work, arguments in sweeps.units(Spec()) if work is sweeps.horizon_row]
    for policy in sweeps.swept(Spec()):
        low, high = (0.5, 0.65) if policy == "sps" else (0.4, 0.75)
        assert low < sweeps.fitted_slope(rows, policy) < high


def test_first_cuts_against_coverage():
    cuts = {
        (policy, coverage): sweeps.coverage_row(Spec(), policy, coverage, 0).first_cut
        for policy in sweeps.swept(Spec())
        for coverage in (0.9, 0.99)
    }
    assert cuts["sps", 0.9] == 922
    assert cuts["sps", 0.99] == 0  # never
    assert cuts["anytime@2/T", 0.9] == 103


def test_ones_own_policies_are_swept_and_nobody_elses(tmp_path):
    """Ours is not drawn where it was not asked for, and a class in a file is swept like the paper's policy."""
    assert sweeps.swept(Spec(policies=("sps", "aci", "greedy"))) == ("sps",)
    (tmp_path / "own.py").write_text("from shortlist import AnytimeSPS\n\n\nclass Mine(AnytimeSPS):\n    pass\n")
    spec = Spec(policies=("sps", f"{tmp_path}/own.py:Mine"), rounds=300)
    assert sweeps.swept(spec) == ("sps", "Mine")
    assert sweeps.coverage_row(spec, "Mine", 0.9, 0).first_cut == 65
    assert sweeps.horizon_row(spec, "Mine", 1000, 0).regret > 0


def test_the_weights_of_regret_reach_the_sweeps():
    """SPS does not pass the optimum here, so its regret is of covering too much alone."""
    plain, doubled = (sweeps.horizon_row(Spec(lambda1=weight), "sps", 1_000, 0).regret for weight in (0.1, 0.2))
    assert doubled == 2 * plain
