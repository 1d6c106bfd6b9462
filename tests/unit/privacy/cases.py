"""Mechanisms given by tables, and brute force that shares no code with what it checks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import liptest as lt
from liptest.data.domains import Domain
from liptest.mechanisms.declared import ExactForm

#: Digits of the arithmetic below, far beyond what separates any two numbers of the tests.
DIGITS = 120
#: Relative distance to a boundary below which brute force does not decide.
MARGIN = Fraction(1, 10**60)


@dataclass(frozen=True, eq=False)
class LogTable:
    """The log probabilities of each dataset, by its index."""

    domain: Domain
    logs: np.ndarray

    def __call__(self, datasets: np.ndarray) -> np.ndarray:
        return self.logs[self.domain.index(datasets)]


@dataclass(frozen=True, eq=False)
class FractionTable:
    """The exact probabilities of each dataset, by its index."""

    domain: Domain
    rows: tuple[tuple[Fraction, ...], ...]

    def __call__(self, dataset: np.ndarray) -> tuple[Fraction, ...]:
        return self.rows[int(self.domain.index(dataset)[0])]


def closed(domain: Domain, probabilities: Any, **options: Any) -> lt.ClosedForm:
    """A declared mechanism with one row of probabilities per dataset; zeros are exact."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(probabilities, dtype=np.float64))
    options.setdefault("exact_zeros", True)
    return lt.ClosedForm(range(logs.shape[1]), LogTable(domain, logs), **options)


def exact(domain: Domain, rows: Any) -> ExactForm:
    """A mechanism of exact probabilities with one row of Fractions per dataset."""
    table = tuple(tuple(Fraction(p) for p in row) for row in rows)
    return ExactForm(tuple(range(len(table[0]))), FractionTable(domain, table))


def from_weights(weights: Any) -> list[Fraction]:
    """Whole numbers as probabilities."""
    total = sum(weights)
    return [Fraction(int(weight), int(total)) for weight in weights]


def all_datasets(domain: Domain) -> list[tuple[int, ...]]:
    """Every dataset, the last record varying fastest."""
    return list(product(*(range(size) for size in domain.sizes)))


def distance(domain: Domain, x: tuple[int, ...], y: tuple[int, ...]) -> int:
    """The metric, written once more."""
    if isinstance(domain, lt.Hypergrid):
        return sum(abs(a - b) for a, b in zip(x, y, strict=True))
    return sum(a != b for a, b in zip(x, y, strict=True))


def neighbouring(domain: Domain) -> list[tuple[int, int]]:
    """All unordered neighbouring pairs, as indices of datasets."""
    points = all_datasets(domain)
    return [
        (i, j)
        for i, x in enumerate(points)
        for j in range(i + 1, len(points))
        if distance(domain, x, points[j]) == 1
    ]


def exp_of(value: Fraction) -> Fraction:
    """e^value to DIGITS digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp())


def log_of(value: Fraction) -> Fraction:
    """ln value to DIGITS digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def claimed(epsilon: Any, tolerance: float) -> Fraction:
    """epsilon' of a claim."""
    exact_log = getattr(epsilon, "argument", None)
    value = Fraction(epsilon) if exact_log is None else log_of(exact_log)
    return value * (1 + Fraction(tolerance)) + Fraction(tolerance)


def ratio(p: Any, q: Any) -> Fraction | None:
    """The largest of all p/q and q/p over the outputs, None when it is infinite."""
    worst = Fraction(1)
    for a, b in zip(p, q, strict=True):
        low, high = min(a, b), max(a, b)
        if high > 0:
            if low == 0:
                return None
            worst = max(worst, high / low)
    return worst


def breaks(p: Any, q: Any, epsilon: Any, delta: float = 0.0, tolerance: float = 0.0) -> bool | None:
    """Whether two exact laws break a claim; None where MARGIN cannot tell."""
    rational = tolerance == 0 and hasattr(epsilon, "argument")
    factor = epsilon.argument if rational else exp_of(claimed(epsilon, tolerance))
    if delta == 0:
        found, limit = ratio(p, q), factor
        if found is None:
            return True
    else:
        found, limit = hockey_stick(p, q, factor), Fraction(delta) * (1 + Fraction(tolerance))
    if abs(found - limit) > MARGIN * limit or rational:
        return found > limit
    return None


def hockey_stick(p: Any, q: Any, factor: Fraction) -> Fraction:
    """The larger of sum max(0, p - factor q) and sum max(0, q - factor p)."""
    return max(
        sum((max(Fraction(0), a - factor * b) for a, b in zip(x, y, strict=True)), Fraction(0))
        for x, y in ((p, q), (q, p))
    )
