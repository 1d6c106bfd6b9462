"""For tests of other people's code: contract suites, strategies, the pytest plugin.

pytest loads this package with the plugin, so each name is imported on first use.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from liptest.testing.contract import check_statistic as check_statistic
    from liptest.testing.contract import check_tester as check_tester
    from liptest.testing.pytest_plugin import ClaimNotConfirmed as ClaimNotConfirmed
    from liptest.testing.pytest_plugin import assert_private as assert_private

#: Where each name is defined.
_HOME = {
    "ClaimNotConfirmed": "pytest_plugin",
    "assert_private": "pytest_plugin",
    "check_statistic": "contract",
    "check_tester": "contract",
}

__all__ = ["ClaimNotConfirmed", "assert_private", "check_statistic", "check_tester"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{_HOME[name]}"), name)
    return value
