"""Outcomes of every kind, from real checks."""

from __future__ import annotations

from pathlib import Path

import liptest as lt
from liptest.evidence.certificate import certify
from liptest.report.findings import Outcome
from liptest.runs.fingerprints import fingerprint

BITS = lt.ProductDistribution.uniform(lt.Hypercube(3))


@lt.mechanism
def noisy(data, rng):
    """Randomised response at epsilon = log(3)."""
    return tuple(int(bit) if rng.random() < 0.75 else 1 - int(bit) for bit in data)


@lt.mechanism
def leaks(data, rng):
    return int(data[0])


def checked(mechanism, asked, code, **options) -> Outcome:
    options = {"epsilon": 1.2, "seed": 1} | options
    verdict = lt.check_privacy(mechanism, BITS, **options)
    certificate = certify(verdict, fingerprint(mechanism), BITS, own_seed=False)
    return Outcome(
        asked,
        code,
        certificate=certificate,
        mechanism=mechanism,
        distribution=BITS,
        file=Path("vendors/good one.py"),
        line=12,
        seconds=0.25,
    )


def every_kind() -> list[Outcome]:
    """YES by proof and by sampling, NO, INCONCLUSIVE, budget, broken, bad input, not run."""
    few = {"method": "neighbourhoods", "exception_mass": 0.1, "failure_probability": 0.1}
    return [
        checked(noisy, "vendors/good one.py:noisy", 0),
        checked(noisy, "package.module:noisy", 0, **few),
        checked(leaks, "vendors/good one.py:leaks", 1),
        checked(noisy, "vendors/good one.py:slow", 3, **few, budget=20),
        Outcome(
            "vendors/good one.py:large", 3, error=lt.errors.BudgetError("budget=1 is too small")
        ),
        Outcome(
            "vendors/good one.py:broken",
            4,
            error=lt.errors.LawError("broken: the law sums to 2 <\x00 & \x1b[31m\ud800\r>"),
            file=Path("vendors/good one.py"),
            line=30,
        ),
        Outcome(
            "vendors/none.py:lost", 2, error=lt.errors.InputError("vendors/none.py: no such file")
        ),
        Outcome("vendors/good one.py:late", 3),
    ]
