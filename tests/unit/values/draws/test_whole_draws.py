"""Uniform whole numbers of very many: laws by counting, compared with all values of small ones."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

import liptest as lt
from liptest.enumerate.numbers.whole_numbers import WholeLaw, noise_rates
from liptest.errors import BudgetError, UnsupportedForm, UnsupportedRandomnessError
from liptest.mechanisms.base import check_mechanism
from liptest.values.draws import whole_draws

BITS = 6
SIZE = 1 << BITS
Step = tuple[str, int]


def stepped(number: Any, steps: list[Step]) -> Any:
    for name, constant in steps:
        number = number ^ constant if name == "xor" else (number + constant) % SIZE
    return number


def ended(number: Any, name: str, constant: int) -> Any:
    if name == "mod":
        return number % constant
    if name == "and":
        return number & constant
    return number < constant if name == "below" else number == constant


CHAINS = 24
FEW = SIZE - 1  # of so many values a number is chosen when it is drawn


def some_chain(rng: random.Random) -> tuple[list[Step], Step]:
    steps = [(rng.choice(["xor", "rotate"]), rng.randrange(SIZE)) for _ in range(rng.randrange(4))]
    return steps, (rng.choice(["mod", "and", "below", "equal"]), rng.randrange(1, SIZE + 4))


def check_all(program: Callable[[int, int], Any], kinds: int, size: int) -> None:
    """The law of a program of (kind, x) is that of all kinds and x."""

    def drawing(data: Any) -> Any:
        kind = random.randrange(kinds)
        return kind, program(kind, random.randrange(size))

    counts = Counter((kind, program(kind, x)) for kind in range(kinds) for x in range(size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_draws, "_most_at_once", lambda branching: FEW)
        law = lt.output_law(drawing, [0])
    assert set(law) == set(counts)
    for value, count in counts.items():
        assert law[value] == pytest.approx(count / (kinds * size), rel=1e-14)


@pytest.mark.slow
def test_the_law_is_that_of_all_values() -> None:
    rng = random.Random(1)
    chains = [some_chain(rng) for _ in range(CHAINS)]
    check_all(lambda kind, x: ended(stepped(x, chains[kind][0]), *chains[kind][1]), CHAINS, SIZE)


@pytest.mark.parametrize("size", [64, 67, 120])
def test_remainders_of_what_is_left_after_a_comparison(size: int) -> None:
    moduli = [1, 2, 5, 9, 64]

    def program(kind: int, x: int) -> int:
        return x % moduli[kind] if x < 13 else (x + 3) % moduli[kind] + 100

    check_all(program, len(moduli), size)


def masked_bit(data: Any) -> Any:
    return (random.getrandbits(64) ^ int(data[0])) & 1


def masked_comparison(data: Any) -> Any:
    return (secrets.randbits(128) ^ int(data[0])) < 3 * 2**126


def rotated_comparison(data: Any) -> Any:
    return (random.getrandbits(64) + int(data[0])) % 2**64 < 3 * 2**62


def masked_in_numpy(data: Any, rng: np.random.Generator) -> bool:
    return bool((rng.integers(2**62) ^ int(data[0])) < 2**60)


@pytest.mark.parametrize(
    "program", [masked_bit, masked_comparison, rotated_comparison, masked_in_numpy]
)
def test_a_mask_hides_a_bit(program: Callable[..., Any]) -> None:
    verdict = lt.check_privacy(program, lt.Hypercube(4), epsilon=0.01)
    assert verdict.decision == "YES"
    assert verdict.largest_loss == 0


def told_twice(data: Any) -> Any:
    x = random.getrandbits(64)
    bit = x & 1
    return bit ^ int(data[0]), x < 2**63


def test_what_is_known_through_a_remainder_is_not_looked_at_again() -> None:
    with pytest.raises(UnsupportedRandomnessError, match="taken apart"):
        lt.output_law(told_twice, [1])


def too_weak(data: Any, rng: np.random.Generator) -> int:
    return int(data[0]) ^ int(rng.integers(2**62) % 4 == 0)


def test_too_weak_a_mask_is_refuted() -> None:
    verdict = lt.check_privacy(too_weak, lt.Hypercube(4), epsilon=1.0)
    assert verdict.decision == "NO"
    assert verdict.largest_loss == pytest.approx(np.log(3))


def test_too_many_values_are_named_as_what_they_are() -> None:
    with pytest.raises(BudgetError, match="a random whole number of very many"):
        lt.output_law(lambda data: random.getrandbits(64), [1])


# ---- as an output


def plain(data: Any) -> Any:
    return random.getrandbits(64)


def moved(data: Any) -> Any:
    return random.getrandbits(64) + int(data.sum())


def cut_off(data: Any) -> Any:
    x = random.getrandbits(64)
    return x if x >= 2**62 + int(data.sum()) else 7


def law_of_numbers(program: Callable[..., Any], dataset: list[int]) -> Any:
    whole = check_mechanism(program).of_leaves(64)  # type: ignore[attr-defined]
    return WholeLaw(whole.fresh_law(np.array(dataset)))


def mass(program: Callable[..., Any], dataset: list[int], number: int) -> arb:
    law = law_of_numbers(program, dataset)
    rates = noise_rates(law, law)
    return law.probability(rates, next(iter(law.leaves)), (number,))


TOP = 2**64
MASSES: list[tuple[Callable[..., Any], int, Fraction]] = [
    (plain, 0, Fraction(1, TOP)),
    (plain, TOP - 1, Fraction(1, TOP)),
    (plain, TOP, Fraction(0)),
    (plain, -1, Fraction(0)),
    (moved, 1, Fraction(0)),
    (moved, 2, Fraction(1, TOP)),
    (moved, TOP + 1, Fraction(1, TOP)),
    (moved, TOP + 2, Fraction(0)),
    (cut_off, 7, Fraction(2**62 + 2, TOP)),
    (cut_off, 2**62 + 1, Fraction(0)),
    (cut_off, 2**62 + 2, Fraction(1, TOP)),
]


@pytest.mark.parametrize(("program", "number", "expected"), MASSES)
def test_each_answered_number_has_its_share(
    program: Callable[..., Any], number: int, expected: Fraction
) -> None:
    found = mass(program, [1, 1, 0], number)
    assert found.contains(fmpq(expected.numerator, expected.denominator))
    assert found.rad() <= found.mid() * 2**-40
    assert expected or found.is_zero()


def test_what_does_not_depend_on_the_data_is_proved() -> None:
    verdict = lt.check_privacy(plain, lt.Hypercube(3), epsilon=0.01, floats="ideal")
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"


@pytest.mark.slow
@pytest.mark.parametrize(("share", "decision"), [(1, "YES"), (0.5, "NO")])
def test_what_moves_by_one_costs_one_number(share: float, decision: str) -> None:
    delta = share * 2.0**-64 * (1 + 1e-9)
    claim: Any = {"epsilon": 1.0, "delta": delta, "floats": "ideal"}
    verdict = lt.check_privacy(moved, lt.Hypercube(2), **claim)
    assert verdict.decision == decision
    if verdict.witness is not None:
        assert verdict.witness.verify(moved)


def told_by_two(data: Any) -> Any:
    x = random.getrandbits(64)
    return x, x + int(data.sum())


def test_two_numbers_of_one_draw_are_refused() -> None:
    law = law_of_numbers(told_by_two, [1])
    with pytest.raises(UnsupportedForm, match="depend on each other"):
        law.mass(noise_rates(law, law), next(iter(law.leaves)))


def of_numpy(data: Any) -> Any:
    return random.getrandbits(64) ^ data.sum()


def test_an_operation_that_numpy_refuses_for_some_numbers_is_refused() -> None:
    with pytest.raises((BudgetError, UnsupportedRandomnessError)):
        lt.output_law(of_numpy, [1])
