"""Settings of all tests: no deadlines, because machines differ in speed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("liptest", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("liptest")


def pytest_configure(config: pytest.Config) -> None:
    """Process pools fork on Linux; Python 3.12 warns of that where NumPy has threads."""
    config.addinivalue_line(
        "filterwarnings", "ignore:.*multi-threaded, use of fork:DeprecationWarning"
    )
