"""Outcomes to be drawn, from real checks: every decision, and names and outputs that do harm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import liptest as lt
from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.errors import BudgetError, InputError, MechanismError
from liptest.report.findings import Outcome

LAW = lt.ProductDistribution.bernoulli([0.3] * 4)
LONG_LAW = lt.ProductDistribution.bernoulli(np.full(5000, 0.01))
EVIL = "<script>alert('x')</script>&"
#: Turns the direction of writing around, cannot be written as UTF-8, cannot be seen.
UNSEEN = "a\u202eb\ud800c\x00d"
_CODES = {"YES": 0, "NO": 1, "INCONCLUSIVE": 3}


def respond(data: Any, rng: Any) -> Any:
    return tuple(int(bit) if rng.random() < 0.7310585786300049 else 1 - int(bit) for bit in data)


def leak(data: Any, rng: Any) -> Any:
    return EVIL if data[2] and rng.random() < 0.5 else 0


def late(data: Any, rng: Any) -> int:
    count = 0
    while rng.random() < 0.5:
        count += 1
    return 1 if data.tolist()[0] and count == 0 else 0


def talkative(data: Any, rng: Any) -> Any:
    return (UNSEEN * 400, int(rng.integers(2))) if data[1] else 0


def certified(mechanism: Any, epsilon: float, law: Any = LAW, **options: Any) -> Any:
    """A certificate without anything that differs from run to run."""
    gate = lt.PrivacyGate(mechanism, law, epsilon=epsilon, seed=7, **options)
    verdict = gate.certificate.verdict
    verdict = replace(verdict, cost=replace(verdict.cost, seconds=0.5))
    return replace(gate.certificate, decided="2026-01-01T00:00:00Z", verdict=verdict)


def checked(mechanism: Any, epsilon: float, law: Any = LAW, **options: Any) -> Outcome:
    certificate = certified(mechanism, epsilon, law, **options)
    asked = f"vendor.py:{mechanism.name}"
    code = _CODES[certificate.decision]
    return Outcome(asked, code, certificate, None, mechanism, law)


def enumerated(function: Any) -> Any:
    return lt.mechanism(max_choices=20)(function)


def weighted(record: int, weight: int) -> Any:
    """A sum of 5,000 records of which one counts more; its outputs are unbounded."""
    weights = np.ones(5000, dtype=int)
    weights[record] = weight
    return lt.ShiftMechanism(
        lt.statistics.WeightedSum(weights), lt.DiscreteLaplace(1), name="weighted"
    )


YES = checked(enumerated(respond), 1.0)
SAMPLED = checked(
    lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1), name="count"),
    1.0,
    LONG_LAW,
    method="neighbourhoods",
    exception_mass=0.5,
    search_laws=0,
)
NO = checked(enumerated(leak), 1.0)
OPEN = checked(enumerated(late), 13.5, method="exhaustive", trust_code=True)
SHORT = checked(SAMPLED.mechanism, 1.0, LONG_LAW, method="neighbourhoods", budget=20_000)
WIDE = checked(weighted(3117, 3), 1.0, LONG_LAW, method="neighbourhoods")
DELTA = checked(
    lt.catalogue.truncated_geometric_count(40, 1.0),
    0.5,
    lt.ProductDistribution.uniform(lt.Hypercube(40)),
    delta=0.05,
)
TALKATIVE = checked(enumerated(talkative), 1.0)
BROKEN = Outcome("v.py:broken", 4, None, MechanismError(f"it raised {EVIL} {UNSEEN}"))
WRONG = Outcome("v.py:wrong", 2, None, InputError("epsilon=0"))
LIMITED = Outcome("v.py:limited", 3, None, BudgetError("budget=1 is too small"))
LATER = Outcome(f"v.py:{UNSEEN}", 3)
#: Those that came to a verdict, and all.
VERDICTS = [YES, SAMPLED, NO, OPEN, SHORT, WIDE, DELTA, TALKATIVE]
EVERY = [*VERDICTS, BROKEN, WRONG, LIMITED, LATER]
DECISIONS = ["YES", "YES", "NO", "INCONCLUSIVE", "INCONCLUSIVE", "NO", "NO", "NO"]


def sampled_verdicts() -> list[BlackBoxVerdict]:
    """NO with numbers and with intervals, YES, and one that stays open."""
    bit = lt.ProductDistribution.uniform(lt.Hypercube(1))
    wide = lt.ProductDistribution.uniform(lt.Hypercube(30))
    shift = lt.Sampler(lambda x, n, rng: x.sum() + rng.laplace(0, 0.3, n), name=EVIL)
    fair = lt.Sampler(lambda x, n, rng: rng.integers(0, 2, n), name="fair")
    told = lt.Sampler(lambda x, n, rng: [(EVIL, UNSEEN) if b else 0 for b in [x[0]] * n])
    return [
        lt.check_samples(shift, wide, epsilon=1.0, delta=0.01, samples=150_000, seed=1),
        lt.check_samples(told, bit, epsilon=1.0, samples=4_000, seed=1),
        lt.check_samples(fair, bit, epsilon=1.0, samples=60_000, resolution=0.2, seed=1),
        lt.check_samples(fair, bit, epsilon=1.0, samples=4_000, seed=1),
    ]
