"""Distinct values of the data with their counts, of which only the counts are answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

N, VALUES = 4, 3
SMALL = lt.RecordGrid([VALUES] * N)
DATASETS = [np.array(one) for one in product(range(VALUES), repeat=N)]
Numbers = Callable[[Any], Any]


def into_cells(data: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    cells = np.zeros(VALUES)
    cells[values] = counts
    return cells


def into_whole_cells(data: Any) -> Any:
    values, counts = np.unique(2 * data[data > 0], return_counts=True)
    cells = np.zeros(2 * VALUES, dtype=int)
    cells[values] = counts
    return cells


def into_a_dict(data: Any) -> Any:
    found = dict(zip(*np.unique(data, return_counts=True)))  # noqa: B905
    return np.array([found.get(value, 0) for value in range(VALUES)]) * 1


def into_a_dict_of_python(data: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = dict(zip(values.tolist(), counts.tolist(), strict=False))
    return np.array([found.get(0, 0), found.get(2, 0), found.get(7, 0)]) * 1


FOLLOWED: dict[str, Numbers] = {
    "cells": into_cells,
    "whole cells": into_whole_cells,
    "dict": into_a_dict,
    "dict of Python": into_a_dict_of_python,
}


def into_ones(data: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    cells = np.ones(VALUES)
    cells[values] = counts
    return cells


def values_themselves(data: Any) -> Any:
    values, _ = np.unique(data, return_counts=True)
    cells = np.zeros(VALUES)
    cells[values] = values
    return cells


REFUSED: dict[str, Numbers] = {
    "counts alone": lambda data: np.unique(data, return_counts=True)[1],
    "first count": lambda data: np.unique(data, return_counts=True)[1][0],
    "values alone": lambda data: np.unique(data),
    "into ones": into_ones,
    "values themselves": values_themselves,
    "another default": lambda data: dict(zip(*np.unique(data, return_counts=True))).get(1, 5),  # noqa: B905
    "an entry": lambda data: dict(zip(*np.unique(data, return_counts=True)))[1],  # noqa: B905
    "all entries": lambda data: list(dict(zip(*np.unique(data, return_counts=True))).values()),  # noqa: B905
    "too few cells": lambda data: np.add(into_cells(data + 1), 0),
}


def noisy(numbers: Numbers) -> Any:
    def release(data: Any, rng: Any) -> Any:
        found = numbers(data)
        return found + rng.laplace(size=np.shape(found))

    return lt.mechanism(release)


def largest_change(numbers: Numbers) -> float:
    """By brute force over all neighbours, in l1."""
    known = {tuple(one): np.asarray(numbers(one), dtype=float) for one in DATASETS}
    return max(
        float(np.abs(here - known[(*key[:place], value, *key[place + 1 :])]).sum())
        for key, here in known.items()
        for place in range(N)
        for value in range(VALUES)
    )


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_price_is_the_largest_change(name: str) -> None:
    found = align(noisy(FOLLOWED[name]), SMALL)
    assert found.price is not None, found.reason
    assert found.epsilon == pytest.approx(largest_change(FOLLOWED[name]), abs=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_what_tells_which_values_there_are_is_refused(name: str) -> None:
    found = align(noisy(REFUSED[name]), SMALL)
    assert found.price is None
    assert (
        "numpy.unique" in found.reason
        or "the values that are there" in found.reason
        or (
            "an entry of a dict" in found.reason
            or "Counter" in found.reason
            or "a dict's" in found.reason
        )
    )


@pytest.mark.slow
def test_counts_with_their_values_are_refuted_at_any_size() -> None:
    def release(data: Any, rng: Any) -> Any:
        values, counts = np.unique(data, return_counts=True)
        return list(zip(values.tolist(), (counts + rng.laplace(0, 2, len(counts))).tolist()))  # noqa: B905

    verdict = lt.check_privacy(lt.mechanism(release), lt.RecordGrid([4] * 5_000), epsilon=1.0)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(release))


def test_how_often_the_keys_of_a_counter_come_is_refused() -> None:
    found = align(noisy(lambda data: sorted(Counter(data.tolist()).values())), SMALL)
    assert found.price is None
    assert "Counter.values, which depends on which records there are" in found.reason
