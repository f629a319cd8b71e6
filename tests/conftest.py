"""Settings shared by all tests."""

from hypothesis import HealthCheck, settings

# Machines are shared and noisy: no deadline, and the same examples in every run.
settings.register_profile("shortlist", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shortlist")
