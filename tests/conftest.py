"""Settings of all tests: Hypothesis without deadlines, because machines differ in speed."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("liptest", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("liptest")
