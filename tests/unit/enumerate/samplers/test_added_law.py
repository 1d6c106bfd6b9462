"""Whole noise of a program's own making: its law, and what the data move."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.balls import to_fmpq
from liptest.enumerate.samplers import added_law
from liptest.enumerate.samplers.added_law import AddedLaw

N = 12
ONE = Fraction(1)
E1 = math.exp(-1.0)


def law_of(function: Any, domain: Any = None) -> Any:
    """What a function adds to 12 bits."""
    return lt.mechanism(function).find_added_law(domain or lt.Hypercube(N))


def coin(rng: Any, top: int, bottom: int) -> bool:
    """Bernoulli(exp(-top/bottom)) for top <= bottom."""
    k = 1
    while rng.integers(0, bottom * k) < top:
        k += 1
    return k % 2 == 1


def by_rejection(data: Any, rng: Any) -> int:
    while True:
        u = 0
        while coin(rng, 1, 1):
            u += 1
        sign = rng.integers(0, 2)
        if not (sign and u == 0):
            return int(data.sum()) + (u if sign == 0 else -u)


def two_loops(data: Any, rng: Any) -> int:
    up = down = 0
    while rng.random() < E1:
        up += 1
    while rng.random() < E1:
        down += 1
    return int(data.sum()) + up - down


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "records"), [(by_rejection, 5000), (two_loops, 5), (two_loops, 5000)]
)
def test_discrete_laplace_by_loops(function: Any, records: int) -> None:
    found = law_of(function, lt.Hypercube(records))
    assert isinstance(found, AddedLaw)
    assert 0 < found.unexplored < Fraction(1, 2**55)
    assert sum(map(to_fmpq, found.masses.values()), to_fmpq(found.unexplored)) == 1
    for (k,), mass in found.masses.items():
        exact = math.tanh(0.5) * math.exp(-abs(k))
        assert float(mass) <= exact + 1e-15
        assert exact <= float(mass + found.unexplored) + 1e-15
    assert found.unexplored < found.delta_at(ONE) < Fraction(1, 10**16)
    assert found.delta_at(Fraction(9, 10)) > Fraction(1, 1000)


def of_forty(data: Any, rng: Any) -> list[int]:
    return [int(data.sum()) + int(rng.integers(0, 40)) for _ in range(2)]


def of_ninety(data: Any, rng: Any) -> list[int]:
    return [int(data.sum()) + int(rng.integers(0, 90)) for _ in range(3)]


def of_coins(data: Any, rng: Any) -> list[int]:
    """Its first runs go deepest, and are a share of 2**-40 of the choices; there are 1,681."""
    told = []
    for _ in range(2):
        k = 0
        while k < 40 and rng.integers(0, 2) == 0:
            k += 1
        told.append(int(data.sum()) + k)
    return told


@pytest.mark.slow
def test_a_walk_over_too_many_outcomes_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    advance = added_law._WeightTree._advance

    def counted(tree: Any) -> bool:
        runs.append(1)
        return bool(advance(tree))

    monkeypatch.setattr(added_law._WeightTree, "_advance", counted)
    assert "more than max_leaves=20,000 runs" in str(law_of(of_ninety, lt.Hypercube(5)))
    assert len(runs) == 1000


@pytest.mark.slow
@pytest.mark.parametrize(("function", "most"), [(of_forty, 0), (of_coins, Fraction(1, 2**39))])
def test_fewer_outcomes_are_walked_to_the_end(function: Any, most: Fraction) -> None:
    law = law_of(function, lt.Hypercube(5))
    assert isinstance(law, AddedLaw)
    assert law.unexplored <= most
    assert len(law.masses) >= 1600


def drawn_again(data: Any, rng: Any) -> int:
    """Reads the data within its loop."""
    while True:
        x = int(rng.integers(-3, 4))
        if rng.random() < 2.0 ** -abs(x):
            return int(data.sum()) + x


def drawn_again_before(data: Any, rng: Any) -> int:
    while True:
        x = int(rng.integers(-3, 4))
        if rng.random() < 2.0 ** -abs(x):
            break
    return int(data.sum()) + x


@pytest.mark.slow
@pytest.mark.parametrize("function", [drawn_again, drawn_again_before])
def test_a_loop_that_starts_over_has_no_tail(function: Any) -> None:
    found = law_of(function, lt.Hypercube(5000))
    assert isinstance(found, AddedLaw)
    total = sum(Fraction(1, 2 ** abs(x)) for x in range(-3, 4))
    assert found.masses == {(x,): Fraction(1, 2 ** abs(x)) / total for x in range(-3, 4)}
    assert not found.unexplored


def looks_at_the_data(data: Any, rng: Any) -> int:
    """How often it draws again says what the data are."""
    while True:
        x = int(rng.integers(-3, 4))
        if rng.random() < (0.9 if data.sum() > 7 and x == 3 else 0.1):
            return int(data.sum()) + x


def test_a_loop_that_asks_the_data_adds_no_law() -> None:
    assert "used in a comparison, without noise in it" in law_of(looks_at_the_data)


@pytest.mark.slow
def test_a_sum_over_a_sample_has_no_added_law() -> None:
    """It raised KeyError: which records are in the sample is not known on plain data."""

    def sampled(data: Any, rng: Any) -> int:
        return int(data[rng.random(N) < 0.25].sum())

    assert "a sample is known only in the run" in law_of(sampled)


def test_an_inverse_cdf_is_known_exactly() -> None:
    def inverse(data: Any, rng: Any) -> int:
        up = math.floor(math.log(1 - rng.random()) / math.log(E1))
        return int(data.sum()) + up

    found = law_of(inverse)
    assert isinstance(found, AddedLaw)
    assert found.unexplored == 0
    assert found.delta_at(ONE) > 0


@pytest.mark.slow
def test_the_laws_are_those_of_the_code_as_it_is_written() -> None:
    """Brute force: the law of each dataset is the added law, moved by the sum."""

    def program(data: Any, rng: Any) -> Any:
        weight = int((2 * data).sum())
        k = 0
        for _ in range(rng.integers(1, 4)):
            if rng.random() < 0.25:
                k += coin_of_three(rng)
        return [weight + k, k - weight]

    found = law_of(program, lt.Hypercube(3))
    assert isinstance(found, AddedLaw)
    mechanism = lt.mechanism(program)
    for dataset in ([0, 0, 0], [1, 0, 1], [1, 1, 1]):
        law = lt.output_law(mechanism, np.array(dataset))
        total = 2 * sum(dataset)
        expected = {(int(a) + total, int(b) - total): mass for (a, b), mass in found.masses.items()}
        assert dict(zip(law.outputs, law.fractions, strict=True)) == expected
    epsilon = Fraction(1, 2)
    first, second = (lt.output_law(mechanism, np.array(one)) for one in ([0, 0, 0], [1, 0, 0]))
    here = dict(zip(first.outputs, first.fractions, strict=True))
    there = dict(zip(second.outputs, second.fractions, strict=True))
    gaps = [
        mass - Fraction(math.exp(0.5)) * there.get(at, Fraction(0)) for at, mass in here.items()
    ]
    excess = sum(gap for gap in gaps if gap > 0)
    assert float(found.delta_at(epsilon)) == pytest.approx(float(excess))


def coin_of_three(rng: Any) -> int:
    found = rng.integers(0, 3)
    return 1 if found == 0 else 2


MEMORY: list[int] = []


def remembers(rng: Any) -> bool:
    MEMORY.append(1)
    return bool(rng.random() < 0.5)


def sees_its_list(rng: Any, seen: list[int]) -> bool:
    seen[0] += 1
    return bool(rng.random() < 0.5)


def with_memory(data: Any, rng: Any) -> int:
    del MEMORY[:]
    k = 0
    while k < 3 and remembers(rng):
        k += 1
    return int(data.sum()) + k + 10 * len(MEMORY)


def with_a_list(data: Any, rng: Any) -> int:
    seen, k = [0], 0
    while k < 3 and sees_its_list(rng, seen):
        k += 1
    return int(data.sum()) + k + 10 * seen[0]


@pytest.mark.parametrize("function", [with_memory, with_a_list])
def test_functions_that_do_more_than_draw_are_run(function: Any) -> None:
    found = law_of(function)
    assert isinstance(found, AddedLaw)
    masses = {int(k): mass for (k,), mass in found.masses.items()}
    half = Fraction(1, 2)
    assert masses == {10: half, 21: half**2, 32: half**3, 33: half**3}


def looks(data: Any, rng: Any) -> int:
    return int(data.sum()) + (1 if data.sum() > 3 else rng.integers(0, 2))


def two_answers(data: Any, rng: Any) -> int:
    return int(data.sum()) if rng.random() < 0.5 else 2 * int(data.sum())


def halves(data: Any, rng: Any) -> float:
    return data.sum() / 2 + rng.integers(0, 2)


def continuous(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace())


def probability_of_data(data: Any, rng: Any) -> int:
    return int(data.sum()) + int(rng.binomial(int(data.sum()), 0.5))


def counts_its_calls(data: Any, rng: Any) -> int:
    MEMORY.append(1)
    return int(data.sum()) + len(MEMORY) + int(rng.integers(0, 2))


REFUSED = [
    *(looks, two_answers, halves, continuous, probability_of_data),
    *(counts_its_calls,),
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_is_no_sum_plus_noise_is_refused(function: Any) -> None:
    assert isinstance(law_of(function), str)


@pytest.mark.slow
def test_a_series_of_coins_is_enumerated_up_to_a_tail() -> None:
    """What a light path leads to is light as well: none of its branches is walked."""

    def series(data: Any, rng: Any) -> bool:
        return coin(rng, 1, 1)

    law = lt.output_law(lt.mechanism(series), np.zeros(3, dtype=int))
    known = dict(zip(law.outputs, law.fractions, strict=True))
    assert 0 < law.unexplored < Fraction(1, 2**63)
    assert float(known[True]) == pytest.approx(E1, abs=1e-15)
    assert sum(known.values()) + law.unexplored == 1


@pytest.mark.slow
def test_samples_of_the_unmodified_program_fit() -> None:
    found = law_of(by_rejection)
    rng, data = np.random.default_rng(5), np.array([1, 0, 1])
    counts: dict[int, int] = {}
    for _ in range(2000):
        k = by_rejection(data, rng) - 2
        counts[k] = counts.get(k, 0) + 1
    for k in (-1, 0, 1):
        mass = float(found.masses[(Fraction(k),)])
        assert abs(counts[k] / 2000 - mass) < 6 * math.sqrt(mass / 2000)


@pytest.mark.parametrize("coins", [500, 60])
def test_a_walk_that_is_far_from_its_end_is_given_up(
    coins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many coins all runs are cut, or so many have been taken that the rest is hopeless."""
    monkeypatch.setattr(added_law, "_MOST_STEPS", 5_000)
    taken: list[int] = []
    run = added_law._WeightTree._run
    monkeypatch.setattr(
        added_law._WeightTree, "_run", lambda tree, how: (taken.append(1), run(tree, how))[1]
    )

    def tossed(data: Any, rng: Any) -> int:
        return int(data.sum()) + sum(bool(rng.random() < 0.5) for _ in range(coins))

    assert "choices" in law_of(tossed)
    assert len(taken) < 400
