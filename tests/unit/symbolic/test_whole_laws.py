"""T6: exponential polynomials on all whole numbers, against sums and tables made by hand."""

from __future__ import annotations

import random
from fractions import Fraction as F
from typing import Any

import pytest
from flint import arb, fmpq

from liptest.balls import precision
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.elimination import exact_rates
from liptest.symbolic.exponential_polynomials import ExactRates, Function
from liptest.symbolic.free_sums import law_of_sum
from liptest.symbolic.noise import Noise
from liptest.symbolic.whole_laws import (
    WholeMasses,
    find_excess,
    quotient_extremes,
    settle,
    tail_mass,
)

#: (weight, shift, ratios of what is added, ratios of what is subtracted).
Leaf = tuple[F, int, list[F], list[F]]
HALF = F(1, 2)


def rates_for(*ratios: F) -> ExactRates:
    return exact_rates([Noise("geometric", 1 - q) for q in ratios])


def law_of(rates: ExactRates, leaves: list[Leaf]) -> Function:
    """A mixture of shifted sums and differences of geometric numbers."""
    parts = []
    for weight, shift, added, subtracted in leaves:
        noises = tuple(Noise("geometric", 1 - q) for q in added + subtracted)
        signs = [1] * len(added) + [-1] * len(subtracted)
        made = law_of_sum(noises, [], tuple(enumerate(signs)), rates)
        made = functions.stretch_function(rates, made, fmpq(1), fmpq(shift))
        parts.append(functions.enlarge(made, fmpq(weight.numerator, weight.denominator)))
    return functions.add_functions(rates, parts)


def table_of(leaves: list[Leaf], reach: int) -> list[float]:
    """The same from -reach to reach, by convolving long lists of floats."""
    found = [0.0] * (2 * reach + 1)
    for weight, shift, added, subtracted in leaves:
        one = {shift: float(weight)}
        for q, sign in [(q, 1) for q in added] + [(q, -1) for q in subtracted]:
            # One geometric number more: a first-order recursion along the numbers.
            start = min(one) if sign > 0 else max(one)
            rest, carry = {}, 0.0
            for k in range(1, len(one) + 8 * reach):
                carry = carry * float(q) + one.get(start + sign * (k - 1), 0.0) * (1 - float(q))
                rest[start + sign * k] = carry
            one = rest
        for z in range(-reach, reach + 1):
            found[z + reach] += one.get(z, 0.0)
    return found


def random_pair(seed: int) -> tuple[list[F], list[Leaf], list[Leaf]]:
    rng = random.Random(seed)
    ratios = [F(rng.randint(1, 9), 10) for _ in range(3)]
    sides: tuple[list[Leaf], list[Leaf]] = ([], [])
    weights = [rng.randint(1, 9) for _ in range(rng.choice([1, 2, 3]))]
    for weight in weights:
        added = [rng.choice(ratios) for _ in range(rng.choice([1, 1, 2]))]
        subtracted = [rng.choice(ratios) for _ in range(rng.choice([0, 1, 1, 2]))]
        moved, shift = rng.choice([1, 1, 2]), rng.randint(-2, 2)
        for count, side in enumerate(sides):
            side.append((F(weight, sum(weights)), shift + count * moved, added, subtracted))
    return ratios, *sides


def check_pair(seed: int) -> None:
    ratios, left, right = random_pair(seed)
    rates, reach = rates_for(*ratios), 150
    laws = [law_of(rates, side) for side in (left, right)]
    assert all(functions.total(rates, law) == 1 for law in laws)
    with precision(128):
        found = quotient_extremes(rates, *laws)
        exact = [list(map(WholeMasses(rates, law).at, range(-reach, reach))) for law in laws]
        quotients = [p / q for p, q in zip(*exact, strict=True) if q]
        if any(p and not q for p, q in zip(*exact, strict=True)):
            assert found.largest.value is None
        elif found.largest.value is not None:
            assert found.largest.value >= max(quotients)
            if len(found.largest.numbers) == 1 and abs(found.largest.numbers[0]) < reach:
                assert found.largest.value == max(quotients)
        for factor in (arb(1), arb(1.1), arb(2)):
            excess = find_excess(rates, *laws, factor)
            gaps = [arb(p) - factor * arb(q) for p, q in zip(*exact, strict=True)]
            inside = sum((gap.max(arb(0)) for gap in gaps), arb(0))
            outside = 1 - sum(map(arb, exact[0]), arb(0))
            assert inside <= excess.size + 1e-12
            assert excess.size <= inside + outside + 1e-12
            told = [
                tail_mass(rates, laws[0], *span) - factor * tail_mass(rates, laws[1], *span)
                for span in excess.where
            ]
            assert abs(float(sum(told, arb(0)) - excess.size)) < 1e-15


@pytest.mark.parametrize("seed", range(25))
def test_random_mixtures_against_windows(seed: int) -> None:
    check_pair(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 400])
def test_many_random_mixtures(first: int) -> None:
    for seed in range(10_000 + first, 10_400 + first):
        check_pair(seed)


@pytest.mark.parametrize("seed", range(6))
def test_laws_are_those_of_a_table(seed: int) -> None:
    ratios, left, _ = random_pair(seed)
    rates = rates_for(*ratios)
    masses, table = WholeMasses(rates, law_of(rates, left)), table_of(left, 40)
    for z in range(-40, 41):
        assert float(arb(masses.at(z))) == pytest.approx(table[z + 40], abs=1e-12)


@pytest.mark.parametrize("many", [1, 2, 3])
def test_differences_of_negative_binomials_have_their_tail_rate(many: int) -> None:
    """T7: t ln(1/q) over all whole numbers, a limit that no number attains from two on."""
    rates = rates_for(HALF)
    laws = [law_of(rates, [(F(1), x, [HALF] * many, [HALF] * many)]) for x in (0, 1)]
    found = quotient_extremes(rates, *laws)
    assert found.largest.value == 2
    assert found.smallest.value == fmpq(1, 2)
    masses = [WholeMasses(rates, law) for law in laws]
    attained = any(masses[0].at(z) == 2 * masses[1].at(z) for z in range(-60, 60))
    assert attained is (many == 1)


def test_sums_with_other_factors_are_refused() -> None:
    """X + 2Y with ratios .1 and .9 (counterexample to T7 and T8 without factors of 1)."""
    noises = Noise("geometric", F(9, 10)), Noise("geometric", F(1, 10))
    with pytest.raises(UnsupportedForm):
        law_of_sum(noises, [], ((0, 1), (1, 2)), exact_rates(noises))


def test_a_quotient_without_bound_has_numbers_on_the_way() -> None:
    rates = rates_for(HALF, F(1, 3))
    wide, narrow = (law_of(rates, [(F(1), 0, [q], [q])]) for q in (HALF, F(1, 3)))
    found = quotient_extremes(rates, wide, narrow)
    assert found.largest.value is None
    assert found.smallest.value is not None
    over, under = (WholeMasses(rates, law) for law in (wide, narrow))
    far = [over.at(z) / under.at(z) for z in found.largest.numbers[:8]]
    assert far == sorted(far)


def test_one_sided_noise_has_a_number_of_its_own() -> None:
    rates = rates_for(HALF)
    laws = [law_of(rates, [(F(1), x, [HALF], [])]) for x in (0, 1)]
    found = quotient_extremes(rates, *laws)
    assert (found.largest.value, found.largest.numbers) == (None, (1,))


@pytest.mark.parametrize(
    ("terms", "sign"),
    [
        ({(F(1, 2), 0): 1, (F(1, 3), 0): -1000}, 1),
        ({(F(1, 2), 1): 1, (F(1, 2), 0): -500}, 1),
        ({(F(1, 2), 0): -1, (F(2, 5), 3): 10**6}, -1),
    ],
)
def test_a_sign_is_settled_where_the_leader_rules(terms: dict[Any, int], sign: int) -> None:
    exact = {(fmpq(q.numerator, q.denominator), k): fmpq(c) for (q, k), c in terms.items()}
    start = settle(exact)
    for n in (start, start + 1, 2 * start, 5 * start):
        found = sum(c * n**k * q**n for (q, k), c in terms.items())
        assert (found > 0) - (found < 0) == sign


def test_what_never_settles_is_refused() -> None:
    with pytest.raises(SymbolicError, match="ordered for good"):
        settle({(fmpq(1, 2), 0): fmpq(1), (fmpq(2**40 - 1, 2**41), 0): fmpq(-2)})
