"""Curves of a picture against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.density_curves import DensityCurves, density_curves
from liptest.enumerate.numbers.noise_outputs import (
    Between,
    Following,
    RealPlace,
    list_intervals,
    replace_by,
)
from liptest.mechanisms.base import Mechanism


def laplace(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 0.9))


def normal(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.normal(0, 0.9))


def clipped(data: Any, rng: Any) -> float:
    return float(np.clip(data.sum() + rng.laplace(0, 1), 0, 2))


def rare(data: Any, rng: Any) -> float:
    return float(max(rng.laplace(0, 1) + data.sum(), 3 + rng.laplace(0, 1)))


def triple(data: Any, rng: Any) -> Any:
    return np.bincount(data, minlength=3) + rng.laplace(0, 1.5, size=3)


def sometimes(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace(0, 0.5)) if rng.random() < 0.5 else "none"


def whole(data: Any, rng: Any) -> int:
    return int(data[0]) ^ int(rng.random() < 0.25)


def curves_of(function: Any, domain: Any, **options: Any) -> DensityCurves | None:
    mechanism: Mechanism = lt.mechanism(function)
    verdict = lt.check_privacy(mechanism, domain, epsilon=0.9, seed=1, **options)
    witness = verdict.witness
    assert verdict.decision == "NO"
    assert witness is not None
    sides = np.array(witness.dataset), np.array(witness.neighbour)
    return density_curves(mechanism, *sides, witness.event)


def laplace_cdf(x: float, scale: float) -> float:
    return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def normal_cdf(x: float, scale: float) -> float:
    return 0.5 * math.erfc(-x / scale / math.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "cdf", "options"),
    [(laplace, laplace_cdf, {}), (normal, normal_cdf, {"delta": 1e-6})],
)
def test_cells_hold_the_mass_of_the_closed_form(function: Any, cdf: Any, options: Any) -> None:
    found = curves_of(function, lt.Hypercube(9), **options)
    assert found is not None
    assert not found.is_rare
    edges = np.array(found.edges)
    assert np.allclose(np.diff(edges), edges[1] - edges[0])
    peaks = []
    for side in (found.first, found.second):
        peak = edges[int(np.argmax(side))]
        centre = round(float(peak + (edges[1] - edges[0]) / 2))
        peaks.append(centre)
        for k, mean in enumerate(side):
            left, right = (cdf(edges[j] - centre, 0.9) for j in (k, k + 1))
            assert mean == pytest.approx((right - left) / (edges[k + 1] - edges[k]), abs=1e-9)
        assert sum(side) * (edges[1] - edges[0]) > 0.99
    assert abs(peaks[0] - peaks[1]) == 1


@pytest.mark.slow
def test_the_event_is_shaded_and_a_rare_one_is_inside() -> None:
    plain = curves_of(laplace, lt.Hypercube(9))
    assert plain is not None
    assert plain.shaded == ((None, 0.0),)
    far = curves_of(rare, lt.Hypercube(50))
    assert far is not None
    assert far.is_rare
    [(low, high)] = far.shaded
    ends = [end for end in (low, high) if end is not None]
    assert all(far.edges[0] < end < far.edges[-1] for end in ends)


@pytest.mark.slow
def test_of_several_numbers_the_one_that_decides() -> None:
    found = curves_of(triple, lt.RecordGrid([3] * 20))
    assert found is not None
    assert found.numbers == 3
    assert found.place in (1, 2)
    assert found.shaded[0] != (None, None)


@pytest.mark.slow
def test_a_description_that_comes_half_of_the_time_has_half_of_the_mass() -> None:
    found = curves_of(sometimes, lt.Hypercube(9))
    assert found is not None
    assert sum(found.first) * (found.edges[1] - found.edges[0]) == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_what_has_no_densities_is_not_drawn() -> None:
    assert curves_of(whole, lt.Hypercube(1)) is None
    # Its ends have probabilities of their own.
    found = curves_of(clipped, lt.Hypercube(3))
    assert found is None or sum(found.first) * (found.edges[1] - found.edges[0]) <= 1


def test_intervals_are_read_as_they_are_put_in() -> None:
    rest = Following(RealPlace(), ((0, 1),), 2)  # type: ignore[arg-type]
    skeleton = ("a", (RealPlace(), rest), Following(None, ((0, 1),), 0))  # type: ignore[arg-type]
    ends = ((None, 3), (1, None))
    assert list_intervals(replace_by(skeleton, ends)) == ends
    assert list_intervals(Between(None, None)) == ((None, None),)
    assert list_intervals("word") == ()
