"""Random programs: the price is never below what brute force finds, and a wrong one would be."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.random_programs import Leaf, SmallProgram, largest_loss, random_program
from liptest.errors import UnsupportedForm
from liptest.symbolic import linear_programs, path_programs, shifts
from liptest.symbolic.alignment import price_paths
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.shifts import ShiftCost

Case = tuple[SmallProgram, float]
# What floats of the brute force may be off.
NEAR = 1e-9
KINDS: dict[str, dict[str, bool]] = {
    "whole": {"whole": True},
    "real": {"whole": False},
    "whole noise, real answers": {"whole": True, "halves": True},
}


def cases(kind: str, seed: int, count: int) -> Iterator[Case]:
    """Programs with their largest loss; those that the package cannot integrate are left out."""
    rng = np.random.default_rng(seed)
    left = count
    while left:
        program = random_program(rng, **KINDS[kind])
        try:
            loss = largest_loss(program)
        except UnsupportedForm:
            continue
        left -= 1
        yield program, loss


def price_of(program: SmallProgram, paths: list[AlignedPath] | None = None) -> float:
    price = price_paths(program.paths() if paths is None else paths, program.differences)
    return math.inf if price.epsilon is None else float(price.epsilon)


@pytest.fixture(scope="module")
def few() -> list[Case]:
    return [case for seed, kind in enumerate(KINDS) for case in cases(kind, seed, 25)]


def check(found: list[Case]) -> None:
    for program, loss in found:
        assert price_of(program) >= loss - NEAR, program


@pytest.mark.slow
def test_no_price_is_below_brute_force(few: list[Case]) -> None:
    check(few)
    finite = [price_of(program) for program, _ in few]
    assert sum(math.isfinite(price) for price in finite) > 20
    equal = sum(abs(price - loss) < 0.01 for price, (_, loss) in zip(finite, few, strict=True))
    assert equal > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_no_price_of_many_is_below_brute_force(kind: str, seed: int) -> None:
    check(list(cases(kind, 1000 + seed, 170)))


def test_the_brute_force_by_hand() -> None:
    coin = Noise("two-sided geometric", Fraction(1, 2))
    a, n = Form.variable(0), Form.variable(1)
    leaf = SmallProgram(
        1, (coin,), Leaf(0, (a + n,)), Differences.of_one([1], is_whole=True), _whole(-2, 2)
    )
    assert largest_loss(leaf) == pytest.approx(math.log(2), abs=1e-6)
    assert price_of(leaf) == pytest.approx(math.log(2))
    twice = replace(leaf, differences=Differences.of_box([2], is_whole=True))
    assert largest_loss(twice) == pytest.approx(2 * math.log(2), abs=1e-6)


def _whole(low: int, high: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(a) for a in range(low, high + 1))


# Each of these is a way to be wrong; some program must show it.


def drop_a_condition(path: AlignedPath) -> AlignedPath:
    return replace(path, conditions=path.conditions[1:])


def drop_a_place(path: AlignedPath) -> AlignedPath:
    return replace(path, places=path.places[1:])


def turn_the_answers(path: AlignedPath) -> AlignedPath:
    """Of the first condition only: all of them would be another program."""

    def turned(one: Constraint) -> Constraint:
        terms = [(v, -f if isinstance(path.noises[v], Answer) else f) for v, f in one.terms]
        return replace(one, terms=tuple(terms))

    return replace(path, conditions=(*map(turned, path.conditions[:1]), *path.conditions[1:]))


def forget_answers(path: AlignedPath) -> AlignedPath:
    terms = (
        tuple((v, f) for v, f in place.terms if not isinstance(path.noises[v], Answer))
        for place in path.places
    )
    return replace(path, places=tuple(Form(0, some) for some in terms))


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", [drop_a_condition, drop_a_place, turn_the_answers, forget_answers]
)
def test_wrong_paths_are_found_out(
    few: list[Case], wrong: Callable[[AlignedPath], AlignedPath]
) -> None:
    assert any(
        price_of(program, [wrong(path) for path in program.paths()]) < loss - NEAR
        for program, loss in few
    )


@pytest.mark.slow
def test_a_path_left_out_is_found_out(few: list[Case]) -> None:
    several = [(program, loss) for program, loss in few if len(program.paths()) > 1]
    assert any(price_of(program, program.paths()[1:]) < loss - NEAR for program, loss in several)


def both_ways(cost: ShiftCost) -> ShiftCost:
    rate = cost.right or cost.left
    return replace(cost, right=rate, left=rate)


def at_half_price(cost: ShiftCost) -> ShiftCost:
    right, left = (None if rate is None else rate / 2 for rate in (cost.right, cost.left))
    return ShiftCost(right, left, is_whole=cost.is_whole)


def by_parts(cost: ShiftCost) -> ShiftCost:
    return replace(cost, is_whole=False)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [both_ways, at_half_price, by_parts])
def test_wrong_costs_are_found_out(
    few: list[Case], wrong: Callable[[ShiftCost], ShiftCost], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = shifts.shift_cost
    monkeypatch.setattr(path_programs, "shift_cost", lambda noise: wrong(right(noise)))
    assert any(price_of(program) < loss - NEAR for program, loss in few)


@pytest.mark.slow
def test_a_solver_that_errs_is_not_believed(
    few: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it proposes, prices only become larger: what is relied on is the check."""
    before = [price_of(program) for program, _ in few]
    right = linear_programs.propose_shifts
    rng = np.random.default_rng(1)

    def wrong(*task: object) -> object:
        found = right(*task)  # type: ignore[arg-type]
        if found is None:
            return None
        values, weights = found
        return values + rng.integers(-1, 2, len(values)), weights

    monkeypatch.setattr(linear_programs, "propose_shifts", wrong)
    linear_programs._remember.cache_clear()
    try:
        after = [price_of(program) for program, _ in few]
    finally:
        linear_programs._remember.cache_clear()
    assert all(late >= early - NEAR for early, late in zip(before, after, strict=True))
    assert any(late > early for early, late in zip(before, after, strict=True))
