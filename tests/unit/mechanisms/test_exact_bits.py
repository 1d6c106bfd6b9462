"""The samplers, followed through every value that their random numbers can take."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from liptest.mechanisms import additive as exact_bits
from liptest.mechanisms import additive as gaussian
from liptest.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    RandBelow,
    bernoulli,
    bernoulli_exp,
    geometric,
    two_sided_geometric,
)

Sampler = Callable[[RandBelow], Any]


class _OpenChoice(Exception):
    def __init__(self, shares: list[Fraction]) -> None:
        super().__init__(shares)
        self.shares = shares


class _Script:
    """Random numbers as written; the first one beyond the script is an open choice."""

    def __init__(self, prefix: tuple[int, ...]) -> None:
        self.left = iter(prefix)
        self.proposed = False

    def __call__(self, n: int) -> int:
        return self.choose([Fraction(1, n)] * n)

    def flip(self, probability: Fraction) -> bool:
        return self.choose([1 - probability, probability]) == 1

    def choose(self, shares: list[Fraction]) -> int:
        for value in self.left:
            return value
        raise _OpenChoice(shares)


@pytest.fixture(autouse=True)
def _one_choice_per_coin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    # bernoulli has a test of its own; elsewhere a coin is one choice of two, not of thousands.
    if request.function is not test_bernoulli_is_exact:
        monkeypatch.setattr(exact_bits, "bernoulli", lambda p, script: script.flip(p))


def law_of(sampler: Sampler, floor: Fraction) -> tuple[dict[Any, Fraction], Fraction]:
    """Exact probabilities of all runs more likely than ``floor``, and the mass of the rest."""
    found: dict[Any, Fraction] = defaultdict(Fraction)
    unexplored = Fraction(0)
    open_runs: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while open_runs:
        prefix, mass = open_runs.pop()
        try:
            found[sampler(_Script(prefix))] += mass
        except _OpenChoice as choice:
            if mass <= floor:
                unexplored += mass
            else:
                shares = enumerate(choice.shares)
                open_runs += [((*prefix, k), mass * share) for k, share in shares if share]
    return found, unexplored


def agrees(sampler: Sampler, law: Callable[[Any], float], floor: Fraction, known: float) -> bool:
    """Whether every value has, but for the unexplored mass (at most ``known``), its probability."""
    found, unexplored = law_of(sampler, floor)
    assert unexplored < known
    return all(
        float(mass) - 1e-12 <= law(value) <= float(mass + unexplored) + 1e-12
        for value, mass in found.items()
    )


def laplace(scale: float) -> Callable[[int], float]:
    return lambda j: math.tanh(1 / (2 * scale)) * math.exp(-abs(j) / scale)


@pytest.mark.parametrize("p", [Fraction(0), Fraction(2, 7), Fraction(1)])
def test_bernoulli_is_exact(p: Fraction) -> None:
    found, unexplored = law_of(lambda r: bernoulli(p, r), Fraction(0))
    assert unexplored == 0
    assert found[True] == p


def test_bernoulli_exp_follows_the_alternating_series() -> None:
    # Runs of the first n coins are explored: Pr[true] is the partial sum of exp(-f).
    f = Fraction(1, 2)
    found, unexplored = law_of(lambda r: bernoulli_exp(f, r), Fraction(1, 10**6))
    partial, term, n = Fraction(0), Fraction(1), 0
    while term != unexplored:
        assert n < 20, "the unexplored mass is not Pr[K > n] = f^n / n!"
        partial += (-1) ** n * term
        n += 1
        term = f**n / math.factorial(n)
    even = Fraction(n % 2) * unexplored
    assert found[True] == partial - even
    assert abs(float(found[True]) - math.exp(-0.5)) < float(unexplored)


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 4)])
def test_bernoulli_exp(exponent: Fraction) -> None:
    truth = math.exp(-float(exponent))
    law = {True: truth, False: 1 - truth}
    assert agrees(lambda r: bernoulli_exp(exponent, r), law.__getitem__, Fraction(1, 10**4), 0.02)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 2), Fraction(3, 2)])
def test_geometric(scale: Fraction) -> None:
    def law(g: int) -> float:
        return -math.expm1(-1 / scale) * math.exp(-g / scale)

    assert agrees(lambda r: geometric(scale, r), law, Fraction(1, 10**4), 0.06)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 2)])
def test_two_sided_geometric(scale: Fraction) -> None:
    law = laplace(float(scale))
    assert agrees(lambda r: two_sided_geometric(scale, r), law, Fraction(1, 10**5), 0.08)
    assert agrees(DiscreteLaplace(scale).draw, law, Fraction(1, 10**5), 0.08)


def test_the_enumeration_tells_a_wrong_scale_and_a_double_zero() -> None:
    def double_zero(randbelow: RandBelow) -> int:
        size = geometric(Fraction(1), randbelow)
        return -size if randbelow(2) else size

    floor = Fraction(1, 10**4)
    assert not agrees(double_zero, laplace(1.0), floor, 0.06)
    assert not agrees(DiscreteLaplace(Fraction(1)).draw, laplace(1.4), floor, 0.06)


class _Again(Exception):
    pass


@pytest.mark.slow
def test_discrete_gaussian_accepts_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its two ingredients are tested above; here each is one choice, to 53 bits.
    values = range(-80, 81)
    noise = DiscreteGaussian(Fraction(3, 2))

    def coin(exponent: Fraction, script: _Script) -> bool:
        return script.flip(Fraction(math.exp(-exponent)))

    def proposal(scale: Fraction, script: _Script) -> int:
        if script.proposed:
            raise _Again
        script.proposed = True
        return values[script.choose([Fraction(laplace(float(scale))(j)) for j in values])]

    def first_round(script: _Script) -> int | None:
        try:
            return noise.draw(script)
        except _Again:
            return None

    monkeypatch.setattr(gaussian, "bernoulli_exp", coin)
    monkeypatch.setattr(gaussian, "two_sided_geometric", proposal)
    found, unexplored = law_of(first_round, Fraction(0))
    assert unexplored == 0
    accepted = float(sum(found.values()) - found.pop(None))
    for value, mass in found.items():
        assert math.isclose(float(mass) / accepted, math.exp(noise.log_pmf(value)), rel_tol=1e-12)
