"""Functions of sums without noise: what is proved is never below what brute force finds."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.domains import Domain
from liptest.data.tables import AddedRows
from liptest.enumerate.symbols.symbolic_data import Records
from liptest.privacy.proofs.prices import Alignment, align
from liptest.symbolic.answer_functions import FIRST_FUNCTION, AnswerSum, Clipped, LargestSum
from liptest.symbolic.answers import Answer

Dataset = tuple[int, ...]
# Domains that are small enough to be visited, by kind of neighbours.
SMALL: dict[str, Domain] = {
    "bits": lt.Hypercube(4),
    "groups": lt.RecordGrid([3] * 3),
    "counts": lt.AnswerGrid([4, 4], relation="one"),
    "answers": lt.AnswerGrid([4, 4], relation="all"),
}


def neighbours(kind: str) -> Iterator[tuple[Dataset, Dataset]]:
    """All pairs of a small domain."""
    sizes = SMALL[kind].sizes
    for left in product(*map(range, sizes)):
        for right in product(*map(range, sizes)):
            moved = [abs(a - b) for a, b in zip(left, right, strict=True) if a != b]
            one = len(moved) == 1 and (moved == [1] or kind in ("bits", "groups"))
            if one or (kind == "answers" and moved and max(moved) == 1):
                yield left, right


def sums_of(kind: str, data: Any) -> list[Any]:
    """The numbers that programs are made of."""
    if kind in ("counts", "answers"):
        return [data[0], data[1]]
    return [data.sum(), (data == 1).sum(), (data == 0).sum()]


Step = Callable[[Any, Any, int], Any]
STEPS: dict[str, Step] = {
    "cap": lambda x, y, c: np.minimum(x, c),
    "floor": lambda x, y, c: np.maximum(x, c - 1),
    "clip": lambda x, y, c: np.clip(x, 1, c + 1),
    "clip twice": lambda x, y, c: np.fmax(np.fmin(np.maximum(x, 1), c), 2),
    "abs": lambda x, y, c: abs(x - c),
    "abs half": lambda x, y, c: np.abs(x - c / 2),
    "larger": lambda x, y, c: np.maximum(x, y),
    "smaller": lambda x, y, c: np.minimum(x, y - c),
    "largest": lambda x, y, c: np.array([x, y, c]).max(),
    "spread": lambda x, y, c: np.array([x, y]).max() - np.array([x, y]).min(),
    "difference": lambda x, y, c: x - y,
    "sum": lambda x, y, c: c * x + y,
    "div": lambda x, y, c: x // (c + 1),
    "above": lambda x, y, c: (np.array([x, y]) > c).sum(),
    "nonzero": lambda x, y, c: np.count_nonzero(np.array([x, y])),
    "equal": lambda x, y, c: (x == c) * 2 + (y != c) * 1,
    "rounded": lambda x, y, c: round(x / (c + 1)),
    "one digit": lambda x, y, c: np.round(x / 3, 1),
    "ceil": lambda x, y, c: np.ceil(x * 0.5),
    "int": lambda x, y, c: int(x / 2 - c),
    "root": lambda x, y, c: math.sqrt(1 + abs(x)),
    "log": lambda x, y, c: np.log1p(np.maximum(x, c)),
}
CHOICES = st.tuples(
    st.sampled_from(sorted(STEPS)), st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)
)
PROGRAMS = st.tuples(st.lists(CHOICES, min_size=1, max_size=4), st.integers(1, 3), st.booleans())


def answers_of(kind: str, data: Any, program: Any) -> list[Any]:
    """What a program tells, before noise: the last of its numbers."""
    steps, told, _ = program
    known = sums_of(kind, data)
    for name, left, right, constant in steps:
        pair = known[left % len(known)], known[right % len(known)]
        known.append(STEPS[name](*pair, constant))
    return known[-told:]


def found_of(kind: str, program: Any) -> Alignment:
    """What is proved where each number gets noise of its own."""

    def tell(data: Any, rng: Any) -> Any:
        numbers = answers_of(kind, data, program)
        if program[2]:
            p = 1 - math.exp(-1)
            return [one + rng.geometric(p) - rng.geometric(p) for one in numbers]
        return [one + rng.laplace() for one in numbers]

    return align(lt.mechanism(tell), SMALL[kind])


def exact_of(kind: str, program: Any) -> float:
    """The largest sum of steps between neighbours, infinite for whole noise and other steps."""
    known: dict[Dataset, Any] = {}
    worst = 0.0
    for left, right in neighbours(kind):
        for one in (left, right):
            if one not in known:
                found = answers_of(kind, np.array(one), program)
                known[one] = np.array(found, dtype=float)
        steps = np.abs(known[left] - known[right])
        if program[2] and not np.allclose(steps, np.round(steps), atol=1e-9):
            return math.inf
        worst = max(worst, float(steps.sum()))
    return worst


def check(kind: str, program: Any) -> tuple[float, float]:
    found = found_of(kind, program)
    exact = exact_of(kind, program)
    assert found.epsilon >= exact - 1e-9, (kind, program, found, exact)
    return found.epsilon, exact


@pytest.mark.slow
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(kind=st.sampled_from(sorted(SMALL)), program=PROGRAMS)
def test_no_price_is_below_brute_force(kind: str, program: Any) -> None:
    check(kind, program)


@pytest.mark.slow
@settings(max_examples=35, deadline=None, suppress_health_check=list(HealthCheck))
@given(kind=st.sampled_from(sorted(SMALL)), program=PROGRAMS)
def test_no_price_of_many_is_below_brute_force(kind: str, program: Any) -> None:
    check(kind, program)


EXACT = ("cap", "floor", "clip", "abs", "abs half", "larger", "smaller", "largest")
EXACT = (*EXACT, "difference", "above", "nonzero", "div")


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("kind", ["groups"])
def test_one_step_costs_what_it_costs(kind: str, name: str) -> None:
    proved, exact = check(kind, ([(name, 1, 2, 1)], 1, False))
    assert proved == pytest.approx(exact)


# ---- as people write them, at everyday sizes

MANY = 5000
BITS, GROUPS = lt.Hypercube(MANY), lt.RecordGrid([10] * MANY)


def capped(data: Any, rng: Any) -> Any:
    return min(int(data.sum()), 4000) + rng.laplace(scale=1.0)


def never_negative(data: Any, rng: Any) -> Any:
    return max(0, int(data.sum())) + rng.laplace(scale=1.0)


def fullest_group(data: Any, rng: Any) -> Any:
    return np.bincount(data, minlength=10).max() + rng.laplace(scale=1.0)


def groups_there(data: Any, rng: Any) -> Any:
    return len(np.unique(data)) + rng.laplace(scale=1.0)


def groups_in_a_set(data: Any, rng: Any) -> Any:
    return len(set(data.tolist())) + rng.laplace(scale=1.0)


def groups_in_a_counter(data: Any, rng: Any) -> Any:
    return len(Counter(data.tolist())) + rng.laplace(scale=1.0)


def groups_that_are_large(data: Any, rng: Any) -> Any:
    return (np.bincount(data, minlength=10) >= 20).sum() + rng.laplace(scale=1.0)


def reduced(data: Any, rng: Any) -> Any:
    total = functools.reduce(lambda total, bit: total + int(bit), data, 0)
    return total + rng.laplace(scale=1.0)


def reduced_if(data: Any, rng: Any) -> Any:
    total = functools.reduce(lambda t, x: t + 1 if x == 3 else t, data.tolist(), 0)
    return total + rng.laplace(scale=1.0)


def reduced_without_start(data: Any, rng: Any) -> Any:
    return functools.reduce(lambda a, b: b + a, data.tolist()) + rng.laplace(scale=9.0)


def middle_by_gumbel(data: Any, rng: Any) -> Any:
    below = np.cumsum(np.bincount(data, minlength=10))
    return np.argmax(-np.abs(below - len(data) / 2) + rng.gumbel(scale=2.0, size=10))


PROVED: list[tuple[Any, Domain, float]] = [
    *((one, BITS, 1.0) for one in (capped, never_negative, reduced)),
    *((one, GROUPS, 1.0) for one in (fullest_group, groups_there, groups_in_a_set)),
    *((one, GROUPS, 1.0) for one in (groups_in_a_counter, groups_that_are_large, reduced_if)),
    *((one, GROUPS, 1.0) for one in (reduced_without_start, middle_by_gumbel)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "domain", "price"), PROVED)
def test_the_price_of_everyday_code(function: Any, domain: Domain, price: float) -> None:
    found = align(lt.mechanism(function), domain, Fraction(price))
    assert found.epsilon == pytest.approx(price), found.reason


def test_other_reductions_are_not_sums() -> None:
    def last(data: Any, rng: Any) -> Any:
        return functools.reduce(lambda a, b: b + 0, data.tolist(), 0) + rng.laplace(scale=9.0)

    def doubled(data: Any, rng: Any) -> Any:
        return functools.reduce(lambda a, b: a + 2 * b, data.tolist()) + rng.laplace(scale=9.0)

    for function in (last, doubled):
        assert align(lt.mechanism(function), GROUPS).price is None


def hidden_cells(data: Any, rng: Any) -> Any:
    counts = np.clip(np.bincount(data, minlength=10), 5, 20)
    return (counts + rng.laplace(scale=1.0, size=10)).tolist()


def rounded_mean(data: Any, rng: Any) -> Any:
    return round(float(np.mean(data)), 1) + rng.laplace(scale=9 / MANY)


@pytest.mark.slow
@pytest.mark.parametrize("function", [hidden_cells, rounded_mean])
def test_a_refutation_is_looked_for_where_functions_move(function: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(function), GROUPS, epsilon=1.0, seed=1)
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(function))


COMING = lt.Table({"x": lt.Integer(1, 3)}, rows=60, relation="add_remove")


@pytest.mark.parametrize("domain", [GROUPS, COMING, lt.RecordGrid([4] * 50)])
def test_pairs_that_are_looked_at_are_neighbours(domain: Domain) -> None:
    """A record changes; where records come and go, there is none on one side."""
    data = Records(domain)
    values = np.arange(max(domain.sizes))
    counts = [AnswerSum(((data._answers.of(values == one), 1),)) for one in (1, 2, 3)]
    functions = (LargestSum(tuple(counts)), Clipped((counts[0],), Fraction(5), Fraction(20)))
    answers = tuple(Answer(n, function=one) for n, one in enumerate(functions, FIRST_FUNCTION))
    pairs = data.pairs_of_functions(answers)(())
    assert pairs
    for left, right in pairs:
        (place,) = np.flatnonzero(left != right)
        assert not isinstance(domain, AddedRows) or 0 in (left[place], right[place])
