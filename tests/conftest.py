"""Settings of all tests: no deadlines, because machines differ in speed; the same examples always.

``--hypothesis-profile=explore`` looks for others.
"""

from __future__ import annotations

import math
import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

# Before NumPy is there, and for the worker processes, too: threads of BLAS in each of several
# processes wait for each other, which took a single test 25 seconds of computing instead of 1.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What is compiled while tests are collected is kept, also where PYTHONDONTWRITEBYTECODE is set:
# tests start hundreds of interpreters, and each of them would compile every module anew.
_WRITES_NOTHING = sys.dont_write_bytecode
sys.dont_write_bytecode = False

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("liptest", settings.get_profile("explore"), derandomize=True)
settings.load_profile("liptest")

# Tests run code of this repository, and replace parts of the package that a jail would not have.
os.environ.setdefault("LIPTEST_IN_PROCESS", "1")

# A shell that starts a job in the background has it ignore Ctrl-C, and all that the job starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: Files with the longest tests: they start first, or one process would end with them alone.
_LONGEST = (
    "tests/statistical/test_everyday.py",
    "tests/statistical/test_blackbox_power.py",
    "tests/golden/test_situations.py",
    "tests/golden/test_first_hour.py",
    "tests/unit/evidence/test_ledger_caps.py",
    "tests/unit/privacy/test_added_noise.py",
    "tests/unit/docs",
    "tests/test_architecture.py",
)


#: Of a slow test with fewer cases than so many every such case runs.
_STEPS = ((1, 4), (2, 12), (4, 100), (6, math.inf))


def pytest_addoption(parser: pytest.Parser) -> None:
    """All cases of the slow tests take more than an hour on two cores."""
    parser.addoption(
        "--every-case",
        action="store_true",
        help="run every case of slow tests; without it, of four or more cases of a test every "
        "second, of twelve or more every fourth, and of a hundred or more every sixth",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest first, and leave out some of many cases of a slow test."""
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))
    if config.getoption("--every-case"):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        name, _, case = item.nodeid.partition("[")
        if case and item.get_closest_marker("slow"):
            cases.setdefault(name, []).append(item)
    left: set[pytest.Item] = set()
    for those in cases.values():
        kept = those[:: next(step for step, most in _STEPS if len(those) < most)]
        left |= {*those} - {*kept}
    config.hook.pytest_deselected(items=[one for one in items if one in left])
    items[:] = [one for one in items if one not in left]


def pytest_configure(config: pytest.Config) -> None:
    """Process pools fork on Linux; Python 3.12 warns of that where NumPy has threads."""
    config.addinivalue_line(
        "filterwarnings", "ignore:.*multi-threaded, use of fork:DeprecationWarning"
    )
    # The package has a plugin of pytest; so pytest would compile all of it in a way of its own,
    # which takes longer, and which other interpreters cannot use.
    hook = config.pluginmanager.rewrite_hook
    if vars(hook).get("_must_rewrite"):
        hook._must_rewrite.discard("liptest")
        hook._marked_for_rewrite_cache.clear()


def pytest_collection_finish() -> None:
    """Programs under test are written, run and changed within a second: nothing of them is kept."""
    sys.dont_write_bytecode = _WRITES_NOTHING
