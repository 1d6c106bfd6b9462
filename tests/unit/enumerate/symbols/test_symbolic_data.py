"""Paths of programs whose data are symbolic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_datasets import Records
from liptest.enumerate.symbols.symbolic_paths import NoPaths, SymbolicPaths
from liptest.symbolic.alignment import price_paths
from liptest.symbolic.answers import Answer
from liptest.symbolic.noise import Noise


def paths(function: Any, domain: Any, way: str = "released") -> Any:
    """What is found of a function."""
    return lt.mechanism(function).align_paths(domain, way=way)


def test_a_count_with_noise() -> None:
    def count(data: Any, rng: Any) -> float:
        return float(data.sum() + rng.laplace(0, 1.0))

    for records in (10, 5000):
        found = paths(count, lt.Hypercube(records))
        assert isinstance(found, SymbolicPaths)
        (path,) = found.paths
        assert [type(one) for one in path.noises] == [Answer, Noise]
        assert path.conditions == ()
        assert [place.terms for place in path.places] == [((0, 1), (1, 1))]
        assert list(found.differences.moves()) == [((0, Fraction(-1)),), ((0, Fraction(1)),)]
        assert not found.reads_length


def test_thresholds_are_conditions_or_released() -> None:
    def above(data: Any, rng: Any) -> bool:
        return bool(data.sum() + rng.laplace(0, 1.0) > 10)

    (released,) = paths(above, lt.Hypercube(100)).paths
    assert len(released.places) == 1
    assert released.conditions == ()
    branches = paths(above, lt.Hypercube(100), "branches").paths
    assert len(branches) == 2
    assert all(len(one.conditions) == 1 and one.places == () for one in branches)


def test_data_that_are_looked_at_are_refused_with_the_line() -> None:
    def looks(data: Any, rng: Any) -> float:
        if data.sum() > 3:
            return 1.0
        return float(rng.laplace(0, 1.0))

    for way in ("released", "branches"):
        found = paths(looks, lt.Hypercube(20), way)
        assert isinstance(found, NoPaths)
        assert "if data.sum() > 3" in found.reason


def test_the_line_of_a_decorated_function_is_its_own() -> None:
    @lt.mechanism
    def single(data: Any, rng: Any) -> float:
        clipped = np.clip(data, 0, 1)
        first = np.roll(clipped, 1)
        return float(first[0] + rng.laplace(0, 1.0))

    found = single.align_paths(lt.Hypercube(9))
    assert isinstance(found, NoPaths)
    assert ": first = np.roll(clipped, 1))" in found.reason


def test_noise_whose_scale_is_data_is_refused() -> None:
    def scaled(data: Any, rng: Any) -> float:
        return float(rng.laplace(0, 1 + data.sum()))

    found = paths(scaled, lt.Hypercube(9))
    assert isinstance(found, NoPaths)
    assert "the parameters of rng.laplace" in found.reason


@pytest.mark.slow
def test_a_program_that_asks_what_its_data_are_is_answered_or_noticed() -> None:
    def asks_the_type(data: Any, rng: Any) -> float:
        total = data.sum() if type(data) is np.ndarray else 0 * data.sum()
        return float(total + rng.laplace(0, 1.0))

    def asks(data: Any, rng: Any) -> float:
        total = 0 * data.sum() if hasattr(data, "storage") else data.sum()
        return float(total + rng.laplace(0, 1.0))

    def asks_its_size(data: Any, rng: Any) -> float:
        total = data.sum() if data.__sizeof__() > 111 else 0 * data.sum()
        return float(total + rng.laplace(0, 1.0))

    [path] = paths(asks_the_type, lt.Hypercube(20)).paths
    assert len(path.places[0].terms) == 2  # the sum and the noise
    [path] = paths(asks, lt.Hypercube(20)).paths
    assert len(path.places[0].terms) == 2
    found = paths(asks_its_size, lt.Hypercube(20))
    assert isinstance(found, NoPaths)
    assert "on plain data" in found.reason


CELLS = 6


def noisy_cells(data: Any, rng: Any) -> Any:
    """A histogram with Laplace noise of scale 2: its price is 1."""
    return np.bincount(data, minlength=CELLS) + rng.laplace(0, 2.0, CELLS)


def kept_if_large(data: Any, rng: Any) -> Any:
    noisy = noisy_cells(data, rng)
    return np.where(noisy > 20, noisy, 0).tolist()


def not_negative(data: Any, rng: Any) -> Any:
    noisy = noisy_cells(data, rng)
    noisy[noisy < 0] = 0
    return noisy / noisy.sum()


def shares(data: Any, rng: Any) -> Any:
    noisy = np.maximum(noisy_cells(data, rng), 0)
    return [round(float(one), 3) for one in noisy / noisy.sum()]


def several(data: Any, rng: Any) -> Any:
    noisy = noisy_cells(data, rng)
    return {
        "top": int(np.argmax(noisy)),
        "order": np.argsort(-noisy).tolist(),
        "sums": np.cumsum(noisy).tolist(),
        "median": float(np.median(noisy)),
        "large": int((noisy > 10).sum()),
        "any": bool((noisy > 30).any()),
    }


def one_by_one(data: Any, rng: Any) -> Any:
    found = np.zeros(CELLS)
    for cell in range(CELLS):
        found[cell] = (data == cell).sum()
    return (found + rng.laplace(0, 2.0, CELLS)).round(1).tolist()


def around_the_count(data: Any, rng: Any) -> Any:
    return rng.laplace(np.bincount(data, minlength=CELLS), 2.0).astype(int).tolist()


def named(data: Any, rng: Any) -> Any:
    return "abcdef"[np.argmax(noisy_cells(data, rng))]


def as_one_table(data: Any, rng: Any) -> Any:
    table = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.0, 0.0], [1.0, 0.0], [0.25, 0.75]])
    return (table[data].sum(axis=0) + rng.laplace(0, 2.0, 2)).tolist()


def filtered(data: Any, rng: Any) -> Any:
    chosen = data[(data > 1) & (data < 5)]
    return len(chosen) + rng.laplace(0, 2.0), float((1 / chosen).sum() + rng.laplace(0, 1.0))


def quotient(data: Any, rng: Any) -> Any:
    total = np.sum(np.clip(data, 0, 3), dtype=float) + rng.laplace(0, 6.0)
    return total / max(1.0, np.count_nonzero(data) + rng.laplace(0, 2.0))


@pytest.mark.parametrize(
    ("function", "price"),
    [
        (kept_if_large, 1.0),
        (not_negative, 1.0),
        (shares, 1.0),
        (several, 1.0),
        (one_by_one, 1.0),
        (around_the_count, 1.0),
        (named, 1.0),
        (as_one_table, 1.0),
        (filtered, 1.0),
        (quotient, 1.0),
    ],
)
def test_what_follows_from_released_sums_costs_nothing(function: Any, price: float) -> None:
    found = paths(function, lt.RecordGrid([CELLS] * 300))
    assert isinstance(found, SymbolicPaths), found
    assert len(found.paths) <= 2
    priced = price_paths(found.paths, found.differences)
    assert float(priced.epsilon or -1) == pytest.approx(price, abs=1e-9)


def test_sparse_vector_has_a_path_for_each_stop() -> None:
    def sparse_vector(answers: Any, rng: Any) -> Any:
        threshold, told = rng.laplace(0, 2.0), []
        for answer in answers:
            told.append(bool(answer + rng.laplace(0, 4.0) >= threshold))
            if told[-1]:
                break
        return tuple(told)

    for domain in (lt.Answers(12), lt.AnswerGrid([5] * 12, relation="all")):
        found = paths(sparse_vector, domain, "branches")
        assert len(found.paths) == 13
        assert max(len(path.conditions) for path in found.paths) == 12
        assert float(price_paths(found.paths, found.differences).epsilon or -1) == 1.0


def test_alike_winners_are_one_path() -> None:
    def noisy_maximum(answers: Any, rng: Any) -> int:
        return int(np.argmax(answers + rng.laplace(0, 2.0, size=len(answers))))

    def with_its_first(answers: Any, rng: Any) -> Any:
        noisy = answers + rng.laplace(0, 2.0, size=len(answers))
        place = int(np.argmax(noisy))
        return place, float(noisy[0]) if place == 3 else None

    found = paths(noisy_maximum, lt.Answers(9), "branches")
    assert len(found.paths) == 1
    assert float(price_paths(found.paths, found.differences).epsilon or -1) == 1.0
    assert len(paths(with_its_first, lt.Answers(9), "branches").paths) == 2
    moves = lt.Answers(2, relation=[[1, 0]])
    assert len(paths(noisy_maximum, moves, "branches").paths) == 2


def test_noise_that_is_kept_from_run_to_run_is_noticed() -> None:
    kept: list[Any] = []

    def keeps(data: Any, rng: Any) -> Any:
        if not kept:
            kept.append(rng.laplace(0, 1.0))
        return bool(data.sum() + kept[0] > 3)

    assert isinstance(paths(keeps, lt.Hypercube(9), "branches"), NoPaths)


@pytest.mark.slow
def test_loops_without_an_end_are_refused() -> None:
    def endless(data: Any, rng: Any) -> Any:
        left = data.sum() + rng.laplace(0, 1.0)
        while left > 0:
            left = left - len(data)
        return float(left)

    assert isinstance(paths(endless, lt.Hypercube(9)), NoPaths)


def test_large_plain_datasets_are_full_and_hold_all_values() -> None:
    """Beyond some size drawn records are repeated; the number of records stays."""
    for records in (1000, 250_000):
        data = Records(lt.RecordGrid([5] * records))
        drawn = [data.plain(np.random.default_rng(seed)) for seed in range(4)]
        assert all(len(dataset) == records for dataset in drawn)
        assert min(int(dataset.min()) for dataset in drawn) == 0
        assert max(int(dataset.max()) for dataset in drawn) == 4
        assert len({dataset.tobytes() for dataset in drawn}) == 4
        assert not np.array_equal(drawn[0][:500], drawn[0][500:1000])
