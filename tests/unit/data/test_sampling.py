"""Samplers are exact to 53 bits: decisions on the edge, with a scripted generator."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from liptest.data.draws import (
    GRID,
    BitSampler,
    IndexSampler,
    ValueSampler,
    grid_thresholds,
    uniform_integers,
)
from liptest.errors import InputError

PROBABILITIES = np.array(
    [0.0, 5e-324, 2.0**-53, 1e-9, 0.1, 1 / 3, 0.25, 0.5, 0.75, 0.9, 1 - 2.0**-53, 1.0]
)


class Script:
    """A generator that answers with given 64-bit words."""

    def __init__(self, *answers: np.ndarray) -> None:
        self.answers = list(answers)

    def integers(self, low: int, high: int, *, size: Any, dtype: type) -> np.ndarray:
        assert (low, high, dtype) == (0, 2**64, np.uint64)
        words = self.answers.pop(0)
        shape = (size,) if isinstance(size, int) else size
        filled = np.zeros(int(np.prod(shape)), dtype=np.uint64)
        filled[: len(words)] = words
        return filled.reshape(shape)


def bits_at(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """What BitSampler decides for the uniform whole numbers ``uniform`` below 2**53, one each."""
    first = (uniform >> 45).astype(np.uint8)
    sampler = BitSampler(probabilities)
    certain = probabilities == 1.0
    ties = (first == sampler._high) & ~certain | certain & (first == 0)
    padded = np.zeros(-(-len(first) // 8) * 8, dtype=np.uint8)
    padded[: len(first)] = first
    rest = (uniform[ties].astype(np.uint64) & np.uint64((1 << 45) - 1)) << np.uint64(64 - 45)
    rng = Script(padded.view(np.uint64), rest)
    return sampler.draw(rng, 1)[0].astype(bool)  # type: ignore[arg-type]


def exact_threshold(p: float) -> int:
    return -(-Fraction(p) * GRID // 1)


def test_thresholds_are_exact() -> None:
    rng = np.random.default_rng(5)
    p = np.concatenate([PROBABILITIES, rng.random(200), rng.random(200) ** 40])
    assert grid_thresholds(p).tolist() == [exact_threshold(float(x)) for x in p]


@pytest.mark.parametrize("offset", [-1, 0])
def test_a_bit_is_one_exactly_below_the_threshold(offset: int) -> None:
    rng = np.random.default_rng(6)
    p = np.concatenate([PROBABILITIES, rng.random(100), np.ldexp(rng.random(100), -40)])
    uniform = np.clip(grid_thresholds(p) + offset, 0, GRID - 1)
    assert bits_at(p, uniform).tolist() == (uniform < grid_thresholds(p)).tolist()


def test_bits_are_monotone_in_the_uniform_number() -> None:
    p = np.full(512, 0.3)
    uniform = np.sort(np.random.default_rng(7).integers(0, GRID, 512))
    assert np.array_equal(bits_at(p, uniform), uniform < exact_threshold(0.3))


def test_uniform_integers_are_the_top_bits() -> None:
    words = np.array([0, 2**64 - 1, 1 << 11, (1 << 11) - 1], dtype=np.uint64)
    drawn = uniform_integers(Script(words), 4)  # type: ignore[arg-type]
    assert drawn.tolist() == [0, GRID - 1, 1, 0]


def value_steps(mass: np.ndarray) -> list[int]:
    return ValueSampler([mass], np.dtype(np.int64))._steps[0].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("n", [1, 2, 3, 20, 4000])
@pytest.mark.parametrize("power", [1, 6])
def test_value_thresholds_are_within_two_of_the_exact_ones(n: int, power: int) -> None:
    weights = np.random.default_rng(n).random(n) ** power
    mass = weights / weights.sum()
    total = sum((Fraction(float(m)) for m in mass), Fraction(0))
    exact, below = [], Fraction(0)
    for m in mass[:-1]:
        below += Fraction(float(m)) / total
        exact.append(below * GRID)
    steps = value_steps(mass)
    assert len(steps) == n - 1
    assert all(abs(step - threshold) <= 2 for step, threshold in zip(steps, exact, strict=True))


@pytest.mark.parametrize("size", [3, 40])
def test_values_change_exactly_at_the_thresholds(size: int) -> None:
    weights = np.random.default_rng(size).random(size)
    sampler = ValueSampler([weights / weights.sum()], np.dtype(np.int8))
    steps = np.array(value_steps(weights / weights.sum()))
    for offset, expected in ((-1, np.arange(size - 1)), (0, np.arange(1, size))):
        words = (steps + offset).astype(np.uint64) << np.uint64(11)
        drawn = sampler.draw(Script(words), len(words))[:, 0]  # type: ignore[arg-type]
        assert drawn.tolist() == expected.tolist()


def test_values_without_mass_are_never_drawn() -> None:
    mass = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    steps = [0, *value_steps(mass), GRID]
    assert [b - a for a, b in pairwise(steps)] == [
        0,
        exact_threshold(0.3),
        0,
        GRID - exact_threshold(0.3),
        0,
    ]


def test_laws_of_different_lengths_share_a_sampler() -> None:
    laws = [np.array([1.0]), np.array([0.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])]
    drawn = ValueSampler(laws, np.dtype(np.int8)).draw(np.random.default_rng(1), 50)
    assert drawn.tolist() == [[0, 1, 2]] * 50
    assert drawn.dtype == np.int8


def test_only_values_of_one() -> None:
    drawn = ValueSampler([np.array([1.0])] * 3, np.dtype(np.int8)).draw(np.random.default_rng(1), 2)
    assert drawn.tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("d", [1, 3, 8, 4097])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_bit_shapes(d: int, count: int) -> None:
    drawn = BitSampler(np.full(d, 0.5)).draw(np.random.default_rng(2), count)
    assert drawn.shape == (count, d)
    assert drawn.dtype == np.int8
    assert drawn.flags.c_contiguous
    assert drawn.flags.writeable


def test_certain_bits() -> None:
    p = np.tile([0.0, 1.0], 3000)
    drawn = BitSampler(p).draw(np.random.default_rng(3), 20)
    assert np.array_equal(drawn, np.tile(p.astype(np.int8), (20, 1)))


def test_indices_follow_weights_not_their_scale() -> None:
    for scale in (1e-300, 1.0, 1e300):
        sampler = IndexSampler(np.array([0.0, 1.0, 3.0, 0.0]) * scale)
        assert sampler._values is not None
        assert sampler._values._steps[0].tolist() == [0, GRID // 4, GRID]


def test_nothing_to_draw_is_an_input_error() -> None:
    with pytest.raises(InputError, match="all of them are 0"):
        IndexSampler(np.zeros(4)).draw(np.random.default_rng(1), 3)
