"""Repair on exact rationals: Claim 4.8, Lemma 4.9, and no violated edge left (theory 4)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.data.domains import Hypercube
from liptest.data.product import ProductDistribution
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.lipschitz.repair import (
    basic_operator,
    exact_table,
    repair,
    repeat_operator,
    round_to_step,
    violation_scores,
)

HALF = Fraction(1, 2)
steps = st.integers(1, 5).map(lambda k: Fraction(1, k))
laws = st.lists(st.integers(0, 8).map(lambda k: k / 8), min_size=1, max_size=3).map(
    ProductDistribution.bernoulli
)


def tables(law: ProductDistribution) -> st.SearchStrategy[np.ndarray]:
    size = law.domain.size
    values = st.lists(st.fractions(-5, 5, max_denominator=6), min_size=size, max_size=size)
    return values.map(lambda found: np.array(found, dtype=object).reshape(law.domain.sizes))


cases = laws.flatmap(lambda law: st.tuples(st.just(law), tables(law)))


def violated_edges(table: np.ndarray) -> int:
    gaps = [np.abs(np.diff(table, axis=r)) for r in range(table.ndim)]
    return sum(int(np.count_nonzero(gap > 1)) for gap in gaps)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.fractions(-9, 9), st.fractions(-1, 1), steps)
def test_rounding_is_safe(value: Fraction, gap: Fraction, step: Fraction) -> None:
    pair = np.array([value, value + gap], dtype=object)
    low, high = round_to_step(pair, step)
    assert abs(high - low) <= 1
    assert abs(low - value) <= step / 2
    assert (low / step).denominator == 1


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(cases, steps)
def test_closed_form_is_the_repeated_operator(
    case: tuple[ProductDistribution, np.ndarray], step: Fraction
) -> None:
    law, table = case
    for r in range(law.domain.dimension):
        p = law.exact_marginal(r)[1]
        once, before = table, None
        while before is None or (once != before).any():
            before = once
            once = basic_operator(before, r, probability=p, range_step=step)
        closed = repeat_operator(table, r, probability=p, range_step=step)
        assert (closed == once).all()


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(cases, steps)
def test_accounting_of_lemma_4_9(
    case: tuple[ProductDistribution, np.ndarray], step: Fraction
) -> None:
    law, raw = case
    table = round_to_step(raw, step)
    for i in range(law.domain.dimension):
        p = law.exact_marginal(i)[1]
        before = violation_scores(table, law)
        table = repeat_operator(table, i, probability=p, range_step=step)
        closed = violation_scores(table, law)
        assert closed[i] == 0
        assert all(late <= early for late, early in zip(closed, before, strict=True))
        table = round_to_step(table, step)
        rounded = violation_scores(table, law)
        for early, late in zip(before, rounded, strict=True):
            assert late <= early + step
            assert early > 0 or late == 0
    assert violated_edges(table) == 0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases, steps, st.booleans())
def test_repair_costs_at_least_the_distance(
    case: tuple[ProductDistribution, np.ndarray], step: Fraction, symmetric: bool
) -> None:
    law, table = case
    repaired = repair(table, law, range_step=step, symmetric=symmetric)
    assert violated_edges(repaired) == 0
    assert all((value / step).denominator == 1 for value in repaired.flat)
    changed = np.flatnonzero((repaired != exact_table(table, law.domain)).reshape(-1))
    cost = sum((law.exact_mass(point) for point in law.domain.points(changed)), Fraction(0))
    value = distance_to_lipschitz(table, law).value
    assert value is not None
    assert value <= cost


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases, steps)
def test_repair_pays_only_for_violated_edges(
    case: tuple[ProductDistribution, np.ndarray], step: Fraction
) -> None:
    law, raw = case
    start = table = round_to_step(raw, step)
    allowance = Fraction(0)
    for i in range(law.domain.dimension):
        gaps = np.abs(np.diff(table, axis=i)) > 1
        ends = np.concatenate([gaps, gaps], axis=i)
        allowance += _mass(law, ends)
        p = law.exact_marginal(i)[1]
        table = round_to_step(repeat_operator(table, i, probability=p, range_step=step), step)
    assert (table == repair(raw, law, range_step=step)).all()
    assert _mass(law, table != start) <= allowance


def _mass(law: ProductDistribution, where: np.ndarray) -> Fraction:
    points = law.domain.points(np.flatnonzero(where.reshape(-1)))
    return sum((law.exact_mass(point) for point in points), Fraction(0))


@pytest.mark.slow
def test_ten_thousand_random_functions_are_repaired() -> None:
    rng = np.random.default_rng(11)
    broken = 0
    for number in range(10_000):
        d = 1 + number % 3
        law = ProductDistribution.bernoulli(rng.integers(0, 17, d) / 16)
        tops, bottoms = rng.integers(-20, 21, 2**d), rng.integers(1, 7, 2**d)
        table = np.array(
            [Fraction(a, b) for a, b in zip(tops.tolist(), bottoms.tolist(), strict=True)],
            dtype=object,
        ).reshape((2,) * d)
        broken += violated_edges(table) > 0
        step = Fraction(1, 1 + number % 4)
        assert violated_edges(repair(table, law, range_step=step, symmetric=number % 5 == 0)) == 0
    assert broken > 8_000


def test_repaired_functions_have_no_violated_pair_at_all() -> None:
    law = ProductDistribution.bernoulli([0.2, 0.6, 0.5, 0.9, 0.35])
    function = np.random.default_rng(2).random(law.domain.sizes) * 8
    repaired = repair(function, law, range_step=0.25)
    assert distance_to_lipschitz(function, law).violated_pairs
    assert distance_to_lipschitz(repaired, law).violated_pairs == 0
    assert Hypercube(5).size == repaired.size
