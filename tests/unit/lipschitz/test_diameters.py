"""Image diameters, whole and sampled."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import BudgetError, FunctionError, InputError
from liptest.lipschitz.distance import image_diameter, sample_diameter
from liptest.lipschitz.oracles import scalar


def test_image_diameter_is_exact() -> None:
    assert image_diameter(lambda x: x.sum(axis=1) * 0.1, Hypercube(1)) == Fraction(0.1)
    assert image_diameter(np.array([0.1, 1.1]), Hypercube(1)) == Fraction(1.1) - Fraction(0.1)
    assert image_diameter(scalar(lambda x: float(-x[0])), Hypergrid([5, 2])) == 4
    thirds = np.array([Fraction(1, 3), Fraction(-1, 3)], dtype=object)
    assert image_diameter(thirds, Hypercube(1)) == Fraction(2, 3)


def test_image_diameter_needs_an_enumerable_domain() -> None:
    with pytest.raises(BudgetError, match="enumerated"):
        image_diameter(lambda x: x[:, 0], Hypercube(40))
    with pytest.raises(InputError, match="domain"):
        image_diameter(lambda x: x[:, 0], 3)  # type: ignore[arg-type]
    with pytest.raises(FunctionError, match="nan"):
        image_diameter(lambda x: np.full(len(x), np.nan), Hypercube(1))


def test_sample_diameter_sees_what_the_law_gives() -> None:
    law = ProductDistribution.bernoulli([0.5, 0.0])
    function = scalar(lambda x: 3.0 * x[0] + 100.0 * x[1])
    assert sample_diameter(function, law, draws=200, seed=1) == 3
    assert sample_diameter(function, law, draws=1, seed=1) == 0
    assert sample_diameter(function, law, draws=200) == 3


def test_sample_diameter_is_reproducible_and_below_the_whole() -> None:
    law = ProductDistribution.uniform(Hypercube(12))
    function = np.random.default_rng(1).random(law.domain.sizes)
    sampled = sample_diameter(function, law, draws=50, seed=7)
    assert sampled == sample_diameter(function, law, draws=50, seed=7)
    assert sampled != sample_diameter(function, law, draws=50, seed=8)
    assert 0 < sampled <= image_diameter(function, law.domain)


def test_sample_diameter_works_in_parts_on_any_law() -> None:
    d = 2_000_000
    asked: list[int] = []

    def count(points: np.ndarray) -> np.ndarray:
        asked.append(len(points))
        return points[:, 0].astype(float)

    alternating = SampledDistribution(Hypercube(d), _alternating)
    assert sample_diameter(count, alternating, draws=5, seed=1) == 1
    assert sum(asked) == 5


def _alternating(n: int, rng: np.random.Generator) -> np.ndarray:
    points = np.zeros((n, 2_000_000), dtype=np.int8)
    points[::2, 0] = 1
    return points


@pytest.mark.parametrize("wrong", [{"draws": 0}, {"draws": 1.5}, {"draws": 1, "seed": -1}])
def test_sample_diameter_arguments(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        sample_diameter(np.zeros(2), ProductDistribution.uniform(Hypercube(1)), **wrong)
