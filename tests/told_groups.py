"""Of groups whose noisy size is large the delta, by exact laws of 3 records of 3 values."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import Alignment, align

N, VALUES = 3, 3


def exact_delta(scale: float, bound: float, epsilon: float) -> float:
    """Of which values are told, added up over all sets of them: the law is a product."""

    def passes(count: int) -> float:
        at = (bound - count) / scale
        return (math.exp(-at) / 2 if at >= 0 else 1 - math.exp(at) / 2) if count else 0.0

    laws = {}
    for dataset in product(range(VALUES), repeat=N):
        chances = [passes(dataset.count(value)) for value in range(VALUES)]
        laws[dataset] = {
            told: math.prod(p if v in told else 1 - p for v, p in enumerate(chances))
            for size in range(VALUES + 1)
            for told in combinations(range(VALUES), size)
        }
    worst = 0.0
    for dataset, place, value in product(laws, range(N), range(VALUES)):
        other = laws[(*dataset[:place], value, *dataset[place + 1 :])]
        gaps = (p - math.exp(epsilon) * other[told] for told, p in laws[dataset].items())
        worst = max(worst, sum(gap for gap in gaps if gap > 0))
    return worst


def check_delta(found: Alignment, scale: float, bound: float, epsilon: float) -> None:
    """Fail where the proved delta is below the exact one, or is not that of one new group."""
    assert found.price is not None, found
    proved = float(found.price.delta)
    assert proved >= exact_delta(scale, bound, epsilon) * (1 - 1e-9)
    assert proved == pytest.approx(math.exp(-(bound - 1) / scale) / 2, rel=1e-6)


def check_has_no_such_price(program: Any, domain: Any) -> None:
    """Fail where epsilon 1 and delta 1e-6 are proved."""
    found = align(lt.mechanism(program).on_domain(domain), domain, Fraction(1), Fraction(1, 10**6))
    price = found.price
    assert price is None or price.epsilon > 1 or price.delta > Fraction(1, 10**6), price
