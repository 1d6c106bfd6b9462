"""Direct sums with normal noise: the closed form against quadrature, joint shifts, mixtures."""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import precision
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.direct_sums import (
    NormalSums,
    normal_delta,
    price_direct_sums,
    split_blocks,
)
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.path_programs import RowReader, find_blocks
from tests.unit.symbolic.programs import Variables, laplace, noisy_answers, total

TINY = Fraction(1, 100_000)
X = np.linspace(-60, 60, 480_001)


def normal(deviation: Fraction | int) -> Noise:
    return Noise("normal", Fraction(deviation))


def released(noises: Sequence[Noise]) -> AlignedPath:
    """Each answer with its own noise."""
    every: Variables = (*(Answer(i) for i in range(len(noises))), *noises)
    size = len(noises)
    places = tuple(Form.variable(i) + Form.variable(size + i) for i in range(size))
    return AlignedPath(every, (), places)


def density(noise: Noise) -> np.ndarray:
    scale = float(noise.parameter)
    if noise.family == "normal":
        return np.exp(-((X / scale) ** 2) / 2) / (scale * sqrt(2 * pi))
    return np.exp(-np.abs(X) / scale) / (2 * scale)


def quadrature_delta(noise: Noise, shift: float, epsilon: float) -> float:
    """Of one noise; the shift a multiple of the step."""
    left = density(noise)
    right = np.roll(left, round(shift / (X[1] - X[0])))
    return float(np.maximum(0, left - exp(epsilon) * right).sum() * (X[1] - X[0]))


@pytest.mark.parametrize("shift", [Fraction(3, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("epsilon", [Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(2)])
def test_the_closed_form_is_the_integral(shift: Fraction, epsilon: Fraction) -> None:
    with precision(128):
        closed = float(normal_delta(shift, epsilon))
    assert closed == pytest.approx(
        quadrature_delta(normal(1), float(shift), float(epsilon)), abs=1e-6
    )


def test_delta_without_a_shift() -> None:
    with precision(128):
        assert float(normal_delta(Fraction(0), Fraction(1))) == 0
        assert float(normal_delta(Fraction(0), Fraction(-1))) == pytest.approx(1 - exp(-1))


@pytest.mark.parametrize(
    ("differences", "length"),
    [
        (Differences.of_one([1] * 4), 1.0),
        (Differences.of_tables([{i: 1} for i in range(4)]), sqrt(2)),
        (Differences.of_tables([{i: 1} for i in range(4)], relation="added"), 1.0),
        (Differences.of_box([1] * 4), 2.0),
        (Differences.of_box([1] * 4, is_whole=True), 2.0),
        (Differences.listed([[1, 2, 2, 0], [0, 0, 0, 2]]), 3.0),
        (Differences.of_tables([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0]]), 2.0),
        (Differences.of_one([1] * 4).widen_by({0: Fraction(1, 4)}), 1.25),
    ],
)
def test_the_joint_shift_is_the_length(differences: Differences, length: float) -> None:
    price = price_direct_sums(released([normal(2)] * 4), differences, delta=TINY)
    assert price.epsilon is not None
    with precision(128):
        at_price = normal_delta(Fraction(length / 2), price.epsilon)
        assert at_price <= float(TINY) * (1 + 1e-9)
        assert normal_delta(Fraction(length / 2), price.epsilon - TINY) > float(TINY)
    assert price.move


def test_many_cells() -> None:
    cells = Differences.of_tables([{i: 1} for i in range(60)])
    few = Differences.of_tables([{i: 1} for i in range(3)])
    many = price_direct_sums(released([normal(1)] * 60), cells, delta=TINY)
    assert many.epsilon == price_direct_sums(released([normal(1)] * 3), few, delta=TINY).epsilon


def test_sums_of_normal_noise_and_public_factors() -> None:
    """(2 a + 2 N + M) is a + N + M/2."""
    noises = (Answer(0), normal(3), normal(8))
    a, n, m = (Form.variable(v) for v in range(3))
    path = AlignedPath(noises, (), (2 * a + 2 * n + m,))
    plain = released([normal(5)])
    one = Differences.of_one([1])
    found = price_direct_sums(path, one, delta=TINY)
    assert found.epsilon == price_direct_sums(plain, one, delta=TINY).epsilon


def test_both_kinds_of_noise() -> None:
    """A moved record moves a normal and a Laplace count: the mixing rule, by quadrature."""
    path = released([normal(1), laplace(2)])
    moved = price_direct_sums(path, Differences.of_tables([[1, 0], [0, 1]]), delta=TINY)
    alone = price_direct_sums(path, Differences.of_one([1, 1]), delta=TINY)
    assert moved.epsilon is not None
    assert alone.epsilon is not None
    assert float(moved.epsilon - alone.epsilon) == pytest.approx(0.5, abs=1e-9)
    box = price_direct_sums(path, Differences.of_box([1, 1]), delta=TINY)
    assert box.epsilon == moved.epsilon
    # The true delta at that epsilon is an integral over the Laplace loss, in [-1/2, 1/2].
    y = np.linspace(-40, 40, 2001)
    weights = np.exp(-np.abs(y) / 2) / 4 * (y[1] - y[0])
    losses = (np.abs(y - 1) - np.abs(y)) / 2
    with precision(128):
        true = sum(
            weight * float(normal_delta(Fraction(1), moved.epsilon - Fraction(loss)))
            for weight, loss in zip(weights, losses, strict=True)
        )
    assert true <= float(TINY) * 1.001


def test_paths_that_depend_on_what_was_released() -> None:
    """Of each kind of noise the dearest path counts, not the dearest path of both together."""
    noises = (Answer(0), normal(1), normal(2), laplace(2))
    a, n, m, k = (Form.variable(v) for v in range(4))
    normals = AlignedPath(noises, (), (a + n, a + m))
    mixed = AlignedPath(noises, (), (a + n, a + k))
    one = Differences.of_one([1])
    alone = price_direct_sums(normals, one, delta=TINY).epsilon
    together = price_direct_sums([normals, mixed], one, delta=TINY)
    assert alone is not None
    assert together.epsilon is not None
    assert float(together.epsilon - alone) == pytest.approx(0.5, abs=1e-9)
    wide = price_direct_sums([normals, mixed], Differences.of_box([1]), delta=TINY)
    assert wide.epsilon == together.epsilon
    assert price_direct_sums([normals, normals], one, delta=TINY).epsilon == alone
    pure = [AlignedPath(noises, (), places) for places in ((), (a + k,))]
    assert price_direct_sums(pure, one, delta=TINY).epsilon == Fraction(1, 2)
    with pytest.raises(lt.errors.InputError, match="not a program"):
        price_direct_sums([], one)


def test_stopping_by_what_was_released_is_no_worse() -> None:
    """Normal sums until one is above a line: the delta by simulation is below the closed form."""
    rng = np.random.default_rng(3)
    steps, count, epsilon = 5, 400_000, 1.0
    noise = rng.normal(0, 2, (count, steps))
    released_ = np.cumsum(noise > 2.5, axis=1) - (noise > 2.5) == 0
    losses = ((noise * 1 + 0.5) / 4 * released_).sum(axis=1)
    found = np.maximum(0, 1 - np.exp(epsilon - losses)).mean()
    with precision(128):
        bound = float(normal_delta(Fraction(sqrt(steps) / 2), Fraction(epsilon)))
    assert 0.2 * bound < found < bound


def test_no_normal_noise_is_an_alignment() -> None:
    path = noisy_answers(5, laplace(1))[0]
    cells = Differences.of_tables([{i: 1} for i in range(5)])
    for delta in (Fraction(0), TINY):
        assert price_direct_sums(path, cells, delta=delta).epsilon == 2


def test_what_has_no_proof() -> None:
    one = Differences.of_one([1, 1])
    noises = (Answer(0), Answer(1), normal(1), normal(1), normal(1))
    a, b, n, *_ = (Form.variable(v) for v in range(5))
    at_zero = price_direct_sums(released([normal(1)] * 2), one)
    assert at_zero.epsilon is None
    assert "at delta 0" in at_zero.why
    twice = AlignedPath(noises, (), (a + n, b + n))
    assert "without noise" in price_direct_sums(twice, one, delta=TINY).why
    bare = AlignedPath(noises, (), (a + n, b))
    assert "without noise" in price_direct_sums(bare, one, delta=TINY).why
    mixed = AlignedPath((Answer(0), normal(1), Noise("uniform", Fraction(1))), (), (a + b + n,))
    assert price_direct_sums(mixed, one, delta=TINY).epsilon is None
    tight = price_direct_sums(released([normal(Fraction(1, 10**6))]), one, delta=TINY)
    assert tight.epsilon is None
    assert "no epsilon below" in tight.why
    path = AlignedPath(noises, ((a + n).between(low=0),), (a + n,))
    with pytest.raises(lt.errors.InputError, match="no conditions"):
        price_direct_sums(path, one, delta=TINY)
    with pytest.raises(lt.errors.InputError, match="must be in"):
        price_direct_sums(released([normal(1)]), one, delta=1)


def test_prefix_sums_of_normal_noise() -> None:
    """The same as the noisy numbers themselves."""
    size = 4
    every: Variables = (*(Answer(i) for i in range(size)), *[normal(1)] * size)
    forms = [Form.variable(i) + Form.variable(size + i) for i in range(size)]
    path = AlignedPath(every, (), tuple(total(forms[: i + 1]) for i in range(size)))
    one = Differences.of_one([1] * size)
    plain = price_direct_sums(released([normal(1)] * size), one, delta=TINY)
    assert price_direct_sums(path, one, delta=TINY).epsilon == plain.epsilon


@given(seed=st.integers(0, 2**32 - 1), sums=st.integers(1, 4), more=st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_sums_that_share_normal_noise_are_moved_by_the_covariance(
    seed: int, sums: int, more: int
) -> None:
    """The square of the shift is that of the joint normal law: R' V^-1 R, by linear algebra."""
    rng = np.random.default_rng(seed)
    noises = sums + more
    answers = rng.integers(-2, 3, (sums, 3))
    factors = rng.integers(-2, 3, (sums, noises))
    deviations = rng.integers(1, 4, noises)
    move = rng.integers(-3, 4, 3)
    covariance = (factors * deviations**2) @ factors.T
    assume(np.linalg.matrix_rank(factors) == sums)
    moved = answers @ move
    expected = float(moved @ np.linalg.solve(covariance, moved))
    every: Variables = (*map(Answer, range(3)), *(normal(int(d)) for d in deviations))
    places = tuple(
        sum((Form.variable(i) * int(f) for i, f in enumerate([*own, *beside]) if f), Form(0))
        for own, beside in zip(answers, factors, strict=True)
    )
    path = AlignedPath(every, (), places)
    blocks, *_ = find_blocks(path, RowReader())
    pure, found = split_blocks(path, blocks)
    assert not pure
    vector = tuple((i, Fraction(int(by))) for i, by in enumerate(move) if by)
    assert float(NormalSums(found).square(vector)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_two_sums_of_three_noisy_answers_cost_less_than_these() -> None:
    """What is made of three noisy answers, a + c / 10 and b + c / 10, is post-processing."""
    every: Variables = (*map(Answer, range(3)), *(normal(2) for _ in range(3)))
    tenth = (Form.variable(2) + Form.variable(5)) * Fraction(1, 10)
    places = tuple(Form.variable(i) + Form.variable(3 + i) + tenth for i in range(2))
    moves = Differences.of_tables([{0: 1, 2: 1}, {1: 1, 2: 1}], relation="added")
    found = price_direct_sums(AlignedPath(every, (), places), moves, delta=TINY)
    whole = price_direct_sums(released([normal(2)] * 3), moves, delta=TINY)
    assert found.epsilon is not None
    assert whole.epsilon is not None
    assert 0.7 * whole.epsilon < found.epsilon < whole.epsilon


def test_noise_that_two_sums_share_is_counted_once() -> None:
    """a + n + k and b + m + k, of which one moves by 1: a square of 2/3 by the inverse of V."""
    a, b, n, m, k = (Form.variable(v) for v in range(5))
    noises = (Answer(0), Answer(1), normal(1), normal(1), normal(1))
    shared = AlignedPath(noises, (), (a + n + k, b + m + k))
    found = price_direct_sums(shared, Differences.of_one([1, 1]), delta=TINY).epsilon
    with precision(128):
        assert float(normal_delta(Fraction(sqrt(2 / 3)), found)) == pytest.approx(float(TINY))
