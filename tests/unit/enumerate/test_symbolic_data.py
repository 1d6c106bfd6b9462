"""Paths of programs whose data are symbolic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import liptest as lt
from liptest.enumerate.symbolic_data import NoPaths, SymbolicPaths
from liptest.symbolic.answers import Answer
from liptest.symbolic.noise import Noise


def paths(function: Any, domain: Any, way: str = "released") -> Any:
    """What is found of a function."""
    return lt.mechanism(function).aligned_paths(domain, way=way)


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


def test_a_program_that_asks_what_its_data_are_is_noticed() -> None:
    def asks(data: Any, rng: Any) -> float:
        total = data.sum() if type(data) is np.ndarray else 0 * data.sum()
        return float(total + rng.laplace(0, 1.0))

    found = paths(asks, lt.Hypercube(20))
    assert isinstance(found, NoPaths)
    assert "on plain data" in found.reason
