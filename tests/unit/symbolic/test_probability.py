"""Probabilities of constraints on Laplace, exponential, uniform and geometric noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import pytest
from flint import arb, ctx

from liptest.errors import InputError, SymbolicError, UnsupportedForm
from liptest.symbolic import probability as probabilities
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System, forget
from tests.unit.symbolic.systems import (
    V,
    argmax,
    at_least,
    at_most,
    below,
    close,
    equal,
    holds,
    noise,
    probability,
    sparse_vector,
    total,
)

LAPLACE, UNIFORM, EXPONENTIAL = noise("laplace"), noise("uniform"), noise("exponential")
HALF = Fraction(1, 2)


def test_single_variables() -> None:
    assert close(probability([LAPLACE], at_least(V(0), 3)), math.exp(-3) / 2)
    assert close(probability([LAPLACE], at_most(V(0), 3)), 1 - math.exp(-3) / 2)
    assert close(probability([EXPONENTIAL], V(0).between(1, 2)), math.exp(-1) - math.exp(-2))
    assert holds(probability([UNIFORM], V(0).between(Fraction(1, 8), HALF)), Fraction(3, 8))
    assert close(probability([noise("laplace", 4)], at_least(2 * V(0) + 1, 9)), math.exp(-1) / 2)


def test_small_probabilities_are_as_precise_as_large_ones() -> None:
    assert close(probability([LAPLACE], at_least(V(0), 700)), math.exp(-700) / 2, 1e-12)
    far = argmax([noise("laplace", Fraction(1, 10))] * 3, [0, 1000, 5000], 0)
    assert 0 < float((far.log() / -50000).mid()) < 1.001


def test_nothing_is_asked() -> None:
    assert System([LAPLACE]).probability([]) == 1
    assert probability([LAPLACE], Constraint.make([(0, 1)])) == 1


@pytest.mark.parametrize("gap", [0, Fraction(1, 3), 2, 7.25])
def test_difference_of_two_laplace(gap: float) -> None:
    """P(X - Y > t) = e^-t (2 + t) / 4 for t >= 0 and scale 1."""
    found = probability([LAPLACE] * 2, at_least(V(0) - V(1), Fraction(gap)))
    assert close(found, math.exp(-gap) * (2 + float(gap)) / 4)


def test_laplace_of_two_scales() -> None:
    """P(X - Y > t) = (a^2 e^(-t/a) - b^2 e^(-t/b)) / (2 (a^2 - b^2)), t >= 0."""
    found = probability([noise("laplace", 3), noise("laplace", 2)], at_least(V(0) - V(1), 4))
    assert close(found, (9 * math.exp(-4 / 3) - 4 * math.exp(-2)) / 10)


def test_rates_that_differ_by_one_float_are_told_apart_precisely() -> None:
    near = noise("laplace", 1 + 2.0**-52)
    found = probability([LAPLACE, near], at_least(V(0) - V(1), 4))
    assert close(found, math.exp(-4) * 6 / 4, 1e-14)
    assert not found.contains(arb(-4).exp() * 6 / 4)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_sums_of_exponentials(count: int) -> None:
    found = probability([EXPONENTIAL] * count, at_most(total(*range(count)), 2))
    rest = sum(2**k / math.factorial(k) for k in range(count))
    assert close(found, 1 - math.exp(-2) * rest, 1e-11)


@pytest.mark.parametrize(("count", "high"), [(2, HALF), (3, Fraction(5, 4)), (6, 2)])
def test_sums_of_uniforms(count: int, high: Fraction) -> None:
    """Irwin and Hall."""
    found = probability([UNIFORM] * count, at_most(total(*range(count)), high))
    exact = sum(
        (-1) ** k * math.comb(count, k) * Fraction(high - k) ** count
        for k in range(math.floor(high) + 1)
    ) / math.factorial(count)
    assert holds(found, exact)


@pytest.mark.parametrize("family", ["laplace", "exponential", "uniform"])
def test_orders_are_equally_likely(family: str) -> None:
    noises = [noise(family)] * 5
    chain = [below(V(i) - V(i + 1)) for i in (3, 0, 2, 1)]
    assert holds(probability(noises, *chain), Fraction(1, 120))
    assert holds(argmax(noises, [0] * 5, 2), Fraction(1, 5))


def test_faster_exponential_comes_first() -> None:
    noises = [noise("exponential", 2), noise("exponential", 3)]
    assert holds(probability(noises, below(V(0) - V(1))), Fraction(3, 5))


def test_prefix_sums() -> None:
    """P(X <= 1, X + Y <= 1) is P(X + Y <= 1) for variables that are not negative."""
    noises = [EXPONENTIAL] * 3
    both = probability(noises, at_most(V(0), 1), at_most(V(0) + V(1), 1))
    assert close(both, 1 - 2 * math.exp(-1))
    all_three = probability(
        noises, at_most(V(0), 1), at_most(V(0) + V(1), 1), at_most(total(0, 1, 2), 1)
    )
    assert close(all_three, 1 - 2.5 * math.exp(-1))


def test_argmax_of_sums_of_noise() -> None:
    """Whoever has the largest sum of two variables of its own."""
    noises = [LAPLACE] * 6
    sums = [total(0, 1), total(2, 3), total(4, 5)]
    found = probability(noises, at_least(sums[0] - sums[1]), at_least(sums[0] - sums[2]))
    assert holds(found, Fraction(1, 3))


def test_geometric_sums_are_exact() -> None:
    """P(X - Y = k) for geometric X, Y is that of two-sided geometric noise."""
    p = Fraction(3, 10)
    for k in (-4, 0, 1, 9):
        found = probability([noise("geometric", p)] * 2, equal(V(0) - V(1), k))
        exact = p / (2 - p) * (1 - p) ** abs(k)
        assert holds(found, exact)
        assert probability([noise("two-sided geometric", 1 - p)], equal(V(0), k)).overlaps(found)


def test_ends_count_for_discrete_noise_only() -> None:
    whole = [noise("two-sided geometric", HALF)] * 2
    apart = probability(whole, below(V(0) - V(1))), probability(whole, at_most(V(0) - V(1)))
    assert holds(apart[0], Fraction(11, 27))
    assert holds(apart[1], Fraction(16, 27))
    assert probability([LAPLACE] * 2, equal(V(0) - V(1))) == 0
    assert holds(probability([LAPLACE] * 2, at_most(V(0) - V(1))), Fraction(1, 2))


def test_ends_between_whole_numbers() -> None:
    geometric = [noise("geometric", HALF)]
    assert probability(geometric, V(0).between(1.2, 1.8)) == 0
    assert probability(geometric, V(0).between(1, 2)) == 0
    assert holds(probability(geometric, V(0).between(1, 2, low_closed=True)), Fraction(1, 2))
    assert holds(probability(geometric, (V(0) * Fraction(1, 3)).between(0.5, 1)), Fraction(1, 4))


def test_factors_of_discrete_noise() -> None:
    noises = [noise("geometric", HALF)] * 2
    found = probability(noises, equal(V(0) - 2 * V(1)))
    assert holds(found, Fraction(1, 7))
    with pytest.raises(UnsupportedForm, match="not all of them differences"):
        System(noises).probability([at_most(2 * V(0) - 3 * V(1))])


@pytest.mark.parametrize("q", [0, 1e-12, HALF, 1 - 1e-12])
def test_extreme_parameters(q: float) -> None:
    ratio = Fraction(q)
    some = [noise("two-sided geometric", ratio), noise("geometric", HALF)]
    larger = probability(some, at_least(V(0) - V(1)))
    assert holds(larger, ratio / ((2 - ratio) * (1 + ratio)))
    some = [noise("geometric", 1 - ratio), noise("geometric", HALF)]
    assert holds(probability(some, below(V(0) - V(1))), (1 - ratio) / (2 - ratio))


def test_impossible_is_exactly_zero() -> None:
    assert probability([UNIFORM] * 2, at_least(V(0) + V(1), 2)) == 0
    assert probability([EXPONENTIAL] * 2, at_most(V(0)), at_least(V(1), 1)) == 0
    assert probability([LAPLACE] * 2, below(V(0) - V(1)), at_least(V(0) - V(1))) == 0
    assert probability([LAPLACE], V(0).between(2, 1)) == 0
    assert probability([noise("geometric", HALF)], at_most(V(0), 0)) == 0


def test_parallel_constraints_meet() -> None:
    noises = [LAPLACE] * 2
    twice = probability(noises, at_least(2 * V(0) - 2 * V(1), 1), at_most(V(1) - V(0), -1))
    assert twice.overlaps(probability(noises, at_least(V(0) - V(1), 1)))


def test_independent_parts_multiply() -> None:
    parts = at_least(V(0), 1), at_least(V(1) - V(2), 1)
    product = math.prod(probability([LAPLACE] * 3, part) for part in parts)
    assert probability([LAPLACE] * 3, *parts).overlaps(product)


@pytest.mark.slow
def test_refused() -> None:
    mixed = [LAPLACE, noise("geometric", HALF)]
    with pytest.raises(UnsupportedForm, match="discrete and continuous"):
        System(mixed).probability([at_most(V(0) + V(1))])
    grown = [at_most(total(*pair), 1) for pair in itertools.combinations(range(7), 3)]
    with pytest.raises(UnsupportedForm, match="noise variables are compared"):
        System([LAPLACE] * 7).probability(grown)


def test_precision_is_put_back() -> None:
    saved, ctx.prec = ctx.prec, 77
    try:
        argmax([LAPLACE] * 3, [0, 400, 3], 0)
        assert ctx.prec == 77
        with pytest.raises(UnsupportedForm):
            System([LAPLACE, noise("geometric", HALF)]).probability([at_most(V(0) + V(1))])
        assert ctx.prec == 77
    finally:
        ctx.prec = saved


def test_what_was_known_is_no_less_precise_later() -> None:
    """A shape first computed with few digits is computed again where more are needed."""
    noises = [LAPLACE] * 3
    first = argmax(noises, [0, 0, 0], 0)
    far = argmax(noises, [0, 900, 0], 0)
    forget()
    assert argmax(noises, [0, 900, 0], 0).overlaps(far)
    assert argmax(noises, [0, 0, 0], 0).overlaps(first)


def outputs(length: int) -> Iterator[tuple[int, ...]]:
    return itertools.product((0, 1), repeat=length)


def test_laws_add_up() -> None:
    threshold, query = noise("laplace", 4), noise("laplace", 4 / 3)
    for answers in ([0, 1, 2, 1], [0.3, -7, 12.5, 1e-9]):
        law = sum(sparse_vector(threshold, query, answers, output) for output in outputs(4))
        assert law.contains(1)


@pytest.mark.parametrize(
    ("family", "parameter"),
    [("cauchy", 1), ("laplace", 0), ("geometric", 0), ("geometric", 2), ("uniform", 2)],
)
def test_parameters_are_checked(family: str, parameter: int) -> None:
    with pytest.raises(InputError, match=r"family=|parameter="):
        Noise(family, Fraction(parameter))


def test_forms() -> None:
    form = 2 * (V(1) - V(0) + 3) - V(1) - V(1)
    assert form == Form(Fraction(6), ((0, Fraction(-2)),))
    assert (1 - V(0)).between(0, 1) == V(0).between(0, 1)
    assert at_most(-2 * V(3), 4) == at_least(V(3), -2)
    with pytest.raises(InputError, match="no variable"):
        (V(0) - V(0)).between(0, 1)


def test_what_is_nested_too_deep_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that grows with each pass of a loop has as many integrals inside of each other."""

    def nested(parts: object) -> arb:
        raise RecursionError

    monkeypatch.setattr(probabilities, "_evaluate", nested)
    with pytest.raises(SymbolicError, match="compare sums of fewer variables"):
        System((Noise("laplace", Fraction(1)),)).probability([at_least(V(0), 1)])
