"""Symbolic 0/1 variables: well-known laws, few leaves, reuse after sums, and no way around."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.outputs import canonical_output as canonical
from liptest.values.binary import sum_laws
from liptest.values.draws.grid import GRID, UNIT
from tests.unit.enumerate.bits import law_of

QUARTER = Fraction(1, 4)
DATA = np.array([1, 0, 0, 1, 1, 0, 1, 0])


def shifted_binomials(ones: int, zeros: int, keep: Fraction) -> dict[int, Fraction]:
    """How many ones randomised response answers: two binomials added."""
    law: dict[int, Fraction] = {}
    for kept in range(ones + 1):
        for turned in range(zeros + 1):
            mass = math.comb(ones, kept) * keep**kept * (1 - keep) ** (ones - kept)
            mass *= math.comb(zeros, turned) * (1 - keep) ** turned * keep ** (zeros - turned)
            law[kept + turned] = law.get(kept + turned, Fraction(0)) + mass
    return law


def by_where(data: Any, rng: Any) -> Any:
    return np.where(rng.random(len(data)) < 0.75, data, 1 - data).sum()


def by_xor(data: Any, rng: Any) -> Any:
    return int(((rng.random(len(data)) >= 0.75) ^ (data == 1)).sum())


def by_arithmetic(data: Any, rng: Any) -> Any:
    keep = rng.binomial(1, 0.75, size=len(data))
    return int(np.sum(keep * data + (1 - keep) * (1 - data)))


def by_python(data: Any, rng: Any) -> Any:
    keep = rng.random(len(data)) < 0.75
    return sum(data[i] if keep[i] else 1 - data[i] for i in range(len(data)))


def by_choice(data: Any, rng: Any) -> Any:
    flip = rng.choice([False, True], size=len(data), p=[0.75, 0.25])
    return np.count_nonzero(flip != (data == 1))


def by_two_coins(data: Any, rng: Any) -> Any:
    honest = rng.integers(0, 2, size=len(data))
    coin = rng.integers(0, 2, size=len(data), dtype=np.int8)
    return np.where(honest == 1, data, coin).sum()


COUNTS: list[Callable[[Any, Any], Any]] = [by_where, by_xor, by_arithmetic, by_choice, by_two_coins]


@pytest.mark.slow
@pytest.mark.parametrize("function", [*COUNTS, by_python])
def test_randomised_response_of_a_count(function: Callable[[Any, Any], Any]) -> None:
    law = lt.mechanism(function).law(DATA)
    assert dict(zip(law.outputs, law.fractions, strict=True)) == shifted_binomials(
        4, 4, 3 * QUARTER
    )
    # One leaf for each total, and each is repeated with real numbers.
    assert law.leaves == (9 if function in COUNTS else 256)


@pytest.mark.slow
@pytest.mark.parametrize("function", COUNTS)
def test_many_records_have_as_many_leaves_as_totals(function: Callable[[Any, Any], Any]) -> None:
    data = np.arange(300) % 3 == 0
    law = lt.mechanism(function).law(data.astype(np.int64))
    assert law.leaves == 301
    assert law.unexplored == 0
    assert law.exact(100 * 0) == Fraction(3**200, 4**300)  # every answer is 0


def test_any_probability_is_that_of_the_grid() -> None:
    p = math.e / (1 + math.e)
    law = law_of(lambda rng: int((rng.random(30) < p).sum()))
    exact = Fraction(UNIT.at_least(p), GRID)
    assert law == {k: math.comb(30, k) * exact**k * (1 - exact) ** (30 - k) for k in range(31)}


def test_unary_encoding_answers_a_vector() -> None:
    def encode(data: Any, rng: Any) -> Any:
        hot = np.arange(4) == data[0]
        keep = rng.random(4) < np.where(hot, 0.5, 0.25)
        return keep.astype(int)

    law = lt.mechanism(encode).law(np.array([2]))
    assert law.leaves == 16
    for output, mass in zip(law.outputs, law.fractions, strict=True):
        others = sum(output) - output[2]
        assert mass == Fraction(1, 2) * QUARTER**others * (1 - QUARTER) ** (3 - others)


def test_a_comparison_of_a_sum_has_two_leaves() -> None:
    def often(data: Any, rng: Any) -> Any:
        return "often" if (rng.random(60) < 0.25).sum() >= 20 else "rarely"

    law = lt.mechanism(often).law(DATA)
    assert law.leaves == 2
    tail = sum(math.comb(60, k) * 3 ** (60 - k) for k in range(20, 61))
    assert law.exact("often") == Fraction(tail, 4**60)


@pytest.mark.parametrize(
    ("program", "leaves", "expected"),
    [
        (lambda rng: bool((rng.random(50) < 0.5).any()), 2, {False: Fraction(1, 2**50)}),
        (lambda rng: bool(np.all(rng.random(50) < 0.5)), 2, {True: Fraction(1, 2**50)}),
        (lambda rng: int((rng.random(50) < 0.5).max()), 2, {0: Fraction(1, 2**50)}),
        (lambda rng: int(np.argmax(rng.random(5) < 0.5)), 6, {0: Fraction(17, 32)}),
        (lambda rng: float((rng.random(4) < 0.5).mean()), 5, {0.75: QUARTER}),
        (lambda rng: f"{(rng.random(3) < 0.5).sum() / 3:.2f}", 4, {"0.33": Fraction(3, 8)}),
        (lambda rng: int((rng.random(4) < 0.5) @ np.array([1, 2, 4, 8])), 16, {9: QUARTER**2}),
        (lambda rng: float(np.where(rng.random(9) < 0.5, 0.25, -1.5).sum()), 10, {}),
        (lambda rng: int(2 * (rng.random(40) < 0.5).sum() - 40), 41, {-40: Fraction(1, 2**40)}),
        # The difference of two groups is a sum of its own.
        (lambda rng: int((lambda a: a[:20].sum() - a[20:].sum())(rng.random(40) < 0.5)), 41, {}),
        (lambda rng: bool((lambda a: a[:9].sum() > a[9:].sum())(rng.random(18) < 0.5)), 2, {}),
        (lambda rng: tuple((rng.random((2, 9)) < 0.5).sum(axis=1)), 100, {(9, 0): QUARTER**9}),
    ],
)
def test_what_is_asked_decides_how_many_leaves(
    program: Callable[[Any], Any], leaves: int, expected: dict[Any, Fraction]
) -> None:
    tree = ChoiceTree("program")
    rng = ChoiceGenerator(tree)
    law = tree.law(lambda: program(rng))
    assert tree.leaves == leaves
    assert sum(law.values()) == 1
    assert {output: law[output] for output in expected} == expected


def test_entries_after_their_sum_have_conditional_weights() -> None:
    def program(rng: Any) -> Any:
        bits = rng.random(4) < np.array([0.5, 0.25, 0.75, 0.5])
        return int(bits.sum()), bool(bits[1])

    law = law_of(program)
    assert law[4, True] == Fraction(1, 2) * QUARTER * 3 * QUARTER / 2
    assert (4, False) not in law
    assert law[0, False] == Fraction(1, 2) * 3 * QUARTER * QUARTER / 2
    assert sum(mass for (_, bit), mass in law.items() if bit) == QUARTER


def test_a_part_after_the_sum_and_the_rest_after_that() -> None:
    def program(rng: Any) -> Any:
        bits = rng.random(6) < 0.5
        return int(bits.sum()), int(bits[:3].sum()), int(bits[3:].sum()), int(bits[[0, 3]].sum())

    law = law_of(program)
    assert all(total == left + right for total, left, right, _ in law)
    assert law[6, 3, 3, 2] == Fraction(1, 64)
    assert law[2, 1, 1, 1] == Fraction(4, 64)
    assert sum(law.values()) == 1


def test_the_same_entry_twice_is_the_same_variable() -> None:
    def program(rng: Any) -> Any:
        bits = rng.random(30) < 0.5
        again = bits.copy()
        return int((bits ^ again).sum()), int((bits & ~again).sum()), int((bits == again).sum())

    assert law_of(program) == {(0, 0, 30): 1}


def test_a_second_comparison_of_the_same_floats() -> None:
    def program(rng: Any) -> Any:
        floats = rng.random(3)
        low, high = floats < 0.25, floats < 0.5
        return int(low.sum()), int(high.sum())

    law = law_of(program)
    assert law[3, 3] == Fraction(1, 64)
    assert law[0, 3] == Fraction(1, 64)
    assert law[0, 0] == Fraction(1, 8)
    assert all(low <= high for low, high in law)


def test_one_float_after_its_array_was_compared() -> None:
    def program(rng: Any) -> Any:
        floats = rng.random(3)
        bits = floats < 0.5
        first = bool(floats[0] < 0.25)
        return first, int(bits.sum())

    law = law_of(program)
    assert law[True, 3] == Fraction(1, 16)
    assert (True, 0) not in law


@pytest.mark.parametrize("bound", [math.nan, -1.0, 0.0, 1.0, 2.0, math.inf])
@pytest.mark.parametrize("ufunc", [np.less, np.less_equal, np.greater, np.greater_equal])
def test_comparisons_that_hold_always_or_never(ufunc: Any, bound: float) -> None:
    law = law_of(lambda rng: tuple(ufunc(rng.random(2), bound).tolist()))
    swapped = law_of(lambda rng: tuple(ufunc(bound, rng.random(2)).tolist()))
    # No float of the grid is 1.0; 0.0 has one point.
    always, never = bool(ufunc(0.5, bound)), bool(ufunc(bound, 0.5))
    assert law[always, always] >= 1 - Fraction(2, GRID)
    assert swapped[never, never] >= 1 - Fraction(2, GRID)


def test_too_many_totals_are_chosen_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([1, 10**6, 10**12, 10**15])
    law = law_of(lambda rng: int((rng.random(4) < 0.5) @ weights))
    assert len(law) == 16
    monkeypatch.setattr(sum_laws, "MOST_TOTALS", 3)
    sum_laws.forget_laws()
    assert law_of(lambda rng: int((rng.random(4) < 0.5).sum()))[2] == Fraction(6, 16)
    sum_laws.forget_laws()


def test_laws_beyond_the_memory_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sum_laws, "KEPT_DIGITS", 0)
    assert law_of(lambda rng: int((rng.random(3) < 0.5).sum()))[3] == Fraction(1, 8)


def test_more_bits_than_the_budget_allows() -> None:
    with pytest.raises(lt.errors.BudgetError):
        law_of(lambda rng: tuple((rng.random(1500) < 0.5).tolist()))
    tree = ChoiceTree("program", max_leaves=100)
    rng = ChoiceGenerator(tree)
    law = tree.law(lambda: tuple((rng.random(40) < 0.5).tolist()))
    assert len(law) == 100
    assert tree.unexplored == 1 - Fraction(100, 2**40)


@pytest.mark.slow
def test_bits_of_an_earlier_run_are_noticed() -> None:
    # Of an array of objects nothing is put back before a run.
    held = np.full(1, None)

    def keeps(data: Any, rng: Any) -> Any:
        if held[0] is None:
            held[0] = rng.random(2) < 0.5
        return int(held[0].sum())

    with pytest.raises(lt.errors.NonDeterministicError):
        lt.mechanism(keeps).law(DATA)
    with pytest.raises(BaseException, match="earlier run"):
        held[0].sum().item()


@pytest.mark.parametrize("use", [lambda f: (f < 0.5).sum(), lambda f: f[0] < 0.5, lambda f: f < 2])
def test_floats_of_an_earlier_run_are_noticed(use: Callable[[Any], Any]) -> None:
    held: list[Any] = []

    def keeps(data: Any, rng: Any) -> Any:
        held.append(rng.random(2))
        return str(use(held[0])), int((held[-1] < 0.25).sum())

    with pytest.raises(lt.errors.NonDeterministicError):
        lt.mechanism(keeps).law(DATA)


def test_no_except_clause_hides_a_choice() -> None:
    def hides(rng: Any) -> Any:
        bits = rng.random(3) < 0.5
        try:
            return int(bits.sum())
        except Exception:
            return -1

    assert law_of(hides)[3] == Fraction(1, 8)


@pytest.mark.parametrize(
    "look",
    [
        float,
        int,
        bool,
        str,
        repr,
        hash,
        lambda s: f"{s:d}",
        lambda s: [10, 20, 30, 40][s],
        lambda s: {0: "a"}.get(s, "b"),
        lambda s: np.asarray(s).tolist(),
        lambda s: np.array([s, s]).tolist(),
        lambda s: list(range(s)),
        lambda s: s.item(),
        lambda s: math.sqrt(s),
        lambda s: divmod(s, 2),
        lambda s: 2**s,
        lambda s: s % 2,
        lambda s: round(s),
        lambda s: "x" * s,
        lambda s: Fraction(int(s), 3),
        lambda s: np.exp(s),
        lambda s: np.log1p(s).astype(np.float32),
        lambda s: np.arange(5)[s],
        lambda s: s in (1, 2),
        lambda s: max(s, 2) + 0,
        lambda s: math.floor(s) + math.ceil(s),
        lambda s: bytes(s),
        lambda s: f"{s} of {s:>5}",
        lambda s: "abc".rjust(s),
        lambda s: isinstance(s, np.integer) and isinstance(s, np.int64),
        lambda s: s.dtype,
        lambda s: [s] * 2 == [2, 2],
        lambda s: sorted([2, s, 1])[1] + 0,
        lambda s: np.where(np.arange(3) == s, s, -1).tolist(),
        lambda s: np.full(2, s).tolist(),
        lambda s: (np.arange(3) + s).tolist(),
        lambda s: np.clip(s, 1, 2),
        lambda s: ~s & 1,
        lambda s: -abs(s - 2) // 2,
        lambda s: (s == 2) + 1,
        lambda s: not s,
        lambda s: s and "some",
        lambda s: s.real + s.imag,
        lambda s: s.bit_length() if hasattr(s, "bit_length") else 0,
        lambda s: complex(s),
        lambda s: s.astype(float) / 7,
    ],
)
def test_every_look_at_a_sum_gives_what_numpy_gives(look: Callable[[Any], Any]) -> None:
    law = law_of(lambda rng: canonical(look((rng.random(3) < 0.5).sum()), "look", typed=True))
    expected: dict[Any, Fraction] = {}
    for total, ways in enumerate((1, 3, 3, 1)):
        output = canonical(look(np.int64(total)), "look", typed=True)
        expected[output] = expected.get(output, Fraction(0)) + Fraction(ways, 8)
    assert law == expected
