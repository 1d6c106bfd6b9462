"""What a check leaves behind is what it found, whatever the code under test did."""

from __future__ import annotations

import _locale
import contextlib
import decimal
import gc
import locale
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import liptest as lt
from liptest.runs.surroundings import surroundings_kept

LAW = lt.ProductDistribution.uniform(lt.Hypercube(2))
LIMIT = sys.getrecursionlimit()
HOOKS = ("excepthook", "displayhook", "unraisablehook", "breakpointhook", "stdout", "stderr")


def _found():
    context = decimal.getcontext()
    return {
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "limit": sys.getrecursionlimit(),
        "hooks": [getattr(sys, name) for name in HOOKS],
        "settings": (gc.isenabled(), sys.get_int_max_str_digits(), sys.getswitchinterval()),
        "threads": threading.excepthook,
        "profile": (sys.getprofile(), sys.gettrace()),
        "signals": {
            n: signal.getsignal(n) for n in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT)
        },
        "timers": [signal.getitimer(n)[0] > 0 for n in (signal.ITIMER_REAL, signal.ITIMER_PROF)],
        "decimal": (context.prec, context.rounding, dict(context.traps), dict(context.flags)),
        "same context": id(context),
        "numpy": (np.geterr(), np.geterrcall(), np.get_printoptions()),
    }


def _disturb():
    os.chdir("/")
    os.environ["LIPTEST_OF_A_VENDOR"] = "1"
    with contextlib.suppress(KeyError):
        del os.environ["PATH"]
    # Past the function that an analysis refuses.
    other = "C.UTF-8" if _locale.setlocale(locale.LC_ALL) == "C" else "C"
    _locale.setlocale(locale.LC_ALL, other)
    sys.setrecursionlimit(LIMIT + 100)
    for name in HOOKS[:4]:
        setattr(sys, name, lambda *arguments: None)
    sys.stdout = sys.stderr
    gc.disable()
    sys.set_int_max_str_digits(0)
    sys.setswitchinterval(0.1)
    threading.excepthook = print
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 1000.0)
    signal.setitimer(signal.ITIMER_PROF, 1000.0)
    decimal.getcontext().prec = 5
    decimal.getcontext().traps[decimal.Inexact] = False
    decimal.setcontext(decimal.Context(prec=3))
    np.seterr(all="ignore")
    np.seterrcall(lambda *arguments: None)
    np.set_printoptions(precision=2)


def vendor(data, rng):
    _disturb()
    return int(data[0]) ^ int(rng.random() < 0.25)


@pytest.mark.slow
def test_a_check_leaves_what_it_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = _found()
    assert lt.check_privacy(lt.mechanism(vendor), LAW, epsilon=2.0).decision == "YES"
    assert _found() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "use",
    [
        lambda mechanism: lt.output_law(mechanism, [0, 1]),
        lambda mechanism: lt.exact_epsilon(mechanism, LAW.domain),
        lambda mechanism: lt.check_privacy(mechanism, LAW, epsilon=2.0),
    ],
    ids=["law", "exact epsilon", "check"],
)
def test_so_does_every_way_to_run_code(use):
    before = _found()
    use(lt.mechanism(vendor))
    assert _found() == before


def test_declared_laws_and_functions_too():
    def log_pmf(points):
        _disturb()
        return np.full((len(points), 2), np.log(0.5))

    def mean(points):
        _disturb()
        return points.mean(axis=1)

    before = _found()
    assert lt.check_privacy(lt.ClosedForm([0, 1], log_pmf), LAW, epsilon=1.0).decision == "YES"
    lt.check_lipschitz(mean, LAW, proximity=0.2, failure_probability=1e-3, seed=1)
    assert _found() == before


@pytest.mark.slow
def test_an_error_leaves_what_it_found():
    def raises(data, rng):
        _disturb()
        raise ValueError

    before = _found()
    with pytest.raises(lt.errors.MechanismError):
        lt.check_privacy(lt.mechanism(raises), LAW, epsilon=1.0)
    assert _found() == before


@pytest.mark.slow
def test_a_running_timer_goes_on():
    """As pytest-timeout has one."""
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 500.0)
    try:
        lt.check_privacy(lt.mechanism(vendor), LAW, epsilon=2.0)
        assert 400.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 500.0
        with surroundings_kept():
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        assert 400.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 500.0
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        with surroundings_kept():
            while not rung:
                time.sleep(0.001)
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_an_interval_goes_on():
    before = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 300.0, 300.0)
    try:
        with surroundings_kept():
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        assert signal.getitimer(signal.ITIMER_PROF)[1] == 300.0
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def test_in_another_thread_signals_are_let_be():
    found = []

    def check():
        mechanism = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.25))
        found.append(lt.check_privacy(mechanism, LAW, epsilon=2.0).decision)

    thread = threading.Thread(target=check)
    thread.start()
    thread.join()
    assert found == ["YES"]


def test_a_folder_that_is_gone_is_no_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inner = tmp_path / "inner"
    inner.mkdir()
    os.chdir(inner)
    with surroundings_kept():
        os.chdir(tmp_path)
        inner.rmdir()
    assert os.getcwd() == str(tmp_path)
