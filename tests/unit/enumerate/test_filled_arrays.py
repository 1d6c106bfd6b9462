"""Programs that write noise into arrays of their own, over plain data and at any size."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

CELLS = 4
Filled = Callable[[Any, Any, float], Any]


def filled_one_by_one(data: Any, rng: Any, scale: float) -> Any:
    cells = np.zeros(CELLS)
    for k in range(CELLS):
        cells[k] = (data == k).sum() + rng.laplace(0, scale)
    return cells


def added_to_counts(data: Any, rng: Any, scale: float) -> Any:
    cells = np.bincount(data, minlength=CELLS).astype(float)
    for k in range(CELLS):
        cells[k] += rng.laplace(0, scale)
    return cells


def noise_in_an_array(data: Any, rng: Any, scale: float) -> Any:
    cells = np.zeros(CELLS)
    noise = np.empty(CELLS)
    for value in data:
        cells[value] += 1
    for k in range(CELLS):
        noise[k] = rng.laplace(0, scale)
    return cells + noise


def into_out(data: Any, rng: Any, scale: float) -> Any:
    cells = np.empty(CELLS)
    np.add(np.bincount(data, minlength=CELLS), rng.laplace(0, scale, CELLS), out=cells)
    return cells


def into_a_slice(data: Any, rng: Any, scale: float) -> Any:
    cells = np.full(CELLS, -1.0)
    cells[:] = np.bincount(data, minlength=CELLS) + rng.laplace(0, scale, CELLS)
    return cells


def of_a_list(data: Any, rng: Any, scale: float) -> Any:
    cells = np.array([0.0] * CELLS)
    for k in range(CELLS):
        cells[k] += float((data == k).sum()) + rng.laplace(0, scale)
    return cells


PROGRAMS = (
    *(filled_one_by_one, added_to_counts, noise_in_an_array),
    *(into_out, into_a_slice, of_a_list),
)


def in_a_list(data: Any, rng: Any, scale: float) -> Any:
    return [(data == k).sum() + rng.laplace(0, scale) for k in range(CELLS)]


def program(fill: Filled, scale: float, answer: Callable[[Any], Any] = list) -> lt.Mechanism:
    @lt.mechanism(name=fill.__name__)
    def run(data: Any, rng: Any) -> Any:
        return answer(fill(data, rng, scale))

    return run


@pytest.mark.slow
@pytest.mark.parametrize("fill", PROGRAMS)
@pytest.mark.parametrize("records", [2, pytest.param(1_000, marks=pytest.mark.slow)])
def test_both_answers_are_found(fill: Filled, records: int) -> None:
    domain = lt.RecordGrid([CELLS] * records)

    def decision(scale: float) -> str:
        return str(lt.check_privacy(program(fill, scale), domain, epsilon=1, seed=1).decision)

    assert decision(2.0) == "YES"
    assert decision(1.9) == "NO"


def above_one(cells: Any) -> tuple[bool, ...]:
    return tuple(bool(cell > 1) for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("fill", PROGRAMS)
def test_the_law_is_that_of_a_list(fill: Filled) -> None:
    data = np.array([0, 2, 2])
    found, expected = (
        lt.output_law(program(one, 1.5, above_one), data) for one in (fill, in_a_list)
    )
    assert set(found) == set(expected)
    for output in found:
        assert found[output] == pytest.approx(expected[output], abs=1e-12)


def test_other_names_of_an_array_see_the_noise() -> None:
    @lt.mechanism
    def through_another_name(data: Any, rng: Any) -> bool:
        cells = np.zeros(2)
        other = cells
        view = cells[:1]
        view[0] = data.sum() + rng.laplace(0, 1)
        return bool(other[0] > 1)

    law = lt.output_law(through_another_name, np.array([1, 1]))
    assert law[True] == pytest.approx(1 - math.exp(-1) / 2, abs=1e-12)


def test_whole_numbers_cut_noise_off() -> None:
    @lt.mechanism
    def into_whole(data: Any, rng: Any) -> int:
        cells = np.zeros(1, dtype=int)
        cells[0] = data.sum() + rng.laplace(0, 1)
        return int(cells[0] > 0)

    law = lt.output_law(into_whole, np.array([0]))
    assert law[1] == pytest.approx(math.exp(-1) / 2, abs=1e-12)


@pytest.mark.slow
def test_a_copy_is_another_array() -> None:
    @lt.mechanism
    def with_a_copy(data: Any, rng: Any) -> list[float]:
        counts = np.array([(data == k).sum() for k in range(2)])
        changed = np.array(counts)
        changed[0] = 0  # not in counts
        return [float(count + rng.laplace(0, 1)) for count in counts]

    domain = lt.RecordGrid([2] * 40)
    assert str(lt.check_privacy(with_a_copy, domain, epsilon=2, seed=1).decision) == "YES"
    assert str(lt.check_privacy(with_a_copy, domain, epsilon=1.9, seed=1).decision) == "NO"


SUMS: dict[str, Callable[[Any], Any]] = {
    "fsum": lambda data: math.fsum(data.tolist()),
    "fsum of a generator": lambda data: math.fsum(min(int(v), 9) for v in data),
    "mean": lambda data: statistics.mean(int(v) for v in data) * len(data),
    "fmean": lambda data: statistics.fmean(data.tolist()) * len(data),
    "reduce": lambda data: reduce(operator.add, [int(v) for v in data]),
    "reduce from a start": lambda data: reduce(operator.add, data.tolist(), 5),
    "column_stack": lambda data: np.column_stack([data, data - 4]).sum(axis=0)[0],
    "stack": lambda data: np.stack([data >= 3, data], axis=1).sum(axis=0)[1],
    "logarithm": lambda data: np.log1p(data).sum() / math.log(10) * 9,
    "exponential": lambda data: np.exp(data - 9.0).sum() / (1 - math.exp(-9)) * 9,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SUMS)
def test_sums_by_other_names(name: str) -> None:
    total = SUMS[name]
    domain = lt.RecordGrid([10] * 1000)

    def decision(scale: float) -> str:
        noisy = lt.mechanism(name=name)(lambda data, rng: total(data) + rng.laplace(0, scale))
        return str(lt.check_privacy(noisy, domain, epsilon=1, seed=1).decision)

    assert decision(9.0) == "YES"
    assert decision(8.9) == "NO"


@pytest.mark.slow
def test_a_choice_with_weights_is_told_how_it_is_followed() -> None:
    @lt.mechanism
    def by_weights(data: Any, rng: Any) -> int:
        scores = np.bincount(data, minlength=CELLS)
        weights = np.exp(0.5 * (scores - scores.max()))
        return int(rng.choice(CELLS, p=weights / weights.sum()))

    @lt.mechanism
    def as_told(data: Any, rng: Any) -> int:
        scores = np.bincount(data, minlength=CELLS)
        return int(np.argmax(scores * 0.5 + rng.gumbel(size=len(scores))))

    domain = lt.RecordGrid([CELLS] * 10_000)
    refused = lt.check_privacy(by_weights, domain, epsilon=1, seed=1)
    assert str(refused.decision) == "INCONCLUSIVE"
    assert "write np.argmax(scores * t + rng.gumbel(size=len(scores)))" in refused.reason
    assert str(lt.check_privacy(as_told, domain, epsilon=1, seed=1).decision) == "YES"
    data = np.array([0, 0, 2])
    laws = [lt.output_law(one, data) for one in (by_weights, as_told)]
    assert dict(laws[0]) == pytest.approx(dict(laws[1]), abs=1e-12)


def counted_in_place(data: Any, rng: Any) -> list[float]:
    counts = np.zeros(CELLS)
    np.add.at(counts, data, 1)
    counts += rng.laplace(0, 2.0, CELLS)
    return list(counts)


def counted_in_place_by_two(data: Any, rng: Any) -> list[float]:
    counts = np.zeros(CELLS)
    np.add.at(counts, data, 2.0)
    return list(counts + rng.laplace(0, 2.0, CELLS))


def whole_counts_by_a_half(data: Any, rng: Any) -> list[float]:
    counts = np.zeros(CELLS, dtype=np.int64)
    np.add.at(counts, data, 0.5)  # which NumPy cuts off, to 0
    return list(counts + rng.laplace(0, 2.0, CELLS))


@pytest.mark.slow
def test_counts_by_add_at() -> None:
    domain = lt.RecordGrid([CELLS] * 40)
    assert lt.check_privacy(counted_in_place, domain, epsilon=1, seed=1).decision == "YES"
    assert lt.check_privacy(counted_in_place_by_two, domain, epsilon=1, seed=1).decision == "NO"
    assert align(lt.mechanism(counted_in_place_by_two), domain).epsilon == 2.0
    assert align(lt.mechanism(whole_counts_by_a_half), domain).price is None


@pytest.mark.slow
def test_compiled_code_gets_plain_arrays() -> None:
    @lt.mechanism
    def with_a_generator_of_its_own(data: Any, rng: Any) -> list[float]:
        fixed = np.random.Generator(np.random.PCG64(3))
        scale = float(fixed.choice([2.0, 2.0, 2.0]))
        shift = fixed.random(3).sum() + fixed.multinomial(4, [0.5, 0.5]).sum()
        cells = np.zeros(CELLS)
        for k in range(CELLS):
            cells[k] = (data == k).sum() + shift + rng.laplace(0, scale)
        return list(cells)

    domain = lt.RecordGrid([CELLS] * 3)
    found = lt.check_privacy(with_a_generator_of_its_own, domain, epsilon=1, seed=1)
    assert str(found.decision) == "YES"
    found = lt.check_privacy(with_a_generator_of_its_own, domain, epsilon=0.9, seed=1)
    assert str(found.decision) == "NO"
