"""The law of the number of ones of independent bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.data import draws as sums_of_bits
from liptest.data.draws import hamming_weight_masses


@pytest.mark.parametrize("p", [[0.5] * 4, [0.1, 0.9, 0.3, 0.0], [1.0, 0.0, 0.2, 0.2], [0.3]])
def test_levels_by_enumeration(p: list[float]) -> None:
    law = lt.ProductDistribution.bernoulli(p)
    masses = [Fraction(0)] * (len(p) + 1)
    for point in next(law.domain.all_points()):
        masses[int(point.sum())] += law.exact_mass(point)
    found, left_out = hamming_weight_masses(law.probabilities)
    assert found == pytest.approx([float(m) for m in masses], rel=1e-14)
    assert left_out == 0.0


@pytest.mark.parametrize("d", [1, 63, 64, 65, 500, 3000])
@pytest.mark.parametrize("law", ["mixed", "rare", "certain"])
def test_two_by_two_is_one_by_one(d: int, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(d)
    p = {
        "mixed": rng.random(d),
        "rare": 1e-3 * rng.random(d),
        "certain": rng.integers(0, 2, size=d).astype(float),
    }[law]
    plain, _ = hamming_weight_masses(p)
    monkeypatch.setattr(sums_of_bits, "_FEW_BITS", 0)
    found, left_out = hamming_weight_masses(p)
    assert found.shape == plain.shape
    assert np.all(found <= plain * (1 + d * 2.0**-50))
    assert np.all(plain * (1 - d * 2.0**-50) - found <= left_out)
    assert left_out < 1e-40
    large = plain > 1e-30
    assert found[large] == pytest.approx(plain[large], rel=1e-11)


def test_what_is_dropped_is_accounted_for(monkeypatch: pytest.MonkeyPatch) -> None:
    p = np.random.default_rng(0).random(1000)
    plain, _ = hamming_weight_masses(p)
    monkeypatch.setattr(sums_of_bits, "_FEW_BITS", 0)
    monkeypatch.setattr(sums_of_bits, "_SMALL", 1e-6)
    found, left_out = hamming_weight_masses(p)
    assert 1e-6 < (plain - found).sum() <= left_out < 1e-3
    assert np.all(plain - found <= left_out)
