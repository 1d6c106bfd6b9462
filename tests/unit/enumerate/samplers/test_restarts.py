"""Loops that start over: the law of one pass that leaves, against the loop as written (L5)."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.whole_numbers import WholeFunction

LOW, HIGH = np.zeros(3, dtype=np.int64), np.array([1, 0, 1])


def accepts(x: Any, rng: Any) -> Any:
    while True:
        k = int(rng.integers(8))
        if k <= 4 + int(x[0]):
            return k


def with_a_flag(x: Any, rng: Any) -> Any:
    accepted = False
    while not accepted:
        k = int(rng.integers(8))
        accepted = k <= 4 + int(x[0])
    return k


def permute_and_flip(x: Any, rng: Any) -> Any:
    scores = [int(x.sum()), 3 - int(x.sum()), 1]
    best = max(scores)
    while True:
        i = int(rng.integers(3))
        if rng.random() <= math.exp(scores[i] - best):
            return i


def after_a_choice(x: Any, rng: Any) -> Any:
    """Normalised for each history: 1/2 for b = 1, not 1/3 (counterexample to T9c)."""
    b = int(rng.integers(2))
    while True:
        k = int(rng.integers(2))
        if k >= b:
            return b, k


def one_in_another(x: Any, rng: Any) -> Any:
    while True:
        while True:
            k = int(rng.integers(5))
            if k != 2:
                break
        j = int(rng.integers(3))
        if j + k > 1:
            return j, k


def one_after_another(x: Any, rng: Any) -> Any:
    total = int(x[0])
    for _ in range(2):
        while True:
            k = int(rng.integers(3))
            if k > 0:
                break
        total += k
    return total


def left_by_an_exception(x: Any, rng: Any) -> Any:
    while True:
        k = int(rng.integers(4))
        if k == 3:
            continue
        return 12 // k


def skips(x: Any, rng: Any) -> Any:
    while True:
        sign, k = int(rng.integers(2)), int(rng.integers(3))
        if sign and k == 0:
            continue
        return -k if sign else k


def with_noise_after(x: Any, rng: Any) -> Any:
    while True:
        k = int(rng.integers(3))
        if k < 2:
            break
    return k + int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5)


def calls_a_sampler(x: Any, rng: Any) -> Any:
    while True:
        k = int(rng.integers(4))
        if _coin(k, rng):
            return k


def _coin(k: int, rng: Any) -> bool:
    return bool(rng.integers(5) >= k)


OVER = [
    *(accepts, with_a_flag, permute_and_flip, after_a_choice, one_in_another, one_after_another),
    *(left_by_an_exception, skips, calls_a_sampler),
]


def view(program: Any) -> WholeFunction:
    found = lt.mechanism(program).over_all_numbers(LOW)
    assert isinstance(found, WholeFunction)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("program", OVER)
def test_the_law_is_whole_and_that_of_the_loop_as_it_is_written(program: Any) -> None:
    seen = view(program)
    plain = lt.mechanism(max_leaves=2_000, max_choices=60)(program)
    for dataset in (LOW, HIGH):
        law, part = seen.inner.fresh_law(dataset), plain.fresh_law(dataset)
        masses: dict[Any, F] = {}
        for leaf in law.outputs:
            masses[leaf.skeleton] = masses.get(leaf.skeleton, F(0)) + leaf.weight
        assert sum(masses.values()) == 1
        assert part.unexplored < 1
        for output in part.outputs:
            assert part.exact(output) <= masses[output] <= part.exact(output) + part.unexplored


def test_each_history_is_normalised_for_itself() -> None:
    law = view(after_a_choice).inner.fresh_law(LOW)
    masses = {leaf.skeleton: leaf.weight for leaf in law.outputs}
    assert masses == {(0, 0): F(1, 4), (0, 1): F(1, 4), (1, 1): F(1, 2)}


def test_an_exception_leaves_the_loop() -> None:
    law = view(left_by_an_exception).inner.fresh_law(LOW)
    assert sorted(leaf.weight for leaf in law.outputs) == [F(1, 3)] * 3
    assert "Raised('ZeroDivisionError')" in {repr(leaf.skeleton) for leaf in law.outputs}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "epsilon"), [(permute_and_flip, 2.0), (with_noise_after, math.log(2))]
)
def test_pure_epsilon_is_decided(program: Any, epsilon: float) -> None:
    domain = lt.Hypercube(3)
    exact = lt.exact_epsilon(lt.mechanism(program), domain)
    assert exact.upper - exact.lower < 1e-12
    assert exact.upper <= epsilon + 1e-12
    for claim, decision in ((exact.upper, "YES"), (exact.lower * 0.99, "NO")):
        verdict = lt.check_privacy(
            lt.mechanism(program), domain, epsilon=claim, method="exhaustive", seed=1
        )
        assert verdict.decision == decision
    assert "start over" in verdict.law_source


# ---- loops that do not start over


def carries_the_last(x: Any, rng: Any) -> Any:
    k = 0
    while True:
        last, k = k, int(rng.integers(3))
        if k == 2:
            return last


def read_after_an_earlier_pass(x: Any, rng: Any) -> Any:
    seen = 0
    while True:
        k = int(rng.integers(3))
        if k == 1:
            seen = 1
            continue
        if k == 2:
            break
    return seen


def changes_a_list(x: Any, rng: Any) -> Any:
    base: list[int] = []
    while True:
        mine = base
        mine += [0]
        if rng.integers(2):
            return len(base)


def counts_passes(x: Any, rng: Any) -> Any:
    n = 0
    while True:
        n += 1
        if rng.integers(2):
            return min(n, 3)


def appends(x: Any, rng: Any) -> Any:
    drawn: list[int] = []
    while True:
        drawn.append(int(rng.integers(2)))
        if drawn[-1]:
            return min(len(drawn), 3)


def within_try(x: Any, rng: Any) -> Any:
    k = 5
    try:
        while True:
            k = int(rng.integers(3))
            if 1 // k:
                return k
    except ZeroDivisionError:
        return -k


def keeps_an_iterator(x: Any, rng: Any) -> Any:
    numbers = iter([0, 1, 0, 1, 1])
    while True:
        k = int(rng.integers(2))
        if next(numbers, 1) <= k:
            return k


def looks_at_noise(x: Any, rng: Any) -> Any:
    while True:
        z = rng.geometric(0.5) - rng.geometric(0.5)
        if z > 0:
            return "above"


NOT_OVER = [
    *(carries_the_last, read_after_an_earlier_pass, changes_a_list, counts_passes, appends),
    *(within_try, keeps_an_iterator, looks_at_noise),
]


@pytest.mark.parametrize("program", NOT_OVER)
def test_other_loops_are_run_as_they_are_written(program: Any) -> None:
    assert lt.mechanism(program).over_all_numbers(LOW) is None


def test_a_loop_that_is_never_left_is_not_summed_up() -> None:
    @lt.mechanism
    def endless(x: Any, rng: Any) -> Any:
        while True:
            k = int(rng.integers(2))
            if k > 1:
                return k

    assert endless.over_all_numbers(LOW) is None


def test_noise_of_before_is_not_normalised_with_a_pass() -> None:
    """A number that is symbolic still, and looked at in the loop only: as it is written."""

    @lt.mechanism
    def looks_back(x: Any, rng: Any) -> Any:
        u = rng.random()
        while True:
            k = int(rng.integers(2))
            if k >= (u < 0.5):
                return k, u < 0.5

    assert looks_back.over_all_numbers(LOW) is None


@pytest.mark.slow
def test_loops_of_coins_are_geometric_numbers() -> None:
    def loops(x: Any, rng: Any) -> Any:
        k = int(x.sum())
        while rng.random() < 0.5:
            k += 1
        while rng.random() < 0.5:
            k -= 1
        return k

    exact = lt.exact_epsilon(lt.mechanism(loops), lt.Hypercube(3))
    assert exact.upper == pytest.approx(math.log(2), abs=1e-12)
    assert exact.lower == pytest.approx(math.log(2), abs=1e-12)


# ---- samplers of Canonne, Kamath and Steinke, as written in the paper


def _bernoulli_exp1(top: int, bottom: int, rng: Any) -> bool:
    k = 1
    while rng.integers(bottom * k) < top:
        k += 1
    return k % 2 == 1


def _bernoulli_exp(top: int, bottom: int, rng: Any) -> bool:
    while top > bottom:
        if not _bernoulli_exp1(1, 1, rng):
            return False
        top -= bottom
    return _bernoulli_exp1(top, bottom, rng)


def _geometric_exp(top: int, bottom: int, rng: Any) -> int:
    while True:
        u = int(rng.integers(bottom))
        if _bernoulli_exp(u, bottom, rng):
            break
    v = 0
    while _bernoulli_exp1(1, 1, rng):
        v += 1
    return (v * bottom + u) // top


def _discrete_laplace(top: int, bottom: int, rng: Any) -> int:
    while True:
        sign = int(rng.integers(2))
        size = _geometric_exp(top, bottom, rng)
        if sign and size == 0:
            continue
        return -size if sign else size


def _discrete_gaussian(variance: int, rng: Any) -> int:
    t = math.isqrt(variance) + 1
    while True:
        candidate = _discrete_laplace(1, t, rng)
        off = abs(candidate) * t - variance
        if _bernoulli_exp(off * off, 2 * variance * t * t, rng):
            return candidate


def discrete_laplace(x: Any, rng: Any) -> Any:
    return int(x.sum()) + _discrete_laplace(1, 2, rng)


def discrete_gaussian(x: Any, rng: Any) -> Any:
    return int(x.sum()) + _discrete_gaussian(1, rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "weight", "epsilon"),
    [
        (discrete_laplace, lambda k: math.exp(-abs(k) / 2), 0.5),
        pytest.param(
            discrete_gaussian, lambda k: math.exp(-k * k / 2), 8.0, marks=pytest.mark.slow
        ),
    ],
)
def test_counts_of_thousands_with_noise_of_the_paper(
    program: Any, weight: Any, epsilon: float
) -> None:
    law = lt.mechanism(program).find_added_law(lt.Hypercube(5_000))
    total = sum(map(weight, range(-200, 201)))
    for (k,), mass in law.masses.items():
        assert float(mass) == pytest.approx(weight(int(k)) / total, abs=1e-15)
    assert law.unexplored < 1e-16
    assert law.delta_at(F(epsilon) + F(1, 10**9)) < 1e-14


def _inverse_exp(top: int, bottom: int, rng: Any) -> bool:
    k = 1
    while rng.integers(bottom * k) < top:
        k += 1
    return k % 2 == 1


def laplace_in_one_function(x: Any, rng: Any) -> Any:
    """Discrete Laplace of scale 2 with nothing but the coin of exp(-p) in a function of its own."""
    t = 2
    while True:
        u = int(rng.integers(t))
        if not _inverse_exp(u, t, rng):
            continue
        v = 0
        while _inverse_exp(1, 1, rng):
            v += 1
        size = u + t * v
        sign = int(rng.integers(2))
        if sign == 1 and size == 0:
            continue
        return int(x.sum()) + (size if sign == 0 else -size)


def coins_in_a_loop(x: Any, rng: Any) -> Any:
    while True:
        u, v = int(rng.integers(2)), 0
        while rng.random() < 0.25:
            v += 1
        size = u + 2 * v
        if rng.integers(2):
            if size == 0:
                continue
            size = -size
        return int(x.sum()) + size


def noise_in_a_loop(x: Any, rng: Any) -> Any:
    while True:
        size = int(rng.integers(2)) + 2 * (int(rng.geometric(0.75)) - 1)
        sign = int(rng.integers(2))
        if sign == 1 and size == 0:
            continue
        return int(x.sum()) + (size if sign == 0 else -size)


def _given_not_minus_zero(size: Any) -> dict[int, float]:
    weights = {k: size(abs(k)) / 2 for k in range(-20, 21)}
    whole = 1 - size(0) / 2
    return {k: weight / whole for k, weight in weights.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "size"),
    [
        (coins_in_a_loop, lambda k: 0.5 * 0.75 * 0.25 ** (k // 2)),
        (noise_in_a_loop, lambda k: 0.5 * 0.75 * 0.25 ** (k // 2)),
        (laplace_in_one_function, lambda k: math.exp(-k / 2) * (1 - math.exp(-0.5))),
    ],
)
def test_samplers_with_loops_in_their_loop(program: Any, size: Any) -> None:
    law = lt.output_law(program, HIGH)
    assert law.unexplored < 1e-17
    for k, expected in _given_not_minus_zero(size).items():
        assert law[2 + k] == pytest.approx(expected, rel=1e-9)


def test_a_list_that_is_added_to_from_pass_to_pass_is_not_taken_for_new(tmp_path: Any) -> None:
    def aliased(x: Any, rng: Any) -> Any:
        kept = [0]
        while True:
            own = kept
            own += [1]
            if rng.integers(2):
                return len(kept)

    law = lt.output_law(aliased, LOW)
    assert [law[n] for n in (2, 3, 4)] == pytest.approx([1 / 2, 1 / 4, 1 / 8])
